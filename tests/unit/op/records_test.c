/* SPDX-License-Identifier: MIT
 * Sources of values: ndjson, msgpack, whole, files.
 */
#include "file_help.h"

#include "value/json.h"
#include "value/mp.h"

extern const struct op_desc op_ndjson, op_msgpack, op_whole, op_files;

/* ---- ndjson ---- */

static void
ndjson_lines_become_values(void **state)
{
	(void)state;
	file_text("j", "{\"a\": 1, \"b\": [true, null]}\n\n  \n\"x\"\r\n-3.5\n18446744073709551615");
	src_expect(&op_ndjson, "j", "{\"a\":1,\"b\":[true,null]}\nx\n-3.5\n18446744073709551615\n");
	file_text("none", "");
	src_expect(&op_ndjson, "none", "");
	file_text("blank", "\n\n\n");
	src_expect(&op_ndjson, "blank j none",
		   "{\"a\":1,\"b\":[true,null]}\nx\n-3.5\n18446744073709551615\n");
}

static void
a_bad_line_is_named_or_skipped(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_text("bad", "{\"a\":1}\n\n{\"a\":2}\n{broken\n{\"a\":3}\n[1,\n4\ntrailing");
	src_init(&s, &op_ndjson, "bad");
	assert_int_equal(src_all(&s, &got), ST_DATA);
	assert_string_equal((char *)got.data, "{\"a\":1}\n{\"a\":2}\n");
	assert_string_equal(s.e.file, "bad");
	assert_int_equal(s.e.line, 4);
	src_clear(&s);
	buf_reset(&got);

	src_init(&s, &op_ndjson, "bad");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n4\n");
	assert_int_equal(s.failures, 3);
	assert_int_equal(s.failure_line, 8);
	src_clear(&s);
	buf_clear(&got);
}

static void
ndjson_projects_fields(void **state)
{
	static const char *names[] = { "b" };
	static uint32_t lens[] = { 1 };
	struct json_fields fields = { names, lens, 1 };
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_text("p", "{\"a\":1,\"b\":2,\"c\":3}\n{\"a\":1}\n7\n");
	src_init(&s, &op_ndjson, "p");
	s.node.project = &fields;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "{\"b\":2}\n{}\n7\n");
	src_clear(&s);
	buf_clear(&got);
}

static void
ndjson_byte_ranges_give_each_value_once(void **state)
{
	static const char text[] = "{\"a\":1}\n\n[2,3]\n   \n4\n\"five\"\n6";
	enum { SIZE = sizeof text - 1 };

	(void)state;
	file_text("r", text);
	for (size_t step = 1; step <= SIZE + 1; step++) {
		struct buf got = { 0 };

		for (size_t at = 0; at < SIZE; at += step) {
			struct src s;

			src_init(&s, &op_ndjson, "gone");
			s.has_split = true;
			s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("r"), .times = 1,
						  .start = at, .count = step };
			assert_int_equal(src_all(&s, &got), ST_END);
			src_clear(&s);
		}
		assert_string_equal((char *)got.data, "{\"a\":1}\n[2,3]\n4\nfive\n6\n");
		buf_clear(&got);
	}
}

static void
a_bad_line_in_a_byte_range_is_named_by_its_byte(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_text("r", "1\n2\nbroken\n");
	src_init(&s, &op_ndjson, "gone");
	s.has_split = true;
	s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("r"), .times = 1,
				  .start = 2, .count = 9 };
	assert_int_equal(src_all(&s, &got), ST_DATA);
	assert_string_equal((char *)got.data, "2\n");
	if (!strstr(s.e.text, "at byte 4"))
		assert_string_equal(s.e.text, "... at byte 4 ...");
	src_clear(&s);
	buf_clear(&got);
}

static void
many_values_pass_windows_and_runs(void **state)
{
	struct buf text = { 0 }, want = { 0 }, got = { 0 };
	struct src s;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		buf_printf(&text, "{\"i\": %d, \"t\": \"%.*s\"}\n%s", i, i % 40,
			   "abcdefghijklmnopqrstuvwxyz0123456789ABCD", i % 7 ? "" : "\n");
		buf_printf(&want, "{\"i\":%d,\"t\":\"%.*s\"}\n", i, i % 40,
			   "abcdefghijklmnopqrstuvwxyz0123456789ABCD");
	}
	file_put("many", text.data, text.len);
	file_put_packed("many.zst", ARCHIVE_FILTER_ZSTD, text.data, text.len);
	src_init(&s, &op_ndjson, "many many.zst");
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_int_equal(got.len, 2 * want.len);
	assert_memory_equal(got.data, want.data, want.len);
	assert_memory_equal(got.data + want.len, want.data, want.len);
	src_clear(&s);
	file_text("short", "{\"i\":1}\n2\n\n[3]\n\n\n4\n");
	src_expect_resumes(&op_ndjson, "short short", NULL);
	buf_clear(&text);
	buf_clear(&want);
	buf_clear(&got);
}

