/* SPDX-License-Identifier: MIT
 * csv: rows of CSV files, as records.
 */
#include "op/file/file_csv.h"

static const struct param csv_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct file_csv, src.names), .flags = PARAM_REST | PARAM_PATH,
	  .help = "names and patterns (*, ?, [a-z], {a,b}, **); `-` is standard input" },
	FILE_CSV_ROWS(struct file_csv),
	{ "delim", PARAM_WORD, offsetof(struct file_csv, delim), ",",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "the byte between fields: a character, or \\t \\xHH" },
	{ "quote", PARAM_WORD, offsetof(struct file_csv, quote), "\"",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "the byte around fields that hold delimiters or newlines, or `none`" },
	{ 0 }
};

const struct op_desc op_csv = {
	.name = "csv",
	.brief = "rows of CSV files, as records",
	.doc = "As RFC 4180 has it: a field in quotes may hold delimiters and newlines, and a quote "
	       "is written twice in it. Packed files are unpacked, as by `lines`.\n\n"
	       "With types=auto what JSON would read as a number, as true or as false is that, and "
	       "an empty field is null, also where \"\" is all that a row has. Quoted fields stay "
	       "text, and so does what is no JSON (.5, +5, 0x1f) or what a number would not hold "
	       "exactly (007, whole numbers of more than 64 bits); -0 is a float, as no int is "
	       "printed so. A column without a name is called by its number, the second of a name "
	       "NAME_2.\n\n"
	       "A row with more or fewer fields than there are columns fails; with on_error=skip it "
	       "is skipped and counted. Files are cut into splits only with quote=none, as a newline "
	       "may stand in quotes.",
	.kind = OP_SOURCE,
	.params = csv_params,
	.state_size = sizeof(struct file_csv),
	.typing = file_csv_typing,
	.check = file_csv_check,
	.list = file_csv_list,
	.open = file_csv_open,
	.next = file_csv_next,
	.close = file_csv_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "csv - | filter .n > 1",
	.output = "{\"id\":\"b, c\",\"n\":2}\n{\"id\":\"d\",\"n\":2.5}\n",
	.input = "id,n\na,1\n\"b, c\",2\nd,2.5\n",
};
