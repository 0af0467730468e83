/* SPDX-License-Identifier: MIT
 * split_files: writes each element to the file that its key names.
 *
 * However many keys there are, few files are open at a time: the bytes of each wait in memory, and
 * go to the end of its file when they are many. Files have a name with a dot in front until the
 * last element has come.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/path.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/transfer.h"
#include "op/keep/split_name.h"
#include "op/kit/expr_value.h"
#include "op/kit/key_table.h"
#include "value/format/format.h"

enum {
	SPLIT_FILES_OPEN = 64,           /* files open at a time */
	SPLIT_FILES_PIECE = 256 * 1024,  /* bytes that one file lets wait, */
	SPLIT_FILES_WAIT = 64 << 20      /* and all of them */
};

static const struct { const char *end; enum format_kind kind; } split_files_forms[] = {
	{ "ndjson", FORMAT_NDJSON }, { "csv", FORMAT_CSV }, { "tsv", FORMAT_TSV }, { "txt", FORMAT_TEXT },
	{ "msgpack", FORMAT_MSGPACK }, { "tfrecord", FORMAT_TFRECORD },
};

struct split_file {
	char *path, *part;     /* its name, and the one that it has until the end */
	struct format *format;
	struct buf wait;
	struct buf first;      /* its first element, by which the format knows what the others are */
	uint64_t elements, bytes;
	int fd;                /* -1: closed */
	bool made, named;
};

struct split_files {
	char *dir;
	struct op_expr by;
	int form;
	int64_t max;
	bool overwrite;
	struct expr_value key;
	struct key_table names;
	struct split_file *v;  /* one for each name */
	size_t cap, waiting;   /* bytes that wait */
	uint32_t open[SPLIT_FILES_OPEN]; /* in the order of opening, a ring */
	uint32_t opened, closed;         /* counts, of which the difference is open */
	uint32_t at;           /* in finish: the file to name next */
	struct buf name;
};

static const struct param split_files_params[] = {
	{ "dir", PARAM_WORD, offsetof(struct split_files, dir), .flags = PARAM_PATH,
	  .help = "folder to write to; it is created if necessary" },
	{ "key", PARAM_EXPR, offsetof(struct split_files, by),
	  .help = "names the element's file; a list of values names folders and a file in them" },
	{ "format", PARAM_CHOICE, offsetof(struct split_files, form), "ndjson", .flags = PARAM_KEY_ONLY,
	  .choices = "ndjson|csv|tsv|text|msgpack|tfrecord", .help = "format of the files, and their ending" },
	{ "overwrite", PARAM_BOOL, offsetof(struct split_files, overwrite), "false", .flags = PARAM_KEY_ONLY,
	  .help = "replace files that are there already" },
	{ "max", PARAM_INT, offsetof(struct split_files, max), "10000", .flags = PARAM_KEY_ONLY, .min = 1,
	  .max = 10000000, .help = "how many files it may make" },
	{ 0 }
};

static enum status
split_files_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct split_files *s = n->params;
	struct type_field f[] = { { "file", type_scalar(TYPE_TEXT) }, { "elements", type_scalar(TYPE_INT) },
				  { "bytes", type_scalar(TYPE_INT) } };

	*type = type_record(t->arena, f, 3, false);
	return expr_value_typing(n, t, &s->by, NULL, e);
}

static enum status
split_files_open(struct op_inst *self, struct err *e)
{
	struct split_files *s = self->state;

	expr_value_open(self, &s->key, &s->by);
	if (!self->ctx->repeatable)
		return ST_OK;
	err_set(e, ST_DATA, "the files are those of all elements, and on a worker each stream would write its own");
	err_help(e, "put it after `distribute`; save writes the files of each stream");
	return op_blame(self->node, e);
}

/* Prepares the file of a name that is new. */
static enum status
split_files_add(struct op_inst *self, const char *name, struct err *e)
{
	struct split_files *s = self->state;
	struct format_opts opts = { .json = self->ctx->json };
	const char *end = split_files_forms[s->form].end, *last = strrchr(name, '/');
	int folder = last ? (int)(last + 1 - name) : 0;
	struct stat there;

	s->v = mem_grow(s->v, &s->cap, s->names.n, sizeof *s->v);
	struct split_file *f = &s->v[s->names.n - 1];
	*f = (struct split_file){ .fd = -1, .format = format_new(split_files_forms[s->form].kind, NULL) };
	f->path = mem_printf("%s/%s.%s", s->dir, name, end);
	f->part = mem_printf("%s/%.*s.%s.%s.%ld.part", s->dir, folder, name, name + folder, end, (long)getpid());
	format_set(f->format, &opts, NULL, e);
	if (s->names.n > s->max) {
		err_set(e, ST_DATA, "the keys name more than %lld files", (long long)s->max);
		err_help(e, "max=%lld allows more; or is the key another one?", (long long)s->max * 10);
		return ST_DATA;
	}
	if (s->overwrite || gate_lstat(f->path, &there) != 0)
		return path_make_folders_by(gate_mkdir, 0777, f->path, e);
	err_set(e, ST_IO, "%s is there already", f->path);
	err_help(e, "overwrite=true replaces such files");
	return ST_IO;
}

