/* SPDX-License-Identifier: MIT */
#include "op/by_expr.h"

#include <stdio.h>
#include <string.h>

#include "op/state.h"

enum status
typed_fail(const struct op_typing *t, const struct op_node *n, struct err *e, const char *fmt, ...)
{
	char text[ERR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(e, ST_DATA, "%s", text);
	err_place(e, t->file, t->text, t->text_len, n->at, n->len);
	return ST_DATA;
}

static void
typed_at_expr(const struct op_typing *t, const struct op_expr *ex, struct err *e)
{
	size_t at, len;

	expr_ast_place(ex->ast, &at, &len);
	err_place(e, t->file, t->text, t->text_len, at, len);
}

enum status
typed_test(struct op_node *n, struct op_typing *t, struct op_expr *ex, struct err *e)
{
	enum status st = op_compile(t, ex, n->in[0]->type, NULL, e);
	struct buf name = { 0 };

	if (st != ST_OK || type_fits(expr_type(ex->code), type_scalar(TYPE_BOOL)))
		return st;
	type_print(expr_type(ex->code), &name);
	err_set(e, ST_DATA, "`%s` needs a test that is true or false, this is %s", n->desc->name,
		(char *)name.data);
	err_help(e, "compare it with something: .count > 0, x ~ /regex/, .name != null");
	typed_at_expr(t, ex, e);
	buf_clear(&name);
	return ST_DATA;
}

enum status
typed_fold(struct op_node *n, struct op_typing *t, struct op_expr *ex, const struct buf *init,
	   const struct type **type, struct err *e)
{
	const struct type *x = n->in[0]->type;
	const struct type *s = type_of_value(t->arena, init->data, init->len);

	/* The first state is init, the next are results: a type that holds both
	 * may make for wider results, and so on; `any` holds everything. */
	for (int round = 0; round < 4; round++) {
		enum status st = op_compile(t, ex, x, s, e);

		if (st != ST_OK)
			return st;
		*type = s;
		if (type_equal(expr_type(ex->code), s))
			return ST_OK;
		const struct type *wide = type_join(t->arena, s, expr_type(ex->code));
		if (type_equal(wide, s))
			return ST_OK;
		s = round < 2 ? wide : type_scalar(TYPE_ANY);
	}
	return ST_OK;
}

bool
typed_one_each(const struct op_node *n, const struct op_expr *ex)
{
	struct buf text = { 0 };
	bool one;

	if (n->on_error == OP_SKIP || !ex->ast)
		return false;
	expr_print(ex->ast, &text);
	one = text.data && !strstr((char *)text.data, "skip(");
	buf_clear(&text);
	return one;
}

void
by_expr_open(struct op_inst *self, struct by_expr *b, const struct op_expr *ex)
{
	b->vm = op_vm_new(self, ex);
	b->seen = 0;
}

void
by_expr_close(struct by_expr *b)
{
	expr_vm_free(&b->vm);
}

enum status
by_expr_run(struct op_inst *self, struct by_expr *b, by_expr_fn *fn, const struct run *in,
	    struct run *out, struct err *e)
{
	uint32_t from = self->at, at = from;
	enum status st;

	while ((st = fn(b->vm, in, &at, out, e)) != ST_OK) {
		if (st == ST_AGAIN || (st != ST_SKIP && op_fault_later(self, out, e))) {
			b->seen += at - from;
			self->at = at;
			expr_vm_set_index(b->vm, (int64_t)b->seen);
			return ST_AGAIN;
		}
		if (st != ST_SKIP)
			st = op_fault(self, in, at, out, e);
		if (st != ST_OK && st != ST_SKIP && st != ST_AGAIN)
			return st;
		if (st != ST_AGAIN)
			at++;
		expr_vm_set_index(b->vm, (int64_t)(b->seen + (at - from)));
	}
	b->seen += in->n - from;
	return ST_OK;
}

enum status
by_expr_one(struct op_inst *self, struct by_expr *b, const struct run *in, uint32_t i,
	    struct run *out, const uint8_t **p, size_t *len, struct err *e)
{
	enum status st;

	for (;;) {
		st = expr_value(b->vm, &in->e[i], p, len, e);
		if (st == ST_OK || st == ST_SKIP)
			break;
		st = op_fault(self, in, i, out, e);
		expr_vm_set_index(b->vm, (int64_t)b->seen + (st == ST_OK));
		if (st == ST_OK)
			st = ST_SKIP;
		if (st != ST_AGAIN)
			break;
	}
	b->seen++;
	return st;
}

enum status
by_expr_wrong(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
	      struct err *e, const char *fmt, ...)
{
	char text[ERR_TEXT];
	enum status st;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	do {
		err_set(e, ST_DATA, "%s", text);
		st = op_fault(self, in, i, out, e);
	} while (st == ST_AGAIN);
	return st;
}

void
by_expr_save(const struct by_expr *b, struct buf *out)
{
	state_put_u64(out, b->seen);
}

enum status
by_expr_restore(struct op_inst *self, struct by_expr *b, const uint8_t *p, size_t n, struct err *e)
{
	struct state_in in = state_begin(p, n);

	b->seen = state_get_u64(&in, INT64_MAX);
	expr_vm_set_index(b->vm, (int64_t)b->seen);
	return state_finish(self, &in, e);
}
