/* SPDX-License-Identifier: MIT
 * snapshot: writes the elements to a folder as they pass; a later run finds the
 * folder whole, and reads it in place of its input.
 *
 *	DIR/.dsvc-snapshot        is there when all of it is: names the pipeline
 *	DIR/.dsvc-snapshot-begun  names the one that writes; cut off, it may begin anew
 *
 * A stream that is given its input piece by piece (dynamic sharding) knows only
 * its own part of the whole: it writes, and never reads. `load DIR` reads what
 * all of them wrote.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "op/kit/expr_value.h"
#include "op/kit/shards.h"
#include "op/facts.h"
#include "op/pull.h"
#include "op/table.h"

struct snapshot {
	char *dir;
	int64_t file_max;
	bool overwrite;
	struct shards files;
	bool begun;
	struct op_node *node;  /* the node `load DIR` */
	struct op_inst *chain; /* its chain: the folder is read; NULL: the folder is written */
};

static const struct param snapshot_params[] = {
	{ "dir", PARAM_WORD, offsetof(struct snapshot, dir), .flags = PARAM_PATH,
	  .help = "folder to write to, or to read from when it is complete" },
	{ "file_size", PARAM_SIZE, offsetof(struct snapshot, file_max), "256M",
	  .flags = PARAM_KEY_ONLY, .min = 1, .max = INT64_MAX,
	  .help = "size in bytes at which a file is completed and the next one begins" },
	{ "overwrite", PARAM_BOOL, offsetof(struct snapshot, overwrite), "false",
	  .flags = PARAM_KEY_ONLY, .help = "replace what another pipeline saved there" },
	{ 0 }
};

static int64_t
snapshot_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static enum status
snapshot_open(struct op_inst *self, struct err *e)
{
	struct snapshot *s = self->state;

	(void)e;
	shards_init(&s->files, s->dir, SHARDS_MSGPACK, 1, s->file_max, self);
	return ST_OK;
}

static void
snapshot_line(const struct op_inst *self, char out[32])
{
	snprintf(out, 32, "%016llx\n",
		 (unsigned long long)shards_pipeline(self->node->in[0]));
}

/* Whether the folder holds the complete result of this pipeline. */
static enum status
snapshot_whole(struct op_inst *self, bool *whole, struct err *e)
{
	struct snapshot *s = self->state;
	char *path = mem_printf("%s/.dsvc-snapshot", s->dir), want[32], got[32] = "";
	int fd = self->ctx->next_split ? -1 : gate_open(GATE_WRITE, path, O_RDONLY, 0);
	enum status st = ST_OK;

	*whole = false;
	snapshot_line(self, want);
	if (fd >= 0) {
		ssize_t n = read(fd, got, sizeof got - 1);

		*whole = n > 0 && !strcmp(got, want);
		close(fd);
		if (!*whole && s->overwrite) {
			gate_unlink(path);
		} else if (!*whole) {
			err_set(e, ST_DATA, "%s holds the snapshot of another pipeline", s->dir);
			err_help(e, "name another folder, or write overwrite=true to replace it");
			st = ST_DATA;
		}
	}
	mem_free(path);
	return st;
}

/* Whether this same pipeline began to write the folder, and was interrupted. */
static bool
snapshot_unfinished(const struct op_inst *self)
{
	const struct snapshot *s = self->state;
	char *path = mem_printf("%s/.dsvc-snapshot-begun", s->dir), want[32], got[32] = "";
	int fd = gate_open(GATE_WRITE, path, O_RDONLY, 0);
	bool same = fd >= 0 && read(fd, got, sizeof got - 1) > 0;

	snapshot_line(self, want);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	return same && !strcmp(got, want);
}

/* Writes the pipeline's mark into a file of the folder: completely, or not at all. */
static enum status
snapshot_note(const struct op_inst *self, const char *name, struct err *e)
{
	const struct snapshot *s = self->state;
	char *path = mem_printf("%s/%s", s->dir, name), line[32];

	snapshot_line(self, line);
	enum status st = replace_file(path, line, strlen(line), e);
	mem_free(path);
	return st;
}

