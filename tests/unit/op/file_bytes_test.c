/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#include <fcntl.h>

#include "base/transfer.h"
#include "op/file/file_bytes.h"
#include "op/kit/seal_list.h"
#include "value/crc32c.h"

#define GROUP_SETUP file_setup
#define GROUP_TEARDOWN file_teardown

static const struct {
	const char *name;
	int filter;
	enum file_packing packing;
} kinds[] = {
	{ "plain", ARCHIVE_FILTER_NONE, FILE_PLAIN },   { "gzip", ARCHIVE_FILTER_GZIP, FILE_GZIP },
	{ "bzip2", ARCHIVE_FILTER_BZIP2, FILE_BZIP2 }, { "xz", ARCHIVE_FILTER_XZ, FILE_XZ },
	{ "zstd", ARCHIVE_FILTER_ZSTD, FILE_ZSTD },    { "lz4", ARCHIVE_FILTER_LZ4, FILE_LZ4 },
	{ "snappy", FILE_HELP_SNAPPY, FILE_SNAPPY },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Reads it all with so much room each time. */
static enum status
slurp(const char *path, size_t room, struct buf *out, struct err *e)
{
	struct file_bytes *f = file_bytes_new();
	enum status st = file_bytes_open(f, path, NULL, false, NULL, e);
	size_t n;

	buf_str(out, "");
	while (st == ST_OK) {
		st = file_bytes_read(f, buf_room(out, room), room, &n, e);
		out->len += n;
	}
	file_bytes_free(&f);
	return st;
}

/* Reads a file that is expected to have n bytes of this sum. */
static enum status
slurp_expected(uint64_t n, uint32_t sum, bool summed, size_t room, size_t *got, struct err *e)
{
	struct seal_file has = { .bytes = n, .sum = sum, .summed = summed };
	struct file_bytes *f = file_bytes_new();
	enum status st = file_bytes_open(f, "x", NULL, false, NULL, e);
	uint8_t *p = mem_alloc(room);
	size_t some;

	file_bytes_expect(f, "x", &has);
	for (*got = 0; st == ST_OK; *got += some)
		st = file_bytes_read(f, p, room, &some, e);
	mem_free(p);
	file_bytes_free(&f);
	return st;
}

static void
a_file_that_is_not_the_expected_one_is_not_read_to_its_end(void **state)
{
	struct buf text = { 0 }, raw = { 0 };
	struct err e = { 0 };
	size_t got;

	(void)state;
	file_lines_text(&text, 200000);
	for (int k = 0; k < KINDS; k++) {
		file_put_packed("x", kinds[k].filter, text.data, text.len);
		buf_reset(&raw);
		int fd = open("x", O_RDONLY);
		assert_true(fd >= 0 && transfer_read_all(fd, 1 << 24, &raw));
		close(fd);
		uint32_t sum = crc32c(raw.data, raw.len);
		for (size_t room = 1000; room <= 256000; room += 255000) {
			assert_int_equal(slurp_expected(raw.len, sum, true, room, &got, &e), ST_END);
			assert_int_equal(got, text.len);
			assert_int_equal(slurp_expected(raw.len, 0, false, room, &got, &e), ST_END);
			assert_int_equal(slurp_expected(raw.len, sum + 1, true, room, &got, &e), ST_DATA);
			assert_non_null(strstr(e.text, "'x' is damaged: its checksum is"));
			assert_int_equal(slurp_expected(raw.len + 1, sum, true, room, &got, &e), ST_DATA);
			assert_non_null(strstr(e.text, " bytes, and SNAPSHOT says"));
			assert_int_equal(slurp_expected(raw.len - 1, sum, true, room, &got, &e), ST_DATA);
		}
		assert_int_equal(slurp_expected(raw.len, sum ^ 1, true, 1000, &got, &e), ST_DATA);
		assert_true(got < text.len);
	}
	buf_clear(&text);
	buf_clear(&raw);
}

static void
every_packing_is_seen_by_content_and_unpacked(void **state)
{
	static const size_t rooms[] = { FILE_SNIFF, 1000, 300000 };
	struct buf text = { 0 };
	struct err e;

	(void)state;
	file_lines_text(&text, 20000);
	for (int k = 0; k < KINDS; k++) {
		file_put_packed("x", kinds[k].filter, text.data, text.len);
		assert_int_equal(file_packing_at("x"), kinds[k].packing);
		for (int r = 0; r < 3; r++) {
			struct buf got = { 0 };

			assert_int_equal(slurp("x", rooms[r], &got, &e), ST_END);
			assert_int_equal(got.len, text.len);
			assert_memory_equal(got.data, text.data, text.len);
			buf_clear(&got);
		}
	}
	buf_clear(&text);
}

static void
members_one_after_another_are_one_file(void **state)
{
	struct err e;

	(void)state;
	for (int k = 1; k < KINDS; k++) {
		struct buf packed = { 0 }, got = { 0 };

		file_pack(kinds[k].filter, "", 0, &packed);
		file_pack(kinds[k].filter, "one\n", 4, &packed);
		file_pack(kinds[k].filter, "", 0, &packed);
		file_pack(kinds[k].filter, "", 0, &packed);
		file_pack(kinds[k].filter, "two\n", 4, &packed);
		file_put("x", packed.data, packed.len);
		assert_int_equal(slurp("x", 100, &got, &e), ST_END);
		got.data[got.len] = 0;
		assert_string_equal((char *)got.data, "one\ntwo\n");
		buf_clear(&packed);
		buf_clear(&got);
	}
}

static void
packed_nothing_is_nothing(void **state)
{
	struct err e;

	(void)state;
	for (int k = 0; k < KINDS; k++) {
		struct buf got = { 0 };

		file_put_packed("x", kinds[k].filter, "", 0);
		assert_int_equal(slurp("x", 100, &got, &e), ST_END);
		assert_int_equal(got.len, 0);
		buf_clear(&got);
	}
}

/* Wherever it is cut off, that is said; what came before is good. */
static void
every_cut_off_file_is_an_error(void **state)
{
	struct buf text = { 0 };
	struct err e;

	(void)state;
	file_lines_text(&text, 120);
	for (int k = 1; k < KINDS; k++) {
		struct buf packed = { 0 };

		file_pack(kinds[k].filter, text.data, text.len, &packed);
		for (size_t n = FILE_SNIFF; n < packed.len; n++) {
			struct buf got = { 0 };

			file_put("x", packed.data, n);
			enum status st = slurp("x", 4096, &got, &e);
			if (st != ST_DATA)
				fail_msg("%s cut off at %zu of %zu: %s", kinds[k].name, n, packed.len,
					 status_name(st));
			assert_true(got.len <= text.len);
			assert_memory_equal(got.data, text.data, got.len);
			buf_clear(&got);
		}
		buf_clear(&packed);
	}
	buf_clear(&text);
}

/* A flipped bit is found, or it changes nothing (it was in a name or a time).
 * Not in zstd, whose frames as libarchive writes them have no checksum, nor in the kind of a
 * block of snappy, which may become one that means nothing. */
static void
every_flipped_bit_is_found_or_harmless(void **state)
{
	struct buf text = { 0 };
	struct err e;

	(void)state;
	file_lines_text(&text, 60);
	for (int k = 1; k < KINDS; k++) {
		struct buf packed = { 0 };

		if (kinds[k].packing == FILE_ZSTD)
			continue;
		file_pack(kinds[k].filter, text.data, text.len, &packed);
		for (size_t n = FILE_SNIFF; n < packed.len; n++) {
			struct buf got = { 0 };

			packed.data[n] ^= (uint8_t)(1 << n % 8);
			file_put("x", packed.data, packed.len);
			packed.data[n] ^= (uint8_t)(1 << n % 8);
			enum status st = slurp("x", 4096, &got, &e);
			bool kind = kinds[k].packing == FILE_SNAPPY && file_snappy_kind_at(packed.data, packed.len, n);
			if (!kind && st == ST_END && (got.len != text.len || memcmp(got.data, text.data, got.len)))
				fail_msg("%s: bit flipped at %zu of %zu passed for data", kinds[k].name,
					 n, packed.len);
			buf_clear(&got);
		}
		buf_clear(&packed);
	}
	buf_clear(&text);
}

static void
padding_behind_gzip_is_passed_over_and_garbage_is_not(void **state)
{
	struct buf packed = { 0 }, got = { 0 };
	struct err e;

	(void)state;
	file_pack(ARCHIVE_FILTER_GZIP, "hello\n", 6, &packed);
	buf_put(&packed, "\0\0\0\0\0", 5);
	file_put("x", packed.data, packed.len);
	assert_int_equal(slurp("x", 100, &got, &e), ST_END);
	assert_int_equal(got.len, 6);
	buf_str(&packed, "garbage");
	file_put("x", packed.data, packed.len);
	buf_clear(&got);
	assert_int_equal(slurp("x", 100, &got, &e), ST_DATA);
	assert_int_equal(got.len, 6);
	assert_non_null(strstr(e.text, "not gzip"));
	buf_clear(&packed);
	buf_clear(&got);
}

/* All of it, however little room there is each time. */
static void
what_stands_before_a_fault_in_gzip_is_given(void **state)
{
	struct buf text = { 0 }, packed = { 0 };
	size_t had = 0;
	struct err e;

	(void)state;
	file_lines_text(&text, 20000);
	file_pack(ARCHIVE_FILTER_GZIP, text.data, text.len, &packed);
	memset(packed.data + packed.len * 3 / 4, 0xff, 40);
	file_put("x", packed.data, packed.len);
	for (size_t room = 300000; room >= 300; room /= 10) {
		struct buf got = { 0 };

		assert_int_equal(slurp("x", room, &got, &e), ST_DATA);
		assert_true(got.len > text.len / 2 && (!had || got.len == had));
		had = got.len;
		buf_clear(&got);
	}
	buf_clear(&text);
	buf_clear(&packed);
}

static void
a_gzip_head_of_a_later_version_is_refused(void **state)
{
	struct buf packed = { 0 };
	struct err e;

	(void)state;
	file_pack(ARCHIVE_FILTER_GZIP, "hello\n", 6, &packed);
	for (uint8_t flag = 0x20; flag; flag = (uint8_t)(flag << 1)) {
		struct buf got = { 0 };

		packed.data[3] ^= flag;
		file_put("x", packed.data, packed.len);
		packed.data[3] ^= flag;
		assert_int_equal(slurp("x", 100, &got, &e), ST_DATA);
		assert_non_null(strstr(e.text, "unknown flags"));
		buf_clear(&got);
	}
	buf_clear(&packed);
}

static void
garbage_behind_packed_data_is_an_error(void **state)
{
	struct err e;

	(void)state;
	for (int k = 1; k < KINDS; k++) {
		struct buf packed = { 0 }, got = { 0 };

		file_pack(kinds[k].filter, "one\n", 4, &packed);
		buf_str(&packed, "this is no packed data");
		file_put("x", packed.data, packed.len);
		assert_int_equal(slurp("x", 100, &got, &e), ST_DATA);
		buf_clear(&packed);
		buf_clear(&got);
	}
}

static void
what_only_looks_packed_is_text(void **state)
{
	static const char *const texts[] = { "BZh9 is no file\n", "BZh", "\x1f\x8b", "\x28\xb5", "P*M\n" };
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct buf got = { 0 };

		file_text("x", texts[i]);
		assert_int_equal(slurp("x", 100, &got, &e), ST_END);
		assert_int_equal(got.len, strlen(texts[i]));
		assert_memory_equal(got.data, texts[i], got.len);
		buf_clear(&got);
	}
}

