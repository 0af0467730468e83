/* SPDX-License-Identifier: MIT */
#include "op/whole/aggregate.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/ast.h"
#include "op/whole/digest.h"
#include "op/whole/partial.h"
#include "value/mp.h"
#include "value/normal.h"

enum aggregate_takes { TAKES_VALUES, TAKES_NULLS, TAKES_NEW };

struct aggregate_fn {
	struct op_call call;
	enum group_agg agg;
	enum aggregate_takes takes; /* which elements are added */
	uint8_t least, most;        /* number of arguments */
	bool number;                /* the argument must be a number */
	enum type_kind gives;       /* TYPE_NEVER: what the argument is */
};
static const struct aggregate_fn aggregate_fns[] = {
	{ { "count", "[EXPR]", "the number of elements, or of values that are not null" },
	  GROUP_COUNT, TAKES_VALUES, 0, 1, false, TYPE_INT },
	{ { "nulls", "EXPR", "the number of values that are null" },
	  GROUP_COUNT, TAKES_NULLS, 1, 1, false, TYPE_INT },
	{ { "distinct", "EXPR", "the number of different values" },
	  GROUP_COUNT, TAKES_NEW, 1, 1, false, TYPE_INT },
	{ { "sum", "EXPR", "the sum of the values" },
	  GROUP_SUM, TAKES_VALUES, 1, 1, true, TYPE_NEVER },
	{ { "mean", "EXPR", "the average of the values" },
	  GROUP_MEAN, TAKES_VALUES, 1, 1, true, TYPE_FLOAT },
	{ { "stddev", "EXPR", "the population standard deviation of the values" },
	  GROUP_STDDEV, TAKES_VALUES, 1, 1, true, TYPE_FLOAT },
	{ { "min", "EXPR", "the least value" },
	  GROUP_MIN, TAKES_VALUES, 1, 1, false, TYPE_NEVER },
	{ { "max", "EXPR", "the greatest value" },
	  GROUP_MAX, TAKES_VALUES, 1, 1, false, TYPE_NEVER },
	{ { "first", "EXPR", "the first value" },
	  GROUP_FIRST, TAKES_VALUES, 1, 1, false, TYPE_NEVER },
	{ { "last", "EXPR", "the last value" },
	  GROUP_LAST, TAKES_VALUES, 1, 1, false, TYPE_NEVER },
	{ { "list", "EXPR", "all values, in a list" },
	  GROUP_LIST, TAKES_VALUES, 1, 1, false, TYPE_LIST },
	{ { "median", "EXPR", "the value in the middle" },
	  GROUP_QUANTILE, TAKES_VALUES, 1, 1, true, TYPE_FLOAT },
	{ { "quantile", "EXPR, Q", "the value below which a share Q of the values lies; Q is for example 0.95" },
	  GROUP_QUANTILE, TAKES_VALUES, 2, 2, true, TYPE_FLOAT },
};
enum { AGGREGATE_FNS = sizeof aggregate_fns / sizeof *aggregate_fns };

static const char *
aggregate_name(void *arg, size_t i)
{
	(void)arg;
	return i < AGGREGATE_FNS ? aggregate_fns[i].call.name : NULL;
}

const struct op_call *
aggregate_call(size_t i)
{
	return i < AGGREGATE_FNS ? &aggregate_fns[i].call : NULL;
}

/* The function that the tree is a call of; NULL: of none. */
static const struct aggregate_fn *
aggregate_find(const struct expr_ast *call)
{
	for (size_t i = 0; call->kind == AST_CALL && i < AGGREGATE_FNS; i++)
		if (!strcmp(aggregate_fns[i].call.name, call->text))
			return &aggregate_fns[i];
	return NULL;
}

static bool
aggregate_quantile(const struct expr_ast *call, double *q)
{
	struct mp m;

	*q = 0.5;
	if (call->n < 2)
		return true;
	const struct expr_ast *lit = call->kids[1];
	if (lit->kind != AST_LIT ||
	    !mp_head((const uint8_t *)lit->text, (const uint8_t *)lit->text + lit->text_len, &m))
		return false;
	*q = m.kind == MP_FLOAT ? m.f : m.kind == MP_INT && m.u <= 1 ? (double)m.i : -1;
	return *q >= 0 && *q <= 1;
}

/* ---- checks ---- */