static enum status
snapshot_read(struct op_inst *self, struct err *e)
{
	static const uint8_t nil = 0xc0;
	static const struct elem none = { .p = &nil, .len = 1 };
	struct snapshot *s = self->state;
	const struct op_desc *d = op_find("load", 4);
	struct op_node *n = s->node = mem_zalloc(sizeof *n);

	n->desc = d;
	n->place = self->node->place;
	n->type = type_scalar(TYPE_ANY);
	n->params = mem_zalloc(d->state_size);
	param_defaults(d->params, n->params);
	words_add((struct words *)((char *)n->params + d->params[0].offset), s->dir, strlen(s->dir));
	/* The mark has told that the folder is complete, so load need not check. */
	*(bool *)((char *)n->params + param_find(d->params, "partial", 7)->offset) = true;
	return op_open_inner(n, self, self->outer ? self->outer : &none, &s->chain, e);
}

static enum status
snapshot_begin(struct op_inst *self, struct err *e)
{
	struct snapshot *s = self->state;
	bool whole;
	enum status st = snapshot_whole(self, &whole, e);

	s->begun = true;
	if (st == ST_OK && whole)
		return snapshot_read(self, e);
	bool again = st == ST_OK && snapshot_unfinished(self);
	if (st == ST_OK)
		st = shards_begin(&s->files, self->ctx->seed + self->epoch, s->overwrite || again, e);
	if (st == ST_OK && !again)
		st = snapshot_note(self, ".dsvc-snapshot-begun", e);
	return st == ST_OK ? st : op_blame(self->node, e);
}

/* Writes the mark that everything is written, for the next run. */
static enum status
snapshot_end(struct op_inst *self, struct err *e)
{
	struct snapshot *s = self->state;
	enum status st = shards_end(&s->files, self->ctx, NULL, e);

	if (st == ST_OK && !self->ctx->next_split)
		st = snapshot_note(self, ".dsvc-snapshot", e);
	return st == ST_OK ? ST_END : op_blame(self->node, e);
}

static enum status
snapshot_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct snapshot *s = self->state;
	enum status st = s->begun ? ST_OK : snapshot_begin(self, e);
	struct run *run;

	(void)out;
	if (st != ST_OK)
		return st;
	if (s->chain) {
		st = op_pull(s->chain, &run, e);
		if (st == ST_OK)
			self->give = run;
		return st;
	}
	st = op_pull(self->in[0], &run, e);
	if (st == ST_END)
		return snapshot_end(self, e);
	if (st != ST_OK)
		return st;
	for (uint32_t i = 0; st == ST_OK && i < run->n; i++)
		st = shards_put(&s->files, &run->e[i], NULL, e);
	if (st != ST_OK)
		return op_blame(self->node, e);
	self->give = run;
	return ST_OK;
}

static void
snapshot_close(struct op_inst *self)
{
	struct snapshot *s = self->state;

	op_close(&s->chain);
	op_node_free(&s->node);
	shards_close(&s->files, self);
}

static void
snapshot_save(struct op_inst *self, struct buf *out)
{
	struct snapshot *s = self->state;
	struct buf own = { 0 };

	state_put_u64(out, s->begun);
	state_put_u64(out, s->chain != NULL);
	if (!s->chain)
		self->unsaved = !shards_save(&s->files, out);
	else if (!op_state_save(s->chain, &own) || own.len > UINT32_MAX)
		self->unsaved = true;
	else
		state_put_bytes(out, own.data, own.len);
	buf_clear(&own);
}

static enum status
snapshot_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct snapshot *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;

	s->begun = state_get_u64(&in, 1);
	if (!state_get_u64(&in, 1)) {
		st = shards_restore(&s->files, &in, e);
	} else if (state_get_bytes(&in, &p, &n)) {
		st = snapshot_read(self, e);
		if (st == ST_OK)
			st = op_state_restore(s->chain, p, n, e);
	}
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_snapshot = {
	.name = "snapshot",
	.brief = "writes the elements to a folder, from which later runs read them",
	.doc = "The first run that reaches its end leaves a complete snapshot, and later runs of "
	       "the same pipeline read it instead of running the operators before it. If a run is "
	       "interrupted, a run with the same seed uses its files again. Under dynamic sharding "
	       "each stream writes its part, for `load DIR` to read.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_PASSES | OP_WRITES, /* uses all of each element: a later run may use other fields */
	.params = snapshot_params,
	.state_size = sizeof(struct snapshot),
	.cardinality = snapshot_cardinality,
	.open = snapshot_open,
	.next = snapshot_next,
	.close = snapshot_close,
	.save = snapshot_save,
	.restore = snapshot_restore,
};
