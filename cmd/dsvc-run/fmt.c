/* SPDX-License-Identifier: MIT */
#include "fmt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/replace.h"
#include "lang/layout.h"

/* The mode stays, and a link stays one. */
static enum status
fmt_replace(const char *path, const struct buf *text, struct err *e)
{
	struct stat info;
	char *name = realpath(path, NULL);

	if (!name || stat(name, &info)) {
		enum status st = err_errno(e, "cannot open %s", path);
		free(name);
		return st;
	}
	enum status st = replace_file_mode(name, info.st_mode & 07777, text->data, text->len, e);
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
