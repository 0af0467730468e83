/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#include <pthread.h>

#include "op/file/file_source.h"
#include "value/mp.h"

#define GROUP_SETUP file_setup
#define GROUP_TEARDOWN file_teardown

extern const struct op_desc op_lines, op_csv, op_tsv, op_ndjson, op_json, op_whole;

/* Reads everything, with with_name as in {"name","line"}; names NULL: true. */
static void
named_expect(const struct op_desc *d, const char *args, const char *const *names, const char *want)
{
	struct src s;
	struct buf got = { 0 };
	uint8_t *p;

	src_init(&s, d, args);
	struct file_source *src = s.node.params;
	p = buf_room(&src->with_name, 256);
	uint8_t *w = names ? mp_put_list_head(p, names[1] ? 2 : 1) : mp_put_bool(p, true);
	for (int i = 0; names && i < 2 && names[i]; i++)
		w = mp_put_text(w, names[i], (uint32_t)strlen(names[i]));
	src->with_name.len = (size_t)(w - p);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, want);
	src_clear(&s);
	buf_clear(&got);
}

static void
elements_say_where_they_begin(void **state)
{
	static const char *const only[] = { "src", NULL }, *const both[] = { "f", "n" };

	(void)state;
	file_text("a", "h\nx\ny\n");
	file_text("b", "h\nz\n");
	named_expect(&op_lines, "a b skip=1", NULL,
		     "{\"file\":\"a\",\"line\":2,\"value\":\"x\"}\n{\"file\":\"a\",\"line\":3,\"value\":\"y\"}\n"
		     "{\"file\":\"b\",\"line\":2,\"value\":\"z\"}\n");
	named_expect(&op_lines, "b", only, "{\"src\":\"b\",\"value\":\"h\"}\n{\"src\":\"b\",\"value\":\"z\"}\n");
	file_text("c.csv", "a,b\n1,\"x\ny\"\n\n2,z\n");
	named_expect(&op_csv, "c.csv", both,
		     "{\"f\":\"c.csv\",\"n\":2,\"a\":1,\"b\":\"x\\ny\"}\n{\"f\":\"c.csv\",\"n\":5,\"a\":2,\"b\":\"z\"}\n");
	file_text("d", "{\"k\":1}\n\n[2]\n");
	named_expect(&op_ndjson, "d", both, "{\"f\":\"d\",\"n\":1,\"k\":1}\n{\"f\":\"d\",\"n\":3,\"value\":[2]}\n");
	named_expect(&op_json, "d", both, "{\"f\":\"d\",\"n\":1,\"k\":1}\n{\"f\":\"d\",\"n\":3,\"value\":2}\n");
	named_expect(&op_whole, "b", only, "{\"src\":\"b\",\"value\":\"aAp6Cg==\"}\n");
}

static void
a_field_is_never_there_twice(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_text("twice", "{\"k\":1}\n{\"line\":5}\n{\"k\":2}\n");
	src_init(&s, &op_ndjson, "twice");
	struct file_source *src = s.node.params;
	buf_byte(&src->with_name, 0xc3);
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data,
			    "{\"file\":\"twice\",\"line\":1,\"k\":1}\n{\"file\":\"twice\",\"line\":3,\"k\":2}\n");
	assert_int_equal(s.failures, 1);
	assert_int_equal(s.failure_line, 2);
	src_clear(&s);
	buf_clear(&got);
}

static void
a_file_whose_lines_are_counted_is_not_cut(void **state)
{
	static const char *const args[] = { "big", "big paragraphs=true", "big delim=--" };
	struct buf text = { 0 };

	(void)state;
	file_lines_text(&text, 60000);
	file_put("big", text.data, text.len);
	for (size_t i = 0; i < 4; i++) {
		struct split_list l = { 0 };
		struct src s;

		src_init(&s, &op_lines, args[i % 3]);
		if (i == 3)
			buf_byte(&((struct file_source *)s.node.params)->with_name, 0xc3);
		assert_int_equal(op_lines.list(&s.node, &l, &s.e), ST_OK);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.v[0].whole, i > 0);
		split_list_clear(&l);
		src_clear(&s);
	}
	buf_clear(&text);
}