static void
a_huge_json_line_is_read_or_refused(void **state)
{
	struct buf text = { 0 };
	struct src s;
	struct elem e;

	(void)state;
	buf_str(&text, "[0");
	for (int i = 1; i < 300000; i++)
		buf_printf(&text, ",%d", i);
	buf_str(&text, "]\n7\n");
	file_put("huge", text.data, text.len);
	src_init(&s, &op_ndjson, "huge");
	s.ctx.element_max = 1 << 24;
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_true(e.len > 300000);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_int_equal(e.p[0], 7);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_END);
	src_clear(&s);
	src_init(&s, &op_ndjson, "huge");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_int_equal(e.p[0], 7);
	assert_int_equal(s.failures, 1);
	assert_int_equal(s.failure_line, 1);
	src_clear(&s);
	buf_clear(&text);
}

/* ---- msgpack ---- */

static void
msgpack_values_follow_each_other(void **state)
{
	static const char bytes[] = "\x01\xff\xc0\xc3\xa2hi\x92\x01\x91\xa1x\x81\xa1k\xcd\x01\x00"
				    "\xc4\x02\0\1\xd4\x05z\xcb\x3f\xf8\0\0\0\0\0\0\xd9\x03" "abc";

	(void)state;
	file_put("m", bytes, sizeof bytes - 1);
	struct src s;
	struct elem e;
	size_t at = 0, n = 0;

	src_init(&s, &op_msgpack, "m");
	assert_int_equal(src_open(&s), ST_OK);
	while (op_next(s.inst, &e, &s.e) == ST_OK) {
		assert_memory_equal(e.p, bytes + at, e.len);
		at += e.len;
		n++;
	}
	assert_int_equal(at, sizeof bytes - 1);
	assert_int_equal(n, 11);
	src_clear(&s);
	file_text("mempty", "");
	src_expect(&op_msgpack, "mempty", "");
	src_expect_resumes(&op_msgpack, "m mempty m", NULL);
}

static void
a_cut_off_value_is_an_error_with_its_offset(void **state)
{
	static const char *const values[] = { "\x92\x01", "\xa5" "abc", "\xcd\x01", "\xc4", "\xdb\0\0\1",
					      "\x81\xa1k", "\xc7\x09\x01", "\xdd\0\0\0\2\1" };
	static const size_t lens[] = { 2, 4, 2, 1, 4, 3, 3, 6 };

	(void)state;
	for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
		struct buf b = { 0 };

		buf_put(&b, "\x01\x02", 2);
		buf_put(&b, values[i], lens[i]);
		file_put("m", b.data, b.len);
		src_expect_fault(&op_msgpack, "m", "1\n2\n", ST_DATA,
				 "a cut off MessagePack value at byte 2");
		buf_clear(&b);
	}
}

static void
malformed_and_too_large_values_end_their_file(void **state)
{
	struct buf deep = { 0 }, got = { 0 };
	struct src s;

	(void)state;
	file_put("bad", "\x01\xc1\x02", 3);
	file_put("next", "\x07", 1);
	src_expect_fault(&op_msgpack, "bad next", "1\n", ST_DATA, "a malformed MessagePack value at byte 1");
	src_init(&s, &op_msgpack, "bad next");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "1\n7\n");
	assert_int_equal(s.failures, 1);
	src_clear(&s);
	file_put("claims", "\x01\xdf\xff\xff\xff\xff\x01\x02", 8);
	src_expect_fault(&op_msgpack, "claims", "1\n", ST_DATA, "a value of more than 1048576 bytes at byte 1");
	file_put("claims", "\xdb\xff\xff\xff\xff", 5);
	src_expect_fault(&op_msgpack, "claims", "", ST_DATA, "a value of more than 1048576 bytes at byte 0");
	for (int i = 0; i < 200; i++)
		buf_byte(&deep, 0x91);
	buf_byte(&deep, 1);
	file_put("deep", deep.data, deep.len);
	src_expect_fault(&op_msgpack, "deep", "", ST_DATA, "malformed");
	buf_clear(&deep);
	buf_clear(&got);
}

