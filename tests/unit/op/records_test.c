/* SPDX-License-Identifier: MIT
 * Sources of records of one size: bytes and npy. */
#include "file_help.h"

#include "op/file/file_npy.h"

#define GROUP_SETUP records_setup
#define GROUP_TEARDOWN file_teardown

extern const struct op_desc op_bytes, op_npy;

static char records_top[4096];

/* All byte ranges of this size, one after another. */
static void
records_split(const struct op_desc *d, const char *args, const char *file, size_t size, size_t step,
	      const char *want)
{
	struct buf got = { 0 };

	buf_str(&got, "");
	for (size_t at = 0; at < size; at += step) {
		struct src s;

		src_init(&s, d, args);
		s.has_split = true;
		s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup(file), .times = 1,
					  .start = at, .count = step };
		assert_int_equal(src_all(&s, &got), ST_END);
		src_clear(&s);
	}
	assert_string_equal((char *)got.data, want);
	buf_clear(&got);
}

static void
bytes_are_cut_at_their_size(void **state)
{
	(void)state;
	file_text("a", "abcdefgh");
	src_expect(&op_bytes, "4 a", "abcd\nefgh\n");
	src_expect(&op_bytes, "3 a header_bytes=2", "cde\nfgh\n");
	src_expect(&op_bytes, "3 a header_bytes=1 footer_bytes=1", "bcd\nefg\n");
	src_expect(&op_bytes, "3 a footer_bytes=8", "");
	src_expect(&op_bytes, "8 a header_bytes=8", "");
	src_expect_fault(&op_bytes, "3 a", "abc\ndef\n", ST_DATA, "the last 2 bytes are not a whole record of 3");
	src_expect_fault(&op_bytes, "3 a footer_bytes=9", "", ST_DATA, "less than the footer of 9");
	src_expect_fault(&op_bytes, "3 a header_bytes=9", "", ST_DATA, "shorter than its header of 9");
	src_expect_fault(&op_bytes, "2000000 a", "", ST_DATA, "larger than the element limit");
	file_put_packed("z", ARCHIVE_FILTER_GZIP, "hheadtail", 9);
	src_expect(&op_bytes, "4 z header_bytes=1", "head\ntail\n");
	src_expect_resumes(&op_bytes, "1 a z header_bytes=2 footer_bytes=1", NULL);
}

static void
a_short_tail_is_dropped_when_asked(void **state)
{
	struct buf got = { 0 };
	struct src s;

	(void)state;
	file_text("a", "abcdefgh");
	file_text("b", "xyz");
	src_init(&s, &op_bytes, "3 a b");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "abc\ndef\nxyz\n");
	assert_int_equal(s.failures, 1);
	src_clear(&s);
	buf_clear(&got);
}

static void
byte_ranges_give_each_record_once(void **state)
{
	(void)state;
	file_text("c", "hhAAABBBCCCDDDff");
	for (size_t step = 1; step < 18; step++)
		records_split(&op_bytes, "3 gone header_bytes=2 footer_bytes=2", "c", 16, step,
			      "AAA\nBBB\nCCC\nDDD\n");
}

static void
records_of_plain_files_are_counted(void **state)
{
	struct src s;

	(void)state;
	file_text("a", "abcdefgh");
	file_put_packed("z", ARCHIVE_FILTER_GZIP, "abcdefgh", 8);
	src_init(&s, &op_bytes, "3 a a header_bytes=1");
	assert_int_equal(op_bytes.cardinality(&s.node, NULL), 4);
	src_clear(&s);
	src_init(&s, &op_bytes, "3 a z");
	assert_int_equal(op_bytes.cardinality(&s.node, NULL), -1);
	src_clear(&s);
}

static void
records_data(const char *name, const char *want)
{
	char *path = mem_printf("%s/tests/%s", records_top, name);

	src_expect(&op_npy, path, want);
	mem_free(path);
}

