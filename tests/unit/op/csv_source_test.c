/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#include "op/file/file_csv.h"

#define GROUP_SETUP file_setup
#define GROUP_TEARDOWN file_teardown

extern const struct op_desc op_csv, op_tsv;

static void
files_have_each_their_header(void **state)
{
	(void)state;
	file_text("a.csv", "id,n\nx,1\ny,2\n");
	file_text("b.csv", "n,id\n3,z\n");
	src_expect(&op_csv, "a.csv b.csv",
		   "{\"id\":\"x\",\"n\":1}\n{\"id\":\"y\",\"n\":2}\n{\"n\":3,\"id\":\"z\"}\n");
	file_put_packed("c.csv.gz", ARCHIVE_FILTER_GZIP, "a\n1\n", 4);
	src_expect(&op_csv, "c.csv.gz types=text", "{\"a\":\"1\"}\n");
	src_expect(&op_csv, "a.csv header=false", "[\"id\",\"n\"]\n[\"x\",1]\n[\"y\",2]\n");
	file_text("semi", "a;b\n'1;2';3\n");
	src_expect(&op_csv, "semi delim=; quote='", "{\"a\":\"1;2\",\"b\":3}\n");
	src_expect_fault(&op_csv, "semi delim=;;", "", ST_DATA, "not one byte");
	src_expect_fault(&op_csv, "semi delim=\\n", "", ST_DATA, "must differ");
	file_text("t.tsv", "a\tb\n1\tx\\ty\n");
	src_expect(&op_tsv, "t.tsv", "{\"a\":1,\"b\":\"x\\ty\"}\n");
}

static void
bad_rows_name_file_and_line(void **state)
{
	struct buf got = { 0 };
	struct src s;

	(void)state;
	file_text("bad.csv", "a,b\n1,\"x\ny\"\n2\n3,4\n");
	src_expect_fault(&op_csv, "bad.csv", "{\"a\":1,\"b\":\"x\\ny\"}\n", ST_DATA, "a row of 1 field, ");
	src_init(&s, &op_csv, "bad.csv");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "{\"a\":1,\"b\":\"x\\ny\"}\n{\"a\":3,\"b\":4}\n");
	assert_int_equal(s.failures, 1);
	assert_string_equal(s.failure_file, "bad.csv");
	assert_int_equal(s.failure_line, 4);
	src_clear(&s);
	buf_clear(&got);
}

static void
a_row_larger_than_an_element_may_be_is_skipped(void **state)
{
	struct buf text = { 0 }, got = { 0 };
	struct src s;

	(void)state;
	buf_str(&text, "a,b\n1,");
	for (int i = 0; i < 100000; i++)
		buf_str(&text, "0123456789 123456789");
	buf_str(&text, "\n2,3\n");
	file_put("large.csv", text.data, text.len);
	src_init(&s, &op_csv, "large.csv");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "{\"a\":2,\"b\":3}\n");
	src_clear(&s);
	buf_clear(&got);
	buf_clear(&text);
}

static void
csv_rows_text(struct buf *b, int n)
{
	buf_str(b, "id,text,\"n\"\n");
	for (int i = 0; i < n; i++)
		buf_printf(b, "%d,%s,%d.25\n", i, i % 7 ? "word" : "\"a \"\"b\"\",\nc\"", i * 3);
}

static void
a_position_is_taken_up_again(void **state)
{
	struct buf text = { 0 };

	(void)state;
	csv_rows_text(&text, 60);
	file_put("one.csv", text.data, text.len);
	file_put_packed("two.csv", ARCHIVE_FILTER_GZIP, text.data, text.len);
	src_expect_resumes(&op_csv, "one.csv two.csv", NULL);
	src_expect_resumes(&op_csv, "one.csv header=false", NULL);
	buf_clear(&text);
}

/* Every cover of the file by byte ranges gives each row once. */
static void
byte_ranges_without_quotes(void **state)
{
	static const char text[] = "id,n\n\n1,a\n22,bb\r\n\n333,ccc\n4,\n";
	struct buf want = { 0 };
	struct src whole;

	(void)state;
	file_text("split", text);
	src_init(&whole, &op_csv, "split quote=none");
	assert_int_equal(src_all(&whole, &want), ST_END);
	src_clear(&whole);
	for (size_t step = 1; step <= sizeof text; step++) {
		struct buf got = { 0 };

		buf_str(&got, "");
		for (size_t at = 0; at < sizeof text - 1; at += step) {
			struct src s;

			src_init(&s, &op_csv, "gone quote=none");
			s.has_split = true;
			s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("split"), .times = 1,
						  .start = at, .count = step };
			assert_int_equal(src_all(&s, &got), ST_END);
			src_clear(&s);
		}
		assert_string_equal((char *)got.data, (char *)want.data);
		buf_clear(&got);
	}
	buf_clear(&want);
}

static void
only_files_without_quotes_are_cut(void **state)
{
	struct split_list l = { 0 };
	struct src s;

	(void)state;
	file_text("x.csv", "a\n1\n");
	assert_int_equal(truncate("x.csv", 3000000), 0);
	src_init(&s, &op_csv, "x.csv");
	assert_int_equal(op_csv.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.v[0].whole && !l.v[0].cuttable);
	src_clear(&s);
	split_list_clear(&l);
	src_init(&s, &op_csv, "x.csv quote=none");
	assert_int_equal(op_csv.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.v[0].cuttable);
	src_clear(&s);
	split_list_clear(&l);
}

static void
typed(const char *args, const char *want)
{
	struct op_typing t = { .arena = types_new() };
	const struct type *type;
	struct buf text = { 0 };
	struct src s;

	src_init(&s, &op_csv, args);
	assert_int_equal(op_csv.typing(&s.node, &t, &type, &s.e), ST_OK);
	type_print(type, &text);
	assert_string_equal((char *)text.data, want);
	buf_clear(&text);
	src_clear(&s);
	types_free(&t.arena);
}

static void
the_header_is_the_type(void **state)
{
	(void)state;
	file_text("h1.csv", "a,b\n");
	file_text("h2.csv", "a,c\n");
	typed("h1.csv", "{a: any, b: any}");
	typed("h1.csv types=text", "{a: text, b: text}");
	typed("nowhere.csv", "any");
	typed("-", "any");
	typed("h1.csv header=false", "[any]");
	typed("h1.csv h2.csv types=text", "{a: text, ...}");
}

/* libarchive takes nothing of this and does not complain. */
static void
what_only_looks_packed_comes_to_an_end(void **state)
{
	char text[64] = "BZh\"1AY&SY4`,4,a\",48,\"";

	(void)state;
	memset(text + 24, 'e', sizeof text - 24);
	file_put("odd.csv", text, sizeof text);
	src_expect_fault(&op_csv, "odd.csv", "", ST_DATA, "cannot decompress");
}
