/* SPDX-License-Identifier: MIT
 * lines: the lines of files, packed or plain, as text without their ends.
 */
#include <string.h>

#include "op/file/byte_word.h"
#include "op/file/file_records.h"

struct lines {
	union {
		struct file_source src;
		struct file_records records;
	};
	char *delim;
	int64_t skip;
	bool paragraphs;
};

static const struct param lines_params[] = {
	FILE_SOURCE_NAMES(struct lines),
	{ "delim", PARAM_WORD, offsetof(struct lines, delim), "\\n",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "what ends a line: a character or several, in which \\n \\t \\r \\0 \\xHH are one byte" },
	{ "paragraphs", PARAM_BOOL, offsetof(struct lines, paragraphs), "false", .flags = PARAM_KEY_ONLY,
	  .help = "an element is a paragraph: all lines up to the next empty ones, without the last "
		  "newline" },
	{ "skip", PARAM_INT, offsetof(struct lines, skip), "0", .flags = PARAM_KEY_ONLY,
	  .min = 0, .max = 1000000000, .help = "lines to skip at the start of each file" },
	FILE_SOURCE_NAMED(struct lines),
	{ 0 }
};

static enum status
lines_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct lines *l = n->params;

	*type = type_scalar(TYPE_TEXT);
	return file_named_type(&l->src.with_name, NULL, t->arena, type, e);
}

/* Reads what ends an element: one byte, or several, which are added to `several`. Nothing is
 * added for paragraphs. */
static enum status
lines_ends(const struct lines *l, uint8_t *one, struct buf *several, struct err *e)
{
	enum status st = byte_word_text("delim", l->delim, several, e);

	*one = '\n';
	if (st == ST_OK && several->len == 1)
		*one = several->data[0];
	if (st == ST_OK && l->paragraphs && (several->len > 1 || *one != '\n'))
		st = err_set(e, ST_DATA, "paragraphs end at empty lines, so they do not go with delim");
	if (st != ST_OK || several->len == 1)
		buf_clear(several);
	return st;
}

static enum status
lines_check(const struct op_node *n, struct err *e)
{
	struct buf several = { 0 };
	uint8_t one;
	enum status st = lines_ends(n->params, &one, &several, e);

	buf_clear(&several);
	return st == ST_OK ? file_source_check(n, e) : st;
}

static enum status
lines_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct lines *l = n->params;
	struct buf several = { 0 };
	uint8_t one;
	enum status st = lines_ends(l, &one, &several, e);
	bool cut = !l->paragraphs && !several.len;

	/* Behind a cut, the next line end need not be the end of an element. */
	buf_clear(&several);
	if (st != ST_OK)
		return st;
	return cut ? file_source_list_lines(n, out, e) : file_source_list(n, out, e);
}

static enum status
lines_open(struct op_inst *self, struct err *e)
{
	struct lines *l = self->state;
	enum status st = lines_ends(l, &l->src.delim, &l->records.separator, e);

	l->src.skip = (uint64_t)l->skip;
	/* Names that end with NUL, as `find -print0` writes them, may begin with any bytes. */
	l->src.text = l->src.delim != 0;
	return st == ST_OK ? file_source_open(self, e) : st;
}

static enum status
lines_next(struct op_inst *self, struct run *out, struct err *e)
{
	const struct lines *l = self->state;
	bool records = l->paragraphs || l->records.separator.len;

	return file_source_next(self, records ? file_records : file_lines, out, e);
}

static void
lines_close(struct op_inst *self)
{
	struct lines *l = self->state;

	buf_clear(&l->records.separator);
	file_source_close(self);
}

const struct op_desc op_lines = {
	.name = "lines",
	.brief = "reads lines of files, as text",
	.doc = "Files are read in the order given; the files that match a pattern are sorted by name. Files "
	       "compressed with gzip, bzip2, xz, zstd, lz4 or snappy are decompressed; they are recognised by "
	       "their content, not by their name. The last line counts even if nothing ends it. Bytes are "
	       "passed on as they are, including a carriage return at the end of a line; but a byte order mark "
	       "at the start of a file is left out, and a file that begins with that of UTF-16 is read as "
	       "UTF-8.\n\nLarge files are divided into splits, unless with_name= counts their lines or delim= "
	       "has more than one byte.\n\nIf a filter follows directly, and its pattern matches only lines "
	       "that contain one of certain texts, as x ~ \"ERROR|FATAL\" does, many lines are searched for "
	       "these texts at a time; --explain shows them.\n\nA file that cannot be read to its end is an "
	       "error; with on_error=skip the rest of it is skipped and counted.",
	.kind = OP_SOURCE,
	.flags = OP_SEEKS,
	.params = lines_params,
	.state_size = sizeof(struct lines),
	.typing = lines_typing,
	.check = lines_check,
	.list = lines_list,
	.open = lines_open,
	.next = lines_next,
	.close = lines_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "lines - skip=1 | map upper(x)",
	.output = "PEAR\nPLUM\n",
	.input = "fruit\npear\nplum\n",
};
