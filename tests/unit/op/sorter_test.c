/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "op/whole/sorter.h"
#include "value/mp.h"

/* An element [key, number], so that the order of equal keys can be seen. */
struct pair {
	uint8_t bytes[600];
	size_t key_len, len;
	uint64_t number;
};

static int sorter_sign; /* -1: reverse */

static int
pair_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int c = sorter_sign * mp_compare(x->bytes, x->key_len, y->bytes, y->key_len);

	return c ? c : (x->number > y->number) - (x->number < y->number);
}

/* A text of n bytes; the first one is a or b, the others are any of the first three of `of`. */
static uint8_t *
pair_text(uint8_t *to, struct rng *r, uint64_t n, const char *of)
{
	char text[320];

	for (uint64_t i = 0; i < n; i++)
		text[i] = i ? of[rng_below(r, 3)] : "ab"[rng_below(r, 2)];
	return mp_put_text(to, text, (uint32_t)n);
}

static void
pair_make(struct pair *p, struct rng *r, uint64_t number, int kind)
{
	uint8_t *to = p->bytes;
	char text[300];
	uint64_t draw = rng_below(r, 1000);

	switch (kind < 0 ? (int)rng_below(r, 5) : kind) {
	case 0: to = mp_put_int(to, (int64_t)draw - 500); break;
	case 1: to = mp_put_float(to, ((double)draw - 500) / 7); break;
	case 2:
		memset(text, 'p', sizeof text);
		snprintf(text + 250, 50, "%llu", (unsigned long long)draw);
		to = mp_put_text(to, text, (uint32_t)strlen(text));
		break;
	case 3: to = mp_put_int(mp_put_int(mp_put_list_head(to, 2), (int64_t)draw % 5), (int64_t)draw); break;
	case 5: to = pair_text(to, r, rng_below(r, 40), "\0ab"); break;    /* ends where others go on, maybe with NULs */
	case 6: to = pair_text(to, r, 300 + draw % 20, "zzzzz"); break;   /* only the length differs */
	case 7: to = mp_put_int(to, (int64_t)rng_next(r) >> draw % 60); break;
	case 8: to = mp_put_uint(to, rng_next(r) >> draw % 2); break; /* some do not fit 64 bits with a sign */
	default: to = mp_put_bool(to, draw & 1); break;
	}
	p->key_len = (size_t)(to - p->bytes);
	p->number = number;
	p->len = (size_t)(mp_put_uint(to, number) - to);
}

static void
sort_and_compare(int kind, size_t n, size_t mem, bool reverse)
{
	struct pair *pairs = mem_array(n + 1, sizeof *pairs);
	struct sorter *s = sorter_new(mem, reverse, NULL);
	struct rng r = { 7, 0 };
	struct run out = { 0 };
	struct err e;
	size_t at = 0;
	enum status st = ST_OK;

	for (size_t i = 0; i < n; i++) {
		struct pair *p = &pairs[i];

		pair_make(p, &r, i, kind);
		assert_int_equal(sorter_add(s, p->bytes, p->key_len, p->bytes + p->key_len, p->len, &e),
				 ST_OK);
	}
	sorter_sign = reverse ? -1 : 1;
	qsort(pairs, n, sizeof *pairs, pair_order);
	assert_int_equal(sorter_end(s, &e), ST_OK);
	while (st == ST_OK) {
		run_reset(&out);
		st = sorter_take(s, &out, &e);
		for (uint32_t i = 0; i < out.n; i++, at++) {
			assert_true(at < n);
			assert_int_equal(out.e[i].len, pairs[at].len);
			assert_memory_equal(out.e[i].p, pairs[at].bytes + pairs[at].key_len, pairs[at].len);
		}
	}
	assert_int_equal(st, ST_END);
	assert_int_equal(at, n);
	run_clear(&out);
	sorter_free(&s);
	mem_free(pairs);
}

