/* SPDX-License-Identifier: MIT
 * json: JSON values that are not one a line.
 */
#include "op/file/file_json.h"

static const struct param json_params[] = {
	FILE_SOURCE_NAMES(struct file_json),
	{ "arrays", PARAM_CHOICE, offsetof(struct file_json, arrays), "items", .flags = PARAM_KEY_ONLY,
	  .choices = "items|whole",
	  .help = "items: an array that is not part of another value gives its items; whole: it is one "
		  "element" },
	FILE_SOURCE_NAMED(struct file_json),
	{ 0 }
};

static enum status
json_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, file_json, out, e);
}

const struct op_desc op_json = {
	.name = "json",
	.brief = "reads JSON values that follow each other, or the items of arrays",
	.doc = "Values may be spread over several lines, or follow each other on one. An array gives "
	       "its items, and need not fit in memory. Otherwise as `ndjson`, which is faster and "
	       "divides large files into splits.\n\nA value that is not JSON is an error; with "
	       "on_error=skip it is skipped and counted. Where the end of a value cannot be found, "
	       "the rest of its file is skipped.",
	.kind = OP_SOURCE,
	.params = json_params,
	.state_size = sizeof(struct file_json),
	.list = file_source_list,
	.check = file_source_check,
	.open = file_json_open,
	.next = json_next,
	.close = file_source_close,
	.save = file_json_save,
	.restore = file_json_restore,
	.example = "json - | map .n",
	.output = "1\n2\n3\n",
	.input = "{\"n\": 1}\n[\n  {\"n\": 2},\n  {\"n\": 3}\n]\n",
};
