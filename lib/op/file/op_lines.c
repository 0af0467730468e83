/* SPDX-License-Identifier: MIT
 * lines: the lines of files, packed or plain, as text without their ends.
 */
#include "op/file/byte_word.h"
#include "op/file/file_source.h"

struct lines {
	struct file_source src;
	char *delim;
	int64_t skip;
};

static const struct param lines_params[] = {
	FILE_SOURCE_NAMES(struct lines),
	{ "delim", PARAM_WORD, offsetof(struct lines, delim), "\\n",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "the byte that ends a line: a character, or \\n \\t \\r \\0 \\xHH" },
	{ "skip", PARAM_INT, offsetof(struct lines, skip), "0", .flags = PARAM_KEY_ONLY,
	  .min = 0, .max = 1000000000, .help = "lines to skip at the start of each file" },
	{ 0 }
};

static enum status
lines_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_TEXT);
	return ST_OK;
}

static enum status
lines_check(const struct op_node *n, struct err *e)
{
	const struct lines *l = n->params;
	uint8_t delim;
	enum status st = byte_word_parse("delim", l->delim, &delim, e);
	return st == ST_OK ? file_source_check(n, e) : st;
}

static enum status
lines_open(struct op_inst *self, struct err *e)
{
	struct lines *l = self->state;
	enum status st = byte_word_parse("delim", l->delim, &l->src.delim, e);
	l->src.skip = (uint64_t)l->skip;
	return st == ST_OK ? file_source_open(self, e) : st;
}

static enum status
lines_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, file_lines, out, e);
}

const struct op_desc op_lines = {
	.name = "lines",
	.brief = "reads lines of files, as text",
	.doc = "Files are read in the order given; the files that match a pattern are sorted by "
	       "name. Files compressed with gzip, bzip2, xz, zstd, lz4 or snappy are decompressed; they "
	       "are recognised by their content, not by their name. The last line counts even if "
	       "nothing ends it. Bytes are passed on as they are, including a carriage return at "
	       "the end of a line.\n\nA file that cannot be read, or not to its end, is an error; "
	       "with on_error=skip the rest of it is skipped and counted.",
	.kind = OP_SOURCE,
	.params = lines_params,
	.state_size = sizeof(struct lines),
	.typing = lines_typing,
	.check = lines_check,
	.list = file_source_list_lines,
	.open = lines_open,
	.next = lines_next,
	.close = file_source_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "lines - skip=1 | map upper(x)",
	.output = "PEAR\nPLUM\n",
	.input = "fruit\npear\nplum\n",
};
