/* SPDX-License-Identifier: MIT
 * tfrecord: records of TFRecord files, as bytes or as tf.train.Example.
 */
#include "op/file/file_tfrecord.h"

struct tfrecord {
	struct file_tfrecord file;
	bool lists, bytes;
};

static const struct param tfrecord_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct tfrecord, file.src.names),
	  .flags = PARAM_REST | PARAM_PATH,
	  .help = "names and patterns (*, ?, [a-z], {a,b}, **); `-` is standard input" },
	{ "as", PARAM_CHOICE, offsetof(struct tfrecord, file.as), "bytes", .flags = PARAM_KEY_ONLY,
	  .choices = "bytes|example",
	  .help = "what a record is: bytes as they are, or a tf.train.Example, given as a record" },
	{ "lists", PARAM_BOOL, offsetof(struct tfrecord, lists), "false", .flags = PARAM_KEY_ONLY,
	  .help = "features of an Example are lists, those with one value too" },
	{ "bytes", PARAM_BOOL, offsetof(struct tfrecord, bytes), "false", .flags = PARAM_KEY_ONLY,
	  .help = "bytes of an Example stay bytes, and are not text where they are UTF-8" },
	{ 0 }
};

static enum status
tfrecord_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct tfrecord *f = n->params;

	(void)e;
	*type = f->file.as == FILE_TFRECORD_EXAMPLE ? type_record(t->arena, NULL, 0, true)
						    : type_scalar(TYPE_BYTES);
	return ST_OK;
}

static enum status
tfrecord_open(struct op_inst *self, struct err *e)
{
	struct tfrecord *f = self->state;

	f->file.conf = (struct example_conf){ f->lists, f->bytes };
	return file_tfrecord_open(self, e);
}

const struct op_desc op_tfrecord = {
	.name = "tfrecord",
	.brief = "records of TFRecord files",
	.doc = "What TensorFlow and `-t tfrecord` write. Both checksums of each record are checked. A "
	       "record whose data is corrupt fails, and with on_error=skip is skipped; behind a "
	       "corrupt length the rest of the file is lost. Packed files are unpacked, as by "
	       "`lines`, and so is ZLIB of tf.data's compression_type.\n\n"
	       "With as=example records are decoded: int64 and float lists give numbers, bytes give "
	       "text where they are UTF-8 without control characters; a feature with one value is "
	       "that value, unless lists=true. A list in several parts goes on, of a feature given twice "
	       "the last counts, as in protocol buffers.",
	.kind = OP_SOURCE,
	.params = tfrecord_params,
	.state_size = sizeof(struct tfrecord),
	.typing = tfrecord_typing,
	.check = file_source_check,
	.list = file_source_list,
	.open = tfrecord_open,
	.next = file_tfrecord_next,
	.close = file_tfrecord_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "tfrecord three.tfrecord as=example",
	.output = "{\"id\":1,\"label\":\"one\",\"x\":[0.5,1.5]}\n{\"id\":2,\"label\":\"two\",\"x\":[]}\n"
		  "{\"id\":3,\"label\":\"three\",\"x\":2.5}\n",
};
