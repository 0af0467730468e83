/* SPDX-License-Identifier: MIT */
#include "past.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "op/program_row.h"

enum { PAST_COLUMNS = 11, PAST_NUMBER = 0, PAST_CODE = 6, PAST_SIGNAL = 7, PAST_KEY = 10 };

/* How often elements with one key were done, and how often their last run failed. */
struct past_count {
	uint32_t good, bad;
};

struct past {
	pthread_mutex_t lock;
	struct hash runs;        /* key and number -> whether the last run failed; while it is loaded */
	struct hash counts;      /* key -> struct past_count, owned */
	struct past_told told;
	bool again;
};

/* Splits a row at its tabs; false: it has another number of columns. */
static bool
past_columns(char *line, char *column[PAST_COLUMNS])
{
	size_t n = 0;

	for (char *p = line; p && n <= PAST_COLUMNS; n++) {
		char *tab = strchr(p, '\t');

		if (n < PAST_COLUMNS)
			column[n] = p;
		if (tab)
			*tab++ = '\0';
		p = tab;
	}
	return n == PAST_COLUMNS;
}

static bool
past_number(const char *column, int64_t *n)
{
	return str_int(column, strlen(column), n);
}

/* Remembers the outcome of one run of an element: the last one counts. The same key with another number
 * is another element that is like it. */
static bool
past_row(void *arg, char *line, uint64_t output)
{
	struct past *p = arg;
	char *c[PAST_COLUMNS];
	uint8_t key[PROGRAM_KEY + 8];
	int64_t number, code, signal;
	size_t len;

	if (!past_columns(line, c) || !past_number(c[PAST_NUMBER], &number) || !past_number(c[PAST_CODE], &code) ||
	    !past_number(c[PAST_SIGNAL], &signal) ||
	    sodium_hex2bin(key, PROGRAM_KEY, c[PAST_KEY], strlen(c[PAST_KEY]), NULL, &len, NULL) || len != PROGRAM_KEY)
		return false;
	memcpy(key + PROGRAM_KEY, &number, 8);
	hash_put(&p->runs, key, sizeof key, code || signal ? (void *)"bad" : (void *)"");
	p->told.output = output;
	return true;
}

/* Counts the outcomes by key. */
static void
past_counts(struct past *p)
{
	for (size_t i = 0; i < p->runs.n; i++) {
		const struct hash_item *run = &p->runs.items[i];
		struct past_count *c = hash_get(&p->counts, run->key, PROGRAM_KEY);
		bool bad = *(const char *)run->value;

		if (!c)
			hash_put(&p->counts, run->key, PROGRAM_KEY, c = mem_zalloc(sizeof *c));
		if (bad)
			c->bad++;
		else
			c->good++;
		p->told.done++;
		p->told.failed += bad;
	}
	hash_clear(&p->runs);
}

enum status
past_load(struct joblog *log, bool again, struct past **out, struct err *e)
{
	struct past *p = mem_zalloc(sizeof *p);

	p->again = again;
	pthread_mutex_init(&p->lock, NULL);
	enum status st = joblog_read(log, past_row, p, e);
	past_counts(p);
	*out = p;
	if (st != ST_OK)
		past_free(out);
	return st;
}

struct past_told
past_told(const struct past *p)
{
	return p->told;
}

bool
past_has(struct past *p, uint32_t op, const struct elem *x)
{
	uint8_t key[PROGRAM_KEY];
	bool before = false;

	program_row_key(op, x, key);
	pthread_mutex_lock(&p->lock);
	struct past_count *c = hash_get(&p->counts, key, sizeof key);
	if (c && c->good) {
		c->good--;
		before = true;
	} else if (c && c->bad) {
		c->bad--;
		before = !p->again;
	}
	pthread_mutex_unlock(&p->lock);
	return before;
}

void
past_free(struct past **pp)
{
	struct past *p = *pp;

	*pp = NULL;
	if (!p)
		return;
	for (size_t i = 0; i < p->counts.n; i++)
		mem_free(p->counts.items[i].value);
	hash_clear(&p->counts);
	hash_clear(&p->runs);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}
