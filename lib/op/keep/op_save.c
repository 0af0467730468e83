/* SPDX-License-Identifier: MIT
 * save: writes the elements to files of a folder, and gives a record for each
 * file that is whole.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "op/kit/pace.h"
#include "op/kit/shards_far.h"

struct save {
	char *dir;
	int form, codec;
	int64_t shards, file_max, file_time;
	bool overwrite;
	int on_full;
	struct shards files;
	bool waits;              /* for room, and has said so */
	uint64_t told;           /* number of files */
	char *place;             /* dir without a slash at its end */
};

enum { SAVE_FAIL, SAVE_WAIT };
#define SAVE_PAUSE_NS 200000000ll /* until it is tried again */

static const struct param save_params[] = {
	{ "dir", PARAM_WORD, offsetof(struct save, dir), .flags = PARAM_PATH | PARAM_URL,
	  .help = "folder to write to; it is created if necessary; or s3://BUCKET/PREFIX" },
	{ "format", PARAM_CHOICE, offsetof(struct save, form), "msgpack", .flags = PARAM_KEY_ONLY,
	  .choices = SHARDS_CHOICES, .help = "format of the files" },
	{ "compression", PARAM_CHOICE, offsetof(struct save, codec), "none", .flags = PARAM_KEY_ONLY,
	  .choices = SHARDS_CODEC_CHOICES, .help = "compression of the files" },
	{ "shards", PARAM_INT, offsetof(struct save, shards), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = SHARDS_MAX, .help = "number of files to divide the elements among" },
	{ "file_size", PARAM_SIZE, offsetof(struct save, file_max), "256M",
	  .flags = PARAM_KEY_ONLY, .min = 1, .max = INT64_MAX,
	  .help = "size in bytes, before compression, at which a file is completed and the next one begins" },
	{ "file_time", PARAM_DURATION, offsetof(struct save, file_time), "0", .flags = PARAM_KEY_ONLY,
	  .max = INT64_MAX,
	  .help = "time after which the next elements complete a file, even if it is smaller; 0: never" },
	{ "overwrite", PARAM_BOOL, offsetof(struct save, overwrite), "false",
	  .flags = PARAM_KEY_ONLY, .help = "replace the files that another pass saved there" },
	{ "on_full", PARAM_CHOICE, offsetof(struct save, on_full), "fail", .flags = PARAM_KEY_ONLY,
	  .choices = "fail|wait", .help = "fail when the disk is full, or wait until there is room" },
	{ 0 }
};

static enum status
save_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct type_field f[] = { { "file", type_scalar(TYPE_TEXT) },
				  { "elements", type_scalar(TYPE_INT) },
				  { "bytes", type_scalar(TYPE_INT) } };

	(void)n, (void)e;
	*type = type_record(t->arena, f, 3, false);
	return ST_OK;
}

/* Objects are written from front to back, and end at the same elements whoever writes them. */
static enum status
save_check_far(const struct save *s, struct err *e)
{
	enum status st = put_check(s->dir, e);

	if (st != ST_OK)
		return st;
	if (s->form == SHARDS_NPY) {
		err_set(e, ST_USAGE, "files of format=npy are not saved to s3://, since their head is written last");
		err_help(e, "take another format, or save to a folder");
		return ST_USAGE;
	}
	if (s->file_time) {
		err_set(e, ST_USAGE, "file_time needs a folder, whose list says where a file ended");
		err_help(e, "file_size ends files in s3:// as well");
		return ST_USAGE;
	}
	if (s->shards > FAR_SHARDS_MAX) {
		err_set(e, ST_USAGE, "at most %d shards are saved to s3://: each needs %d MiB of memory", FAR_SHARDS_MAX,
			FAR_PART >> 20);
		err_help(e, "each stream of a service writes shards of its own");
		return ST_USAGE;
	}
	return ST_OK;
}

static enum status
save_check(const struct op_node *n, struct err *e)
{
	const struct save *s = n->params;

	if (s->dir && url_is(s->dir))
		return save_check_far(s, e);
	if (s->form != SHARDS_NPY || s->codec == SHARDS_PLAIN)
		return ST_OK;
	err_set(e, ST_USAGE, "files of format=npy are not compressed, since their head is written last");
	err_help(e, "leave compression out, or take another format");
	return ST_USAGE;
}

