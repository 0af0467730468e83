/* SPDX-License-Identifier: MIT
 * msgpack: MessagePack values end to end, as they lie in the file.
 */
#include "op/file/file_source.h"

struct msgpack {
	struct file_source src;
};

static const struct param msgpack_params[] = {
	FILE_SOURCE_NAMES(struct msgpack),
	FILE_SOURCE_NUMBERED(struct msgpack, src),
	{ 0 }
};

static enum status
msgpack_open(struct op_inst *self, struct err *e)
{
	struct msgpack *m = self->state;

	m->src.counts = "record";
	return file_source_open(self, e);
}

static enum status
msgpack_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, file_msgpack, out, e);
}

const struct op_desc op_msgpack = {
	.name = "msgpack",
	.brief = "reads MessagePack values, one after another",
	.doc = "Reads the output of dsvc-run -t msgpack and of most other programs. Since the "
	       "beginning of a value is known only from the end of the one before, the rest of a "
	       "file is lost after a malformed value, even with on_error=skip.",
	.kind = OP_SOURCE,
	.params = msgpack_params,
	.state_size = sizeof(struct msgpack),
	.check = file_source_check,
	.list = file_source_list,
	.open = msgpack_open,
	.next = msgpack_next,
	.close = file_source_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "msgpack - | map x + 1",
	.output = "66\n67\n68\n",
	.input = "ABC", /* the bytes of the letters are the numbers 65 to 67 */
};
