/* SPDX-License-Identifier: MIT
 * unbatch: takes lists, and records of lists, apart again.
 */
#include <string.h>

#include "base/mem.h"
#include "op/by_expr.h"
#include "op/state.h"
#include "value/mp.h"

enum { UNBATCH_RUN = 4096, UNBATCH_FIELDS = 4096 };

/* Where the next item of a field's list lies. */
struct unbatch_field {
	const uint8_t *key, *at;
	uint32_t key_len;
};

struct unbatch {
	bool opened;    /* fields and left are of the element at self->at */
	bool record;
	uint64_t given; /* items of that element that have been given */
	uint32_t left;
	struct unbatch_field *fields; /* a list has one, without a key */
	size_t n, cap;
};

static enum status
unbatch_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct type *x = n->in[0]->type;
	struct type_field *fields;
	enum status st = ST_OK;

	*type = type_scalar(TYPE_ANY);
	if (x->kind == TYPE_LIST)
		*type = x->item;
	if (x->kind == TYPE_LIST || x->kind == TYPE_ANY || x->kind == TYPE_TENSOR)
		return ST_OK;
	if (x->kind != TYPE_RECORD) {
		st = typed_fail(t, n, e, "unbatch needs lists, or records of lists");
		err_help(e, "batch and window make them; --print=plan shows the types of all stages");
		return st;
	}
	fields = mem_array(x->n_fields + 1, sizeof *fields);
	for (size_t k = 0; st == ST_OK && k < x->n_fields; k++) {
		const struct type *f = x->fields[k].type;

		if (f->kind != TYPE_LIST && f->kind != TYPE_ANY && f->kind != TYPE_TENSOR)
			st = typed_fail(t, n, e, "unbatch needs lists, and field %s is none",
					x->fields[k].name);
		fields[k] = (struct type_field){
			x->fields[k].name, f->kind == TYPE_LIST ? f->item : type_scalar(TYPE_ANY)
		};
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

/* Finds the lists in an element; the reason when it has none. */
static const char *
unbatch_open_elem(struct unbatch *u, const struct elem *x)
{
	const uint8_t *end = x->p + x->len, *p;
	struct mp m, list;

	mp_head(x->p, end, &m);
	u->n = 0;
	u->left = 0;
	u->record = m.kind == MP_RECORD;
	if (m.kind == MP_LIST) {
		*unbatch_field(u) = (struct unbatch_field){ .at = m.p };
		u->left = m.n;
		return NULL;
	}
	if (m.kind != MP_RECORD)
		return "this is neither a list nor a record of lists";
	if (m.n > UNBATCH_FIELDS)
		return "a record has too many fields to be taken apart";
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		const uint8_t *key = p, *value = mp_skip(p, end);

		mp_head(value, end, &list);
		if (list.kind != MP_LIST)
			return "a field of this record is not a list";
		if (k && list.n != u->left)
			return "the lists of this record are not equally long";
		u->left = list.n;
		*unbatch_field(u) = (struct unbatch_field){ key, list.p, (uint32_t)(value - key) };
		p = mp_skip(value, end);
	}
	return NULL;
}

static void
unbatch_skip(struct unbatch *u, const uint8_t *end)
{
	for (size_t k = 0; k < u->n; k++)
		u->fields[k].at = mp_skip(u->fields[k].at, end);
	u->left--;
}

/* The next item of each list; an item of a plain list is a slice of it. */
static void
unbatch_give(struct unbatch *u, const struct elem *x, struct run *out)
{
	const uint8_t *end = x->p + x->len, *to;
	struct unbatch_field *f = u->fields;
	size_t size = MP_HEAD_MAX;

	if (!u->record) {
		to = mp_skip(f->at, end);
		run_push(out, (struct elem){ f->at, x->block, (uint32_t)(to - f->at), x->pos });
		f->at = to;
		u->left--;
		return;
	}
	for (size_t k = 0; k < u->n; k++)
		size += f[k].key_len + (size_t)(mp_skip(f[k].at, end) - f[k].at);
	uint8_t *p = mp_put_record_head(run_room(out, size), (uint32_t)u->n);
	for (size_t k = 0; k < u->n; k++) {
		to = mp_skip(f[k].at, end);
		memcpy(p, f[k].key, f[k].key_len);
		p += f[k].key_len;
		memcpy(p, f[k].at, (size_t)(to - f[k].at));
		p += to - f[k].at;
	}
	run_done(out, p, x->pos);
	unbatch_skip(u, end);
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

			if (why && (st = by_expr_wrong(self, in, self->at, out, e, "%s", why)) != ST_OK)
				return st;
			if (why)
				continue;
			for (uint64_t k = 0; k < u->given && u->left; k++)
				unbatch_skip(u, x->p + x->len); /* given before a restore */
			u->opened = true;
		}
		for (; u->left && out->n < UNBATCH_RUN; u->given++)
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
	.brief = "the items of lists, and the rows of records of lists",
	.doc = "The opposite of batch. All lists of a record must be equally long.",
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
