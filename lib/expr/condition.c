/* SPDX-License-Identifier: MIT */
#include "expr/condition.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

/* ---- finding ---- */

static bool
condition_field(const struct expr_ast *a)
{
	return a->kind == AST_FIELD && a->kids[0]->kind == AST_NAME && a->kids[0]->op == EXPR_X
		&& !memchr(a->text, 0, a->text_len);
}

static bool
condition_nan(const uint8_t *p, const uint8_t *end)
{
	struct mp m;

	mp_head(p, end, &m);
	return m.kind == MP_FLOAT && isnan(m.f);
}

/* Puts the value of a tree that is the same for all elements. False: it is none, or nan, which has no place in an
 * order. */
static bool
condition_constant(const struct expr_ast *a, const struct json_rules *json, struct buf *out)
{
	struct types *arena = types_new();
	struct expr_env env = { .arena = arena, .json = *json, .file = "", .text = "" };
	struct err ignored = { 0 };
	struct expr *x = expr_compile(a, &env, &ignored);
	bool good = x && expr_constant(x, out);
	struct mp m;

	expr_free(&x);
	types_free(&arena);
	if (!good)
		return false;
	const uint8_t *end = out->data + out->len, *p = mp_head(out->data, end, &m);
	if (m.kind != MP_LIST)
		return !condition_nan(out->data, end);
	for (uint32_t i = 0; i < m.n && good; i++, p = mp_skip(p, end))
		good = !condition_nan(p, end);
	return good;
}

static unsigned
condition_turned(unsigned op)
{
	switch (op) {
	case AST_LT: return AST_GT;
	case AST_LE: return AST_GE;
	case AST_GT: return AST_LT;
	case AST_GE: return AST_LE;
	default: return op;
	}
}

/* Adds a single comparison. False: it is something else. */
static bool
condition_add(const struct expr_ast *a, bool drops_nulls, const struct json_rules *json, struct conditions *out)
{
	struct buf value = { 0 };
	struct mp m = { 0 };

	if (out->n == CONDITIONS_MAX || a->kind != AST_BINARY || a->op < AST_EQ || a->op > AST_IN)
		return false;
	bool left = condition_field(a->kids[0]);
	if (!left && (a->op == AST_IN || !condition_field(a->kids[1])))
		return false;
	bool good = condition_constant(a->kids[left], json, &value);
	if (good)
		mp_head(value.data, value.data + value.len, &m);
	if (!good || (a->op == AST_IN && m.kind != MP_LIST)) {
		buf_clear(&value);
		return false;
	}
	out->v[out->n++] = (struct condition){ .ast = a, .field = a->kids[!left]->text, .drops_nulls = drops_nulls,
		.op = (uint8_t)(left ? a->op : condition_turned(a->op)), .value = value.data, .len = value.len };
	return true;
}

bool
conditions_find(const struct expr_ast *test, bool drops_nulls, const struct json_rules *json, struct conditions *out)
{
	if (test->kind == AST_BINARY && test->op == AST_AND)
		return conditions_find(test->kids[0], drops_nulls, json, out)
			&& conditions_find(test->kids[1], drops_nulls, json, out);
	return condition_add(test, drops_nulls, json, out);
}

/* ---- leaving out ---- */

static bool
condition_orders(const struct condition *c)
{
	return c->op >= AST_LT && c->op <= AST_GE;
}

/* Whether values of this kind have an order beside the constant. */
static bool
condition_fits(const struct condition_limits *l, const struct mp *constant)
{
	switch (constant->kind) {
	case MP_BOOL: return l->kind == CONDITION_BOOL;
	case MP_INT: case MP_FLOAT: return l->kind == CONDITION_INT || l->kind == CONDITION_FLOAT;
	case MP_TEXT: return l->kind == CONDITION_TEXT;
	case MP_BYTES: return l->kind == CONDITION_BYTES;
	default: return false;
	}
}

bool
condition_can_fail(const struct condition *c, const struct condition_limits *l)
{
	struct mp m;

	if (l->kind == CONDITION_UNKNOWN)
		return true;
	if (!condition_orders(c))
		return false;
	mp_head(c->value, c->value + c->len, &m);
	return !condition_fits(l, &m) || (l->nulls && !c->drops_nulls);
}

/* Whether no value is equal to this one. */
static bool
condition_absent(const struct condition_limits *l, const uint8_t *p, size_t len)
{
	if (*p == MP_NIL_BYTE)
		return !l->nulls;
	if (l->nulls == l->n)
		return true;
	return l->least && (mp_compare(p, len, l->least, l->least_len) < 0
			    || mp_compare(p, len, l->greatest, l->greatest_len) > 0);
}

static bool
condition_none_in(const struct condition *c, const struct condition_limits *l)
{
	const uint8_t *end = c->value + c->len, *p;
	bool absent = true;
	struct mp m;

	p = mp_head(c->value, end, &m);
	for (uint32_t i = 0; i < m.n && absent; i++) {
		const uint8_t *next = mp_skip(p, end);

		absent = condition_absent(l, p, (size_t)(next - p));
		p = next;
	}
	return absent;
}

/* Whether it is true of no value. It cannot fail. */
static bool
condition_never(const struct condition *c, const struct condition_limits *l)
{
	if (c->op == AST_EQ)
		return condition_absent(l, c->value, c->len);
	if (c->op == AST_IN)
		return condition_none_in(c, l);
	if (c->op == AST_NE && *c->value == MP_NIL_BYTE)
		return l->nulls == l->n;
	if (l->nulls == l->n) /* values of an order that are null are dropped, since it cannot fail */
		return condition_orders(c);
	if (!l->least)
		return false;
	int least = mp_compare(l->least, l->least_len, c->value, c->len);
	int greatest = mp_compare(l->greatest, l->greatest_len, c->value, c->len);
	switch (c->op) {
	case AST_LT: return least >= 0;
	case AST_LE: return least > 0;
	case AST_GT: return greatest <= 0;
	case AST_GE: return greatest < 0;
	default: /* nan, which limits do not tell, differs from everything */
		return !least && !greatest && !l->nulls && l->kind != CONDITION_FLOAT;
	}
}

bool
condition_excludes(const struct condition *c, const struct condition_limits *l)
{
	return !condition_can_fail(c, l) && condition_never(c, l);
}

bool
conditions_exclude(const struct conditions *c, const struct condition_limits *limits)
{
	for (size_t i = 0; i < c->n; i++) {
		if (condition_can_fail(&c->v[i], &limits[i]))
			return false;
		if (condition_never(&c->v[i], &limits[i]))
			return true;
	}
	return false;
}

void
conditions_print(const struct conditions *c, struct buf *out)
{
	for (size_t i = 0; i < c->n; i++) {
		if (i)
			buf_str(out, " and ");
		expr_print(c->v[i].ast, out);
	}
}

void
conditions_free(struct conditions **at)
{
	struct conditions *c = *at;

	for (size_t i = 0; c && i < c->n; i++)
		mem_free(c->v[i].value);
	mem_free(c);
	*at = NULL;
}
