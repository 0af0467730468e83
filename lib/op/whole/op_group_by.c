/* SPDX-License-Identifier: MIT
 * group_by: gives one record for each key at the end: the key, and what its
 * elements come to, as one value or as several with names.
 */
#include <string.h>

#include "base/mem.h"
#include "base/mem_wide.h"
#include "op/kit/expr_value.h"
#include "op/whole/group_by.h"
#include "op/whole/group_by_giving.h"
#include "op/whole/group_by_lanes.h"
#include "value/mp.h"
#include "value/normal.h"

enum { GROUP_BY_STATE_MAX = 256 * 1024 * 1024 };

static const struct param group_by_params[] = {
	{ "key", PARAM_EXPR, offsetof(struct group_by, key),
	  .help = "the key; elements with the same key are grouped" },
	{ "agg", PARAM_CHOICE, offsetof(struct group_by, agg), "count", .flags = PARAM_KEY_ONLY,
	  .choices = "count|sum|mean|min|max|first|last|list",
	  .help = "what to compute for each key" },
	{ "of", PARAM_EXPR, offsetof(struct group_by, of), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the value to add up, compare or collect; by default x" },
	{ "init", PARAM_VALUE, offsetof(struct group_by, init),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "with reduce=: the first state of each key" },
	{ "reduce", PARAM_EXPR, offsetof(struct group_by, reduce),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "instead of agg=: the new state, computed from the state s and the element x" },
	{ "aggregates", PARAM_NAMED, offsetof(struct group_by, named), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "instead of agg=: fields of the record, each with what it is: n=count() ms=mean(.ms)" },
	PARTIAL_ROW(struct group_by),
	{ "mem", PARAM_SIZE, offsetof(struct group_by, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that keys and their states may take" },
	{ 0 }
};

static enum status
group_by_value_typing(struct op_node *n, struct op_typing *t, const struct type **value,
		      struct err *e)
{
	struct group_by *g = n->params;
	enum status st;

	*value = type_scalar(TYPE_INT);
	if (g->agg == GROUP_COUNT)
		return ST_OK;
	if (g->agg == GROUP_SUM || g->agg == GROUP_MEAN)
		st = expr_value_typing_number(n, t, &g->of, true, e);
	else
		st = expr_value_typing(n, t, &g->of, NULL, e);
	if (st != ST_OK)
		return st;
	*value = expr_type(g->of.code);
	if (g->agg == GROUP_MEAN)
		*value = (*value)->kind == TYPE_ANY || (*value)->nullable ?
				 type_nullable(t->arena, type_scalar(TYPE_FLOAT)) :
				 type_scalar(TYPE_FLOAT);
	else if (g->agg == GROUP_LIST)
		*value = type_list(t->arena, *value);
	return ST_OK;
}

/* Refuses agg=, of=, init= and reduce= beside calls with names. */
static enum status
group_by_either(const struct op_node *n, const struct op_typing *t, struct err *e)
{
	const struct group_by *g = n->params;
	static const char *const one[] = { "agg", "of", "init", "reduce" };

	for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
		const struct param *row = param_find(group_by_params, one[i], strlen(one[i]));

		if (!(n->given >> (row - group_by_params) & 1))
			continue;
		typed_fail(t, n, e, "%s= goes with the field `value`, not with %s=", one[i], g->named.v[0].name);
		err_help(e, "group_by .user n=count() ms=mean(.ms)");
		return ST_DATA;
	}
	return ST_OK;
}

static enum status
group_by_record(struct op_node *n, struct op_typing *t, const struct type *key, const struct type **type,
		struct err *e)
{
	struct group_by *g = n->params;
	struct type_field *fields = mem_array(g->named.n + 2, sizeof *fields);
	enum status st = group_by_either(n, t, e);
	size_t n_fields;

	fields[0] = (struct type_field){ "key", key };
	if (st == ST_OK)
		st = aggregates_typing(n, t, &g->named, fields + 1, &n_fields, e);
	if (st == ST_OK)
		*type = type_record(t->arena, fields, n_fields + 1, false);
	mem_free(fields);
	return st;
}

static enum status
group_by_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct group_by *g = n->params;
	struct type_field fields[2] = { { "key", NULL }, { "value", NULL } };
	enum status st = expr_value_typing(n, t, &g->key, &fields[0].type, e);

	if (st == ST_OK && g->named.n) {
		st = group_by_record(n, t, fields[0].type, type, e);
		if (st == ST_OK && g->partial == PARTIAL_MAKE)
			*type = type_scalar(TYPE_ANY);
		return st;
	}
	if (st == ST_OK && g->reduce.ast) {
		if (!g->init.len) {
			typed_fail(t, n, e, "reduce= needs init=, the state of a new key");
			err_help(e, "group_by .user init=0 reduce=(s + .bytes)");
			return ST_DATA;
		}
		st = typed_fold(n, t, &g->reduce, &g->init, &fields[1].type, e);
	} else if (st == ST_OK) {
		st = group_by_value_typing(n, t, &fields[1].type, e);
	}
	if (st == ST_OK)
		*type = g->partial == PARTIAL_MAKE ? type_scalar(TYPE_ANY) : type_record(t->arena, fields, 2, false);
	return st;
}

static enum op_scope
group_by_scope(const struct op_node *n)
{
	return partial_scope(((const struct group_by *)n->params)->partial);
}

static enum status
group_by_open(struct op_inst *self, struct err *e)
{
	struct group_by *g = self->state;

	aggregates_open(self, &g->aggs, &g->named, g->partial == PARTIAL_MAKE);
	g->each = g->aggs.n ? g->aggs.n : 1;
	expr_value_open(self, &g->by, &g->key);
	if (!g->aggs.n)
		expr_value_open(self, &g->value, g->reduce.code ? &g->reduce : &g->of);
	return group_by_lanes_may(self) ? group_by_lanes_open(self, e) : ST_OK;
}

uint32_t
group_by_find(struct group_by *g, const uint8_t *p, size_t len, size_t shown, uint32_t code)
{
	bool fresh;
	uint32_t at = key_table_add_code(&g->rows.keys, p, len, code, &fresh);

	g->part.weight += fresh ? len : 0;
	if (fresh && shown)
		first_form_add(&g->rows.shown, at, p - shown, shown);
	if (fresh) {
		g->groups = mem_grow_wide(g->groups, &g->cap, ((size_t)at + 1) * g->each, sizeof *g->groups);
		memset(&g->groups[at * g->each], 0, g->each * sizeof *g->groups);
		if (g->reduce.code)
			group_set(&g->groups[at], g->init.data, g->init.len, &g->cells, &g->bytes);
	}
	return at;
}

static enum status
group_by_add_named(struct op_inst *self, const struct run *in, uint32_t i, uint32_t key, struct run *out,
		   struct err *e)
{
	struct group_by *g = self->state;
	enum status st = g->aggs.by_value ? aggregates_values(self, &g->aggs, in, i, out, e) : ST_OK;

	if (st != ST_OK)
		return st;
	const char *why = aggregates_add(&g->aggs, &g->groups[key * g->each], key, &g->cells, &g->bytes);
	g->part.weight += g->aggs.kept;
	return why ? expr_run_wrong(self, in, i, out, e, "%s", why) : ST_OK;
}

bool
group_by_leaves_null(enum group_agg agg)
{
	return agg == GROUP_SUM || agg == GROUP_MEAN || agg == GROUP_MIN || agg == GROUP_MAX;
}

/* Adds the element to its group: ST_OK, ST_SKIP (left out) or the error. */
static enum status
group_by_add(struct op_inst *self, const struct run *in, const struct group_by_ahead *a,
	     struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	uint32_t key = group_by_find(g, a->p ? a->p : g->keys_ahead.data + a->at, a->len, a->shown, a->code);
	const uint8_t *p = NULL;
	size_t len = 0;

	if (g->aggs.n)
		return group_by_add_named(self, in, a->i, key, out, e);
	struct group *to = &g->groups[key];
	if (g->reduce.code)
		expr_vm_set(g->value.run.vm, EXPR_S, to->cell, to->len);
	if (g->reduce.code || g->agg != GROUP_COUNT) {
		enum status st = expr_value_get(self, &g->value, in, a->i, out, &p, &len, e);

		if (st != ST_OK)
			return st;
	}
	if (g->reduce.code) {
		group_set(to, p, len, &g->cells, &g->bytes);
		return ST_OK;
	}
	if (group_by_leaves_null((enum group_agg)g->agg) && *p == MP_NIL_BYTE)
		return ST_OK;
	g->part.weight += group_keeps((enum group_agg)g->agg) ? len : 0;
	const char *why = group_add(to, (enum group_agg)g->agg, p, len, &g->cells, &g->bytes);
	return why ? expr_run_wrong(self, in, a->i, out, e, "%s", why) : ST_OK;
}

/* lent: p stays where it is until the key has been added. */
static void
group_by_ahead_key(struct group_by *g, struct group_by_ahead *a, const uint8_t *p, size_t len, bool lent)
{
	size_t n = len;
	const uint8_t *normal = normal_key(p, &n, &g->rows.normal);

	a->shown = normal == p ? 0 : len;
	a->p = lent && !a->shown ? p : NULL;
	if (a->shown)
		buf_put(&g->keys_ahead, p, len);
	a->at = g->keys_ahead.len;
	a->len = n;
	a->code = key_table_code(normal, n);
	if (!a->p)
		buf_put(&g->keys_ahead, normal, n);
}

uint32_t
group_by_key(struct group_by *g, const uint8_t *p, size_t len)
{
	struct group_by_ahead a = { 0 };

	buf_reset(&g->keys_ahead);
	group_by_ahead_key(g, &a, p, len, false);
	return group_by_find(g, g->keys_ahead.data + a.at, a.len, a.shown, a.code);
}

void
group_by_fetch_cells(const struct group_by *g, uint32_t number)
{
	for (size_t i = 0; i < g->each; i++)
		if (g->groups[number * g->each + i].cap)
			__builtin_prefetch(g->groups[number * g->each + i].cell, 1);
}

void
group_by_fetch(struct group_by *g, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t number = g->ahead[k].number = key_table_want_item(&g->rows.keys, g->ahead[k].code);

		for (size_t i = 0; number != KEY_TABLE_NONE && i < g->each; i++)
			__builtin_prefetch(&g->groups[number * g->each + i], 1);
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t number = g->ahead[k].number;

		if (number == KEY_TABLE_NONE)
			continue;
		key_table_want_key(&g->rows.keys, number);
		group_by_fetch_cells(g, number);
	}
}

