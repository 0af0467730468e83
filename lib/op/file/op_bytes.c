/* SPDX-License-Identifier: MIT
 * bytes: records of one length.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/gate.h"
#include "op/file/file_at.h"
#include "op/file/file_far.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "value/mp.h"

enum { BYTES_LOOK = 10000 }; /* most files that are examined to count their records */

struct bytes {
	struct file_source src;
	int64_t size, header, footer;
	struct file_at at; /* used when read by index */
};

static const struct param bytes_params[] = {
	{ "size", PARAM_SIZE, offsetof(struct bytes, size), .min = 1, .max = UINT32_MAX / 2,
	  .help = "size of a record in bytes" },
	{ "files", PARAM_WORDS, offsetof(struct bytes, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	FILE_SOURCE_NUMBERED(struct bytes, src),
	{ "header_bytes", PARAM_SIZE, offsetof(struct bytes, header), "0", .flags = PARAM_KEY_ONLY,
	  .max = INT64_C(1) << 40, .help = "bytes to skip at the start of each file" },
	{ "footer_bytes", PARAM_SIZE, offsetof(struct bytes, footer), "0", .flags = PARAM_KEY_ONLY,
	  .max = 1 << 30, .help = "bytes to skip at the end of each file" },
	{ 0 }
};

static enum status
bytes_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct bytes *b = n->params;

	*type = type_scalar(TYPE_BYTES);
	return file_named_type(&b->src.with_name, "record", t->arena, type, e);
}

/* Number of records: known for plain files, if all of them exist. */
static int64_t
bytes_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct bytes *b = n->params;
	struct words files = { 0 };
	int64_t count = 0;
	struct stat st;
	struct err e;

	(void)in;
	if (n->n_binds || file_far_any(&b->src.names) || file_glob(&b->src.names, false, &files, &e) != ST_OK
	    || files.n > BYTES_LOOK)
		count = -1;
	for (size_t i = 0; i < files.n && count >= 0; i++) {
		bool plain = strcmp(files.v[i], "-") && !gate_stat(files.v[i], &st) && S_ISREG(st.st_mode)
			&& file_packing_at(files.v[i]) == FILE_PLAIN;
		int64_t left = plain ? (int64_t)st.st_size - b->header - b->footer : -1;

		count = left < 0 ? -1 : count + left / b->size;
	}
	words_clear(&files);
	return count;
}

/* Elements read by index cannot say which file they are from. */
static int64_t
bytes_indexed(const struct op_node *n)
{
	const struct bytes *b = n->params;

	return file_named_is(&b->src.with_name) ? -1 : bytes_cardinality(n, NULL);
}

static enum status
bytes_begin(struct op_inst *self, struct file_source *s, const char *path, bool inside, struct err *e)
{
	const struct bytes *b = self->state;

	(void)path, (void)inside, (void)e;
	s->unit = (uint64_t)b->size;
	s->unit_base = (uint64_t)b->header;
	return ST_OK;
}

/* The file_at_look of bytes. */
static enum status
bytes_look(struct op_inst *self, struct file_at *a, const char *path, struct file_at_where *where,
	   struct err *e)
{
	const struct bytes *b = self->state;
	struct stat st;

	a->size = (size_t)b->size;
	if (gate_stat(path, &st))
		return err_errno(e, "cannot read it");
	if (!S_ISREG(st.st_mode) || file_packing_at(path) != FILE_PLAIN)
		return err_set(e, ST_DATA, "it is not a plain file, so its records cannot be read by index");
	int64_t left = (int64_t)st.st_size - b->header - b->footer;
	if (left < 0)
		return err_set(e, ST_DATA, "it is shorter than header and footer together");
	where->base = (uint64_t)b->header;
	where->count = (uint64_t)(left / b->size);
	if (left % b->size == 0)
		return ST_OK;
	where->bad = where->count + 1;
	return err_set(e, ST_DATA, "the last %lld bytes are not a whole record of %lld",
		       (long long)(left % b->size), (long long)b->size);
}

static enum status
bytes_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	struct bytes *b = self->state;
	uint8_t head[MP_HEAD_MAX];
	size_t head_len = (size_t)(mp_put_bytes_head(head, (uint32_t)b->size) - head);

	return file_at_give(self, &b->at, head, head_len, NULL, index, k, out, e);
}

static void
bytes_close(struct op_inst *self)
{
	struct bytes *b = self->state;

	file_at_close(&b->at);
	file_source_close(self);
}

static enum status
bytes_open(struct op_inst *self, struct err *e)
{
	struct bytes *b = self->state;

	if ((uint64_t)b->size > file_source_element_max(self) - MP_HEAD_MAX) {
		err_set(e, ST_DATA, "records of %lld bytes are larger than the element limit",
			(long long)b->size);
		err_help(e, "--element-max raises the limit");
		return ST_DATA;
	}
	if (self->by_index)
		return file_at_open(self, &b->at, &b->src.names, bytes_look, e);
	b->src.begin = bytes_begin;
	b->src.counts = "record";
	return file_source_open(self, e);
}

/* Fails because the end of the file is not a whole record. */
static enum status
bytes_tail(struct op_inst *self, struct file_source *s, size_t here, struct err *e)
{
	const struct bytes *b = self->state;
	size_t footer = (size_t)b->footer;

	if (here < footer)
		err_set(e, ST_DATA, "the last %zu bytes are less than the footer of %zu", here, footer);
	else
		err_set(e, ST_DATA, "the last %zu bytes are not a whole record of %lld", here - footer,
			(long long)b->size);
	enum status st = file_source_bad(self, s, e);
	if (st == ST_OK)
		file_source_take(s, here, 1);
	return st;
}

/* The file_decode of bytes. */
static enum status
bytes_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	const struct bytes *b = self->state;
	size_t size = (size_t)b->size, footer = (size_t)b->footer, done = 0;
	const uint8_t *p = s->window->data + s->from;
	size_t here = s->to - s->from;
	uint64_t ours = s->end - s->offset; /* records must begin within this many bytes */

	while (out->n < RUN_USUAL && done < RUN_BYTES && here - done >= size + footer && done < ours) {
		uint8_t *w = mp_put_bytes_head(run_room(out, size + MP_HEAD_MAX), (uint32_t)size);

		memcpy(w, p + done, size);
		run_done(out, w + size, out->n);
		done += size;
	}
	if (out->n) {
		file_source_take(s, done, out->n);
		return ST_OK;
	}
	if (!s->eof)
		return ST_END;
	if (here != footer)
		return bytes_tail(self, s, here, e);
	file_source_take(s, here, 0);
	return ST_OK;
}

static enum status
bytes_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, bytes_decode, out, e);
}

const struct op_desc op_bytes = {
	.name = "bytes",
	.brief = "reads records of a fixed size, as bytes",
	.doc = "An incomplete record at the end of a file is an error; with on_error=skip it is "
	       "dropped and counted. Compressed files are decompressed, as with `lines`; large "
	       "uncompressed files are divided into splits.",
	.kind = OP_SOURCE,
	.params = bytes_params,
	.state_size = sizeof(struct bytes),
	.typing = bytes_typing,
	.check = file_source_check,
	.list = file_source_list_cut,
	.cardinality = bytes_cardinality,
	.indexed = bytes_indexed,
	.open = bytes_open,
	.next = bytes_next,
	.at = bytes_at,
	.close = bytes_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "bytes 4 - header_bytes=3",
	.output = "abcd\nefgh\n",
	.input = "...abcdefgh",
};
