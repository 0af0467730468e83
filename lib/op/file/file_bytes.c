/* SPDX-License-Identifier: MIT */
#include "op/file/file_bytes.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/file/file_gzip.h"
#include "op/file/file_snappy.h"
#include "op/file/file_utf16.h"
#include "op/kit/seal_list.h"

enum { BYTES_SNIFF_MS = 50 };

struct file_bytes {
	struct file_input in;
	bool sniffed;             /* the packing is known */
	enum file_packing packing;
	file_is_zlib *is_zlib;    /* NULL: zlib is not looked for */
	bool text, wide;          /* text, whose first bytes are not seen yet; it is UTF-16 */
	struct file_utf16 *utf16; /* kept for the next file */
	struct file_gzip *gzip;   /* kept for the next file */
	struct file_snappy *snappy;
	struct file_archive *archive;
	const char *path;         /* NULL: it is not expected to be */
	struct seal_file has;     /* its name is not set */
};

struct file_bytes *
file_bytes_new(void)
{
	struct file_bytes *f = mem_zalloc(sizeof *f);

	file_input_init(&f->in);
	return f;
}

void
file_bytes_close(struct file_bytes *f)
{
	file_archive_close(&f->archive);
	file_input_close(&f->in);
}

void
file_bytes_free(struct file_bytes **fp)
{
	if (!*fp)
		return;
	file_bytes_close(*fp);
	file_input_clear(&(*fp)->in);
	file_gzip_free(&(*fp)->gzip);
	file_snappy_free(&(*fp)->snappy);
	file_utf16_free(&(*fp)->utf16);
	mem_free(*fp);
	*fp = NULL;
}

enum status
file_bytes_open(struct file_bytes *f, const char *path, const char *tag, bool as_is, const struct op_ctx *ctx,
		struct err *e)
{
	file_bytes_close(f);
	f->packing = FILE_PLAIN;
	f->is_zlib = NULL;
	f->sniffed = as_is;
	f->text = f->wide = false;
	f->path = NULL;
	return file_input_open(&f->in, path, tag, ctx, e);
}

const char *
file_bytes_tag(const struct file_bytes *f)
{
	return file_input_tag(&f->in);
}

void
file_bytes_until(struct file_bytes *f, uint64_t end)
{
	file_input_until(&f->in, end);
}

void
file_bytes_zlib(struct file_bytes *f, file_is_zlib *is)
{
	f->is_zlib = is;
}

void
file_bytes_text(struct file_bytes *f)
{
	f->text = !f->sniffed;
}

void
file_bytes_expect(struct file_bytes *f, const char *path, const struct seal_file *has)
{
	f->path = path;
	f->has = *has;
	f->has.name = NULL;
	file_input_expect(&f->in, has->bytes, has->summed, has->sum);
}

static enum file_packing
bytes_packing(const struct file_bytes *f, const uint8_t *p, size_t n)
{
	enum file_packing packing = file_packing_of(p, n);

	return packing == FILE_PLAIN && f->is_zlib && f->is_zlib(p, n) ? FILE_ZLIB : packing;
}

/* Reads first into the caller's memory, where the bytes stay if the file is plain; otherwise
 * they become the first block for decompression. */
static enum status
bytes_first(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	struct file_input *in = &f->in;
	size_t have = 0, more;
	enum status st;

	/* At most one block, which in->buf must be able to hold; plain files are read in
	 * larger steps from the second read on. */
	if (room > FILE_INPUT_BLOCK)
		room = FILE_INPUT_BLOCK;
	do {
		st = file_input_read(in, p + have, room - have, &more, e);
		if (st != ST_OK && st != ST_END)
			return st;
		have += more;
		/* Compressors write their whole head at once. A few bytes that stay alone are
		 * not held back: they may be a complete element. */
	} while (st == ST_OK && (file_packing_undecided(p, have) || (f->is_zlib && have < FILE_SNIFF)) &&
		 file_input_ready(in, BYTES_SNIFF_MS));
	f->sniffed = true;
	f->packing = bytes_packing(f, p, have);
	if (f->packing == FILE_PLAIN) {
		*n = have;
		return have ? ST_OK : ST_END;
	}
	if (!in->buf)
		in->buf = mem_alloc(FILE_INPUT_BLOCK);
	memcpy(in->buf, p, have);
	in->from = 0;
	in->to = have;
	if (f->packing == FILE_SNAPPY) {
		if (!f->snappy)
			f->snappy = file_snappy_new();
		file_snappy_start(f->snappy);
		return ST_OK;
	}
	if (f->packing != FILE_GZIP && f->packing != FILE_ZLIB)
		return file_archive_open(f->packing, in, &f->archive, e);
	if (!f->gzip)
		f->gzip = file_gzip_new();
	file_gzip_start(f->gzip, f->packing == FILE_ZLIB);
	return ST_OK;
}

