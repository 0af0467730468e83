/* SPDX-License-Identifier: MIT
 * ndjson: one JSON value a line.
 */
#include "op/file/file_source.h"

#include "value/json/json.h"

struct ndjson {
	struct file_source src;
};

static const struct param ndjson_params[] = {
	FILE_SOURCE_NAMES(struct ndjson),
	FILE_SOURCE_NAMED(struct ndjson),
	{ 0 }
};

static enum status
ndjson_open(struct op_inst *self, struct err *e)
{
	struct ndjson *s = self->state;

	s->src.text = true;
	s->src.delim = '\n';
	s->src.pad = json_padding();
	return file_source_open(self, e);
}

static enum status
ndjson_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, file_ndjson, out, e);
}

const struct op_desc op_ndjson = {
	.name = "ndjson",
	.aliases = "jsonl",
	.brief = "reads JSON values, one per line",
	.doc = "Objects become records, whole numbers of 64 bits stay exact, and other numbers "
	       "become floats. Empty lines are left out. A line that is not JSON is an error; with "
	       "on_error=skip it is skipped and counted. Compressed files are decompressed, as "
	       "with `lines`.",
	.kind = OP_SOURCE,
	.params = ndjson_params,
	.state_size = sizeof(struct ndjson),
	.list = file_source_list_lines,
	.check = file_source_check,
	.open = ndjson_open,
	.next = ndjson_next,
	.close = file_source_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "ndjson - | filter .n > 1",
	.output = "{\"id\":\"b\",\"n\":2}\n{\"id\":\"c\",\"n\":3}\n",
	.input = "{\"id\": \"a\", \"n\": 1}\n{\"id\": \"b\", \"n\": 2}\n{\"id\": \"c\", \"n\": 3}\n",
};