static void
skipping_goes_to_the_offset_in_every_packing(void **state)
{
	struct buf text = { 0 };
	struct err e;

	(void)state;
	file_lines_text(&text, 3000);
	for (int k = 0; k < KINDS; k++) {
		file_put_packed("x", kinds[k].filter, text.data, text.len);
		for (size_t at = 0; at <= text.len; at += text.len / 7) {
			struct file_bytes *f = file_bytes_new();
			uint8_t room[5000];
			size_t n;
			enum status st;

			assert_int_equal(file_bytes_open(f, "x", NULL, false, NULL, &e), ST_OK);
			st = file_bytes_skip(f, at, room, sizeof room, &n, &e);
			assert_int_equal(st, ST_OK);
			if (n == 0)
				st = file_bytes_read(f, room, sizeof room, &n, &e);
			assert_int_equal(st, at == text.len ? ST_END : ST_OK);
			assert_memory_equal(room, text.data + at, n);
			file_bytes_free(&f);
		}
		struct file_bytes *f = file_bytes_new();
		uint8_t room[5000];
		size_t n;

		assert_int_equal(file_bytes_open(f, "x", NULL, false, NULL, &e), ST_OK);
		assert_int_equal(file_bytes_skip(f, text.len + 1, room, sizeof room, &n, &e), ST_END);
		file_bytes_free(&f);
	}
	buf_clear(&text);
}

