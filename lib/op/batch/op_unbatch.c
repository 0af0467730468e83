/* SPDX-License-Identifier: MIT
 * unbatch: takes lists, tensors, and records of them, apart again.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/batch/batch_rows.h"
#include "op/state.h"
#include "value/mp.h"

enum { UNBATCH_RUN = 4096, UNBATCH_FIELDS = 4096 };

struct unbatch_field {
	const uint8_t *key;
	uint32_t key_len;
	struct batch_rows_in rows;
};

struct unbatch {
	bool opened;    /* fields and left belong to the element at self->at */
	bool record;
	uint64_t given; /* items of that element given so far */
	uint64_t left;
	struct unbatch_field *fields; /* one field per list; a plain list has one without a key */
	size_t n, cap;
};

static enum status
unbatch_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct type *x = n->in[0]->type;
	struct type_field *fields;
	enum status st = ST_OK;

	*type = batch_rows_item(t->arena, x);
	if (*type)
		return ST_OK;
	if (x->kind != TYPE_RECORD) {
		st = typed_fail(t, n, e, "unbatch needs lists, tensors, or records of them");
		err_help(e, "batch and window make them; --print=plan shows the types of all stages");
		return st;
	}
	fields = mem_array(x->n_fields + 1, sizeof *fields);
	for (size_t k = 0; st == ST_OK && k < x->n_fields; k++) {
		fields[k] = (struct type_field){ x->fields[k].name,
						 batch_rows_item(t->arena, x->fields[k].type) };
		if (!fields[k].type)
			st = typed_fail(t, n, e, "unbatch needs lists or tensors, and field %s is neither",
					x->fields[k].name);
	}
	if (st == ST_OK)
		*type = type_record(t->arena, fields, x->n_fields, x->open);
	mem_free(fields);
	return st;
}

static struct unbatch_field *
unbatch_field(struct unbatch *u)
{
	u->fields = mem_grow(u->fields, &u->cap, u->n + 1, sizeof *u->fields);
	return &u->fields[u->n++];
}

/* Opens the lists in an element; NULL, or the reason why it has none. */
static const char *
unbatch_open_elem(struct unbatch *u, const struct elem *x)
{
	const uint8_t *end = x->p + x->len, *p;
	struct unbatch_field *f;
	struct mp m;

	mp_head(x->p, end, &m);
	u->n = 0;
	u->left = 0;
	u->record = m.kind == MP_RECORD;
	if (!u->record) {
		f = unbatch_field(u);
		if (!batch_rows_open(&f->rows, x->p, end))
			return "this is neither a list, a tensor nor a record of them";
		u->left = f->rows.left;
		return NULL;
	}
	if (m.n > UNBATCH_FIELDS)
		return "a record has too many fields to be taken apart";
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		const uint8_t *key = p, *value = mp_skip(p, end);

		f = unbatch_field(u);
		f->key = key;
		f->key_len = (uint32_t)(value - key);
		if (!batch_rows_open(&f->rows, value, end))
			return "a field of this record is not a list";
		if (k && f->rows.left != u->left)
			return "the lists of this record are not equally long";
		u->left = f->rows.left;
		p = mp_skip(value, end);
	}
	return NULL;
}

static void
unbatch_skip(struct unbatch *u)
{
	for (size_t k = 0; k < u->n; k++)
		batch_rows_skip(&u->fields[k].rows);
	u->left--;
}

/* Gives the next item of each list; an item of a plain list is a slice of the element. */
static void
unbatch_give(struct unbatch *u, const struct elem *x, struct run *out)
{
	struct unbatch_field *f = u->fields;
	size_t size = MP_HEAD_MAX;
	const uint8_t *p;

	u->left--;
	if (!u->record && (size = batch_rows_lend(&f->rows, &p))) {
		run_push(out, (struct elem){ p, x->block, (uint32_t)size, x->pos });
		f->rows.at = p + size;
		f->rows.left--;
		return;
	}
	if (!u->record) {
		uint8_t *at = run_room(out, batch_rows_next_size(&f->rows));

		run_done(out, batch_rows_next(&f->rows, at), x->pos);
		return;
	}
	for (size_t k = 0; k < u->n; k++)
		size += f[k].key_len + batch_rows_next_size(&f[k].rows);
	uint8_t *w = mp_put_record_head(run_room(out, size), (uint32_t)u->n);
	for (size_t k = 0; k < u->n; k++) {
		memcpy(w, f[k].key, f[k].key_len);
		w = batch_rows_next(&f[k].rows, w + f[k].key_len);
	}
	run_done(out, w, x->pos);
}

static enum status
unbatch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unbatch *u = self->state;

	for (; self->at < in->n; self->at++) {
		const struct elem *x = &in->e[self->at];

		if (!u->opened) {
			const char *why = unbatch_open_elem(u, x);
			enum status st;

			if (why && (st = expr_run_wrong(self, in, self->at, out, e, "%s", why)) != ST_OK)
				return st;
			if (why)
				continue;
			for (uint64_t k = 0; k < u->given && u->left; k++)
				unbatch_skip(u); /* items given before a restore */
			u->opened = true;
		}
		for (; u->left && out->n < UNBATCH_RUN && !run_full(out); u->given++)
			unbatch_give(u, x, out);
		if (u->left)
			return ST_AGAIN;
		u->opened = false;
		u->given = 0;
	}
	return ST_OK;
}

static void
unbatch_close(struct op_inst *self)
{
	struct unbatch *u = self->state;

	mem_free(u->fields);
}

static void
unbatch_save(struct op_inst *self, struct buf *out)
{
	struct unbatch *u = self->state;

	state_put_u64(out, u->given);
}

static enum status
unbatch_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct unbatch *u = self->state;
	struct state_in in = state_begin(p, n);

	u->opened = false;
	u->given = state_get_u64(&in, UINT32_MAX);
	return state_finish(self, &in, e);
}

const struct op_desc op_unbatch = {
	.name = "unbatch",
	.brief = "splits batches into their elements",
	.doc = "The opposite of batch: a list becomes its items, and a record of lists becomes one "
	       "record per row. All lists of a record must have the same length. Tensors are split "
	       "along their first axis; a tensor with one axis becomes numbers.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.state_size = sizeof(struct unbatch),
	.typing = unbatch_typing,
	.feed = unbatch_feed,
	.close = unbatch_close,
	.save = unbatch_save,
	.restore = unbatch_restore,
	.example = "elements [{a: [1, 2], b: [\"x\", \"y\"]}] | unbatch",
	.output = "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n",
};
