/* SPDX-License-Identifier: MIT
 *
 * Files for tests: in a folder of their own, packed by libarchive.
 */
#ifndef TESTS_FILE_HELP_H
#define TESTS_FILE_HELP_H

#include "source_help.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "op/kit/shards_pack.h"

enum { FILE_HELP_SNAPPY = -1 }; /* in place of a filter of libarchive */

static char file_top[64];

static inline int
file_setup(void **state)
{
	(void)state;
	snprintf(file_top, sizeof file_top, "/tmp/dsvc-test-XXXXXX");
	return mkdtemp(file_top) && chdir(file_top) == 0 ? 0 : -1;
}

static inline int
file_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static inline int
file_teardown(void **state)
{
	(void)state;
	return chdir("/") == 0 ? nftw(file_top, file_remove, 16, FTW_DEPTH | FTW_PHYS) : -1;
}

/* Writes a file, with the folders before it. */
static inline void
file_put(const char *path, const void *p, size_t n)
{
	char *folder = mem_strdup(path);

	for (char *s = strchr(folder, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		mkdir(folder, 0777);
		*s = '/';
	}
	mem_free(folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	if (n)
		assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static inline void
file_text(const char *path, const char *text)
{
	file_put(path, text, strlen(text));
}

static inline la_ssize_t
file_packed(struct archive *a, void *arg, const void *p, size_t n)
{
	(void)a;
	buf_put(arg, p, n);
	return (la_ssize_t)n;
}

/* Appends one packed member; filter is ARCHIVE_FILTER_... */
static inline void
file_pack(int filter, const void *p, size_t n, struct buf *out)
{
	/* libarchive 3.6 crashes when it is to write this one */
	static const char lz4_nothing[] = "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02";

	if (filter == ARCHIVE_FILTER_LZ4 && !n) {
		buf_put(out, lz4_nothing, sizeof lz4_nothing - 1);
		return;
	}
	if (filter == FILE_HELP_SNAPPY) {
		assert_int_equal(shards_pack(SHARDS_SNAPPY, p, n, true, out, NULL), ST_OK);
		return;
	}
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
	assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
	archive_write_set_bytes_per_block(a, 0);
	assert_int_equal(archive_write_open(a, out, NULL, file_packed, NULL), ARCHIVE_OK);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "x");
	assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(a, p, n), n);
	assert_int_equal(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(entry);
	archive_write_free(a);
}

static inline void
file_put_packed(const char *path, int filter, const void *p, size_t n)
{
	struct buf b = { 0 };

	file_pack(filter, p, n, &b);
	file_put(path, b.data, b.len);
	buf_clear(&b);
}

/* n lines, different and of different lengths. */
static inline void
file_lines_text(struct buf *b, int n)
{
	for (int i = 0; i < n; i++)
		buf_printf(b, "line %d %.*s\n", i * 7919, i % 61,
			   "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* Whether this byte is the kind of a block of snappy. */
static inline bool
file_snappy_kind_at(const uint8_t *p, size_t n, size_t at)
{
	for (size_t k = 0; k + 4 <= n; k += 4 + (p[k + 1] | (size_t)p[k + 2] << 8 | (size_t)p[k + 3] << 16))
		if (k == at)
			return true;
	return false;
}

#endif
