/* SPDX-License-Identifier: MIT */
#include "fetch/kept.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"

enum { KEPT_MANY = 16 }; /* about as many streams may read side by side */

static struct kept {
	char *url, *tag;
	uint64_t size, at, used; /* used: rises with each use; 0: nothing is here */
	uint8_t *p;
	size_t n;
} kept_parts[KEPT_MANY];
static uint64_t kept_uses;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */

void
kept_put(const char *url, const char *tag, uint64_t size, uint64_t at, uint8_t *p, size_t n)
{
	struct kept *k = kept_parts, old, new = { mem_strdup(url), mem_strdup(tag), size, at, 0, p, n };

	pthread_mutex_lock(&kept_lock);
	for (size_t i = 1; i < KEPT_MANY; i++)
		if (kept_parts[i].used < k->used)
			k = &kept_parts[i];
	old = *k;
	*k = new;
	k->used = ++kept_uses;
	pthread_mutex_unlock(&kept_lock);
	mem_free(old.url);
	mem_free(old.tag);
	mem_free(old.p);
}

uint8_t *
kept_get(const char *url, const char *tag, uint64_t at, size_t *n, uint64_t *size)
{
	uint8_t *p = NULL;

	pthread_mutex_lock(&kept_lock);
	for (size_t i = 0; i < KEPT_MANY && !p; i++) {
		struct kept *k = &kept_parts[i];

		if (!k->used || at < k->at || at - k->at >= k->n || strcmp(k->url, url) || strcmp(k->tag, tag))
			continue;
		*n = k->n - (size_t)(at - k->at);
		*size = k->size;
		p = mem_dup(k->p + (at - k->at), *n);
		k->used = ++kept_uses;
	}
	pthread_mutex_unlock(&kept_lock);
	return p;
}
