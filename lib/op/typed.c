/* SPDX-License-Identifier: MIT */
#include "op/typed.h"
#include "op/facts.h"

#include <stdarg.h>
#include <stdio.h>

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

	/* The first state is init, each later one a result. A type that holds both may lead to
	 * wider results, and so on; after a few rounds `any`, which holds everything. */
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
typed_one_each(const struct op_node *n)
{
	return n->on_error != OP_SKIP && !(op_traits(n) & EXPR_SKIPS);
}
