/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#include <isa-l/igzip_lib.h>

#include "op/file/file_tfrecord.h"

#define GROUP_SETUP tfrecord_setup
#define GROUP_TEARDOWN file_teardown
#include "value/crc32c.h"

extern const struct op_desc op_tfrecord;

static char tfrecord_top[4096];

static void
tfrecord_put(struct buf *b, const void *p, uint32_t n)
{
	uint8_t head[12] = { (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16) };
	uint32_t crc = crc32c_masked(head, 8);

	memcpy(head + 8, &crc, 4);
	buf_put(b, head, 12);
	buf_put(b, p, n);
	crc = crc32c_masked(p, n);
	buf_put(b, &crc, 4);
}

static void
checksums_are_those_of_the_standard(void **state)
{
	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c("", 0), 0);
}

static void
records_are_read_in_place_and_packed(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tfrecord_put(&b, "one", 3);
	tfrecord_put(&b, "", 0);
	tfrecord_put(&b, "three", 5);
	file_put("a", b.data, b.len);
	file_put_packed("b", ARCHIVE_FILTER_ZSTD, b.data, b.len);
	src_expect(&op_tfrecord, "a b", "one\n\nthree\none\n\nthree\n");
	file_put("empty", "", 0);
	src_expect(&op_tfrecord, "empty", "");
	src_expect_resumes(&op_tfrecord, "a b a", NULL);
	buf_clear(&b);
}

static void
skips(const char *file, const char *want, unsigned failures, const char *words)
{
	struct buf got = { 0 };
	struct src s;

	src_init(&s, &op_tfrecord, file);
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, want);
	assert_int_equal(s.failures, failures);
	if (!strstr(s.failure, words))
		assert_string_equal(s.failure, words);
	src_clear(&s);
	buf_clear(&got);
}

/* Compresses like tf.io.TFRecordWriter with compression_type="ZLIB". */
static void
tfrecord_pack_zlib(const struct buf *in, struct buf *out)
{
	struct isal_zstream z;

	isal_deflate_stateless_init(&z);
	z.gzip_flag = IGZIP_ZLIB;
	z.end_of_stream = 1;
	z.next_in = in->data;
	z.avail_in = (uint32_t)in->len;
	z.next_out = buf_room(out, in->len + 1000);
	z.avail_out = (uint32_t)in->len + 1000;
	assert_int_equal(isal_deflate_stateless(&z), COMP_OK);
	out->len = z.total_out;
}

static void
zlib_is_unpacked_and_its_checksum_looked_at(void **state)
{
	struct buf b = { 0 }, packed = { 0 };

	(void)state;
	tfrecord_put(&b, "one", 3);
	tfrecord_put(&b, "", 0);
	tfrecord_put(&b, "three", 5);
	tfrecord_pack_zlib(&b, &packed);
	file_put("plain", b.data, b.len);
	file_put("zlib", packed.data, packed.len);
	src_expect(&op_tfrecord, "zlib plain zlib", "one\n\nthree\none\n\nthree\none\n\nthree\n");
	src_expect_resumes(&op_tfrecord, "zlib plain zlib", NULL);
	packed.data[packed.len - 1] ^= 1;
	file_put("bad", packed.data, packed.len);
	skips("bad", "one\n\nthree\n", 1, "the checksum or the length is not that of the data");
	file_put("cut", packed.data, packed.len - 3);
	skips("cut", "one\n\nthree\n", 1, "the file is cut off");
	packed.data[packed.len - 1] ^= 1;
	buf_str(&packed, "more");
	file_put("more", packed.data, packed.len);
	skips("more", "one\n\nthree\n", 1, "something after the end");
	buf_clear(&b);
	buf_clear(&packed);
}

/* Larger than any window, with records of all sizes. */
static void
many_records(void **state)
{
	struct buf b = { 0 }, want = { 0 }, got = { 0 }, text = { 0 };
	struct src s;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		buf_reset(&text);
		buf_printf(&text, "%d ", i);
		for (int k = 0; k < i * 37 % 1999; k++)
			buf_byte(&text, (uint8_t)('a' + k % 26));
		tfrecord_put(&b, text.data, (uint32_t)text.len);
		buf_put(&want, text.data, text.len);
		buf_byte(&want, '\n');
	}
	file_put("many", b.data, b.len);
	src_init(&s, &op_tfrecord, "many");
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	src_clear(&s);
	buf_clear(&b);
	buf_clear(&want);
	buf_clear(&got);
	buf_clear(&text);
}

static void
a_flipped_bit_is_found(void **state)
{
	struct buf b = { 0 };

	(void)state;
	tfrecord_put(&b, "one", 3);
	tfrecord_put(&b, "two", 3);
	tfrecord_put(&b, "three", 5);
	b.data[19 + 13] ^= 1;
	file_put("data", b.data, b.len);
	src_expect_fault(&op_tfrecord, "data", "one\n", ST_DATA,
			 "record 2, at byte 19: its data does not match its checksum");
	skips("data", "one\nthree\n", 1, "record 2");
	b.data[19 + 13] ^= 1;
	b.data[19 + 9] ^= 1;
	file_put("length", b.data, b.len);
	src_expect_fault(&op_tfrecord, "length", "one\n", ST_DATA, "its length does not match");
	skips("length", "one\n", 1, "record 2");
	b.data[19 + 9] ^= 1;
	file_put("cut", b.data, b.len - 1);
	skips("cut", "one\ntwo\n", 1, "record 3, at byte 38: the file is cut off");
	file_put("cut2", b.data, 19 + 5);
	skips("cut2", "one\n", 1, "cut off");
	buf_clear(&b);
}

static void
a_record_larger_than_an_element_may_be_is_passed_over(void **state)
{
	struct buf b = { 0 };
	char *large = mem_zalloc(3 << 20);

	(void)state;
	tfrecord_put(&b, "one", 3);
	tfrecord_put(&b, large, 3 << 20);
	tfrecord_put(&b, "three", 5);
	file_put("large", b.data, b.len);
	skips("large", "one\nthree\n", 1, "larger than the element");
	file_put("large_cut", b.data, 1 << 20);
	skips("large_cut large", "one\none\nthree\n", 2, "larger than the element");
	mem_free(large);
	buf_clear(&b);
}

static void
what_tensorflow_wrote(void **state)
{
	char *path = mem_printf("%s/tests/docs/three.tfrecord", tfrecord_top);
	char *many = mem_printf("%s/tests/data/many.tfrecord.gz as=example", tfrecord_top);
	char *args = mem_printf("%s as=example", path);

	(void)state;
	src_expect(&op_tfrecord, args, op_tfrecord.output);
	skips(many, "{}\n{}\n{\"a\":[-1,9223372036854775807,-9223372036854775808],"
	      "\"b\":[\"AAE=\",\"text\"],\"c\":[],\"d\":[null,-0.25]}\n", 1, "record 2");
	mem_free(path);
	mem_free(many);
	mem_free(args);
}

/* Where the tests' data is, before each test goes to a folder of its own. */
static int
tfrecord_setup(void **state)
{
	return getcwd(tfrecord_top, sizeof tfrecord_top) ? file_setup(state) : -1;
}
