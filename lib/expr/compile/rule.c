/* SPDX-License-Identifier: MIT
 *
 * The types of operators: what is known to be wrong is said here, before
 * anything runs, with what would have been right.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "expr/compile/compile.h"
#include "expr/tensor/tensor_rule.h"

enum {
	RULE_ALL = (1u << VAL_REGEX) - 1,
	RULE_NUMBERS = VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG) | VAL_BIT(VAL_FLOAT),
	RULE_JOINS = VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES) | VAL_BIT(VAL_LIST)
};

unsigned
rule_kinds(const struct type *t)
{
	static const unsigned kinds[] = {
		[TYPE_ANY] = RULE_ALL, [TYPE_NIL] = VAL_BIT(VAL_NIL), [TYPE_BOOL] = VAL_BIT(VAL_BOOL),
		[TYPE_INT] = VAL_BIT(VAL_INT) | VAL_BIT(VAL_BIG),
		[TYPE_FLOAT] = VAL_BIT(VAL_FLOAT), [TYPE_TEXT] = VAL_BIT(VAL_TEXT),
		[TYPE_BYTES] = VAL_BIT(VAL_BYTES), [TYPE_LIST] = VAL_BIT(VAL_LIST),
		[TYPE_RECORD] = VAL_BIT(VAL_RECORD), [TYPE_TENSOR] = VAL_BIT(VAL_EXT),
		[TYPE_NEVER] = RULE_ALL
	};

	return kinds[t->kind];
}

const char *
rule_name(const struct type *t, char out[64])
{
	struct buf b = { 0 };

	type_print(t, &b);
	if (b.len > 60)
		snprintf(out, 64, "%.56s...", (char *)b.data);
	else
		snprintf(out, 64, "%s", (char *)b.data);
	buf_clear(&b);
	return out;
}

static bool
rule_is(const struct type *t, enum type_kind kind)
{
	return t->kind == kind;
}

static const struct type *
rule_pair_fault(struct compile *c, const struct expr_ast *a, const struct type *l,
		const struct type *r, const char *help)
{
	char x[64], y[64];

	compile_fault(c, a, "`%s` of %s and %s", ast_ops[a->op].sign, rule_name(l, x),
		      rule_name(r, y));
	if (help)
		err_help(c->e, "%s", help);
	return NULL;
}

/* A help for a place where a number is wanted and t is none. */
static const char *
rule_number_help(const struct expr_ast *a, const struct type *l, const struct type *r)
{
	bool joins = (rule_kinds(l) & RULE_JOINS) && (rule_kinds(r) & RULE_JOINS);

	if (a->op == AST_ADD && (joins || rule_is(l, TYPE_TEXT) || rule_is(r, TYPE_TEXT)))
		return rule_is(l, TYPE_LIST) || rule_is(r, TYPE_LIST) ? "++ joins lists"
			: joins ? "++ joins text"
			: "++ joins text, and str() makes text of a number; int() and float() "
			  "turn text into numbers";
	if (rule_is(l, TYPE_TEXT) || rule_is(r, TYPE_TEXT))
		return "int() and float() turn text into numbers";
	if (rule_is(l, TYPE_NIL) || rule_is(r, TYPE_NIL))
		return "?? gives a default for null, as in (.n ?? 0) + 1";
	if (a->op == AST_ADD && (rule_is(l, TYPE_RECORD) || rule_is(r, TYPE_RECORD)))
		return "merge() makes one record of the fields of several, as in merge(x, {n: 1})";
	if (rule_is(l, TYPE_LIST) || rule_is(r, TYPE_LIST))
		return "map(list, it * 2) works on each item, sum(list) adds them up";
	return NULL;
}