static enum status
bytes_read(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	if (!f->sniffed) {
		enum status st = bytes_first(f, p, room, n, e);
		if (st != ST_OK || *n)
			return st;
	}
	if (f->packing == FILE_PLAIN)
		return file_input_read(&f->in, p, room, n, e);
	if (f->packing == FILE_GZIP || f->packing == FILE_ZLIB)
		return file_gzip_read(f->gzip, &f->in, p, room, n, e);
	if (f->packing == FILE_SNAPPY)
		return file_snappy_read(f->snappy, &f->in, p, room, n, e);
	return file_archive_read(f->archive, p, room, n, e);
}

static enum status
bytes_wide(void *arg, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	return bytes_read(arg, p, room, n, e);
}

/* The first read of a text, which may turn out to be UTF-16; or a later one of UTF-16. */
static enum status
bytes_text(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	if (!f->wide) {
		size_t more;
		enum status st = bytes_read(f, p, room, n, e);

		while (st == ST_OK && file_utf16_undecided(p, *n)) {
			st = bytes_read(f, p + *n, room - *n, &more, e);
			*n += st == ST_OK ? more : 0;
		}
		if (st == ST_END && *n)
			st = ST_OK;
		if (st != ST_OK)
			return st;
		f->text = false;
		f->wide = file_utf16_is(p, *n);
		if (!f->wide)
			return ST_OK;
		if (!f->utf16)
			f->utf16 = file_utf16_new();
		file_utf16_start(f->utf16, p, *n);
	}
	return file_utf16_read(f->utf16, bytes_wide, f, p, room, n, e);
}

/* Behind the end of what is packed there may be more bytes. */
static enum status
bytes_rest(struct file_bytes *f, struct err *e)
{
	enum status st = ST_OK;

	if (f->in.regular && f->in.taken == f->has.bytes && !f->in.broken)
		return ST_END; /* the sum was right then */
	while (st == ST_OK)
		st = file_input_fill(&f->in, e);
	return st;
}

enum status
file_bytes_read(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	struct err why;

	*n = 0;
	enum status st = f->text || f->wide ? bytes_text(f, p, room, n, e) : bytes_read(f, p, room, n, e);
	if (!f->path || st == ST_OK || st == ST_AGAIN)
		return st;
	if (st == ST_END && f->packing != FILE_PLAIN)
		st = bytes_rest(f, e);
	/* Whatever is wrong with it, that it is not the file that was saved is told first. */
	if (st == ST_DATA && seal_file_check(f->path, &f->has, &why) != ST_OK) {
		*e = why;
		st = why.kind;
	}
	return st;
}

enum status
file_bytes_skip(struct file_bytes *f, uint64_t offset, uint8_t *p, size_t room, size_t *n,
		struct err *e)
{
	enum status st = ST_OK;

	*n = 0;
	if (!f->sniffed && f->in.regular) {
		uint8_t head[FILE_SNIFF];
		size_t got;

		st = file_input_peek(&f->in, head, sizeof head, &got, e);
		if (st != ST_OK)
			return st;
		f->sniffed = bytes_packing(f, head, got) == FILE_PLAIN && !(f->text && file_utf16_is(head, got));
	}
	if (f->sniffed && f->packing == FILE_PLAIN && f->in.regular && !f->wide)
		return offset > f->in.size && !f->in.object ? ST_END : file_input_seek(&f->in, offset, e);
	while (offset && st == ST_OK) {
		st = file_bytes_read(f, p, room, n, e);
		if (*n > offset) {
			*n -= offset;
			memmove(p, p + offset, *n);
			return ST_OK;
		}
		offset -= *n;
		*n = 0;
	}
	return st;
}

bool
file_bytes_seek(struct file_bytes *f, uint64_t offset)
{
	struct err ignored;

	return file_bytes_plain(f) && f->in.regular && !f->in.object && !f->in.expects &&
		f->in.from == f->in.to && offset <= f->in.size &&
		file_input_seek(&f->in, offset, &ignored) == ST_OK;
}

bool
file_bytes_plain(const struct file_bytes *f)
{
	return f->sniffed && f->packing == FILE_PLAIN && !f->text && !f->wide;
}

uint64_t
file_bytes_size(const struct file_bytes *f)
{
	return f->packing == FILE_PLAIN && f->in.size > f->in.taken ? f->in.size - f->in.taken : 0;
}

const uint8_t *
file_bytes_lend(struct file_bytes *f, uint64_t offset, size_t most, size_t *n)
{
	return file_bytes_plain(f) ? file_input_lend(&f->in, offset, most, n) : NULL;
}

bool
file_bytes_lost(struct file_bytes *f)
{
	return file_input_lost(&f->in);
}

enum status
file_bytes_pass(struct file_bytes *f, uint64_t offset, struct err *e)
{
	return file_input_pass(&f->in, offset, e);
}