/* Values that are larger than a read, coming in pieces. */
static void
large_values_come_together(void **state)
{
	enum { BIG = 700000 };
	struct buf b = { 0 };
	struct src s;
	struct elem e;

	(void)state;
	for (int k = 0; k < 3; k++) {
		buf_put(&b, "\xdd\0\0\xc3\x50", 5); /* 50000 items */
		for (int i = 0; i < 50000; i++)
			buf_put(&b, "\xce\1\2\3\4", 5);
		uint8_t *p = buf_room(&b, BIG + 5);
		p = mp_put_bytes_head(p, BIG);
		memset(p, k, BIG);
		b.len += BIG + 5;
	}
	file_put_packed("big", ARCHIVE_FILTER_LZ4, b.data, b.len);
	src_init(&s, &op_msgpack, "big");
	assert_int_equal(src_open(&s), ST_OK);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
		assert_int_equal(e.len, 250005);
		assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
		assert_int_equal(e.len, BIG + 5);
		assert_int_equal(e.p[BIG / 2], k);
	}
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_END);
	src_clear(&s);
	buf_clear(&b);
}

/* Runs that are kept hold on to what they lie in, though reading goes on. */
static void
kept_runs_stay_as_they_are(void **state)
{
	enum { N = 100000 };
	struct buf b = { 0 };
	struct src s;
	struct run *r, kept;
	uint32_t first = 0, seen = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint8_t *p = buf_room(&b, 5);

		*p = 0xce;
		mp_put_u32(p + 1, i);
		b.len += 5;
	}
	file_put("ints1", b.data, N);
	file_put("ints2", b.data + N, b.len - N);
	src_init(&s, &op_msgpack, "ints1 ints2");
	assert_int_equal(src_open(&s), ST_OK);
	run_init(&kept);
	while (op_pull(s.inst, &r, &s.e) == ST_OK) {
		for (uint32_t i = 0; i < kept.n; i++) {
			uint8_t want[5] = { 0xce };

			mp_put_u32(want + 1, first + i);
			assert_memory_equal(kept.e[i].p, want, 5);
		}
		first = seen;
		seen += r->n;
		run_move(&kept, &s.inst->out);
	}
	assert_int_equal(seen, N);
	run_clear(&kept);
	src_clear(&s);
	buf_clear(&b);
}

/* ---- whole, files ---- */

static void
whole_files_are_bytes(void **state)
{
	struct buf text = { 0 };
	struct src s;
	struct elem e;
	struct mp m;
	static const char *const names[] = { "w", "w.gz", "w.xz" };

	(void)state;
	file_lines_text(&text, 9000);
	file_put("w", text.data, text.len);
	file_put_packed("w.gz", ARCHIVE_FILTER_GZIP, text.data, text.len);
	file_put_packed("w.xz", ARCHIVE_FILTER_XZ, text.data, text.len);
	file_text("w0", "");
	file_text("w1", "a\nb");
	src_init(&s, &op_whole, "w w.gz w.xz w0 w1");
	assert_int_equal(op_whole.cardinality(&s.node, NULL), 5);
	assert_int_equal(src_open(&s), ST_OK);
	for (int i = 0; i < 3; i++) {
		struct run *r;

		assert_int_equal(op_pull(s.inst, &r, &s.e), ST_OK);
		e = r->e[0];
		assert_non_null(mp_head(e.p, e.p + e.len, &m));
		assert_int_equal(m.kind, MP_BYTES);
		assert_int_equal(m.n, text.len);
		assert_memory_equal(m.p, text.data, text.len);
		assert_string_equal(r->file, names[i]);
		/* large ones are lent where they were read, not copied */
		assert_true(e.block && e.block != r->arena);
	}
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_memory_equal(e.p, "\xc4\0", 2);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_memory_equal(e.p, "\xc4\3a\nb", 5);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_END);
	src_clear(&s);
	file_text("w1", "one");
	file_text("w2", "two");
	file_put_packed("w3.gz", ARCHIVE_FILTER_GZIP, "gzip", 4);
	src_expect_resumes(&op_whole, "w1 w2 w0 w3.gz w1", NULL);
	buf_clear(&text);
}