static void
texts_end_with_several_bytes_or_at_empty_lines(void **state)
{
	(void)state;
	file_text("seps", "a--b\n-c----d");
	src_expect(&op_lines, "seps delim=--", "a\nb\n-c\n\nd\n");
	file_text("crlf", "a\r\nb\r\n\nc");
	src_expect(&op_lines, "crlf delim=\\r\\n", "a\nb\n\nc\n");
	file_text("para", "\n\r\n\na\nb\n\n\n\nc\n \n\r\nd");
	src_expect(&op_lines, "para paragraphs=true", "a\nb\nc\n \nd\n");
	src_expect(&op_lines, "para paragraphs=true skip=4", "b\nc\n \nd\n");
	file_text("none", "\n\n\r\n");
	src_expect(&op_lines, "none paragraphs=true", "");
	src_expect_fault(&op_lines, "para paragraphs=true delim=;", "", ST_DATA, "do not go with delim");
}

static void
a_text_that_is_too_long_is_passed_over_to_its_end(void **state)
{
	static const char *const args[] = { "long delim=%%", "long paragraphs=true" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct buf text = { 0 }, got = { 0 };
		struct src s;

		buf_str(&text, i ? "a\n\n" : "a%%");
		for (int k = 0; k < 150000; k++)
			buf_str(&text, k % 7 ? "0123456789" : "%\n");
		buf_str(&text, i ? "\n\r\nb" : "%%b");
		file_put("long", text.data, text.len);
		src_init(&s, &op_lines, args[i]);
		s.node.on_error = OP_SKIP;
		assert_int_equal(src_all(&s, &got), ST_END);
		assert_string_equal((char *)got.data, "a\nb\n");
		assert_int_equal(s.failures, 1);
		src_clear(&s);
		buf_clear(&text);
		buf_clear(&got);
	}
}

/* ---- byte by byte ---- */

struct drip {
	const char *data;
	size_t n;
};

static void *
drip_run(void *arg)
{
	struct drip *d = arg;
	int fd = open("drip", O_WRONLY); /* waits for the reader */

	for (size_t i = 0; i < d->n; i++)
		assert_int_equal(write(fd, d->data + i, 1), 1);
	close(fd);
	return NULL;
}

/* It gives these elements whether the bytes come at once or one by one. */
static void
drips_expect(const struct op_desc *d, const char *args, const char *data, size_t n, const char *want)
{
	struct buf got = { 0 };
	struct drip drip = { data, n };
	pthread_t thread;
	struct src s;

	file_put("drip", data, n);
	src_expect(d, args, want);
	unlink("drip");
	assert_int_equal(mkfifo("drip", 0600), 0);
	src_init(&s, d, args);
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(pthread_create(&thread, NULL, drip_run, &drip), 0);
	buf_str(&got, "");
	assert_int_equal(src_read(&s, &got, UINT64_MAX), ST_END);
	assert_string_equal((char *)got.data, want);
	pthread_join(thread, NULL);
	src_clear(&s);
	buf_clear(&got);
	unlink("drip");
}
#define DRIPS(D, ARGS, DATA, WANT) drips_expect(D, "drip " ARGS, DATA, sizeof(DATA) - 1, WANT)