static void
folders_and_missing_files_are_errors(void **state)
{
	struct buf got = { 0 };
	struct err e;

	(void)state;
	mkdir("folder", 0777);
	assert_int_equal(slurp("folder", 100, &got, &e), ST_NOINPUT);
	assert_int_equal(slurp("gone", 100, &got, &e), ST_NOINPUT);
	buf_clear(&got);
}

static void
a_stopped_wait_for_a_pipe_ends(void **state)
{
	struct file_bytes *f = file_bytes_new();
	atomic_bool stop = true;
	struct op_ctx ctx = { .stop = &stop };
	uint8_t room[100];
	size_t n;
	struct err e;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	/* It has no writer: neither opening nor reading may hang. */
	assert_int_equal(file_bytes_open(f, "fifo", NULL, false, &ctx, &e), ST_OK);
	assert_int_equal(file_bytes_read(f, room, sizeof room, &n, &e), ST_AGAIN);
	file_bytes_free(&f);
}

static void
a_pipe_gives_what_is_there(void **state)
{
	struct file_bytes *f = file_bytes_new();
	uint8_t room[100];
	size_t n;
	struct err e;

	(void)state;
	unlink("fifo");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(file_bytes_open(f, "fifo", NULL, false, NULL, &e), ST_OK);
	int fd = open("fifo", O_WRONLY);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(file_bytes_read(f, room, sizeof room, &n, &e), ST_OK);
	assert_int_equal(n, 3);
	assert_int_equal(write(fd, "de", 2), 2);
	assert_int_equal(file_bytes_read(f, room, sizeof room, &n, &e), ST_OK);
	assert_memory_equal(room, "de", 2);
	close(fd);
	assert_int_equal(file_bytes_read(f, room, sizeof room, &n, &e), ST_END);
	file_bytes_free(&f);
}
