/* SPDX-License-Identifier: MIT
 * csv: rows of CSV files, as records.
 */
#include "op/file/file_csv.h"

static const struct param csv_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct file_csv, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	FILE_CSV_ROWS(struct file_csv),
	{ "delim", PARAM_WORD, offsetof(struct file_csv, delim), ",",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "the byte between fields: a character, or \\t \\xHH" },
	{ "quote", PARAM_WORD, offsetof(struct file_csv, quote), "\"",
	  .flags = PARAM_KEY_ONLY | PARAM_BYTE,
	  .help = "the byte around fields that contain delimiters or newlines, or `none`" },
	{ 0 }
};

const struct op_desc op_csv = {
	.name = "csv",
	.brief = "reads rows of CSV files, as records",
	.doc = "Follows RFC 4180: a quoted field may contain delimiters and newlines, and a quote inside it is "
	       "written twice. Compressed files are decompressed, as with `lines`.\n\nWith types=auto a value "
	       "that JSON would read as a number, as true or as false becomes that, and an empty field becomes "
	       "null, even in a row that is just \"\". Quoted fields stay text. So do values that are not JSON "
	       "(.5, +5, 0x1f) and those that a number would not hold exactly (007, whole numbers of more than "
	       "64 bits); -0 is a float, since no int is printed that way. A column without a name is called "
	       "by its number, and the second column called NAME is called NAME_2.\n\nA row with more or fewer "
	       "fields than there are columns is an error; with on_error=skip it is skipped and counted, and "
	       "ragged=true allows it. Files are divided into splits only with quote=none, since quotes may "
	       "contain newlines.",
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
