/* SPDX-License-Identifier: MIT
 * whole: each file as one element.
 */
#include "op/file/file_source.h"

struct whole {
	struct file_source src;
};

static const struct param whole_params[] = {
	FILE_SOURCE_NAMES(struct whole),
	FILE_SOURCE_NAMED(struct whole),
	{ 0 }
};

static enum status
whole_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct whole *w = n->params;

	*type = type_scalar(TYPE_BYTES);
	return file_named_type(&w->src.with_name, NULL, t->arena, type, e);
}

const struct op_desc op_whole = {
	.name = "whole",
	.brief = "reads whole files, each as one element of bytes",
	.doc = "Files compressed with gzip, bzip2, xz, zstd, lz4 or snappy are decompressed; they are "
	       "recognised by their content, not by their name. A file larger than the element "
	       "limit is an error.",
	.kind = OP_SOURCE,
	.params = whole_params,
	.state_size = sizeof(struct whole),
	.typing = whole_typing,
	.check = file_source_check,
	.list = file_source_list,
	.cardinality = file_source_count,
	.open = file_source_open,
	.next = file_source_whole,
	.close = file_source_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "whole - | map len(x)",
	.output = "12\n",
	.input = "hello\nworld\n",
};