static void
texts_come_in_pieces_of_any_size(void **state)
{
	(void)state;
	DRIPS(&op_lines, "paragraphs=true", "\n\r\n\na\nb\n\r\n\nc\n \n\r\nd\n", "a\nb\nc\n \nd\n");
	DRIPS(&op_lines, "delim=-+-", "a-+--+b-+--", "a\n-+b\n-\n");
	DRIPS(&op_lines, "", "\xef\xbb\xbf" "a\nb", "a\nb\n");
	DRIPS(&op_lines, "", "\xef\xbb", "\xef\xbb\n");
	DRIPS(&op_lines, "", "\xef\xbb\xbf", "");
	DRIPS(&op_lines, "", "\xff\xfe" "a\0\xac\x20\n\0\x3d\xd8\x00\xde", "a\xe2\x82\xac\n\xf0\x9f\x98\x80\n");
	DRIPS(&op_lines, "", "\xfe\xff\0a\0\n\0\xfc", "a\n\xc3\xbc\n");
	DRIPS(&op_lines, "", "\xff\xfe", "");
	DRIPS(&op_lines, "", "\xff", "\xff\n");
	DRIPS(&op_lines, "delim=\\0", "\xff\xfe\0a\0", "\xff\xfe\na\n");
	DRIPS(&op_csv, "comment=// ragged=true",
	      "//x\n\n//\na,b\n1,\"2\n//\"\n//\n/,\n//",
	      "{\"a\":1,\"b\":\"2\\n//\"}\n{\"a\":\"/\",\"b\":null}\n");
	DRIPS(&op_json, "", " {\"a\": [\n\"}\\\"\\\\\"]}[1,[2],\ttrue]\"s\"5[] [] null",
	      "{\"a\":[\"}\\\"\\\\\"]}\n1\n[2]\ntrue\ns\n5\nnull\n");
	DRIPS(&op_json, "arrays=whole", "[1,\n2][]", "[1,2]\n[]\n");
}

static void
text_that_is_no_utf16_after_all_is_an_error(void **state)
{
	(void)state;
	file_put("odd", "\xff\xfe" "a\0\n\0b", 7);
	src_expect_fault(&op_lines, "odd", "a\n", ST_DATA, "it begins as UTF-16, but is not from byte 7 on");
	file_put("half", "\xff\xfe" "a\0\n\0\0\xdc", 8);
	src_expect_fault(&op_lines, "half", "a\n", ST_DATA, "not from byte 7 on");
	file_put("high", "\xff\xfe\0\xd8" "b\0", 6);
	src_expect_fault(&op_lines, "high", "", ST_DATA, "not from byte 3 on");
}

static void
utf16_is_read_as_utf8_by_every_source_of_text(void **state)
{
	(void)state;
	file_put("u.csv", "\xff\xfe" "a\0,\0b\0\n\0" "1\0,\0\xe4\0", 16);
	src_expect(&op_csv, "u.csv", "{\"a\":1,\"b\":\"\xc3\xa4\"}\n");
	src_expect(&op_csv, "u.csv header=false", "[\"a\",\"b\"]\n[1,\"\xc3\xa4\"]\n");
	file_put("u.json", "\xfe\xff\0{\0\"\0k\0\"\0:\0" "1\0}", 16);
	src_expect(&op_ndjson, "u.json", "{\"k\":1}\n");
	src_expect(&op_json, "u.json", "{\"k\":1}\n");
	file_text("bom.csv", "\xef\xbb\xbf" "a,b\n1,2\n");
	src_expect(&op_csv, "bom.csv", "{\"a\":1,\"b\":2}\n");
	src_expect(&op_csv, "bom.csv header=false", "[\"a\",\"b\"]\n[1,2]\n");
	file_text("bom.json", "\xef\xbb\xbf" "{\"k\":1}\n");
	src_expect(&op_ndjson, "bom.json", "{\"k\":1}\n");
}

