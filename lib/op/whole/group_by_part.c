/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/whole/group_by.h"
#include "value/mp.h"

bool
group_by_combines(const struct op_node *n, const char **why)
{
	*why = "reduce= takes the elements one after the other";
	return !((const struct group_by *)n->params)->reduce.ast;
}

/* The answers about parts follow one another as the parts do. */
bool
group_by_partwise(const struct op_node *n, const char **remedy)
{
	(void)remedy;
	return ((const struct group_by *)n->params)->partial == PARTIAL_MAKE;
}

/* A list of the key and what each of its groups comes to. */
static void
group_by_put_part(struct group_by *g, uint32_t at, struct run *out)
{
	const struct group *from = &g->groups[at * g->each];
	size_t room = 0;
	uint32_t len;
	const uint8_t *key = row_keys_at(&g->rows, at, &len);

	for (size_t k = 0; k < g->each; k++)
		room += group_part_room(&from[k]);
	uint8_t *p = run_room(out, MP_HEAD_MAX + (size_t)len + room);

	p = mp_put_list_head(p, 1 + (uint32_t)g->each);
	memcpy(p, key, len);
	p += len;
	p = g->aggs.n ? aggregates_put_parts(&g->aggs, from, p) : group_put_part(from, (enum group_agg)g->agg, p);
	run_done(out, p, 0);
}

/* Gives keys of the part that has ended: whether that was all. */
static bool
group_by_give_part(struct op_inst *self, struct run *out)
{
	struct group_by *g = self->state;

	for (; g->at < g->rows.keys.n && out->n < RUN_USUAL && !run_full(out); g->at++)
		group_by_put_part(g, g->at, out);
	g->part.giving = g->at < g->rows.keys.n;
	if (g->part.giving)
		return false;
	partial_next(&g->part, g->rows.keys.n);
	group_by_empty(g);
	return true;
}

static uint32_t
group_by_part_keys(const struct op_inst *self)
{
	return ((const struct group_by *)self->state)->rows.keys.n;
}

enum status
group_by_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	static const struct partial_how how = { group_by_take, group_by_give_part, group_by_part_keys };

	return partial_feed(self, &how, &((struct group_by *)self->state)->part, in, out, e);
}

enum status
group_by_make_end(struct op_inst *self, struct run *out)
{
	return group_by_give_part(self, out) ? ST_END : ST_OK;
}

/* Adds the groups of one key, as a worker gave them; ST_OK, or the error. */
static enum status
group_by_join_one(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	struct group_by *g = self->state;
	const uint8_t *p = in->e[i].p, *end = p + in->e[i].len, *key;
	const char *why = NULL;
	struct mp m;

	key = p = mp_head(p, end, &m);
	if (p && m.kind == MP_LIST && m.n == 1 + g->each)
		p = mp_skip(p, end);
	else
		p = NULL;
	if (p) {
		uint32_t at = group_by_key(g, key, (size_t)(p - key));
		struct group *to = &g->groups[at * g->each];

		p = g->aggs.n ? aggregates_join(&g->aggs, to, at, p, end, &g->cells, &g->bytes, &why) :
				group_join_part(to, (enum group_agg)g->agg, p, end, &g->cells, &g->bytes, &why);
	}
	if (!why && p != end)
		why = "this is not an answer of the same operator with partial=make";
	return why ? expr_run_wrong(self, in, i, out, e, "%s", why) : ST_OK;
}

enum status
group_by_join(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = group_by_join_one(self, in, i, out, e);

		if (st != ST_OK && st != ST_SKIP)
			return st;
	}
	out->n = 0;
	return group_by_fits(self, e);
}
