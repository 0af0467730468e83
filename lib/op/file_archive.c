/* SPDX-License-Identifier: MIT */
#include "op/file_archive.h"

#include <archive.h>
#include <string.h>

#include "base/mem.h"

struct file_archive {
	struct archive *a;
	struct file_input *in;
	const char *name;    /* of the packing */
	enum status input;   /* what reading the file said, when it failed */
	struct err *e;       /* of the call in progress */
	const uint8_t *p;    /* unpacked and not yet taken */
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
archive_input(struct archive *a, void *arg, const void **p)
{
	struct file_archive *f = arg;
	struct file_input *in = f->in;

	if (in->from == in->to) {
		enum status st = file_input_fill(in, f->e);
		if (st == ST_END)
			return 0;
		if (st != ST_OK) {
			f->input = st;
			archive_set_error(a, -1, "reading failed");
			return ARCHIVE_FATAL;
		}
	}
	size_t n = in->to - in->from;
	*p = in->buf + in->from;
	in->from = in->to;
	return (la_ssize_t)n;
}

static enum status
archive_fault(struct file_archive *f, struct err *e)
{
	const char *why = archive_error_string(f->a);

	if (f->input != ST_OK)
		return f->input; /* e is filled */
	return err_set(e, ST_DATA, "cannot unpack: %s, near byte %llu of the %s data", why ? why : "corrupt data",
		       (unsigned long long)f->in->taken, f->name);
}

enum status
file_archive_open(enum file_packing packing, struct file_input *in, struct file_archive **out,
		  struct err *e)
{
	struct file_archive *f = mem_zalloc(sizeof *f);
	struct archive_entry *entry;
	struct archive *a = archive_read_new();

	*out = f;
	f->a = a;
	f->in = in;
	f->name = archive_kinds[packing].name;
	f->e = e;
	/* Appending fixes the filter: no bidding, and a packed file that holds
	 * another packed file is unpacked once. */
	if (!a || archive_read_append_filter(a, archive_kinds[packing].filter) != ARCHIVE_OK
	    || archive_read_support_format_raw(a) != ARCHIVE_OK
	    || archive_read_support_format_empty(a) != ARCHIVE_OK)
		return err_set(e, ST_CONFIG, "cannot unpack: this libarchive does not know %s",
			       f->name);
	int rc = archive_read_open(a, f, NULL, archive_input, NULL);
	if (rc == ARCHIVE_OK && !archive_error_string(a))
		rc = archive_read_next_header(a, &entry);
	if ((rc != ARCHIVE_OK && rc != ARCHIVE_EOF) || archive_error_string(a))
		return archive_fault(f, e);
	f->ended = rc == ARCHIVE_EOF;
	return ST_OK;
}

enum status
file_archive_read(struct file_archive *f, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	*n = 0;
	f->e = e;
	while (!f->left) {
		const void *data;
		la_int64_t offset;

		if (f->ended)
			return ST_END;
		int rc = archive_read_data_block(f->a, &data, &f->left, &offset);
		if (archive_error_string(f->a) || (rc != ARCHIVE_OK && rc != ARCHIVE_EOF)) {
			f->left = 0;
			return archive_fault(f, e);
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
		archive_read_free((*fp)->a);
	mem_free(*fp);
	*fp = NULL;
}