static void
a_file_too_large_for_an_element_is_an_error_or_skipped(void **state)
{
	char *zeros = mem_zalloc(2000000);
	struct buf got = { 0 };
	struct src s;

	(void)state;
	file_put("big", zeros, 2000000);
	file_put_packed("big.gz", ARCHIVE_FILTER_GZIP, zeros, 2000000);
	file_text("w1", "x");
	src_expect_fault(&op_whole, "w1 big", "x\n", ST_DATA, "a file of more than 1048576 bytes");
	src_expect_fault(&op_whole, "w1 big.gz", "x\n", ST_DATA, "a file of more than 1048576 bytes");
	src_init(&s, &op_whole, "big w1 big.gz w1 gone");
	s.node.on_error = OP_SKIP;
	file_text("gone", "");
	assert_int_equal(src_open(&s), ST_OK);
	unlink("gone");
	assert_int_equal(src_read(&s, &got, UINT64_MAX), ST_END);
	assert_string_equal((char *)got.data, "x\nx\n");
	assert_int_equal(s.failures, 3);
	src_clear(&s);
	buf_clear(&got);
	mem_free(zeros);
}

static void
files_gives_names(void **state)
{
	struct split_list l = { 0 };
	struct split one = { .kind = SPLIT_FILE, .whole = true, .times = 1 };
	struct buf a = { 0 }, b = { 0 }, c = { 0 };
	struct src s;

	(void)state;
	for (int i = 9; i >= 0; i--) {
		char name[16];

		snprintf(name, sizeof name, "dir/%d", i);
		file_text(name, "");
	}
	src_expect(&op_files, "dir/*", "dir/0\ndir/1\ndir/2\ndir/3\ndir/4\ndir/5\ndir/6\n"
					"dir/7\ndir/8\ndir/9\n");
	src_expect_resumes(&op_files, "dir/* shuffle=true seed=5", NULL);
	src_init(&s, &op_files, "dir/*");
	assert_int_equal(op_files.cardinality(&s.node, NULL), 10);
	assert_int_equal(op_files.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.n == 10 && l.v[3].whole && !strcmp(l.v[3].path, "dir/3"));
	split_list_clear(&l);
	one.path = mem_strdup("dir/7");
	s.has_split = true;
	s.split = one;
	assert_int_equal(src_all(&s, &a), ST_END);
	assert_string_equal((char *)a.data, "dir/7\n");
	src_clear(&s);

	/* a shuffle: the same for the same seed, another at the next pass */
	buf_reset(&a);
	src_init(&s, &op_files, "dir/* shuffle=true seed=5");
	assert_int_equal(src_all(&s, &a), ST_END);
	assert_int_equal(op_rewind(s.inst, &s.e), ST_OK);
	assert_int_equal(src_read(&s, &b, UINT64_MAX), ST_END);
	src_clear(&s);
	src_init(&s, &op_files, "dir/* shuffle=true seed=5");
	assert_int_equal(src_all(&s, &c), ST_END);
	src_clear(&s);
	assert_int_equal(a.len, 60);
	assert_string_equal((char *)a.data, (char *)c.data);
	assert_true(strcmp((char *)a.data, (char *)b.data) != 0);
	buf_clear(&a);
	buf_clear(&b);
	buf_clear(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ndjson_lines_become_values),
		cmocka_unit_test(a_bad_line_is_named_or_skipped),
		cmocka_unit_test(ndjson_projects_fields),
		cmocka_unit_test(ndjson_byte_ranges_give_each_value_once),
		cmocka_unit_test(a_bad_line_in_a_byte_range_is_named_by_its_byte),
		cmocka_unit_test(many_values_pass_windows_and_runs),
		cmocka_unit_test(a_huge_json_line_is_read_or_refused),
		cmocka_unit_test(msgpack_values_follow_each_other),
		cmocka_unit_test(a_cut_off_value_is_an_error_with_its_offset),
		cmocka_unit_test(malformed_and_too_large_values_end_their_file),
		cmocka_unit_test(large_values_come_together),
		cmocka_unit_test(kept_runs_stay_as_they_are),
		cmocka_unit_test(whole_files_are_bytes),
		cmocka_unit_test(a_file_too_large_for_an_element_is_an_error_or_skipped),
		cmocka_unit_test(files_gives_names),
	};
	return cmocka_run_group_tests(tests, file_setup, file_teardown);
}