static void
split_files_shut(struct split_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Opens the file; of too many the one that was opened first is closed. */
static enum status
split_files_reach(struct split_files *s, struct split_file *f, struct err *e)
{
	if (f->fd >= 0)
		return ST_OK;
	if (s->opened - s->closed == SPLIT_FILES_OPEN)
		split_files_shut(&s->v[s->open[s->closed++ % SPLIT_FILES_OPEN]]);
	f->fd = gate_open(GATE_WRITE, f->part, O_WRONLY | O_APPEND | (f->made ? 0 : O_CREAT | O_TRUNC), 0666);
	if (f->fd < 0)
		return err_errno(e, "cannot write %s", f->part);
	f->made = true;
	s->open[s->opened++ % SPLIT_FILES_OPEN] = (uint32_t)(f - s->v);
	return ST_OK;
}

/* Writes what waits for the file. */
static enum status
split_files_flush(struct split_files *s, struct split_file *f, struct err *e)
{
	enum status st = split_files_reach(s, f, e);

	if (st == ST_OK && !transfer_write(f->fd, f->wait.data, f->wait.len))
		st = err_errno(e, "cannot write %s", f->path);
	f->bytes += f->wait.len;
	s->waiting -= f->wait.len;
	buf_clear(&f->wait);
	return st;
}

static enum status
split_files_settle(struct split_files *s, struct split_file *f, struct err *e)
{
	enum status st = f->wait.len < SPLIT_FILES_PIECE ? ST_OK : split_files_flush(s, f, e);

	for (uint32_t k = 0; !st && s->waiting >= SPLIT_FILES_WAIT && k < s->names.n; k++)
		if (s->v[k].wait.len)
			st = split_files_flush(s, &s->v[k], e);
	return st;
}

/* Puts in->e[i] into its file. ST_SKIP: on_error has dealt with it. */
static enum status
split_files_one(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	struct split_files *s = self->state;
	struct run one = { .e = &in->e[i], .n = 1 };
	const uint8_t *p;
	size_t len;
	bool fresh;
	enum status st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);

	if (st != ST_OK)
		return st;
	buf_reset(&s->name);
	const char *why = split_name(p, len, &s->name);
	if (why)
		return (st = expr_run_wrong(self, in, i, out, e, "%s", why)) ? st : ST_SKIP;
	uint32_t at = key_table_add(&s->names, s->name.data, s->name.len, &fresh);
	if (fresh && (st = split_files_add(self, (const char *)s->name.data, e)) != ST_OK)
		return op_blame(self->node, e);
	struct split_file *f = &s->v[at];
	size_t before = f->wait.len;
	st = format_run(f->format, &one, &f->wait, e);
	s->waiting += f->wait.len - before;
	if (st == ST_DATA)
		return (st = op_fault(self, in, i, out, e)) ? st : ST_SKIP;
	if (!f->elements++)
		buf_put(&f->first, in->e[i].p, in->e[i].len);
	st = split_files_settle(s, f, e);
	return st == ST_OK ? st : op_blame(self->node, e);
}

static enum status
split_files_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = split_files_one(self, in, i, out, e);

		if (st != ST_OK && st != ST_SKIP)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	return ST_OK;
}

static enum status
split_files_name(struct split_files *s, struct split_file *f, struct run *out, struct err *e)
{
	size_t n = strlen(f->path), before = f->wait.len;

	enum status st = format_end(f->format, &f->wait, e);
	s->waiting += f->wait.len - before;
	if (st == ST_OK)
		st = split_files_flush(s, f, e);
	if (st == ST_OK)
		st = replace_name(f->fd, f->part, f->path, e);
	if (st != ST_OK)
		return st;
	f->named = true;
	uint8_t *p = mp_put_record_head(run_room(out, n + 64), 3);
	p = mp_put_text(mp_put_text(p, "file", 4), f->path, (uint32_t)n);
	p = mp_put_uint(mp_put_text(p, "elements", 8), f->elements);
	p = mp_put_uint(mp_put_text(p, "bytes", 5), f->bytes);
	run_done(out, p, 0);
	return ST_OK;
}

