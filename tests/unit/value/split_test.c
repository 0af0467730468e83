/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "value/mp.h"
#include "value/split.h"

static char path[] = "logs/a b.txt", tag[] = "\"e-1\"";

static const struct split samples[] = {
	{ .kind = SPLIT_ALL, .times = 1 },
	{ .kind = SPLIT_RANGE, .leaf = 3, .cuttable = true, .start = 10, .count = INT64_MAX,
	  .times = INT64_MAX, .weight = UINT64_MAX },
	{ .kind = SPLIT_FILE, .whole = true, .path = path, .times = 1, .weight = 300 },
	{ .kind = SPLIT_FILE, .cuttable = true, .path = path, .start = 1 << 20, .count = 70000,
	  .times = 5, .weight = 70000 },
	{ .kind = SPLIT_RANGE, .start = 70, .count = 30, .times = 1, .of = INT64_MAX },
	{ .kind = SPLIT_FILE, .path = path, .tag = tag, .start = 5, .count = 7, .times = 1 },
	{ .kind = SPLIT_RANGE, .grows = true, .cuttable = true, .count = INT64_MAX, .times = 1 },
};

static void
encoding_keeps_every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		struct buf b = { 0 };
		struct split s = { 0 };
		const struct split *want = &samples[i];

		split_encode(want, &b);
		assert_true(mp_check(b.data, b.len));
		assert_int_equal(split_decode(b.data, b.len, &s, NULL), ST_OK);
		assert_int_equal(s.kind, want->kind);
		assert_int_equal(s.leaf, want->leaf);
		assert_int_equal(s.whole, want->whole);
		assert_int_equal(s.cuttable, want->cuttable);
		assert_int_equal(s.grows, want->grows);
		assert_int_equal(!s.tag, !want->tag);
		if (want->tag)
			assert_string_equal(s.tag, want->tag);
		assert_true(s.start == want->start && s.count == want->count);
		assert_true(s.times == want->times && s.weight == want->weight && s.of == want->of);
		assert_int_equal(!s.path, !want->path);
		if (s.path)
			assert_string_equal(s.path, want->path);
		split_clear(&s);
		split_clear(&s);
		buf_clear(&b);
	}
}

static void
every_cut_off_encoding_is_refused(void **state)
{
	struct buf b = { 0 };
	struct split s = { 0 };
	struct err e;

	(void)state;
	split_encode(&samples[3], &b);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(split_decode(b.data, n, &s, &e), ST_PROTO);
	buf_byte(&b, 0);
	assert_int_equal(split_decode(b.data, b.len, &s, &e), ST_PROTO);
	assert_null(s.path);
	buf_clear(&b);
}

static void
refused(const struct split *s)
{
	struct buf b = { 0 };
	struct split got = { 0 };

	split_encode(s, &b);
	assert_int_equal(split_decode(b.data, b.len, &got, NULL), ST_PROTO);
	buf_clear(&b);
}

static void
what_makes_no_sense_is_refused(void **state)
{
	static char empty[] = "", huge[5000];
	struct split s;

	(void)state;
	memset(huge, 'x', sizeof huge - 1);
	s = samples[3], s.times = 0, refused(&s);
	s = samples[3], s.start = UINT64_MAX, refused(&s);
	s = samples[3], s.count = (uint64_t)INT64_MAX + 1, refused(&s);
	s = samples[3], s.path = NULL, refused(&s);
	s = samples[3], s.path = empty, refused(&s);
	s = samples[3], s.path = huge, refused(&s);
	s = samples[1], s.path = path, refused(&s);
	s = samples[4], s.of = (uint64_t)INT64_MAX + 1, refused(&s);
	s = samples[1], s.kind = (enum split_kind)3, refused(&s);
}

static void
a_path_with_a_nul_is_refused(void **state)
{
	struct buf b = { 0 };
	struct split got = { 0 };

	(void)state;
	split_encode(&samples[2], &b);
	*(char *)memchr(b.data, 'b', b.len) = 0;
	assert_int_equal(split_decode(b.data, b.len, &got, NULL), ST_PROTO);
	buf_clear(&b);
}

static void
any_flipped_byte_is_harmless(void **state)
{
	struct buf b = { 0 };

	(void)state;
	split_encode(&samples[3], &b);
	for (size_t i = 0; i < b.len; i++)
		for (int v = 0; v < 256; v++) {
			uint8_t was = b.data[i];
			struct split got = { 0 };

			b.data[i] = (uint8_t)v;
			split_decode(b.data, b.len, &got, NULL);
			split_clear(&got);
			b.data[i] = was;
		}
	buf_clear(&b);
}

static void
a_list_owns_copies(void **state)
{
	struct split_list l = { 0 };
	char name[] = "one";
	struct split s = { .kind = SPLIT_FILE, .path = name, .times = 1 };

	(void)state;
	for (int i = 0; i < 100; i++)
		split_list_add(&l, &s);
	name[0] = 'x';
	assert_int_equal(l.n, 100);
	assert_string_equal(l.v[99].path, "one");
	split_list_clear(&l);
	assert_null(l.v);
	split_list_clear(&l);
}

static void
names_of_files_make_the_sum_of_a_list_in_any_order(void **state)
{
	const char *names[][2] = { { "ab", "c" }, { "a", "bc" }, { "c", "ab" } };
	struct split_list none = { 0 };
	uint64_t sums[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct split_list l = { 0 };

		for (int k = 0; k < 2; k++)
			split_list_add(&l, &(struct split){ .kind = SPLIT_FILE, .path = (char *)(uintptr_t)names[i][k], .times = 1,
				.weight = (uint64_t)(i + k) });
		sums[i] = split_list_names(&l);
		l.v[0].weight = 100; /* a file may have grown */
		assert_int_equal(split_list_names(&l), sums[i]);
		split_list_clear(&l);
	}
	assert_true(sums[0] && sums[0] != sums[1] && sums[0] == sums[2]);
	assert_int_equal(split_list_names(&none), 0);
	split_list_add(&none, &(struct split){ .kind = SPLIT_RANGE, .count = 3, .times = 1 });
	assert_int_equal(split_list_names(&none), 0);
	split_list_clear(&none);
}