static void
sorts_in_memory(void **state)
{
	(void)state;
	for (int kind = -1; kind < 9; kind++)
		for (int reverse = 0; reverse < 2; reverse++)
			sort_and_compare(kind, 3000, 1 << 24, reverse);
	sort_and_compare(0, 0, 1 << 20, false);
	sort_and_compare(0, 1, 1 << 20, false);
	sort_and_compare(0, 17, 1 << 20, true);
	sort_and_compare(5, 20000, 1 << 26, false);
	sort_and_compare(5, 20000, 1 << 26, true);
}

static void
sorts_by_merging_parts_of_a_file(void **state)
{
	(void)state;
	for (int kind = -1; kind < 9; kind++)
		for (int reverse = 0; reverse < 2; reverse++)
			sort_and_compare(kind, 3000, 16 * 1024, reverse);
}

static void
merges_more_parts_than_at_once(void **state)
{
	(void)state;
	/* A part for every few elements: several levels of four. */
	sort_and_compare(-1, 1000, 600, false);
	sort_and_compare(-1, 1000, 600, true);
	sort_and_compare(2, 100, 1, false);
	/* So many parts that marks would be farther apart than numbers reach. */
	sort_and_compare(0, 20000, 200, false);
}

/* An integer of any width; from the `plain`-th on now and then one in a longer form, or an equal float. */
static void
pair_make_own(struct pair *p, struct rng *r, uint64_t number, uint64_t plain)
{
	int64_t v = (int64_t)rng_next(r) >> rng_below(r, 64);
	uint8_t *to = p->bytes;
	uint64_t draw = rng_below(r, 4);

	if (number < plain || draw > 1) {
		to = mp_put_int(to, v);
	} else if (draw) {
		to = mp_put_float(to, (double)v);
	} else {
		*to = 0xd3;
		to = mp_put_u64(to + 1, (uint64_t)v);
	}
	p->key_len = p->len = (size_t)(to - p->bytes);
	p->number = number;
}

static void
sort_own(size_t n, uint64_t plain, size_t mem, bool reverse)
{
	struct pair *pairs = mem_array(n + 1, sizeof *pairs);
	struct sorter *s = sorter_new(mem, reverse, NULL);
	struct rng r = { n + plain, 0 };
	struct run out = { 0 };
	struct buf saved = { 0 };
	struct err e;
	size_t at = 0, bytes = 0;
	enum status st = ST_OK;

	for (size_t i = 0; i < n; i++) {
		pair_make_own(&pairs[i], &r, i, plain);
		assert_int_equal(sorter_add(s, NULL, 0, pairs[i].bytes, pairs[i].len, &e), ST_OK);
		bytes += pairs[i].len;
	}
	if (sorter_can_save(s)) {
		sorter_save(s, true, &saved);
		assert_int_equal(saved.len, bytes);
	}
	sorter_sign = reverse ? -1 : 1;
	qsort(pairs, n, sizeof *pairs, pair_order);
	while (st == ST_OK) {
		run_reset(&out);
		st = sorter_give(s, &out, &e);
		for (uint32_t i = 0; i < out.n; i++, at++) {
			assert_true(at < n);
			assert_int_equal(out.e[i].len, pairs[at].len);
			assert_memory_equal(out.e[i].p, pairs[at].bytes, pairs[at].len);
		}
	}
	assert_int_equal(st, ST_END);
	assert_int_equal(at, n);
	run_clear(&out);
	buf_clear(&saved);
	sorter_free(&s);
	mem_free(pairs);
}

static void
sorts_integers_that_are_their_own_keys(void **state)
{
	(void)state;
	for (int reverse = 0; reverse < 2; reverse++) {
		static const size_t mems[] = { 1 << 26, 64 * 1024, 700 };

		for (size_t i = 0; i < 3; i++) {
			sort_own(3000, UINT64_MAX, mems[i], reverse);
			sort_own(3000, 2990, mems[i], reverse);
			sort_own(3000, 20, mems[i], reverse);
			sort_own(3000, 0, mems[i], reverse);
		}
		sort_own(100 * 1000, UINT64_MAX, 1 << 26, reverse);
		sort_own(1, 1, 1, reverse);
		sort_own(0, 0, 1, reverse);
	}
}

