/* SPDX-License-Identifier: MIT
 *
 * TFRecord files: frames of u64 length, its checksum, the data, its checksum, all little
 * endian. Records stay where they were read: the frame's head, 12 bytes that are
 * done with once they are checked, makes room for the element's.
 *
 * Bad data costs one record, a bad length the rest of the file, for nothing
 * tells where the next frame begins.
 */
#ifndef FILE_FILE_TFRECORD_H
#define FILE_FILE_TFRECORD_H

#include "op/file/file_source.h"
#include "value/format/example.h"

enum file_tfrecord_as { FILE_TFRECORD_BYTES, FILE_TFRECORD_EXAMPLE };

struct file_tfrecord {
	struct file_source src;
	int as;
	struct example_conf conf;
	struct buf record; /* the record being decoded */
	uint64_t drop;     /* bytes still to be skipped of a record that is too large */
};

enum status file_tfrecord_open(struct op_inst *self, struct err *e);
enum status file_tfrecord_next(struct op_inst *self, struct run *out, struct err *e);
void file_tfrecord_close(struct op_inst *self);

#endif