/* The type of an operation with at least one tensor. */
static const struct type *
rule_tensors(struct compile *c, const struct expr_ast *a, const struct type *l,
	     const struct type *r)
{
	char why[FN_WHY];
	const struct type *t = a->op == AST_CAT ? tensor_rule_cat(c->env->arena, l, r, why)
		: tensor_rule_binary(c->env->arena, a->op, l, r, why);

	if (!t && why[0]) {
		compile_fault(c, a, "`%s` of %s", ast_ops[a->op].sign, why);
		err_help(c->e, "%s", a->op == AST_CAT ? "all lengths but the first must be equal"
			 : "lengths must be equal, or 1, counted from the last");
	} else if (!t) {
		rule_pair_fault(c, a, l, r, a->op == AST_CAT ? "reshape(x, [1, -1]) adds an axis"
				: l->kind == r->kind || rule_is(l, TYPE_BOOL) || rule_is(r, TYPE_BOOL)
				? "cast(x, \"u8\") makes numbers of bools"
				: "tensor() makes one of a list of numbers");
	}
	return t;
}

/* Whether one operand, of unknown type, may be a tensor, and the other goes with tensors. */
static bool
rule_maybe_tensor(const struct type *l, const struct type *r)
{
	const unsigned plain = RULE_NUMBERS | VAL_BIT(VAL_BOOL);

	return (rule_is(l, TYPE_ANY) && (rule_kinds(r) & plain) && !rule_is(r, TYPE_NEVER))
		|| (rule_is(r, TYPE_ANY) && (rule_kinds(l) & plain) && !rule_is(l, TYPE_NEVER));
}

static const struct type *
rule_arith(struct compile *c, const struct expr_ast *a, const struct type *l,
	   const struct type *r)
{
	if (!(rule_kinds(l) & RULE_NUMBERS) || !(rule_kinds(r) & RULE_NUMBERS))
		return rule_pair_fault(c, a, l, r, rule_number_help(a, l, r));
	if (rule_maybe_tensor(l, r))
		return type_scalar(TYPE_ANY);
	if (a->op == AST_DIV || rule_is(l, TYPE_FLOAT) || rule_is(r, TYPE_FLOAT))
		return type_scalar(TYPE_FLOAT);
	if (rule_is(l, TYPE_INT) && rule_is(r, TYPE_INT))
		return type_scalar(TYPE_INT);
	return type_scalar(TYPE_ANY);
}

static const struct type *
rule_order(struct compile *c, const struct expr_ast *a, const struct type *l,
	   const struct type *r)
{
	const unsigned ordered = RULE_NUMBERS | RULE_JOINS | VAL_BIT(VAL_BOOL);
	unsigned x = rule_kinds(l) & ordered, y = rule_kinds(r) & ordered;
	bool numbers = (x & RULE_NUMBERS) && (y & RULE_NUMBERS);

	if (!(x & y) && !numbers)
		return rule_pair_fault(c, a, l, r,
			((x | y) & VAL_BIT(VAL_TEXT)) && ((x | y) & RULE_NUMBERS)
			? "int() and float() turn text into numbers, str() makes text of a number"
			: rule_is(l, TYPE_NIL) || rule_is(r, TYPE_NIL)
			? "null is found with == null, and ?? gives a default for it" : NULL);
	return type_scalar(rule_maybe_tensor(l, r) ? TYPE_ANY : TYPE_BOOL);
}

static const struct type *
rule_in(struct compile *c, const struct expr_ast *a, const struct type *l, const struct type *r)
{
	unsigned y = rule_kinds(r), x = rule_kinds(l);
	bool fits = (y & VAL_BIT(VAL_LIST)) || (y & VAL_BIT(VAL_RECORD) && x & VAL_BIT(VAL_TEXT))
		|| (x & y & (VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES)));

	if (!fits)
		return rule_pair_fault(c, a, l, r, "`in` looks for an item in a list, a text in a "
				       "text, a field's name in a record");
	return type_scalar(TYPE_BOOL);
}

