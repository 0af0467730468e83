/* SPDX-License-Identifier: MIT
 *
 * What the tests of parallel= share: runs of a spec, what it gives and what failed, as
 * text to be compared with the same without parallel=.
 */
#ifndef TESTS_PARALLEL_HELP_H
#define TESTS_PARALLEL_HELP_H

#include "chain_help.h"
#include "plan_help.h"

#include <pthread.h>

#include "base/rng.h"
#include "base/pool.h"
#include "op/pull.h"

struct told {
	pthread_mutex_t lock; /* several threads tell */
	struct buf text; /* failures, a line each */
	uint64_t n;
};

static inline void
told_failed(void *arg, const struct op_failure *f)
{
	struct told *t = arg;

	pthread_mutex_lock(&t->lock);
	buf_printf(&t->text, "%u %s:%llu %s\n", f->fatal, f->file ? f->file : "-",
		   (unsigned long long)f->line, f->e->text);
	t->n++;
	pthread_mutex_unlock(&t->lock);
}

/* Everything from i on as text, and how it ended. */
static inline void
par_rest(struct op_inst *i, struct buf *out)
{
	struct err e = { 0 };
	struct elem x;
	enum status st;

	while ((st = op_next(i, &x, &e)) == ST_OK) {
		text_print(x.p, x.len, out);
		buf_byte(out, '\n');
	}
	if (st != ST_END)
		buf_printf(out, "! %d", (int)st);
}

static inline void
par_cut(struct buf *b, const char *word)
{
	char *p;

	while (b->len && (p = strstr((char *)b->data, word)) != NULL) {
		size_t n = strlen(word), at = (size_t)(p - (char *)b->data);

		n += strcspn(p + n, " `|)\n");
		memmove(p, p + n, b->len - at - n + 1);
		b->len -= n;
	}
}

/* The text with the parameters that make it parallel cut out of messages. */
static inline void
par_plain(struct buf *b)
{
	par_cut(b, " parallel=");
	par_cut(b, " ordered=");
}

static inline void
par_run(const char *spec, struct buf *out, struct told *told)
{
	struct op_ctx ctx = { .seed = 5, .failure = told_failed, .arg = told };
	struct plan *p = plan_from(spec);
	struct op_inst *i;
	struct err e = { 0 };

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	par_rest(i, out);
	op_close(&i);
	plan_free(&p);
	par_plain(&told->text);
}

static inline int
par_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in another order. */
static inline void
par_sort(struct buf *b)
{
	char **lines = mem_array(30000, sizeof(*lines)), *copy, *save = NULL;
	size_t n = 0;

	copy = mem_strdup(b->len ? (char *)b->data : "");
	for (char *w = strtok_r(copy, "\n", &save); w; w = strtok_r(NULL, "\n", &save)) {
		assert_true(n < 30000);
		lines[n++] = w;
	}
	qsort(lines, n, sizeof *lines, par_compare);
	buf_reset(b);
	for (size_t k = 0; k < n; k++)
		buf_printf(b, "%s\n", lines[k]);
	mem_free(copy);
	mem_free(lines);
}

/* From a state saved after `taken` elements and restored, the rest is the rest;
 * sorted: in any order, as want is sorted. False: it could not be saved there. */
static inline bool
par_resume(const struct plan *p, uint64_t taken, const struct buf *want, bool sorted)
{
	struct op_ctx ctx = { .seed = 5 };
	struct op_inst *i, *again;
	struct buf got = { 0 }, first = { 0 }, bytes = { 0 };
	struct err e = { 0 };
	struct elem x;

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	while (taken-- && op_next(i, &x, &e) == ST_OK) {
		text_print(x.p, x.len, &got);
		buf_byte(&got, '\n');
	}
	if (!op_state_save(i, &bytes)) {
		op_close(&i);
		buf_clear(&got);
		buf_clear(&bytes);
		return false;
	}
	if (got.len)
		buf_put(&first, got.data, got.len);
	assert_int_equal(op_open(p->top, &ctx, &again, &e), ST_OK);
	if (op_state_restore(again, bytes.data, bytes.len, &e) != ST_OK)
		fail_msg("%s", e.text);
	buf_reset(&bytes);
	assert_true(op_state_save(again, &bytes)); /* nothing has begun yet */
	op_close(&again);
	assert_int_equal(op_open(p->top, &ctx, &again, &e), ST_OK);
	assert_int_equal(op_state_restore(again, bytes.data, bytes.len, &e), ST_OK);
	par_rest(again, &got);
	par_rest(i, &first); /* the one that was saved goes on */
	if (sorted) {
		par_sort(&got);
		par_sort(&first);
	}
	assert_int_equal(got.len, want->len);
	assert_memory_equal(got.data, want->data, want->len);
	assert_int_equal(first.len, want->len);
	assert_memory_equal(first.data, want->data, want->len);
	op_close(&again);
	op_close(&i);
	buf_clear(&got);
	buf_clear(&first);
	buf_clear(&bytes);
	return true;
}

/* States of the spec, cut off or with a byte of the first `reach` changed, are refused
 * or give something; what they never do is harm. */
static inline void
par_false_states(const char *spec, size_t reach)
{
	struct op_ctx ctx = { .seed = 5 };
	struct plan *p = plan_from(spec);
	struct op_inst *i;
	struct buf bytes = { 0 };
	struct err e = { 0 };
	struct elem x;
	struct rng r = { .key = 9 };

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	assert_int_equal(op_next(i, &x, &e), ST_OK);
	assert_true(op_state_save(i, &bytes));
	op_close(&i);
	for (unsigned k = 0; k < 200; k++) {
		uint8_t *bad = mem_dup(bytes.data, bytes.len);
		size_t n = bytes.len;

		if (k % 2)
			n = rng_next(&r) % n;
		else
			bad[rng_next(&r) % (n < reach ? n : reach)] ^= (uint8_t)(1 + rng_next(&r) % 255);
		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		if (op_state_restore(i, bad, n, &e) == ST_OK)
			op_next(i, &x, &e);
		op_close(&i);
		mem_free(bad);
	}
	buf_clear(&bytes);
	plan_free(&p);
}

static inline void *
par_stopper(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

/* A spec that gives nothing and does not end is ended by stop. */
static inline void
par_stopped(const char *spec)
{
	atomic_bool stop = false;
	struct op_ctx ctx = { .seed = 5, .stop = &stop };
	struct plan *p = plan_from(spec);
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;
	pthread_t t;

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	pthread_create(&t, NULL, par_stopper, &stop);
	assert_int_equal(op_next(i, &x, &e), ST_AGAIN);
	pthread_join(t, NULL);
	op_close(&i);
	plan_free(&p);
}

#endif
