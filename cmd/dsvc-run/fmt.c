/* SPDX-License-Identifier: MIT */
#include "fmt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "lang/layout.h"

/* Beside the file, and then in its place: nobody sees half of it. */
static enum status
fmt_replace(const char *path, const struct buf *text, struct err *e)
{
	struct stat info;
	char *name = realpath(path, NULL), *temp = NULL; /* a link stays one */
	enum status st = ST_OK;

	if (!name || stat(name, &info)) {
		st = err_errno(e, "cannot open %s", path);
		free(name);
		return st;
	}
	temp = mem_printf("%s.XXXXXX", name);
	int fd = mkstemp(temp);
	if (fd < 0) {
		st = err_errno(e, "cannot make a file beside %s", path);
	} else {
		FILE *f = fdopen(fd, "w");
		bool ok = f && (!text->len || fwrite(text->data, 1, text->len, f) == text->len);
		ok = ok && !fchmod(fd, info.st_mode & 07777) && !fflush(f) && !fsync(fd);
		if (!ok || rename(temp, name)) {
			st = err_errno(e, "cannot write %s", path);
			unlink(temp);
		}
		if (f)
			fclose(f);
		else
			close(fd);
	}
	mem_free(temp);
	free(name);
	return st;
}

enum status
fmt_spec(const struct spec_src *src, enum fmt_mode mode, bool *changed, struct buf *out, struct err *e)
{
	struct buf before = { 0 }, text = { 0 };
	enum status st = spec_layout(src, &before, &text, e);

	if (!st) {
		bool same = before.len == text.len && (!text.len || !memcmp(before.data, text.data, text.len));
		*changed |= !same;
		if (mode == FMT_PRINT)
			buf_put(out, text.data, text.len);
		else if (mode == FMT_CHECK && !same)
			buf_printf(out, "%s\n", src->file ? src->file : "<arg>");
		else if (mode == FMT_WRITE && !same)
			st = fmt_replace(src->file, &text, e);
	}
	buf_clear(&before);
	buf_clear(&text);
	return st;
}
