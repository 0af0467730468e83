/* SPDX-License-Identifier: MIT */
#include "op/file/file_bytes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/file/file_gzip.h"

enum { BYTES_SNIFF_MS = 50 };

struct file_bytes {
	struct file_input in;
	bool sniffed;             /* the packing is known */
	enum file_packing packing;
	file_is_zlib *is_zlib;    /* NULL: zlib is not looked for */
	struct file_gzip *gzip;   /* kept for the next file */
	struct file_archive *archive;
};

/* Bytes at the start of compressed files, which no text has; all of them must match. */
static const struct {
	enum file_packing packing;
	uint8_t n, magic[6];
	uint8_t at, more_n, more[2][6]; /* bzip2 needs more bytes: "BZh9" alone could be a word */
} file_magics[] = {
	{ FILE_GZIP, 3, { 0x1f, 0x8b, 0x08 }, 0, 0, { { 0 } } },
	{ FILE_ZSTD, 4, { 0x28, 0xb5, 0x2f, 0xfd }, 0, 0, { { 0 } } },
	{ FILE_XZ, 6, { 0xfd, '7', 'z', 'X', 'Z', 0 }, 0, 0, { { 0 } } },
	{ FILE_LZ4, 4, { 0x04, 0x22, 0x4d, 0x18 }, 0, 0, { { 0 } } },
	{ FILE_BZIP2, 3, { 'B', 'Z', 'h' }, 4, 6,
	  { { 0x31, 0x41, 0x59, 0x26, 0x53, 0x59 }, { 0x17, 0x72, 0x45, 0x38, 0x50, 0x90 } } },
};

enum file_packing
file_packing_of(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < sizeof file_magics / sizeof *file_magics; i++) {
		if (n < file_magics[i].n || memcmp(p, file_magics[i].magic, file_magics[i].n))
			continue;
		size_t at = file_magics[i].at, more = file_magics[i].more_n;
		if (!more || (n >= at + more && (!memcmp(p + at, file_magics[i].more[0], more)
						 || !memcmp(p + at, file_magics[i].more[1], more))))
			return file_magics[i].packing;
	}
	/* pzstd begins with a frame that holds only sizes. */
	if (n >= 4 && (p[0] & 0xf0) == 0x50 && p[1] == 0x2a && p[2] == 0x4d && p[3] == 0x18)
		return FILE_ZSTD;
	return FILE_PLAIN;
}

/* Whether these few bytes could still be the beginning of a compressed file. */
static bool
bytes_undecided(const uint8_t *p, size_t n)
{
	if (n >= FILE_SNIFF)
		return false;
	for (size_t i = 0; i < sizeof file_magics / sizeof *file_magics; i++) {
		size_t head = file_magics[i].n < n ? file_magics[i].n : n;
		if (!memcmp(p, file_magics[i].magic, head)
		    && n < (size_t)(file_magics[i].more_n ? file_magics[i].at + file_magics[i].more_n
							  : file_magics[i].n))
			return true;
	}
	return n < 4 && (p[0] & 0xf0) == 0x50 && (n < 2 || p[1] == 0x2a) && (n < 3 || p[2] == 0x4d);
}

enum file_packing
file_packing_at(const char *path)
{
	uint8_t head[FILE_SNIFF];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, head, sizeof head);
		close(fd);
	}
	return n > 0 ? file_packing_of(head, (size_t)n) : FILE_PLAIN;
}

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
	mem_free(*fp);
	*fp = NULL;
}

enum status
file_bytes_open(struct file_bytes *f, const char *path, bool as_is, const struct op_ctx *ctx,
		struct err *e)
{
	file_bytes_close(f);
	f->packing = FILE_PLAIN;
	f->is_zlib = NULL;
	f->sniffed = as_is;
	return file_input_open(&f->in, path, ctx, e);
}

void
file_bytes_zlib(struct file_bytes *f, file_is_zlib *is)
{
	f->is_zlib = is;
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
	} while (st == ST_OK && (bytes_undecided(p, have) || (f->is_zlib && have < FILE_SNIFF)) && file_input_ready(in, BYTES_SNIFF_MS));
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
	if (f->packing != FILE_GZIP && f->packing != FILE_ZLIB)
		return file_archive_open(f->packing, in, &f->archive, e);
	if (!f->gzip)
		f->gzip = file_gzip_new();
	file_gzip_start(f->gzip, f->packing == FILE_ZLIB);
	return ST_OK;
}

enum status
file_bytes_read(struct file_bytes *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	*n = 0;
	if (!f->sniffed) {
		enum status st = bytes_first(f, p, room, n, e);
		if (st != ST_OK || *n)
			return st;
	}
	if (f->packing == FILE_PLAIN)
		return file_input_read(&f->in, p, room, n, e);
	if (f->packing == FILE_GZIP || f->packing == FILE_ZLIB)
		return file_gzip_read(f->gzip, &f->in, p, room, n, e);
	return file_archive_read(f->archive, p, room, n, e);
}

enum status
file_bytes_skip(struct file_bytes *f, uint64_t offset, uint8_t *p, size_t room, size_t *n,
		struct err *e)
{
	enum status st = ST_OK;

	*n = 0;
	if (!f->sniffed && f->in.regular) {
		uint8_t head[FILE_SNIFF];
		ssize_t got = pread(f->in.fd, head, sizeof head, 0);

		f->sniffed = got >= 0 && bytes_packing(f, head, (size_t)got) == FILE_PLAIN;
	}
	if (f->sniffed && f->packing == FILE_PLAIN && f->in.regular)
		return offset > f->in.size ? ST_END : file_input_seek(&f->in, offset, e);
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

uint64_t
file_bytes_size(const struct file_bytes *f)
{
	return f->packing == FILE_PLAIN && f->in.size > f->in.taken ? f->in.size - f->in.taken : 0;
}
