/* SPDX-License-Identifier: MIT */
#include "op/file/file_archive.h"

#include <string.h>

#include "base/archive_lib.h"
#include "base/mem.h"
#include "op/file/file_bytes.h"

struct file_archive {
	const struct archive_lib *lib;
	struct archive *a;
	struct file_input *in;
	enum file_packing packing;
	uint64_t before;     /* offset in the file at which this libarchive began */
	enum status input;   /* the status of reading the file, if it failed */
	struct err *e;       /* error of the call in progress; lent */
	const uint8_t *p;    /* unpacked bytes not yet taken */
	size_t left;
	bool ended;
};

static const struct {
	int filter;
	const char *name;
} archive_kinds[] = {
	[FILE_BZIP2] = { ARCHIVE_FILTER_BZIP2, "bzip2" },
	[FILE_XZ] = { ARCHIVE_FILTER_XZ, "xz" },
	[FILE_ZSTD] = { ARCHIVE_FILTER_ZSTD, "zstd" },
	[FILE_LZ4] = { ARCHIVE_FILTER_LZ4, "lz4" },
};

static la_ssize_t
file_archive_input(struct archive *a, void *arg, const void **p)
{
	struct file_archive *f = arg;
	struct file_input *in = f->in;

	if (in->from == in->to) {
		enum status st = file_input_fill(in, f->e);
		if (st == ST_END)
			return 0;
		if (st != ST_OK) {
			f->input = st;
			f->lib->archive_set_error(a, -1, "reading failed");
			return ARCHIVE_FATAL;
		}
	}
	size_t n = in->to - in->from;
	*p = in->buf + in->from;
	in->from = in->to;
	return (la_ssize_t)n;
}

static enum status
file_archive_fault(struct file_archive *f, struct err *e)
{
	const char *why = f->lib->archive_error_string(f->a);

	if (f->input != ST_OK)
		return f->input; /* the error is filled already */
	return err_set(e, ST_DATA, "cannot decompress: %s, near byte %llu of the %s data", why ? why : "corrupt data",
		       (unsigned long long)f->in->taken, archive_kinds[f->packing].name);
}

/* Begins with the bytes in the input's buffer. */
static enum status
file_archive_begin(struct file_archive *f, struct err *e)
{
	struct archive_entry *entry;
	struct archive *a = f->a = f->lib->archive_read_new();

	/* Appending the filter fixes it: libarchive does not guess, and a compressed file
	 * inside a compressed file is decompressed only once. */
	if (!a || f->lib->archive_read_append_filter(a, archive_kinds[f->packing].filter) != ARCHIVE_OK
	    || f->lib->archive_read_support_format_raw(a) != ARCHIVE_OK
	    || f->lib->archive_read_support_format_empty(a) != ARCHIVE_OK)
		return err_set(e, ST_CONFIG, "cannot decompress: this libarchive does not know %s",
			       archive_kinds[f->packing].name);
	int rc = f->lib->archive_read_open(a, f, NULL, file_archive_input, NULL);
	if (rc == ARCHIVE_OK && !f->lib->archive_error_string(a))
		rc = f->lib->archive_read_next_header(a, &entry);
	if ((rc != ARCHIVE_OK && rc != ARCHIVE_EOF) || f->lib->archive_error_string(a))
		return file_archive_fault(f, e);
	f->ended = rc == ARCHIVE_EOF;
	return ST_OK;
}

enum status
file_archive_open(enum file_packing packing, struct file_input *in, struct file_archive **out,
		  struct err *e)
{
	struct file_archive *f = mem_zalloc(sizeof *f);

	*out = f;
	f->in = in;
	f->packing = packing;
	f->e = e;
	f->lib = archive_lib(e);
	return f->lib ? file_archive_begin(f, e) : e->kind;
}

/* Called when libarchive sees the end. It takes an empty lz4 frame for the end, and ignores
 * whatever follows a bzip2 stream, so the bytes that are left are examined. ST_OK: there are
 * more frames; ST_END: the file has ended. */
static enum status
file_archive_end(struct file_archive *f, struct err *e)
{
	struct file_input *in = f->in;
	uint64_t used = (uint64_t)f->lib->archive_filter_bytes(f->a, -1);
	uint64_t left = in->taken - f->before - used;
	enum status st = ST_OK;

	if (left <= in->to) {
		/* The last block is still in the buffer. */
		memmove(in->buf, in->buf + in->to - left, left);
		in->from = 0;
		in->to = left;
		while (st == ST_OK && in->to < FILE_INPUT_BLOCK / 2) {
			size_t n;

			st = file_input_read(in, in->buf + in->to, FILE_INPUT_BLOCK - in->to, &n, e);
			in->to += n;
		}
		if (st != ST_OK && st != ST_END)
			return st;
		if (!in->to)
			return ST_END;
	}
	/* If nothing was taken and nothing complained about, another try would never end. */
	if (!used || left > in->to || file_packing_of(in->buf, in->to) != f->packing)
		return err_set(e, ST_DATA, "cannot decompress: something that is not %s, at byte %llu",
			       archive_kinds[f->packing].name,
			       (unsigned long long)(in->taken - in->to));
	f->lib->archive_read_free(f->a);
	f->before = in->taken - in->to;
	return file_archive_begin(f, e);
}

enum status
file_archive_read(struct file_archive *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	enum status st = ST_OK;

	*n = 0;
	f->e = e;
	while (!f->left) {
		const void *data;
		la_int64_t offset;

		if (f->ended && (st = file_archive_end(f, e)) != ST_OK)
			return st;
		if (f->ended)
			continue;
		int rc = f->lib->archive_read_data_block(f->a, &data, &f->left, &offset);
		if (f->lib->archive_error_string(f->a) || (rc != ARCHIVE_OK && rc != ARCHIVE_EOF)) {
			f->left = 0;
			return file_archive_fault(f, e);
		}
		f->p = data;
		f->ended = rc == ARCHIVE_EOF;
		if (f->ended)
			f->left = 0;
	}
	*n = f->left < room ? f->left : room;
	memcpy(p, f->p, *n);
	f->p += *n;
	f->left -= *n;
	return ST_OK;
}

void
file_archive_close(struct file_archive **fp)
{
	if (!*fp)
		return;
	if ((*fp)->a)
		(*fp)->lib->archive_read_free((*fp)->a);
	mem_free(*fp);
	*fp = NULL;
}
