/* SPDX-License-Identifier: MIT */
#include "op/kit/expr_value.h"

#include <string.h>

#include "value/mp.h"

/* Makes the expression `x` where none was given, so that the planner sees that the whole
 * element is used. */
static enum status
expr_value_whole(struct op_expr *ex, struct err *e)
{
	struct expr_src src = { .file = "<default>", .text = "x", .len = 1 };

	if (!ex->ast)
		ex->ast = expr_parse(&src, e);
	return ex->ast ? ST_OK : ST_BUG;
}

enum status
expr_value_typing(struct op_node *n, struct op_typing *t, struct op_expr *ex,
		  const struct type **type, struct err *e)
{
	enum status st = expr_value_whole(ex, e);

	if (st == ST_OK)
		st = op_compile(t, ex, n->in[0]->type, NULL, e);
	if (st == ST_OK && type)
		*type = expr_type(ex->code);
	return st;
}

enum status
expr_value_typing_number(struct op_node *n, struct op_typing *t, struct op_expr *ex, bool nulls, struct err *e)
{
	const struct type *type;
	struct buf name = { 0 };
	enum status st = expr_value_typing(n, t, ex, &type, e);

	const struct type *whole = type_scalar(TYPE_INT), *broken = type_scalar(TYPE_FLOAT);
	if (nulls) {
		whole = type_nullable(t->arena, whole);
		broken = type_nullable(t->arena, broken);
	}
	if (st != ST_OK || type_fits(type, whole) || type_fits(type, broken))
		return st;
	type_print(type, &name);
	typed_fail(t, n, e, "`%s` needs numbers, this is %s", n->desc->name, (char *)name.data);
	err_help(e, "name a number of the element: %s .price", n->desc->name);
	buf_clear(&name);
	return ST_DATA;
}

void
expr_value_open(struct op_inst *self, struct expr_value *k, const struct op_expr *ex)
{
	struct buf text = { 0 };

	if (ex->ast)
		expr_print(ex->ast, &text);
	k->by_expr = ex->code && strcmp((char *)text.data, "x");
	buf_clear(&text);
	if (k->by_expr)
		expr_run_open(self, &k->run, ex);
}

void
expr_value_close(struct expr_value *k)
{
	if (k->by_expr)
		expr_run_close(&k->run);
}

enum status
expr_value_get(struct op_inst *self, struct expr_value *k, const struct run *in, uint32_t i,
	       struct run *out, const uint8_t **p, size_t *len, struct err *e)
{
	if (k->by_expr && expr_part(k->run.vm, &in->e[i], p, len)) {
		k->run.seen++;
		return ST_OK;
	}
	if (k->by_expr)
		return expr_run_one(self, &k->run, in, i, out, p, len, e);
	*p = in->e[i].p;
	*len = in->e[i].len;
	return ST_OK;
}

enum status
expr_value_index(struct op_inst *self, struct expr_value *k, const struct run *in, uint32_t i,
		 struct run *out, const char *what, uint64_t max, uint64_t *v, struct err *e)
{
	const uint8_t *p;
	size_t len;
	struct mp m;
	enum status st = expr_value_get(self, k, in, i, out, &p, &len, e);

	if (st != ST_OK)
		return st;
	mp_head(p, p + len, &m);
	if (m.kind == MP_INT && (m.unsigned_big || m.i >= 0) && m.u <= max) {
		*v = m.u;
		return ST_OK;
	}
	st = expr_run_wrong(self, in, i, out, e, "the %s is not an integer from 0 to %llu", what,
			    (unsigned long long)max);
	return st == ST_OK ? ST_SKIP : st;
}

const char *
expr_value_not_number(enum mp_kind kind)
{
	static const char *const text[] = {
		[MP_NIL] = "the value is null, not a number (EXPR ?? 0 gives 0 in its place)",
		[MP_BOOL] = "the value is a bool, not a number",
		[MP_TEXT] = "the value is a text, not a number (float(EXPR) reads one)",
		[MP_BYTES] = "the value is bytes, not a number",
		[MP_LIST] = "the value is a list, not a number",
		[MP_RECORD] = "the value is a record, not a number",
	};

	return kind < sizeof text / sizeof *text && text[kind] ? text[kind] : "the value is not a number";
}

void
expr_value_save(const struct expr_value *k, struct buf *out)
{
	state_put_u64(out, k->by_expr ? k->run.seen : 0);
}

void
expr_value_restore(struct expr_value *k, struct state_in *in)
{
	uint64_t seen = state_get_u64(in, INT64_MAX);

	if (!k->by_expr)
		return;
	k->run.seen = seen;
	expr_vm_set_index(k->run.vm, (int64_t)seen);
}

static void
expr_value_state_save(const void *field, struct buf *out)
{
	expr_value_save(field, out);
}

static void
expr_value_state_restore(void *field, struct state_in *in, uint64_t max)
{
	(void)max;
	expr_value_restore(field, in);
}

const struct state_kind expr_value_state = { expr_value_state_save, expr_value_state_restore };