/* Evaluates the keys of the next elements, and prefetches their slots and items. */
static enum status
group_by_look_ahead(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t end, uint32_t *n,
		    struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	const uint8_t *p;
	size_t len;

	buf_reset(&g->keys_ahead);
	for (*n = 0; *i < end && *n < GROUP_BY_AHEAD; ++*i) {
		enum status st = expr_value_get(self, &g->by, in, *i, out, &p, &len, e);

		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		struct group_by_ahead *a = &g->ahead[(*n)++];
		group_by_ahead_key(g, a, p, len, p >= in->e[*i].p && p < in->e[*i].p + in->e[*i].len);
		a->i = *i;
		key_table_want(&g->rows.keys, a->code);
	}
	if (g->rows.keys.n)
		group_by_fetch(g, *n);
	return ST_OK;
}

size_t
group_by_size(const struct group_by *g)
{
	return row_keys_size(&g->rows) + aggregates_size(&g->aggs) +
	       g->rows.keys.n * g->each * sizeof *g->groups + g->bytes;
}

void
group_by_squeeze(struct group_by *g)
{
	for (size_t i = 0; i < g->rows.keys.n * g->each; i++)
		if (g->aggs.n && aggregates_kind(&g->aggs, i % g->each) == GROUP_QUANTILE)
			group_squeeze(&g->groups[i], &g->cells, &g->bytes);
}