/* So many that they are sorted in ranges, which other threads sort ahead. */
static void
threads_change_nothing(void **state)
{
	static const int kinds[] = { -1, 2, 4, 5 };

	(void)state;
	for (uint32_t threads = 1; threads < 5; threads += 3) {
		pool_set_size(threads);
		for (size_t i = 0; i < 4; i++) {
			sort_and_compare(kinds[i], 70000, 1 << 26, i & 1);
			sort_and_compare(kinds[i], 70000, 1 << 22, !(i & 1)); /* written, and merged in ranges */
			sort_and_compare(kinds[i], 70000, 1 << 20, i & 1);
		}
		sort_own(100 * 1000, UINT64_MAX, 1 << 20, threads > 1);
		sort_own(200 * 1000, 199 * 1000, 1 << 21, threads > 1);
	}
	pool_set_size(0);
}

static void
takes_some_and_saves_or_frees_the_rest(void **state)
{
	(void)state;
	for (int ints = 0; ints < 2; ints++) {
		struct sorter *s = sorter_new(1 << 26, false, NULL), *again = sorter_new(1 << 26, false, NULL);
		struct run out = { 0 }, rest = { 0 };
		struct buf saved = { 0 };
		struct rng r = { 3, 0 };
		struct err e;

		pool_set_size(4);
		for (size_t i = 0; i < 200 * 1000; i++) {
			uint8_t text[32], *end;

			end = ints ? mp_put_int(text, (int64_t)rng_below(&r, 1 << 30)) :
				mp_put_text(text, "abcdefgh", 1 + (uint32_t)rng_below(&r, 8));
			assert_int_equal(sorter_add(s, NULL, 0, text, (size_t)(end - text), &e), ST_OK);
		}
		assert_int_equal(sorter_give(s, &out, &e), ST_OK);
		sorter_save(s, false, &saved);
		for (const uint8_t *p = saved.data, *end = p + saved.len; p < end;) {
			const uint8_t *next = mp_skip(p, end);

			assert_int_equal(sorter_add(again, NULL, 0, p, (size_t)(next - p), &e), ST_OK);
			p = next;
		}
		run_reset(&out);
		assert_int_equal(sorter_give(s, &out, &e), ST_OK);
		assert_int_equal(sorter_give(again, &rest, &e), ST_OK);
		assert_int_equal(out.n, rest.n);
		for (uint32_t i = 0; i < out.n; i++) {
			assert_int_equal(out.e[i].len, rest.e[i].len);
			assert_memory_equal(out.e[i].p, rest.e[i].p, out.e[i].len);
		}
		sorter_free(&s);
		sorter_free(&again);
		run_clear(&out);
		run_clear(&rest);
		buf_clear(&saved);
	}
	pool_set_size(0);
}

/* While threads write a part, or merge ranges that nobody will take. */
static void
may_be_freed_while_threads_are_at_work(void **state)
{
	(void)state;
	pool_set_size(2);
	for (size_t i = 0; i < 16; i++) {
		struct sorter *s = sorter_new(1 << 22, false, NULL);
		size_t n = i % 2 ? 40000 : i * 2500;
		struct rng r = { i, 0 };
		struct run out = { 0 };
		struct pair p;
		struct err e;

		for (size_t k = 0; k < n; k++) {
			pair_make(&p, &r, k, 2);
			assert_int_equal(sorter_add(s, p.bytes, p.key_len, p.bytes + p.key_len, p.len, &e), ST_OK);
		}
		if (i % 2)
			assert_int_equal(sorter_give(s, &out, &e), ST_OK);
		sorter_free(&s);
		run_clear(&out);
	}
	pool_set_size(0);
}

static void
says_when_there_is_no_folder(void **state)
{
	struct sorter *s = sorter_new(1, false, "/nowhere/at/all");
	struct err e = { 0 };
	uint8_t one = 1;

	(void)state;
	assert_int_equal(sorter_add(s, NULL, 0, &one, 1, &e), ST_OK);
	assert_int_equal(sorter_add(s, NULL, 0, &one, 1, &e), ST_NOINPUT);
	assert_non_null(strstr(e.text, "/nowhere/at/all"));
	assert_non_null(strstr(e.help, "TMPDIR"));
	sorter_free(&s);
}
