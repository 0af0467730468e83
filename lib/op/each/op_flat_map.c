/* SPDX-License-Identifier: MIT
 * flat_map: an expression gives a list for each element, whose items come in
 * the element's place.
 */
#include "expr/val.h"
#include "op/each/parallel.h"
#include "op/state.h"
#include "value/mp.h"

enum { FLAT_MAP_RUN = 4096, FLAT_MAP_BYTES = 8 * RUN_BYTES };

struct flat_map {
	struct op_expr expr;
	struct expr_run run;
	struct parallel_use threads; /* NULL threads unless parallel */
	struct run lists;  /* the lists that the expression made; items are slices of them */
	bool opened;       /* at and left belong to the element at self->at */
	const uint8_t *at; /* where the next item begins */
	uint32_t left;
	uint64_t given;    /* items of that element given so far */
};

static const struct param flat_map_params[] = {
	{ "expr", PARAM_EXPR, offsetof(struct flat_map, expr),
	  .help = "a list, whose items replace x" },
	PARALLEL_ROWS(struct flat_map, threads),
	{ 0 }
};

static enum status
flat_map_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct flat_map *f = n->params;
	enum status st = op_compile(t, &f->expr, n->in[0]->type, NULL, e);
	const struct type *list;

	if (st != ST_OK)
		return st;
	list = expr_type(f->expr.code);
	*type = list->kind == TYPE_LIST ? list->item : type_scalar(TYPE_ANY);
	if (list->kind == TYPE_LIST || list->kind == TYPE_ANY || list->kind == TYPE_NEVER)
		return ST_OK;
	struct buf name = { 0 };
	type_print(list, &name);
	st = typed_fail(t, n, e, "`flat_map` needs a list, this is %s", (char *)name.data);
	err_help(e, "map gives one value for each element; [x] is a list of one");
	buf_clear(&name);
	return st;
}

static enum status
flat_map_open(struct op_inst *self, struct err *e)
{
	struct flat_map *f = self->state;

	(void)e;
	expr_run_open(self, &f->run, &f->expr);
	parallel_open(self, &f->threads, &f->expr, &f->run, PARALLEL_ITEMS);
	return ST_OK;
}

/* Evaluates the list of the element at self->at. ST_SKIP: there is none, go on. */
static enum status
flat_map_list(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct flat_map *f = self->state;
	struct elem *list;
	struct mp m;
	enum status st;

	while ((st = expr_eval(f->run.vm, &in->e[self->at], &f->lists, e)) != ST_OK) {
		if (st != ST_SKIP)
			st = op_fault(self, in, self->at, out, e);
		expr_vm_set_index(f->run.vm, (int64_t)f->run.seen + (st != ST_AGAIN));
		if (st != ST_AGAIN)
			return st == ST_OK ? ST_SKIP : st;
	}
	list = &f->lists.e[f->lists.n - 1];
	mp_head(list->p, list->p + list->len, &m);
	if (m.kind != MP_LIST) {
		st = expr_run_wrong(self, in, self->at, out, e, "the expression did not give a list");
		return st == ST_OK ? ST_SKIP : st;
	}
	f->at = m.p;
	f->left = m.n;
	for (uint64_t k = 0; k < f->given && f->left; k++, f->left--)
		f->at = mp_skip(f->at, list->p + list->len); /* items given before a restore */
	return ST_OK;
}

static void
flat_map_give(struct flat_map *f, uint32_t pos, struct run *out)
{
	struct block *block = f->lists.e[f->lists.n - 1].block;
	const uint8_t *at = f->at;
	uint32_t room = out->n < FLAT_MAP_RUN ? FLAT_MAP_RUN - out->n : 0, n = f->left < room ? f->left : room;

	f->left -= n;
	f->given += n;
	for (; n; n--) {
		const uint8_t *to = mp_past(at);

		run_push(out, (struct elem){ at, block, (uint32_t)(to - at), pos });
		at = to;
	}
	f->at = at;
}

static enum status
flat_map_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct flat_map *f = self->state;
	enum status st;

	if (!f->opened)
		run_reset(&f->lists);
	size_t bytes = 0;
	for (; self->at < in->n; self->at++) {
		if (bytes > FLAT_MAP_BYTES)
			return ST_AGAIN;
		if (!f->opened) {
			st = flat_map_list(self, in, out, e);
			if (st != ST_OK && st != ST_SKIP)
				return st;
			f->opened = st == ST_OK;
		}
		if (f->opened) {
			bytes += f->lists.e[f->lists.n - 1].len;
			flat_map_give(f, in->e[self->at].pos, out);
			if (f->left)
				return ST_AGAIN;
		}
		f->opened = false;
		f->given = 0;
		f->run.seen++;
	}
	return ST_OK;
}

static enum status
flat_map_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct flat_map *f = self->state;

	return parallel_next(self, &f->threads, out, e);
}

static void
flat_map_close(struct op_inst *self)
{
	struct flat_map *f = self->state;

	parallel_close(&f->threads);
	expr_run_close(&f->run);
	run_clear(&f->lists);
}

static void
flat_map_save(struct op_inst *self, struct buf *out)
{
	struct flat_map *f = self->state;

	if (parallel_save(self, &f->threads, out))
		return;
	state_put_u64(out, f->run.seen);
	state_put_u64(out, f->given);
}

static enum status
flat_map_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct flat_map *f = self->state;
	enum status st;

	if (parallel_restore(self, &f->threads, &p, &n, &st, e))
		return st;
	struct state_in in = state_begin(p, n);
	f->run.seen = state_get_u64(&in, INT64_MAX);
	f->given = state_get_u64(&in, UINT32_MAX);
	f->opened = false;
	expr_vm_set_index(f->run.vm, (int64_t)f->run.seen);
	return state_finish(self, &in, e);
}

const struct op_desc op_flat_map = {
	.name = "flat_map",
	.brief = "replaces each element by the items of a list",
	.doc = "The expression gives a list for each element; an empty list drops the element. To "
	       "replace each element by the elements of a pipeline, use interleave. parallel=N "
	       "works as in map.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_BY_EXPR,
	.params = flat_map_params,
	.state_size = sizeof(struct flat_map),
	.typing = flat_map_typing,
	.open = flat_map_open,
	.next = flat_map_next,
	.feed = flat_map_feed,
	.close = flat_map_close,
	.save = flat_map_save,
	.restore = flat_map_restore,
	.example = "elements [\"a b\", \"c\"] | flat_map split(x, \" \")",
	.output = "a\nb\nc\n",
};
