/* SPDX-License-Identifier: MIT
 * rebatch: turns batches of any sizes into batches of N.
 */
#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/batch/batch_rows.h"
#include "op/batch/batch_collect.h"
#include "value/mp.h"

#include <string.h>

enum { REBATCH_FIELDS = BATCH_COLUMNS_MAX };

struct rebatch_field {
	const uint8_t *key;
	uint32_t key_len;
	struct batch_rows_in rows;
};

struct rebatch {
	int64_t n;
	bool drop;
	bool opened;       /* the element at self->at has been opened */
	uint64_t given;    /* how many of its rows have been taken */
	bool record;
	uint64_t left;     /* how many of its rows are left */
	struct rebatch_field *fields;
	size_t n_fields, cap;
	struct batch_collect stack;
	struct run row;
	struct batch_columns columns;
};

static const struct param rebatch_params[] = {
	{ "n", PARAM_INT, offsetof(struct rebatch, n), .min = 1, .max = INT32_MAX,
	  .help = "elements in a batch" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct rebatch, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the last batch when it is not full" },
	{ 0 }
};

/* The type of the batches that come out: only the length of the first axis changes. Rows of a
 * tensor of one axis are numbers, which become lists. NULL: x is not a batch. */
static const struct type *
rebatch_type(struct types *t, const struct rebatch *r, const struct type *x)
{
	const struct type *item = batch_rows_item(t, x);
	struct type_field *fields;

	if (x->kind == TYPE_LIST || x->kind == TYPE_ANY)
		return x->kind == TYPE_LIST && (item->kind == TYPE_ANY || item->kind == TYPE_TENSOR)
			? type_scalar(TYPE_ANY) : x;
	if (item)
		return batch_rows_typing(t, BATCH_ROWS_AUTO, item, r->drop ? r->n : -1);
	if (x->kind != TYPE_RECORD)
		return NULL;
	fields = mem_array(x->n_fields + 1, sizeof *fields);
	for (size_t k = 0; k < x->n_fields; k++) {
		const struct type *f = rebatch_type(t, r, x->fields[k].type);

		fields[k] = (struct type_field){ x->fields[k].name, f ? f : type_scalar(TYPE_ANY) };
	}
	x = type_record(t, fields, x->n_fields, x->open);
	mem_free(fields);
	return x;
}

static enum status
rebatch_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct rebatch *r = n->params;
	const struct type *x = n->in[0]->type;

	*type = rebatch_type(t->arena, r, x);
	if (*type)
		return ST_OK;
	typed_fail(t, n, e, "rebatch needs batches: lists, tensors, or records of them");
	err_help(e, "`batch` makes them of single elements");
	return ST_DATA;
}

static void
rebatch_field(struct rebatch *r, const uint8_t *key, uint32_t key_len, const uint8_t *value,
	      const uint8_t *end, const char **why)
{
	struct rebatch_field *f;

	r->fields = mem_grow(r->fields, &r->cap, r->n_fields + 1, sizeof *r->fields);
	f = &r->fields[r->n_fields++];
	f->key = key;
	f->key_len = key_len;
	if (!batch_rows_open(&f->rows, value, end))
		*why = r->record ? "a field of this record is not a list"
			: "this is neither a list, a tensor nor a record of them";
	else if (r->n_fields > 1 && f->rows.left != r->left)
		*why = "the lists of this record are not equally long";
	else
		r->left = f->rows.left;
}

/* Opens the lists of a batch; NULL, or the reason why it is not a batch. */
static const char *
rebatch_take_apart(struct rebatch *r, const struct elem *x)
{
	const uint8_t *end = x->p + x->len, *p, *value;
	const char *why = NULL;
	struct mp m;

	r->n_fields = 0;
	r->left = 0;
	mp_head(x->p, end, &m);
	r->record = m.kind == MP_RECORD;
	if (!r->record)
		rebatch_field(r, NULL, 0, x->p, end, &why);
	else if (m.n > REBATCH_FIELDS)
		return "a record has too many fields";
	p = m.p;
	for (uint32_t k = 0; r->record && !why && k < m.n; k++) {
		value = mp_skip(p, end);
		rebatch_field(r, p, (uint32_t)(value - p), value, end, &why);
		p = mp_skip(value, end);
	}
	return why;
}