bool
group_by_squeezed(const struct group_by *g)
{
	for (size_t i = 0; g->aggs.n && i < g->rows.keys.n * g->each; i++)
		if (g->groups[i].squeezed)
			return true;
	return false;
}

bool
group_by_approx(const struct group_by *g)
{
	for (size_t k = 0; g->aggs.n && k < g->rows.keys.n; k++)
		if (aggregates_approx(&g->aggs, &g->groups[k * g->each]))
			return true;
	return false;
}

enum status
group_by_too_large(struct op_inst *self, uint32_t keys, struct err *e)
{
	const struct group_by *g = self->state;

	err_set(e, ST_DATA, "%u %s take more than mem=%lld bytes", keys,
		keys == 1 ? "key and its state" : "keys and their states", (long long)g->mem);
	err_help(e, "make mem= larger, or sort by the key first and use group_by_window");
	return op_blame(self->node, e);
}

enum status
group_by_fits(struct op_inst *self, struct err *e)
{
	struct group_by *g = self->state;

	if (group_by_size(g) <= (size_t)g->mem)
		return ST_OK;
	group_by_squeeze(g);
	return group_by_size(g) <= (size_t)g->mem ? ST_OK : group_by_too_large(self, g->rows.keys.n, e);
}

enum status
group_by_take(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t end, struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	uint32_t n;
	enum status st = group_by_look_ahead(self, in, i, end, &n, out, e);

	for (uint32_t k = 0; (st == ST_OK || st == ST_SKIP) && k < n; k++)
		st = group_by_add(self, in, &g->ahead[k], out, e);
	return st == ST_SKIP ? ST_OK : st;
}

