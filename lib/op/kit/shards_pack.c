/* SPDX-License-Identifier: MIT */
#include "op/kit/shards_pack.h"

#include <snappy-c.h>
#include <string.h>

#include "base/archive_lib.h"
#include "base/mem.h"
#include "value/crc32c.h"

enum {
	SNAPPY_BLOCK = 65536, /* most bytes of a block, as the format says */
	SNAPPY_HEAD = 4,      /* kind and length of a block */
	SNAPPY_SUM = 4
};

static const char *const ends[SHARDS_CODECS] = { "", ".snappy", ".zst" };

const char *
shards_pack_end(enum shards_codec codec)
{
	return ends[codec];
}

enum shards_codec
shards_pack_of(const char *name, size_t *n)
{
	*n = strlen(name);
	for (unsigned k = 1; k < SHARDS_CODECS; k++) {
		size_t end = strlen(ends[k]);

		if (*n > end && !memcmp(name + *n - end, ends[k], end)) {
			*n -= end;
			return (enum shards_codec)k;
		}
	}
	return SHARDS_PLAIN;
}

static uint8_t *
pack_little(uint8_t *p, uint32_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*p++ = (uint8_t)(v >> 8 * i);
	return p;
}

/* A block is [kind, length in 3 bytes, masked CRC-32C of the plain bytes, data]: kind 0 is
 * compressed, kind 1 is not, because that would be longer. */
static void
pack_snappy_block(const uint8_t *p, size_t n, struct buf *out)
{
	size_t len = snappy_max_compressed_length(n);
	uint8_t *at = buf_room(out, SNAPPY_HEAD + SNAPPY_SUM + (len > n ? len : n)), *data = at + SNAPPY_HEAD + SNAPPY_SUM;
	bool small = snappy_compress((const char *)p, n, (char *)data, &len) == SNAPPY_OK && len < n;

	if (!small) {
		memcpy(data, p, n);
		len = n;
	}
	*at = small ? 0 : 1;
	pack_little(pack_little(at + 1, (uint32_t)(len + SNAPPY_SUM), 3), crc32c_masked(p, n), 4);
	out->len += SNAPPY_HEAD + SNAPPY_SUM + len;
}

static la_ssize_t
pack_zstd_out(struct archive *a, void *arg, const void *p, size_t n)
{
	(void)a;
	buf_put(arg, p, n);
	return (la_ssize_t)n;
}

static enum status
pack_zstd(const void *p, size_t n, struct buf *out, struct err *e)
{
	const struct archive_lib *lib = archive_lib(e);

	if (!lib)
		return e->kind;
	struct archive *a = lib->archive_write_new();
	struct archive_entry *entry = lib->archive_entry_new();
	bool good = a && entry && lib->archive_write_add_filter_zstd(a) == ARCHIVE_OK &&
		lib->archive_write_set_format_raw(a) == ARCHIVE_OK &&
		lib->archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
		lib->archive_write_open(a, out, NULL, pack_zstd_out, NULL) == ARCHIVE_OK;

	if (good) {
		lib->archive_entry_set_filetype(entry, 0100000); /* the raw format takes a regular file */
		good = lib->archive_write_header(a, entry) == ARCHIVE_OK && lib->archive_write_data(a, p, n) == (la_ssize_t)n &&
			lib->archive_write_close(a) == ARCHIVE_OK;
	}
	if (!good)
		err_set(e, ST_CONFIG, "cannot compress: %s", a && lib->archive_error_string(a) ? lib->archive_error_string(a) :
			"this libarchive does not know zstd");
	lib->archive_entry_free(entry);
	lib->archive_write_free(a);
	return good ? ST_OK : e->kind;
}

enum status
shards_pack(enum shards_codec codec, const void *p, size_t n, bool begins, struct buf *out, struct err *e)
{
	const uint8_t *from = p;

	if (codec == SHARDS_ZSTD)
		return n ? pack_zstd(p, n, out, e) : ST_OK;
	if (codec == SHARDS_PLAIN) {
		buf_put(out, p, n);
		return ST_OK;
	}
	if (begins)
		buf_put(out, "\xff\x06\0\0sNaPpY", 10);
	for (size_t some; n; from += some, n -= some) {
		some = n < SNAPPY_BLOCK ? n : SNAPPY_BLOCK;
		pack_snappy_block(from, some, out);
	}
	return ST_OK;
}