static void
what_numpy_wrote(void **state)
{
	char *path = mem_printf("%s/tests/data/fortran.npy", records_top);
	char *text = mem_printf("%s/tests/data/text.npy", records_top);

	(void)state;
	records_data("docs/grid.npy", op_npy.output);
	records_data("data/i8.npy", "-1\n0\n1099511627776\n");
	records_data("data/be_u2_2x2.npy", "[1,2]\n[258,65535]\n");
	records_data("data/bool.npy", "true\nfalse\n");
	src_expect_fault(&op_npy, path, "", ST_DATA, "Fortran order");
	src_expect_fault(&op_npy, text, "", ST_DATA, "its type is <U2");
	mem_free(path);
	mem_free(text);
}

static void
npy_put(const char *file, const char *dict, const void *p, size_t n)
{
	struct buf b = { 0 };
	uint16_t len = (uint16_t)strlen(dict);

	buf_put(&b, "\x93NUMPY\x01", 8);
	buf_put(&b, &len, 2);
	buf_str(&b, dict);
	buf_put(&b, p, n);
	file_put(file, b.data, b.len);
	buf_clear(&b);
}

static void
a_number_alone_and_types_without_an_order(void **state)
{
	(void)state;
	npy_put("0", "{'descr': '<i4', 'fortran_order': False, 'shape': (), }", "\7\0\0\0", 4);
	src_expect(&op_npy, "0", "7\n");
	src_expect(&op_npy, "0 0", "7\n7\n");
	src_expect_resumes(&op_npy, "0 0", NULL);
	npy_put("1", "{'descr': 'u1', 'fortran_order': False, 'shape': (3,), }", "\1\2\xff", 3);
	src_expect(&op_npy, "1", "1\n2\n255\n");
	npy_put("2", "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }", "\1\2", 2);
	src_expect(&op_npy, "2", "[1,2]\n");
	npy_put("3", "{'descr': 'b1', 'fortran_order': False, 'shape': (2,), }", "\1\0", 2);
	src_expect(&op_npy, "3", "true\nfalse\n");
}

static void
arrays_that_are_wrong(void **state)
{
	static const struct { const char *dict, *words; } bad[] = {
		{ "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", "its type is <c8" },
		{ "{'descr': '<V2', 'fortran_order': False, 'shape': (4,), }", "its type is <V2" },
		{ "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (2,), }", "structured" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (2, }", "malformed" },
		{ "{'descr': '<i4', 'fortran_order': False}", "malformed" },
		{ "{'descr': '<i4', 'fortran_order': Maybe, 'shape': ()}", "malformed" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': ()}", "after the end" },
		{ "{'descr': '4', 'fortran_order': False, 'shape': (2,), }", "its type is 4" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 99999999999999999999)}", "malformed" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 9999999999)}", "larger than the element" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 0)}", "after the end" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 2)}", "after the end" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)}", "cut off" },
		{ "{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", "after the end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		npy_put("bad.npy", bad[i].dict, "\1\0\0\0\2\0\0\0", 8);
		struct src s;
		struct buf got = { 0 };
		src_init(&s, &op_npy, "bad.npy");
		assert_int_equal(src_all(&s, &got), ST_DATA);
		if (!strstr(s.e.text, bad[i].words))
			assert_string_equal(s.e.text, bad[i].words);
		src_clear(&s);
		buf_clear(&got);
	}
	file_text("empty.npy", "");
	src_expect_fault(&op_npy, "empty.npy", "", ST_DATA, "empty");
	file_text("text.npy", "hello\n");
	src_expect_fault(&op_npy, "text.npy", "", ST_DATA, "not a .npy file");
	npy_put("none.npy", "{'descr': '<i4', 'fortran_order': True, 'shape': (0,), }", "", 0);
	src_expect(&op_npy, "none.npy", "");
}

static void
half_floats_of_either_order(void **state)
{
	static const char dict[] = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 2), }";

	(void)state;
	npy_put("h", "{'descr': 'f2', 'fortran_order': False, 'shape': (6,), }",
		"\0\x3c\0\xc1\1\0\xff\x7b\0\xfc\1\x7c", 12);
	src_expect(&op_npy, "h", "1.0\n-2.5\n5.960464477539063e-08\n65504.0\n-inf\nnan\n");
	npy_put("h", "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", "\x3c\0\xc1\0", 4);
	src_expect(&op_npy, "h", "1.0\n-2.5\n");
	npy_put("h", dict, "\0\x3c\0\xc1\0\0\0\x80", 8);
	src_expect(&op_npy, "h", "[1.0,-2.5]\n[0.0,-0.0]\n");
}