static void
positions_in_all_of_these_are_saved(void **state)
{
	struct buf text = { 0 }, wide = { 0 };

	(void)state;
	for (int i = 0; i < 900; i++)
		buf_printf(&text, "%s{\"n\": %d,\n \"t\": [\"]\"]}", i % 300 == 0 ? i ? "]\n[" : "[" : ",\n", i);
	buf_str(&text, "]");
	file_put("pos.json", text.data, text.len);
	src_expect_resumes(&op_json, "pos.json pos.json", NULL);
	src_expect_resumes(&op_lines, "pos.json with_name=true delim=,\\n", NULL);
	buf_reset(&text);
	for (int i = 0; i < 800; i++)
		buf_printf(&text, "line %d\n%s", i, i % 3 ? "" : "\n\r\n\n");
	file_put("pos.txt", text.data, text.len);
	src_expect_resumes(&op_lines, "pos.txt with_name=true paragraphs=true", NULL);
	buf_str(&wide, "\xff\xfe");
	for (size_t i = 0; i < text.len; i++) {
		buf_byte(&wide, text.data[i]);
		buf_byte(&wide, i % 5 ? 0 : text.data[i] == '\n' ? 0 : 1);
	}
	file_put("pos.wide", wide.data, wide.len);
	src_expect_resumes(&op_lines, "pos.wide", NULL);
	file_put_packed("pos.wide.gz", ARCHIVE_FILTER_GZIP, wide.data, wide.len);
	src_expect_resumes(&op_lines, "pos.wide.gz", NULL);
	buf_reset(&text);
	buf_str(&text, "\xef\xbb\xbf#c\na,b\n");
	for (int i = 0; i < 700; i++)
		buf_printf(&text, "%d%s\n#\n", i, i % 3 ? ",x" : i % 2 ? ",,," : "");
	file_put("pos.csv", text.data, text.len);
	src_expect_resumes(&op_csv, "pos.csv comment=# ragged=true", NULL);
	buf_clear(&text);
	buf_clear(&wide);
}

static void
rows_may_be_ragged(void **state)
{
	(void)state;
	file_text("r.csv", "a,b,c\n1\n1,2,3,4,\"x\"\n\"\",y\n");
	src_expect(&op_csv, "r.csv ragged=true",
		   "{\"a\":1,\"b\":null,\"c\":null}\n{\"a\":1,\"b\":2,\"c\":3,\"4\":4,\"5\":\"x\"}\n"
		   "{\"a\":\"\",\"b\":\"y\",\"c\":null}\n");
	src_expect(&op_csv, "r.csv ragged=true types=text header=false", "[\"a\",\"b\",\"c\"]\n[\"1\"]\n"
		   "[\"1\",\"2\",\"3\",\"4\",\"x\"]\n[\"\",\"y\"]\n");
	file_text("r.tsv", "a\tb\n1\n1\t2\t3\n");
	src_expect(&op_tsv, "r.tsv ragged=true types=text",
		   "{\"a\":\"1\",\"b\":\"\"}\n{\"a\":\"1\",\"b\":\"2\",\"3\":\"3\"}\n");
	file_text("n.csv", "a,3\n1,2,3\n");
	src_expect_fault(&op_csv, "n.csv ragged=true", "", ST_DATA, "there is a column `3`");
	file_text("m.csv", "a,2\n1,2,3\n");
	src_expect(&op_csv, "m.csv ragged=true", "{\"a\":1,\"2\":2,\"3\":3}\n");
}

static void
json_that_is_broken_tells_where(void **state)
{
	static const struct { const char *text, *given, *words; } bad[] = {
		{ "[1,2", "1\n2\n", "the file ends within an array" },
		{ "[1 2]", "1\n", "not JSON: '2', where a comma or the end of the array is due" },
		{ "1 {\"a\":", "1\n", "the file ends within a value" },
		{ "1\n}", "1\n", "not JSON: '}', where a value is due" },
		{ "[,1]", "", "where a value is due" },
		{ "[1,]", "1\n", "not JSON: ']', where a value is due" },
		{ "[1]]", "1\n", "not JSON: ']', where a value is due" },
		{ "[[1],\n[2,x]]", "[1]\n", "not JSON at byte 4" },
		{ "nul", "", "not JSON at byte 1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		file_text("broken", bad[i].text);
		src_expect_fault(&op_json, "broken", bad[i].given, ST_DATA, bad[i].words);
	}
}