static const struct type *
rule_cat(struct compile *c, const struct expr_ast *a, const struct type *l, const struct type *r)
{
	unsigned x = rule_kinds(l) & RULE_JOINS, y = rule_kinds(r) & RULE_JOINS;

	if (!(x & y))
		return rule_pair_fault(c, a, l, r, (x | y) & VAL_BIT(VAL_TEXT)
				       ? "str() turns it into text" : (x | y) & VAL_BIT(VAL_LIST)
				       ? "one item is added as a list: .list ++ [1]" : NULL);
	if (rule_is(l, TYPE_ANY) || rule_is(l, TYPE_NEVER))
		return rule_is(r, TYPE_LIST) ? type_list(c->env->arena, type_scalar(TYPE_ANY))
			: r->kind == TYPE_NEVER ? type_scalar(TYPE_ANY) : type_scalar(r->kind);
	if (rule_is(l, TYPE_LIST))
		return type_list(c->env->arena, rule_is(r, TYPE_LIST)
				 ? type_join(c->env->arena, l->item, r->item)
				 : type_scalar(TYPE_ANY));
	return type_scalar(l->kind);
}

bool
rule_test(struct compile *c, const struct expr_ast *a, const char *whose, const struct type *t)
{
	char x[64];

	if (rule_kinds(t) & VAL_BIT(VAL_BOOL))
		return true;
	compile_fault(c, a, "%s needs a test, not %s", whose, rule_name(t, x));
	err_help(c->e, "%s", rule_is(t, TYPE_TEXT) ? "as in .name != \"\""
		 : rule_kinds(t) & RULE_NUMBERS ? "as in .n != 0" : rule_is(t, TYPE_LIST)
		 ? "as in len(.list) > 0" : rule_is(t, TYPE_TENSOR)
		 ? "as in amax(x > 0), which is true when one of them is, or amin(x > 0), when all are" : "as in x != null");
	return false;
}

const struct type *
rule_binary(struct compile *c, const struct expr_ast *a, const struct type *l,
	    const struct type *r)
{
	if ((rule_is(l, TYPE_TENSOR) || rule_is(r, TYPE_TENSOR)) && a->op != AST_IN)
		return rule_tensors(c, a, l, r);
	switch ((enum ast_op)a->op) {
	case AST_EQ:
	case AST_NE:
		return type_scalar(rule_maybe_tensor(l, r) ? TYPE_ANY : TYPE_BOOL);
	case AST_LT:
	case AST_LE:
	case AST_GT:
	case AST_GE:
		return rule_order(c, a, l, r);
	case AST_IN:
		return rule_in(c, a, l, r);
	case AST_CAT:
		return rule_cat(c, a, l, r);
	default:
		return rule_arith(c, a, l, r);
	}
}

const struct type *
rule_unary(struct compile *c, const struct expr_ast *a, const struct type *t)
{
	char x[64];

	if (a->op == AST_NOT)
		return rule_test(c, a, "`not`", t) ? type_scalar(TYPE_BOOL) : NULL;
	if (rule_is(t, TYPE_TENSOR) && t->dtype != DTYPE_BOOL)
		return t->nullable ? type_scalar(TYPE_ANY) : t;
	if (!(rule_kinds(t) & RULE_NUMBERS)) {
		compile_fault(c, a, "`-` of %s", rule_name(t, x));
		if (rule_is(t, TYPE_TEXT))
			err_help(c->e, "int() and float() turn text into numbers");
		return NULL;
	}
	return rule_is(t, TYPE_INT) || rule_is(t, TYPE_FLOAT) ? type_scalar(t->kind)
		: type_scalar(TYPE_ANY);
}

static const char *
rule_field_name(void *arg, size_t i)
{
	const struct type *t = arg;

	return i < t->n_fields ? t->fields[i].name : NULL;
}

