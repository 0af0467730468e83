/* SPDX-License-Identifier: MIT
 * tsv: rows of files with tabs between the fields, as records.
 */
#include "op/file/file_csv.h"

static const struct param tsv_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct file_csv, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	FILE_CSV_ROWS(struct file_csv),
	{ 0 }
};

const struct op_desc op_tsv = {
	.name = "tsv",
	.brief = "reads rows of TSV files, as records",
	.doc = "There are no quotes: a tab, newline, carriage return or backslash in a field is "
	       "written \\t, \\n, \\r, \\\\. If there is one column, an empty line is an empty "
	       "field. Everything else is as with `csv`; large files are divided into splits.",
	.kind = OP_SOURCE,
	.params = tsv_params,
	.state_size = sizeof(struct file_csv),
	.typing = file_csv_typing,
	.check = file_csv_check,
	.list = file_csv_list,
	.open = file_csv_open,
	.next = file_csv_next,
	.close = file_csv_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "tsv - | map .id",
	.output = "a\tb\n7\n",
	.input = "id\tn\na\\tb\t1\n7\t2\n",
};