/* Elements that have no bytes are told apart by their index. */
static void
slices_without_a_number(void **state)
{
	enum { MANY = 1300 }; /* some runs */
	static const char five[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }";
	static const char many[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1300, 0), }";
	static const char three[] = "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 0, 2), }";
	static const char none[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3, 4), }";
	struct buf packed = { 0 }, got = { 0 }, want = { 0 };
	struct src s;

	(void)state;
	npy_put("5", five, "", 0);
	npy_put("3", three, "", 0);
	npy_put("0", none, "", 0);
	npy_put("many", many, "", 0);
	src_expect(&op_npy, "5", "[]\n[]\n[]\n[]\n[]\n");
	src_expect(&op_npy, "3", "[]\n[]\n[]\n");
	src_expect(&op_npy, "0", "");
	for (size_t step = 1; step < 90; step++)
		records_split(&op_npy, "gone", "5", 10 + sizeof five - 1, step, "[]\n[]\n[]\n[]\n[]\n");
	src_expect_resumes(&op_npy, "5 3 5", NULL);
	buf_put(&packed, "\x93NUMPY\x01\0", 8);
	buf_put(&packed, &(uint16_t){ sizeof five - 1 }, 2);
	buf_str(&packed, five);
	file_put_packed("5.gz", ARCHIVE_FILTER_GZIP, packed.data, packed.len);
	src_expect_resumes(&op_npy, "5.gz 3 5.gz", NULL);
	src_init(&s, &op_npy, "many many");
	for (int i = 0; i < 2 * MANY; i++)
		buf_str(&want, "[]\n");
	assert_int_equal(op_npy.cardinality(&s.node, NULL), 2 * MANY);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, (char *)want.data);
	src_clear(&s);
	buf_clear(&packed);
	buf_clear(&want);
	buf_clear(&got);
}

static void
slices_by_range_and_position(void **state)
{
	uint16_t v[21];

	(void)state;
	for (int i = 0; i < 21; i++)
		v[i] = (uint16_t)(i * 1000);
	npy_put("r.npy", "{'descr': '<u2', 'fortran_order': False, 'shape': (7, 3), }", v, sizeof v);
	static const char want[] = "[0,1000,2000]\n[3000,4000,5000]\n[6000,7000,8000]\n[9000,10000,11000]\n"
		"[12000,13000,14000]\n[15000,16000,17000]\n[18000,19000,20000]\n";
	src_expect(&op_npy, "r.npy", want);
	for (size_t step = 1; step < 120; step++)
		records_split(&op_npy, "gone", "r.npy", 10 + 55 + 42, step, want);
	src_expect_resumes(&op_npy, "r.npy r.npy", NULL);
}

static void
the_first_header_is_the_type(void **state)
{
	struct op_typing t = { .arena = types_new() };
	const struct type *type;
	struct buf text = { 0 }, got = { 0 };
	struct src s;

	(void)state;
	npy_put("a.npy", "{'descr': '<u2', 'fortran_order': False, 'shape': (1, 2), }", "\1\0\2\0", 4);
	npy_put("b.npy", "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }", "\1\0\2\0", 4);
	src_init(&s, &op_npy, "a.npy b.npy");
	assert_int_equal(op_npy.typing(&s.node, &t, &type, &s.e), ST_OK);
	type_print(type, &text);
	assert_string_equal((char *)text.data, "u16[2]");
	assert_int_equal(op_npy.cardinality(&s.node, NULL), 3);
	assert_int_equal(src_all(&s, &got), ST_DATA);
	assert_non_null(strstr(s.e.text, "its slices are i8[2], those of the first file u16[2]"));
	src_clear(&s);
	buf_clear(&text);
	buf_clear(&got);
	types_free(&t.arena);
}

static int
records_setup(void **state)
{
	return getcwd(records_top, sizeof records_top) ? file_setup(state) : -1;
}