static void
rule_field_help(struct compile *c, const struct expr_ast *a, const struct type *t)
{
	char near[200];
	struct buf b = { 0 };

	if (str_suggest(a->text, rule_field_name, (void *)(uintptr_t)t, near, sizeof near)) {
		err_help(c->e, "did you mean %s?", near);
		return;
	}
	for (size_t i = 0; i < t->n_fields && b.len < 200; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", t->fields[i].name);
	if (b.len)
		err_help(c->e, "its fields are %s", (char *)b.data);
	buf_clear(&b);
}

const struct type *
rule_field(struct compile *c, const struct expr_ast *a, const struct type *t)
{
	const struct type *f;
	char x[64];

	if (rule_is(t, TYPE_ANY) || rule_is(t, TYPE_NIL) || rule_is(t, TYPE_NEVER))
		return type_scalar(t->kind == TYPE_NIL ? TYPE_NIL : TYPE_ANY);
	if (!rule_is(t, TYPE_RECORD)) {
		compile_fault(c, a, "%s has no fields", rule_name(t, x));
		if (rule_is(t, TYPE_TEXT))
			err_help(c->e, "parse_json(x) turns JSON text into a record; its fields are "
				 "parse_json(x).name");
		else if (rule_is(t, TYPE_LIST))
			err_help(c->e, "one item is .list[0]; a field of each item is map(.list, it.name)");
		return NULL;
	}
	f = type_field_get(t, a->text, a->text_len);
	if (!f) {
		compile_fault(c, a, "there is no field `%.100s` in %s", a->text, rule_name(t, x));
		rule_field_help(c, a, t);
		return NULL;
	}
	return t->nullable ? type_nullable(c->env->arena, f) : f;
}

const struct type *
rule_index(struct compile *c, const struct expr_ast *a, const struct type *t,
	   const struct type *i)
{
	char x[64], why[FN_WHY];

	if (rule_is(t, TYPE_TENSOR)) {
		bool wrong = a->kind != AST_SLICE && !(rule_kinds(i) & VAL_BIT(VAL_INT));
		const struct type *part = wrong ? NULL
			: tensor_rule_index(c->env->arena, t, a->kind == AST_SLICE, why);

		if (wrong)
			compile_fault(c, a, "an index is an int, not %s", rule_name(i, x));
		else if (!part)
			compile_fault(c, a, "%s", why);
		return part;
	}
	if (!(rule_kinds(t) & (RULE_JOINS | VAL_BIT(VAL_RECORD) | VAL_BIT(VAL_NIL)))) {
		compile_fault(c, a, a->kind == AST_SLICE ? "%s cannot be sliced" : "%s has no items",
			      rule_name(t, x));
		return NULL;
	}
	if (a->kind == AST_SLICE) {
		if (!rule_is(t, TYPE_RECORD))
			return t;
		compile_fault(c, a, "a record cannot be sliced");
		return NULL;
	}
	bool keyed = rule_is(t, TYPE_RECORD);
	bool fits = rule_is(t, TYPE_ANY) || rule_is(t, TYPE_NIL) || rule_is(i, TYPE_ANY)
		|| rule_is(i, TYPE_NEVER) || rule_is(i, keyed ? TYPE_TEXT : TYPE_INT);
	if (!fits) {
		compile_fault(c, a, keyed ? "a field's name is text, not %s"
			      : "an index is an int, not %s", rule_name(i, x));
		return NULL;
	}
	const struct type *r = rule_is(t, TYPE_LIST) ? t->item : rule_is(t, TYPE_TEXT) ? t
		: type_scalar(rule_is(t, TYPE_BYTES) ? TYPE_INT : rule_is(t, TYPE_NIL) ? TYPE_NIL
			      : TYPE_ANY);
	if (r->kind == TYPE_NEVER)
		r = type_scalar(TYPE_ANY);
	return t->nullable ? type_nullable(c->env->arena, r) : r;
}

/* The type without nil: what ?? leaves of its left side. */
static const struct type *
rule_present(struct types *arena, const struct type *t)
{
	if (t->kind == TYPE_NIL)
		return type_scalar(TYPE_NEVER);
	if (!t->nullable)
		return t;
	switch (t->kind) {
	case TYPE_LIST: return type_list(arena, t->item);
	case TYPE_RECORD: return type_record(arena, t->fields, t->n_fields, t->open);
	case TYPE_TENSOR: return type_tensor(arena, t->dtype, t->dims, t->n_dims);
	default: return type_scalar(t->kind);
	}
}

const struct type *
rule_coalesce(struct compile *c, const struct type *l, const struct type *r)
{
	return type_join(c->env->arena, rule_present(c->env->arena, l), r);
}