static enum status
group_by_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct group_by *g = self->state;

	if (g->lanes)
		return group_by_lanes_feed(self, in, out, e);
	if (g->partial == PARTIAL_MAKE)
		return group_by_make(self, in, out, e);
	if (g->partial == PARTIAL_JOIN)
		return group_by_join(self, in, out, e);
	for (uint32_t i = 0; i < in->n;) {
		enum status st = group_by_take(self, in, &i, in->n, out, e);

		if (st != ST_OK)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	return group_by_fits(self, e);
}

static enum status
group_by_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct group_by *g = self->state;

	if (g->lanes)
		return group_by_lanes_finish(self, out, e);
	if (g->partial == PARTIAL_MAKE)
		return group_by_make_end(self, out);
	if (!g->looked) {
		/* Whether a quantile is approximate must not depend on when the numbers of a key came: if one is,
		 * those of all keys with many numbers are. */
		if (!g->at && group_by_squeezed(g))
			group_by_squeeze(g);
		g->approx = group_by_approx(g);
		g->looked = true;
	}
	if (!g->giving) {
		struct group_by_from all = { .table = g, .at = g->at };

		g->giving = group_by_giving_begin(self, &all, 1);
	}
	enum status st = group_by_giving_take(g->giving, out, e);
	g->at += out->n;
	return st;
}

void
group_by_empty(struct group_by *g)
{
	group_by_giving_end(&g->giving);
	for (size_t k = 0; k < g->rows.keys.n * g->each; k++)
		group_release(&g->groups[k]);
	slab_clear(&g->cells);
	aggregates_reset(&g->aggs);
	key_table_clear(&g->rows.keys);
	first_form_reset(&g->rows.shown);
	g->bytes = 0;
	g->at = 0;
	g->looked = false;
}

void
group_by_tables_free(struct group_by *g)
{
	group_by_empty(g);
	buf_clear(&g->keys_ahead);
	row_keys_clear(&g->rows);
	mem_free_wide(g->groups, g->cap, sizeof *g->groups);
	aggregates_close(&g->aggs);
}

static void
group_by_close(struct op_inst *self)
{
	struct group_by *g = self->state;

	group_by_giving_end(&g->giving);
	group_by_lanes_close(&g->lanes);
	group_by_tables_free(g);
	expr_value_close(&g->by);
	expr_value_close(&g->value);
}