static enum status
aggregate_no_call(const struct op_named_expr *x, struct err *e)
{
	char near[128];
	bool call = x->ast->kind == AST_CALL;

	if (call)
		err_set(e, ST_DATA, "`%s` is not an aggregate", x->ast->text);
	else
		err_set(e, ST_DATA, "`%s=` needs an aggregate, such as count() or mean(.ms)", x->name);
	if (call && str_suggest(x->ast->text, aggregate_name, NULL, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	else
		err_help(e, "they are count, nulls, distinct, sum, mean, stddev, min, max, first, last, list, "
			    "median and quantile; what else is to be computed from them follows in a `map`");
	return ST_DATA;
}

static enum status
aggregate_check(const struct op_named_expr *x, struct err *e)
{
	const struct aggregate_fn *fn = aggregate_find(x->ast);
	double q;

	if (!fn)
		return aggregate_no_call(x, e);
	if (!strcmp(x->name, AGGREGATE_APPROX))
		return err_set(e, ST_DATA, "`%s` is the field that says how exact quantiles are", x->name);
	if (x->ast->n < fn->least || x->ast->n > fn->most) {
		err_set(e, ST_DATA, "%s takes %s", fn->call.name, fn->most == 2 ? "two arguments" : "one argument");
		err_help(e, fn->most == 2 ? "quantile(.ms, 0.95)" : "%s(.ms)", fn->call.name);
		return ST_DATA;
	}
	if (!aggregate_quantile(x->ast, &q)) {
		err_set(e, ST_DATA, "the quantile is not a number from 0 to 1");
		err_help(e, "quantile(.ms, 0.95)");
		return ST_DATA;
	}
	return ST_OK;
}

/* Compiles the argument, and finds the type of the result. */
static enum status
aggregate_type(struct op_node *n, struct op_typing *t, struct op_named_expr *x, const struct type **type,
	       struct err *e)
{
	const struct aggregate_fn *fn = aggregate_find(x->ast);
	const struct type *of = type_scalar(TYPE_INT);
	struct buf name = { 0 };
	enum status st = ST_OK;

	x->of.ast = x->ast->n ? x->ast->kids[0] : NULL;
	if (x->of.ast)
		st = expr_value_typing(n, t, &x->of, &of, e);
	if (st != ST_OK)
		return st;
	if (fn->number && !type_fits(of, type_nullable(t->arena, type_scalar(TYPE_INT))) &&
	    !type_fits(of, type_nullable(t->arena, type_scalar(TYPE_FLOAT)))) {
		type_print(of, &name);
		err_set(e, ST_DATA, "%s needs numbers, this is %s", fn->call.name, (char *)name.data);
		buf_clear(&name);
		return ST_DATA;
	}
	if (fn->gives == TYPE_LIST)
		*type = type_list(t->arena, of);
	else
		*type = fn->gives == TYPE_NEVER ? of : type_scalar(fn->gives);
	/* a key whose values are all null has nothing else */
	if (fn->agg != GROUP_COUNT && fn->agg != GROUP_LIST)
		*type = type_nullable(t->arena, *type);
	return ST_OK;
}

enum status
aggregates_typing(struct op_node *n, struct op_typing *t, struct op_named *named, struct type_field *fields,
		  size_t *n_fields, struct err *e)
{
	bool quantiles = false;

	for (size_t i = 0; i < named->n; i++) {
		struct op_named_expr *x = &named->v[i];
		enum status st = aggregate_check(x, e);
		size_t at, len;

		if (st == ST_OK) {
			quantiles |= aggregate_find(x->ast)->agg == GROUP_QUANTILE;
			fields[i].name = x->name;
			st = aggregate_type(n, t, x, &fields[i].type, e);
		}
		if (st != ST_OK && e->line == 0) {
			expr_ast_place(x->ast, &at, &len);
			err_place(e, t->file, t->text, t->text_len, at, len);
		}
		if (st != ST_OK)
			return st;
	}
	*n_fields = named->n;
	if (quantiles)
		fields[(*n_fields)++] = (struct type_field){
			AGGREGATE_APPROX, type_nullable(t->arena, type_scalar(TYPE_FLOAT)) };
	return ST_OK;
}

/* ---- running ---- */

enum group_agg
aggregates_kind(const struct aggregates *a, size_t k)
{
	return a->v[k].agg;
}

/* The first call whose group holds what this one needs. */
static size_t
aggregate_share(const struct aggregates *a, const struct op_named *named, size_t k)
{
	for (size_t i = 0; i < k && a->v[k].fn->agg == GROUP_QUANTILE; i++)
		if (a->v[i].fn->agg == GROUP_QUANTILE && expr_ast_equal(named->v[i].of.ast, named->v[k].of.ast))
			return i;
	return k;
}

void
aggregates_open(struct op_inst *self, struct aggregates *a, const struct op_named *named, bool parts)
{
	a->n = named->n;
	a->v = mem_zalloc((a->n + 1) * sizeof *a->v);
	for (size_t k = 0; k < a->n; k++) {
		struct aggregate *g = &a->v[k];

		g->fn = aggregate_find(named->v[k].ast);
		g->agg = parts && g->fn->takes == TAKES_NEW ? GROUP_LIST : g->fn->agg;
		aggregate_quantile(named->v[k].ast, &g->q);
		g->name = named->v[k].name;
		g->by_value = named->v[k].of.ast != NULL;
		a->by_value = a->by_value || g->by_value;
		g->group = aggregate_share(a, named, k);
		if (g->by_value && g->group == k)
			expr_value_open(self, &g->value, &named->v[k].of);
	}
}

void
aggregates_close(struct aggregates *a)
{
	for (size_t k = 0; k < a->n; k++) {
		if (a->v[k].by_value && a->v[k].group == k)
			expr_value_close(&a->v[k].value);
		key_table_clear(&a->v[k].seen);
	}
	mem_free(a->v);
	buf_clear(&a->item);
	buf_clear(&a->normal);
}

enum status
aggregates_values(struct op_inst *self, struct aggregates *a, const struct run *in, uint32_t i, struct run *out,
		  struct err *e)
{
	enum status st = ST_OK, one;

	/* Each is asked for the element, so that all count the same ones. */
	for (size_t k = 0; k < a->n && (st == ST_OK || st == ST_SKIP); k++) {
		struct aggregate *g = &a->v[k];

		if (!g->by_value || g->group != k)
			continue;
		one = expr_value_get(self, &g->value, in, i, out, &g->p, &g->len, e);
		if (one != ST_OK)
			st = one;
	}
	return st;
}

/* Whether the value at hand counts. */
static bool
aggregate_takes(struct aggregates *a, struct aggregate *g, uint32_t key)
{
	bool null = g->by_value && *g->p == MP_NIL_BYTE, fresh = true;
	size_t n = g->len;

	if (g->fn->takes == TAKES_NULLS)
		return null;
	if (null || g->fn->takes == TAKES_VALUES)
		return !null;
	const uint8_t *normal = normal_key(g->p, &n, &a->normal);
	buf_reset(&a->item);
	buf_put(&a->item, &key, sizeof key);
	buf_put(&a->item, normal, n);
	key_table_add(&g->seen, a->item.data, a->item.len, &fresh);
	return fresh;
}

const char *
aggregates_refuse(const struct aggregates *a)
{
	const char *why = NULL;

	for (size_t k = 0; k < a->n && !why; k++) {
		const struct aggregate *g = &a->v[k];

		if (g->fn->number && g->group == k && *g->p != MP_NIL_BYTE)
			why = group_refuses(g->agg, g->p, g->len);
	}
	return why;
}

size_t
aggregates_row_size(const struct aggregates *a)
{
	size_t size = 0;

	for (size_t k = 0; k < a->n; k++)
		if (a->v[k].by_value && a->v[k].group == k)
			size += sizeof(uint32_t) + a->v[k].len;
	return size;
}

void
aggregates_write(const struct aggregates *a, uint8_t *p)
{
	for (size_t k = 0; k < a->n; k++) {
		const struct aggregate *g = &a->v[k];
		uint32_t len = (uint32_t)g->len;

		if (!g->by_value || g->group != k)
			continue;
		memcpy(p, &len, sizeof len);
		memcpy(p + sizeof len, g->p, len);
		p += sizeof len + len;
	}
}

void
aggregates_read(struct aggregates *a, const uint8_t *p)
{
	for (size_t k = 0; k < a->n; k++) {
		struct aggregate *g = &a->v[k];
		uint32_t len;

		if (!g->by_value || g->group != k)
			continue;
		memcpy(&len, p, sizeof len);
		g->p = p + sizeof len;
		g->len = len;
		p = g->p + len;
	}
}

const char *
aggregates_add(struct aggregates *a, struct group *of_key, uint32_t key, struct slab *cells, size_t *bytes)
{
	const char *why = a->by_value ? aggregates_refuse(a) : NULL;

	return why ? why : aggregates_add_sound(a, of_key, key, cells, bytes);
}

const char *
aggregates_add_sound(struct aggregates *a, struct group *of_key, uint32_t key, struct slab *cells, size_t *bytes)
{
	const char *why = NULL;

	a->kept = 0;
	for (size_t k = 0; k < a->n && !why; k++) {
		struct aggregate *g = &a->v[k];

		if (g->agg == GROUP_COUNT && g->fn->takes == TAKES_VALUES) {
			of_key[k].n += !g->by_value || *g->p != MP_NIL_BYTE;
			continue;
		}
		if (g->group != k || !aggregate_takes(a, g, key))
			continue;
		a->kept += g->agg == GROUP_QUANTILE ? sizeof(double) : group_keeps(g->agg) ? g->len : 0;
		why = group_add(&of_key[k], g->agg, g->p, g->len, cells, bytes);
	}
	return why;
}

size_t
aggregates_room(const struct aggregates *a, const struct group *of_key)
{
	size_t room = sizeof AGGREGATE_APPROX + MP_HEAD_MAX + MP_FLOAT_MAX;

	for (size_t k = 0; k < a->n; k++)
		room += MP_HEAD_MAX + strlen(a->v[k].name) +
			(a->v[k].fn->agg == GROUP_QUANTILE ? MP_FLOAT_MAX : group_room(&of_key[k]));
	return room;
}

bool
aggregates_approx(const struct aggregates *a, const struct group *of_key)
{
	for (size_t k = 0; k < a->n; k++)
		if (of_key[a->v[k].group].squeezed)
			return true;
	return false;
}

uint32_t
aggregates_fields(const struct aggregates *a, bool approx)
{
	return (uint32_t)a->n + approx;
}

uint8_t *
aggregates_put(const struct aggregates *a, const struct group *of_key, bool approx, uint8_t *p)
{
	for (size_t k = 0; k < a->n; k++) {
		const struct aggregate *g = &a->v[k];
		const struct group *from = &of_key[g->group];

		p = mp_put_text(p, g->name, (uint32_t)strlen(g->name));
		if (g->fn->agg == GROUP_QUANTILE)
			p = group_put_quantile(from, g->q, p);
		else if (g->fn->agg == GROUP_SUM && !from->n)
			p = mp_put_nil(p);
		else
			p = group_put(from, g->fn->agg, p);
	}
	if (approx)
		p = mp_put_float(mp_put_text(p, AGGREGATE_APPROX, strlen(AGGREGATE_APPROX)),
				 aggregates_approx(a, of_key) ? DIGEST_ERROR : 0);
	return p;
}

/* ---- parts ---- */

uint8_t *
aggregates_put_parts(const struct aggregates *a, const struct group *of_key, uint8_t *p)
{
	for (size_t k = 0; k < a->n; k++)
		p = group_put_part(&of_key[k], a->v[k].agg, p);
	return p;
}

/* Counts the values of a list that the key has not had yet; gives the end of the list. */
static const uint8_t *
aggregate_join_new(struct aggregates *a, struct aggregate *g, struct group *to, uint32_t key, const uint8_t *p,
		   const uint8_t *end)
{
	struct mp m;

	p = p ? mp_head(p, end, &m) : NULL;
	if (!p || m.kind != MP_LIST)
		return NULL;
	for (uint32_t i = 0; p && i < m.n; i++) {
		g->p = p;
		p = mp_skip(p, end);
		g->len = p ? (size_t)(p - g->p) : 0;
		if (p && aggregate_takes(a, g, key))
			to->n++;
	}
	return p;
}

const uint8_t *
aggregates_join(struct aggregates *a, struct group *of_key, uint32_t key, const uint8_t *p, const uint8_t *end,
		struct slab *cells, size_t *bytes, const char **why)
{
	for (size_t k = 0; p && !*why && k < a->n; k++)
		if (a->v[k].fn->takes == TAKES_NEW)
			p = aggregate_join_new(a, &a->v[k], &of_key[k], key, p, end);
		else
			p = group_join_part(&of_key[k], a->v[k].agg, p, end, cells, bytes, why);
	return p;
}

size_t
aggregates_size(const struct aggregates *a)
{
	size_t size = 0;

	for (size_t k = 0; k < a->n; k++)
		size += a->v[k].fn->takes == TAKES_NEW ? key_table_size(&a->v[k].seen) : 0;
	return size;
}

void
aggregates_reset(struct aggregates *a)
{
	for (size_t k = 0; k < a->n; k++)
		key_table_clear(&a->v[k].seen);
}

/* ---- state ---- */

void
aggregates_save(const struct aggregates *a, struct buf *out)
{
	for (size_t k = 0; k < a->n; k++) {
		const struct aggregate *g = &a->v[k];

		expr_value_save(&g->value, out);
		state_put_u64(out, g->seen.n);
		for (uint32_t i = 0; i < g->seen.n; i++) {
			uint32_t len;
			const uint8_t *p = key_table_at(&g->seen, i, &len);

			state_put_bytes(out, p, len);
		}
	}
}

void
aggregates_restore(struct aggregates *a, uint32_t n_keys, struct state_in *in)
{
	for (size_t k = 0; k < a->n; k++) {
		struct aggregate *g = &a->v[k];
		const uint8_t *p;
		size_t len;
		bool fresh;

		expr_value_restore(&g->value, in);
		uint64_t n = state_get_u64(in, g->fn->takes == TAKES_NEW ? KEY_TABLE_MAX : 0);
		for (; n > 0 && state_get_bytes(in, &p, &len); n--) {
			uint32_t key;

			if (len <= sizeof key || !mp_check(p + sizeof key, len - sizeof key)) {
				in->bad = true;
				return;
			}
			memcpy(&key, p, sizeof key);
			key_table_add(&g->seen, p, len, &fresh);
			in->bad = in->bad || key >= n_keys || !fresh;
		}
	}
}