static enum status
save_open(struct op_inst *self, struct err *e)
{
	struct save *s = self->state;

	size_t n = strlen(s->dir);

	/* The name may come from an element. */
	if (url_is(s->dir) && save_check_far(s, e) != ST_OK)
		return op_blame(self->node, e);
	while (url_is(s->dir) && s->dir[n - 1] == '/')
		n--;
	s->place = mem_strndup(s->dir, n);
	shards_init(&s->files, s->place, s->form, (uint32_t)s->shards, s->file_max, self);
	far_init(&s->files, self->ctx);
	s->files.codec = (enum shards_codec)s->codec;
	s->files.cut.after_ns = s->file_time;
	return ST_OK;
}

/* Tells how far it is, if that is news. */
static void
save_tell(struct op_inst *self, const struct err *waits)
{
	struct save *s = self->state;
	bool news = s->files.files != s->told || s->waits != (waits != NULL);
	struct op_stores what = { s->files.files, s->files.elements, s->files.bytes, waits };

	if (news && self->ctx->stores)
		self->ctx->stores(self->ctx->arg, self->node, &what);
	s->told = s->files.files;
	s->waits = waits != NULL;
}

/* After the files failed with st. ST_OK: there was no room, it has been waited for, and it is to be tried
 * again; ST_AGAIN: not any more; else the error is to be given. */
static enum status
save_wait(struct op_inst *self, enum status st, struct err *e)
{
	struct save *s = self->state;

	if (st != ST_IO || !s->files.no_room || s->on_full == SAVE_FAIL)
		return st;
	s->files.no_room = false;
	save_tell(self, e);
	err_clear(e);
	return pace_wait(self, clock_mono_ns() + SAVE_PAUSE_NS);
}

static enum status
save_begin(struct op_inst *self, struct err *e)
{
	struct save *s = self->state;

	/* Each pass of a repeat is saved separately, with a seed of its own. */
	return s->files.begun ? ST_OK : shards_begin(&s->files, self->ctx->seed + self->epoch,
						      s->overwrite, e);
}

static enum status
save_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct save *s = self->state;
	enum status st = save_begin(self, e);

	if (s->file_time)
		s->files.cut.now_ns = clock_mono_ns();
	while (st == ST_OK && self->at < in->n) {
		uint64_t given = s->files.given;

		st = shards_put(&s->files, &in->e[self->at], out, e);
		if (st == ST_DATA && (st = op_fault(self, in, self->at, out, e)) != ST_OK)
			return st;
		self->at += st == ST_OK || s->files.given > given;
	}
	if (st == ST_OK) {
		save_tell(self, NULL);
		return st;
	}
	st = save_wait(self, st, e);
	/* The chain comes back with what is left, and can be saved, stopped or handed over before. */
	return st == ST_OK || st == ST_AGAIN ? ST_AGAIN : op_blame(self->node, e);
}

static enum status
save_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct save *s = self->state;
	enum status st = save_begin(self, e);

	if (st == ST_OK)
		st = shards_end(&s->files, self->ctx, out, e);
	if (st == ST_OK) {
		save_tell(self, NULL);
		return ST_END;
	}
	st = save_wait(self, st, e);
	return st == ST_OK || st == ST_AGAIN ? st : op_blame(self->node, e);
}

static void
save_close(struct op_inst *self)
{
	struct save *s = self->state;

	if (s->place)
		shards_close(&s->files, self);
	mem_free(s->place);
}

static void
save_save(struct op_inst *self, struct buf *out)
{
	struct save *s = self->state;

	if (!shards_save(&s->files, out))
		self->unsaved = true;
}

static enum status
save_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct save *s = self->state;
	struct state_in in;
	enum status st;

	do {
		in = state_begin(p, n);
		st = shards_restore(&s->files, &in, e);
	} while (st != ST_OK && (st = save_wait(self, st, e)) == ST_OK);
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_save = {
	.name = "save",
	.brief = "writes the elements to files in a folder",
	.doc = "Gives a record {file, elements, bytes} for each complete file; use tee (| save DIR) to save "
	       "elements and pass them on. Files get their final names when complete, and at the end the "
	       "folder gets a file SNAPSHOT; until then `load DIR` reads it only with partial=true. In the "
	       "service each stream writes files of its own, and a stream that is started again on another "
	       "worker continues them. In s3://BUCKET/PREFIX each file is an object, which appears when it is "
	       "complete; objects larger than 8 MiB are uploaded in parts. dsvc-save does all this for a whole "
	       "dataset. Formats that load does not read have a source of their own: tar DIR/*.tar, csv "
	       "DIR/*.csv.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_STORES | OP_WRITES,
	.params = save_params,
	.state_size = sizeof(struct save),
	.typing = save_typing,
	.check = save_check,
	.open = save_open,
	.feed = save_feed,
	.finish = save_finish,
	.close = save_close,
	.save = save_save,
	.restore = save_restore,
};
