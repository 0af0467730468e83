/* SPDX-License-Identifier: MIT
 * enumerate: puts each element's number beside it, as the list [i, x].
 */
#include <string.h>

#include "op/op.h"
#include "op/state.h"
#include "op/by_index.h"
#include "value/mp.h"

struct enumerate {
	int64_t start;
	int64_t next;
};

static const struct param enumerate_params[] = {
	{ "start", PARAM_INT, offsetof(struct enumerate, start), "0",
	  .help = "the number of the first element" },
	{ 0 }
};

static enum status
enumerate_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)e;
	*type = type_list(t->arena, type_join(t->arena, type_scalar(TYPE_INT), n->in[0]->type));
	return ST_OK;
}

static int64_t
enumerate_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static enum status
enumerate_open(struct op_inst *self, struct err *e)
{
	struct enumerate *s = self->state;

	(void)e;
	s->next = s->start;
	return ST_OK;
}

static void
enumerate_give(int64_t number, const struct elem *x, struct run *out)
{
	uint8_t *p = run_room(out, (size_t)x->len + MP_HEAD_MAX + MP_INT_MAX);

	p = mp_put_int(mp_put_list_head(p, 2), number);
	memcpy(p, x->p, x->len);
	run_done(out, p + x->len, x->pos);
}

/* Used when the input is read in another order: each element gets the number it has in its own. */
static enum status
enumerate_walk(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	const struct enumerate *s = self->state;

	for (uint32_t i = self->at; i < in->n; i++) {
		const uint64_t *index;
		uint32_t n = by_index_peek(self->by_index, &index);
		int64_t number;

		if (!n)
			return err_set(e, ST_DATA, "enumerate got more elements than there are numbers for");
		if (__builtin_add_overflow(s->start, index[0], &number))
			return err_set(e, ST_DATA, "enumerate has run out of numbers");
		by_index_used(self->by_index, 1);
		enumerate_give(number, &in->e[i], out);
	}
	return ST_OK;
}

static enum status
enumerate_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct enumerate *s = self->state;
	int64_t number = s->next;

	if (self->by_index)
		return enumerate_walk(self, in, out, e);
	if (__builtin_add_overflow(s->next, (int64_t)in->n, &s->next))
		return err_set(e, ST_DATA, "enumerate has run out of numbers");
	for (uint32_t i = 0; i < in->n; i++)
		enumerate_give(number++, &in->e[i], out);
	return ST_OK;
}

static const struct state_row enumerate_state[] = {
	{ &state_number, offsetof(struct enumerate, next), 0 },
	{ 0 }
};

const struct op_desc op_enumerate = {
	.name = "enumerate",
	.brief = "numbers the elements: each becomes [i, x]",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_NUMBERS,
	.params = enumerate_params,
	.state_size = sizeof(struct enumerate),
	.typing = enumerate_typing,
	.cardinality = enumerate_cardinality,
	.open = enumerate_open,
	.feed = enumerate_feed,
	.state_rows = enumerate_state,
	.example = "elements [\"a\", \"b\"] | enumerate",
	.output = "[0,\"a\"]\n[1,\"b\"]\n",
};