static void
group_by_save(struct op_inst *self, struct buf *out)
{
	struct group_by *g = self->state;

	if (!g->lanes)
		group_by_giving_end(&g->giving); /* it begins again with key g->at */
	if (g->lanes ||
	    g->rows.keys.len + g->rows.shown.bytes.len + aggregates_size(&g->aggs) + g->bytes > GROUP_BY_STATE_MAX) {
		self->unsaved = true;
		return;
	}
	expr_value_save(&g->by, out);
	expr_value_save(&g->value, out);
	partial_save(&g->part, out);
	state_put_u64(out, g->at);
	state_put_u64(out, g->rows.keys.n);
	for (uint32_t k = 0; k < g->rows.keys.n; k++) {
		uint32_t len;
		const uint8_t *p = row_keys_at(&g->rows, k, &len);

		state_put_bytes(out, p, len);
		for (size_t i = 0; i < g->each; i++)
			if (!group_save(&g->groups[k * g->each + i], out))
				self->unsaved = true;
	}
	aggregates_save(&g->aggs, out);
}

static enum status
group_by_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct group_by *g = self->state;
	struct state_in in = state_begin(p, n);
	size_t len;

	group_by_empty(g);
	expr_value_restore(&g->by, &in);
	expr_value_restore(&g->value, &in);
	struct partial_end part;
	partial_restore(&part, &in);
	uint64_t at = state_get_u64(&in, KEY_TABLE_MAX), count = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t k = 0; k < count && state_get_value(&in, &p, &len); k++) {
		uint32_t key = group_by_key(g, p, len);
		/* a key twice would get the memory of its groups twice */
		in.bad = in.bad || key != k;
		for (size_t i = 0; i < g->each && !in.bad; i++)
			group_restore(&g->groups[key * g->each + i], g->reduce.code != NULL,
				      g->aggs.n ? aggregates_kind(&g->aggs, i) : (enum group_agg)g->agg, &in,
				      &g->cells, &g->bytes);
	}
	aggregates_restore(&g->aggs, g->rows.keys.n, &in);
	g->at = at <= g->rows.keys.n ? (uint32_t)at : g->rows.keys.n;
	g->part = part;
	return state_finish(self, &in, e);
}

const struct op_desc op_group_by = {
	.name = "group_by",
	.brief = "gives one record {key, value} for each key, at the end",
	.doc = "value is the number of elements with that key, or the result of agg=: the sum, mean, least, "
	       "greatest, first or last of the values of of=, or a list of all of them; sum, mean, min and max "
	       "leave nulls out, and are null where nothing is left. With init= and reduce= it is the last "
	       "state, as with reduce. Keys come in the order in which they first appeared, and as they were "
	       "then. Equal values are one key, such as 1 and 1.0.\n\nWith NAME=CALL, once or more, the record "
	       "has these fields in place of value. The calls leave nulls out, as in SQL, and give null where "
	       "nothing is left. Quantiles are exact as long as the numbers fit mem=; beyond that they are "
	       "within 0.1 %, and the record says so: approx 0.001. If one record has this field, all have it; "
	       "in exact ones it is 0. Sums, means and standard deviations are rounded once, so they do not "
	       "depend on the order of the elements; a sum of ints fails if it does not fit 64 bits in the "
	       "end.\n\nDirectly after `distribute`, the workers group their parts of the elements and the "
	       "reader combines these, with the same result. With reduce=, with on_error= and with an "
	       "expression that uses i, rand() or now(), the reader does all of it; --explain says so.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.scope_of = group_by_scope,
	.partwise = group_by_partwise,
	.combines = group_by_combines,
	.calls = aggregate_call,
	.flags = OP_WHOLE | OP_BY_EXPR,
	.params = group_by_params,
	.state_size = sizeof(struct group_by),
	.typing = group_by_typing,
	.open = group_by_open,
	.feed = group_by_feed,
	.finish = group_by_finish,
	.close = group_by_close,
	.save = group_by_save,
	.restore = group_by_restore,
	.example = "elements [\"pear\", \"fig\", \"plum\"] | group_by len(x) agg=list",
	.output = "{\"key\":4,\"value\":[\"pear\",\"plum\"]}\n{\"key\":3,\"value\":[\"fig\"]}\n",
};
