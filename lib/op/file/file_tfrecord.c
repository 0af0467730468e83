/* SPDX-License-Identifier: MIT */
#include "op/file/file_tfrecord.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "value/crc32c.h"
#include "value/mp.h"

enum { TFRECORD_LENGTH = 8, TFRECORD_HEAD = 12, TFRECORD_TAIL = 4 };

static uint32_t
tfrecord_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

/* Handles a record of `len` bytes at the start of the window that cannot be read. */
static enum status
tfrecord_bad(struct op_inst *self, struct file_tfrecord *f, uint64_t len, const char *what,
	     struct err *e)
{
	struct file_source *s = &f->src;
	size_t here = s->to - s->from;
	char why[200]; /* a copy, since `what` may lie in e */
	enum status st;

	snprintf(why, sizeof why, "%s", what);
	err_set(e, ST_DATA, "record %llu, at byte %llu: %s", (unsigned long long)s->line,
		(unsigned long long)s->offset, why);
	st = file_source_bad(self, s, e);
	if (st != ST_OK)
		return st;
	f->drop = len > here ? len - here : 0;
	file_source_take(s, len < here ? (size_t)len : here, 1);
	return ST_OK;
}

/* Gives up the rest of the file. */
static enum status
tfrecord_lost(struct op_inst *self, struct file_tfrecord *f, const char *what, struct err *e)
{
	enum status st = tfrecord_bad(self, f, f->src.to - f->src.from, what, e);

	f->src.eof = true;
	return st;
}

/* Gives one record of n bytes; the head goes into the free bytes before data. */
static enum status
tfrecord_give(struct file_tfrecord *f, uint8_t *data, uint32_t n, struct run *out, struct err *e)
{
	uint8_t head[MP_HEAD_MAX];

	if (f->as == FILE_TFRECORD_EXAMPLE) {
		buf_reset(&f->record);
		enum status st = example_decode(&f->conf, data, n, &f->record, e);
		if (st != ST_OK)
			return st;
		uint8_t *p = run_room(out, f->record.len);
		memcpy(p, f->record.data, f->record.len);
		run_done(out, p + f->record.len, out->n);
		return ST_OK;
	}
	size_t len = (size_t)(mp_put_bytes_head(head, n) - head);
	memcpy(data - len, head, len);
	if (!out->n)
		run_hold(out, block_ref(f->src.window));
	run_push(out, (struct elem){ data - len, f->src.window, n + (uint32_t)len, out->n });
	return ST_OK;
}

/* The file_decode of tfrecord. */
static enum status
tfrecord_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	struct file_tfrecord *f = self->state;
	size_t max = file_source_element_max(self), done = 0;
	uint64_t n = 0;

	if (f->drop) {
		size_t some = s->to - s->from;

		some = f->drop < some ? (size_t)f->drop : some;
		f->drop -= some;
		file_source_take(s, some, 0);
		return ST_OK;
	}
	while (out->n < RUN_USUAL && done < RUN_BYTES) {
		uint8_t *p = s->window->data + s->from;
		size_t here = s->to - s->from;

		if (here < TFRECORD_HEAD)
			break;
		memcpy(&n, p, sizeof n);
		n = le64toh(n);
		if (tfrecord_u32(p + TFRECORD_LENGTH) != crc32c_masked(p, TFRECORD_LENGTH))
			return out->n ? ST_OK : tfrecord_lost(self, f, "its length does not match its "
							      "checksum; is this a TFRecord file?", e);
		if (n > max - MP_HEAD_MAX) {
			if (out->n)
				return ST_OK;
			return n > INT64_MAX ? tfrecord_lost(self, f, "its length is absurd", e)
				: tfrecord_bad(self, f, TFRECORD_HEAD + n + TFRECORD_TAIL,
					       "larger than the element limit (--element-max)", e);
		}
		if (here - TFRECORD_HEAD < n + TFRECORD_TAIL)
			break;
		uint8_t *data = p + TFRECORD_HEAD;
		uint64_t frame = TFRECORD_HEAD + n + TFRECORD_TAIL;
		if (tfrecord_u32(data + n) != crc32c_masked(data, n))
			return out->n ? ST_OK
				: tfrecord_bad(self, f, frame, "its data does not match its checksum", e);
		if (tfrecord_give(f, data, (uint32_t)n, out, e) != ST_OK)
			return out->n ? ST_OK : tfrecord_bad(self, f, frame, e->text, e);
		file_source_take(s, (size_t)frame, 1);
		done += frame;
	}
	if (out->n)
		return ST_OK;
	return s->eof ? tfrecord_lost(self, f, "the file is cut off", e) : ST_END;
}

/* tf.data's compression_type="ZLIB": a zlib head in the place of a length, without the
 * checksum that a length has. */
static bool
tfrecord_is_zlib(const uint8_t *p, size_t n)
{
	return n >= 2 && (p[0] & 0x0f) == 8 && p[0] >> 4 <= 7 && (p[0] << 8 | p[1]) % 31 == 0
		&& (n < TFRECORD_HEAD
		    || tfrecord_u32(p + TFRECORD_LENGTH) != crc32c_masked(p, TFRECORD_LENGTH));
}

static enum status
tfrecord_begin(struct op_inst *self, struct file_source *s, const char *path, bool inside,
	       struct err *e)
{
	struct file_tfrecord *f = self->state;

	(void)path, (void)inside, (void)e;
	f->drop = 0;
	file_bytes_zlib(s->bytes, tfrecord_is_zlib);
	return ST_OK;
}

enum status
file_tfrecord_open(struct op_inst *self, struct err *e)
{
	struct file_tfrecord *f = self->state;

	f->src.begin = tfrecord_begin;
	return file_source_open(self, e);
}

enum status
file_tfrecord_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, tfrecord_decode, out, e);
}

void
file_tfrecord_close(struct op_inst *self)
{
	struct file_tfrecord *f = self->state;

	file_source_close(self);
	buf_clear(&f->record);
}
