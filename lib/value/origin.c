/* SPDX-License-Identifier: MIT */
#include "value/origin.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static pthread_mutex_t origin_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hash origin_names;

const char *
origin_name(const char *path)
{
	size_t n = strlen(path);
	char *name;

	pthread_mutex_lock(&origin_lock);
	name = hash_get(&origin_names, path, n);
	if (!name && origin_names.n < ORIGIN_MAX) {
		name = mem_strndup(path, n);
		hash_put(&origin_names, path, n, name);
	}
	pthread_mutex_unlock(&origin_lock);
	return name ? name : "(many files)";
}
