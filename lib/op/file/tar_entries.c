/* SPDX-License-Identifier: MIT */
#include "op/file/tar_entries.h"

#include <stdint.h>

#include "base/archive_lib.h"
#include "base/mem.h"

enum { TAR_BLOCK = 128 * 1024 };

struct tar_entries {
	struct file_bytes *bytes;
	const struct archive_lib *lib;
	struct archive *a;
	struct archive_entry *entry; /* the current entry, lent by a */
	uint8_t *block;
	enum status input;           /* the status of reading the file, if it failed */
	int64_t taken;               /* bytes of the archive that libarchive has been given */
	struct err *e;               /* error of the call in progress; lent */
};

struct tar_entries *
tar_entries_new(void)
{
	struct tar_entries *t = mem_zalloc(sizeof *t);

	t->bytes = file_bytes_new();
	t->block = mem_alloc(TAR_BLOCK);
	return t;
}

void
tar_entries_free(struct tar_entries **tp)
{
	if (!*tp)
		return;
	tar_entries_close(*tp);
	file_bytes_free(&(*tp)->bytes);
	mem_free((*tp)->block);
	mem_free(*tp);
	*tp = NULL;
}

void
tar_entries_close(struct tar_entries *t)
{
	if (t->a)
		t->lib->archive_read_free(t->a);
	t->a = NULL;
	file_bytes_close(t->bytes);
}

static la_ssize_t
tar_input(struct archive *a, void *arg, const void **p)
{
	struct tar_entries *t = arg;
	size_t n;
	enum status st = file_bytes_read(t->bytes, t->block, TAR_BLOCK, &n, t->e);

	*p = t->block;
	if (st == ST_OK) {
		t->taken += (int64_t)n;
		return (la_ssize_t)n;
	}
	if (st == ST_END)
		return 0;
	t->input = st;
	t->lib->archive_set_error(a, -1, "reading failed");
	return ARCHIVE_FATAL;
}

static enum status
tar_fault(struct tar_entries *t, struct err *e)
{
	const char *why = t->lib->archive_error_string(t->a);

	if (t->input != ST_OK)
		return t->input; /* the error is filled already */
	return err_set(e, ST_DATA, "cannot read the archive: %s", why ? why : "it is damaged");
}

enum status
tar_entries_open(struct tar_entries *t, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	tar_entries_close(t);
	t->input = ST_OK;
	t->taken = 0;
	t->e = e;
	enum status st = file_bytes_open(t->bytes, path, tag, false, ctx, e);
	if (st != ST_OK)
		return st;
	t->lib = archive_lib(e);
	if (!t->lib)
		return e->kind;
	t->a = t->lib->archive_read_new();
	if (t->lib->archive_read_support_format_tar(t->a) != ARCHIVE_OK
	    || t->lib->archive_read_support_format_empty(t->a) != ARCHIVE_OK
	    || t->lib->archive_read_open(t->a, t, NULL, tar_input, NULL) != ARCHIVE_OK)
		return tar_fault(t, e);
	return ST_OK;
}

enum status
tar_entries_next(struct tar_entries *t, const char **name, struct err *e)
{
	t->e = e;
	for (;;) {
		int rc = t->lib->archive_read_next_header(t->a, &t->entry);

		/* libarchive takes the end of the file for the end of the archive. A complete
		 * archive has an end mark, so there are bytes where the next header would
		 * begin. */
		if (rc == ARCHIVE_EOF && t->taken && t->lib->archive_read_header_position(t->a) >= t->taken)
			return err_set(e, ST_DATA, "the archive was cut off: it ends without its end mark");
		if (rc == ARCHIVE_EOF)
			return ST_END;
		if (rc < ARCHIVE_WARN)
			return tar_fault(t, e);
		if (t->lib->archive_entry_filetype(t->entry) != AE_IFREG)
			continue;
		*name = t->lib->archive_entry_pathname(t->entry);
		if (*name)
			return ST_OK;
	}
}

enum status
tar_entries_read(struct tar_entries *t, size_t max, struct buf *out, struct err *e)
{
	uint64_t size = (uint64_t)t->lib->archive_entry_size(t->entry);

	t->e = e;
	if (size > max)
		return ST_NO;
	/* One byte more than the header says, so that the end is seen. */
	for (;;) {
		uint8_t *p = buf_room(out, (size_t)size + 1);
		la_ssize_t n = t->lib->archive_read_data(t->a, p, (size_t)size + 1);

		if (n < 0)
			return tar_fault(t, e);
		if (n == 0)
			return ST_OK;
		out->len += (size_t)n;
		if ((uint64_t)n > size)
			return err_set(e, ST_DATA, "a file of the archive is larger than it says");
		size -= (uint64_t)n;
	}
}