/* The next row of the open batch: a slice of the batch, or made in r->row. */
static struct elem
rebatch_row(struct rebatch *r, const struct elem *x)
{
	size_t size = MP_HEAD_MAX;
	const uint8_t *p;
	uint8_t *w;

	r->left--;
	if (!r->record && (size = batch_rows_lend(&r->fields->rows, &p))) {
		batch_rows_skip(&r->fields->rows);
		return (struct elem){ .p = p, .block = x->block, .len = (uint32_t)size, .pos = x->pos };
	}
	run_reset(&r->row);
	if (!r->record) {
		w = run_room(&r->row, batch_rows_next_size(&r->fields->rows));
		run_done(&r->row, batch_rows_next(&r->fields->rows, w), x->pos);
		return r->row.e[0];
	}
	for (size_t k = 0; k < r->n_fields; k++)
		size += r->fields[k].key_len + batch_rows_next_size(&r->fields[k].rows);
	w = mp_put_record_head(run_room(&r->row, size), (uint32_t)r->n_fields);
	for (size_t k = 0; k < r->n_fields; k++) {
		struct rebatch_field *f = &r->fields[k];

		memcpy(w, f->key, f->key_len);
		w = batch_rows_next(&f->rows, w + f->key_len);
	}
	run_done(&r->row, w, x->pos);
	return r->row.e[0];
}

static enum status
rebatch_start(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct rebatch *r = self->state;
	const struct elem *x = &in->e[self->at];
	const char *why = rebatch_take_apart(r, x);

	if (why) {
		enum status st = expr_run_wrong(self, in, self->at, out, e, "%s", why);
		return st == ST_OK ? ST_SKIP : st;
	}
	for (uint64_t k = 0; k < r->given && r->left; k++)
		rebatch_row(r, x); /* rows taken before a restore */
	r->opened = true;
	return ST_OK;
}

static enum status
rebatch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct rebatch *r = self->state;
	enum status st = ST_OK;

	for (; self->at < in->n; self->at++) {
		if (!r->opened && (st = rebatch_start(self, in, out, e)) != ST_OK) {
			if (st != ST_SKIP)
				return st;
			st = ST_OK;
			continue;
		}
		for (; r->left && out->n < RUN_USUAL && !run_full(out); r->given++) {
			st = batch_collect_add(self, &r->stack, rebatch_row(r, &in->e[self->at]),
					       e);
			if (st == ST_OK && r->stack.part.n == r->n)
				st = batch_collect_give(self, &r->stack, &r->columns, NULL, out, e);
			if (st != ST_OK)
				return st;
		}
		if (r->left)
			return ST_AGAIN;
		r->opened = false;
		r->given = 0;
	}
	return ST_OK;
}

static enum status
rebatch_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct rebatch *r = self->state;
	enum status st = ST_OK;

	if (r->stack.part.n && !r->drop)
		st = batch_collect_give(self, &r->stack, &r->columns, NULL, out, e);
	batch_collect_reset(&r->stack);
	return st == ST_OK ? ST_END : st;
}

static enum status
rebatch_open(struct op_inst *self, struct err *e)
{
	struct rebatch *r = self->state;

	(void)e;
	r->stack.tensors = true;
	return ST_OK;
}

static void
rebatch_close(struct op_inst *self)
{
	struct rebatch *r = self->state;

	batch_collect_clear(&r->stack);
	batch_columns_clear(&r->columns);
	run_clear(&r->row);
	mem_free(r->fields);
}

static void
rebatch_save(struct op_inst *self, struct buf *out)
{
	struct rebatch *r = self->state;

	state_put_u64(out, r->given);
	batch_collect_save(&r->stack, out);
}

static enum status
rebatch_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct rebatch *r = self->state;
	struct state_in in = state_begin(p, n);

	r->opened = false;
	r->given = state_get_u64(&in, UINT32_MAX);
	batch_collect_restore(&r->stack, &in);
	if (r->stack.part.n >= r->n)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_rebatch = {
	.name = "rebatch",
	.brief = "changes the size of batches to N",
	.doc = "Takes lists, or records of lists of equal length, as batch produces them. The rows "
	       "keep their order; the last batch may be smaller.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = rebatch_params,
	.state_size = sizeof(struct rebatch),
	.typing = rebatch_typing,
	.open = rebatch_open,
	.feed = rebatch_feed,
	.finish = rebatch_finish,
	.close = rebatch_close,
	.save = rebatch_save,
	.restore = rebatch_restore,
	.example = "range 7 | batch 3 | rebatch 2",
	.output = "[0,1]\n[2,3]\n[4,5]\n[6]\n",
};