static enum status
split_files_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct split_files *s = self->state;

	for (; s->at < s->names.n && out->n < RUN_USUAL && !run_full(out); s->at++)
		if (split_files_name(s, &s->v[s->at], out, e) != ST_OK)
			return op_blame(self->node, e);
	return s->at >= s->names.n ? ST_END : ST_OK;
}

static void
split_files_empty(struct split_files *s)
{
	for (uint32_t k = 0; s->v && k < s->names.n; k++) {
		struct split_file *f = &s->v[k];

		split_files_shut(f);
		if (f->made && !f->named)
			gate_unlink(f->part);
		format_free(&f->format);
		buf_clear(&f->wait);
		buf_clear(&f->first);
		mem_free(f->path);
		mem_free(f->part);
	}
	mem_free(s->v);
	s->v = NULL;
	s->cap = s->waiting = 0;
	s->at = s->opened = s->closed = 0;
	key_table_clear(&s->names);
}

static void
split_files_close(struct op_inst *self)
{
	struct split_files *s = self->state;

	split_files_empty(s);
	buf_clear(&s->name);
	expr_value_close(&s->key);
}

/* Saves as long as the bytes of all files wait in memory: what has been written is another process's to remove. */
static void
split_files_save(struct op_inst *self, struct buf *out)
{
	struct split_files *s = self->state;
	uint32_t n;

	expr_value_save(&s->key, out);
	state_put_u64(out, s->names.n - s->at);
	for (uint32_t k = s->at; k < s->names.n && !self->unsaved; k++) {
		const struct split_file *f = &s->v[k];
		const uint8_t *name = key_table_at(&s->names, k, &n);

		self->unsaved = f->made;
		state_put_bytes(out, name, n);
		state_put_u64(out, f->elements);
		state_put_bytes(out, f->first.data, f->first.len);
		state_put_bytes(out, f->wait.data, f->wait.len);
	}
}

static enum status
split_files_restore_one(struct op_inst *self, struct state_in *in, struct err *e)
{
	struct split_files *s = self->state;
	struct buf waste = { 0 };
	const uint8_t *name, *first, *wait;
	size_t n, first_len, wait_len;
	bool fresh = false;

	bool whole = state_get_bytes(in, &name, &n) && split_name_valid(name, n);
	uint64_t elements = state_get_u64(in, UINT64_MAX);
	whole = whole && state_get_bytes(in, &first, &first_len) && state_get_bytes(in, &wait, &wait_len)
		&& first_len <= UINT32_MAX && mp_check_next(first, first + first_len) == first + first_len;
	if (whole) {
		buf_reset(&s->name);
		buf_put(&s->name, name, n);
		key_table_add(&s->names, s->name.data, s->name.len, &fresh);
	}
	in->bad |= !whole || !fresh;
	if (in->bad)
		return ST_OK;
	enum status st = split_files_add(self, (const char *)s->name.data, e);
	struct split_file *f = &s->v[s->names.n - 1];
	struct elem x = { .p = first, .len = (uint32_t)first_len };
	struct run one = { .e = &x, .n = 1 };
	if (!st && format_run(f->format, &one, &waste, e) != ST_OK)
		in->bad = true;
	buf_clear(&waste);
	buf_put(&f->first, first, first_len);
	buf_put(&f->wait, wait, wait_len);
	s->waiting += wait_len;
	f->elements = elements;
	return st;
}

static enum status
split_files_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct split_files *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;

	split_files_empty(s);
	expr_value_restore(&s->key, &in);
	uint64_t files = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t k = 0; k < files && !in.bad && !st; k++)
		st = split_files_restore_one(self, &in, e);
	return st ? op_blame(self->node, e) : state_finish(self, &in, e);
}

const struct op_desc op_split_files = {
	.name = "split_files",
	.brief = "writes each element to the file that its key names",
	.doc = "The file of the key a is DIR/a.ndjson, and that of [2024, 5] DIR/2024/5.ndjson; bytes that "
	       "cannot be part of a name are written as %XX, null as %null and an empty text as %, so no key "
	       "leads out of the folder. After the last element the files get their final names, and a record "
	       "{file, elements, bytes} is given for each; use tee (| split_files DIR KEY) to pass the "
	       "elements on. Few files are open at a time, however many there are.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_STORES | OP_WRITES,
	.params = split_files_params,
	.state_size = sizeof(struct split_files),
	.typing = split_files_typing,
	.open = split_files_open,
	.feed = split_files_feed,
	.finish = split_files_finish,
	.close = split_files_close,
	.save = split_files_save,
	.restore = split_files_restore,
};
