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
	  .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	FILE_SOURCE_NUMBERED(struct tfrecord, file.src),
	{ "as", PARAM_CHOICE, offsetof(struct tfrecord, file.as), "bytes", .flags = PARAM_KEY_ONLY,
	  .choices = "bytes|example",
	  .help = "bytes: each record as it is; example: each record decoded as "
		  "a tf.train.Example" },
	{ "lists", PARAM_BOOL, offsetof(struct tfrecord, lists), "false", .flags = PARAM_KEY_ONLY,
	  .help = "features of an Example are always lists, even if they have one value" },
	{ "bytes", PARAM_BOOL, offsetof(struct tfrecord, bytes), "false", .flags = PARAM_KEY_ONLY,
	  .help = "bytes of an Example stay bytes, even if they are UTF-8" },
	{ 0 }
};

static enum status
tfrecord_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct tfrecord *f = n->params;

	*type = f->file.as == FILE_TFRECORD_EXAMPLE ? type_record(t->arena, NULL, 0, true)
						    : type_scalar(TYPE_BYTES);
	return file_named_type(&f->file.src.with_name, "record", t->arena, type, e);
}

static enum status
tfrecord_open(struct op_inst *self, struct err *e)
{
	struct tfrecord *f = self->state;

	f->file.src.counts = "record";
	f->file.conf = (struct example_conf){ f->lists, f->bytes };
	return file_tfrecord_open(self, e);
}

const struct op_desc op_tfrecord = {
	.name = "tfrecord",
	.brief = "reads records of TFRecord files",
	.doc = "Reads what TensorFlow and `-t tfrecord` write. Both checksums of each record are "
	       "checked. A record with corrupt data is an error, and with on_error=skip is "
	       "skipped; after a corrupt length the rest of the file is lost. Compressed files are "
	       "decompressed, as with `lines`, and so are those written with tf.data's "
	       "compression_type ZLIB.\n\nWith as=example records are decoded: int64 and float "
	       "lists become numbers, and bytes become text if they are UTF-8 without control "
	       "characters. A feature with one value becomes that value, unless lists=true. As "
	       "usual in protocol buffers, a list may come in several parts, and if a feature is "
	       "given twice the last one counts.",
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
