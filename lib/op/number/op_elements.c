/* SPDX-License-Identifier: MIT
 * elements: the items of a list that stands in the spec, where they lie.
 */
#include "op/kit/ints.h"

#include "base/mem.h"
#include "value/mp.h"

struct elements {
	struct buf list;
	struct ints_walk walk;
	const uint8_t *p; /* the item at walk.at; NULL: not looked up yet */
	const uint8_t **items; /* where each item begins, and the end; NULL: not read by index */
};

static const struct param elements_params[] = {
	{ "list", PARAM_VALUE, offsetof(struct elements, list),
	  .help = "a list; each item becomes an element" },
	{ 0 }
};

/* Number and place of the items; false: the value is not a list. */
static bool
elements_items(const struct elements *s, uint32_t *n, const uint8_t **first)
{
	struct mp m;

	if (!s->list.data || !mp_head(s->list.data, buf_end(&s->list), &m)
	    || m.kind != MP_LIST)
		return false;
	*n = m.n;
	*first = m.p;
	return true;
}

static enum status
elements_no_list(struct err *e)
{
	err_set(e, ST_DATA, "elements needs a list");
	err_help(e, "put it in brackets: elements [1, 2, 3]");
	return ST_DATA;
}

static enum status
elements_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct elements *s = n->params;
	const uint8_t *p, *end = buf_end(&s->list);
	uint32_t count;

	if (!elements_items(s, &count, &p)) {
		*type = type_scalar(TYPE_ANY);
		return n->n_binds ? ST_OK : elements_no_list(e);
	}
	*type = type_scalar(count ? TYPE_NEVER : TYPE_ANY);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *next = mp_skip(p, end);
		const struct type *item = type_of_value(t->arena, p, (size_t)(next - p));

		*type = i ? type_join(t->arena, *type, item) : item;
		p = next;
	}
	return ST_OK;
}

static enum status
elements_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	const uint8_t *p;
	uint32_t count;

	if (!elements_items(n->params, &count, &p))
		return elements_no_list(e);
	ints_list(out, count);
	return ST_OK;
}

static int64_t
elements_cardinality(const struct op_node *n, const int64_t *in)
{
	const uint8_t *p;
	uint32_t count;

	(void)in;
	return elements_items(n->params, &count, &p) ? (int64_t)count : -1;
}

static void
elements_index(struct elements *s, uint32_t count, const uint8_t *p)
{
	s->items = mem_array((size_t)count + 1, sizeof *s->items);
	for (uint32_t i = 0; i < count; i++) {
		s->items[i] = p;
		p = mp_skip(p, buf_end(&s->list));
	}
	s->items[count] = p;
}

static enum status
elements_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	const struct elements *s = self->state;

	(void)e;
	for (uint32_t i = 0; i < *k; i++) {
		const uint8_t *p = s->items[index[i]];

		run_push(out, (struct elem){ p, NULL, (uint32_t)(s->items[index[i] + 1] - p),
					     (uint32_t)index[i] });
	}
	return ST_OK;
}

static void
elements_close(struct op_inst *self)
{
	struct elements *s = self->state;

	mem_free(s->items);
}

static enum status
elements_open(struct op_inst *self, struct err *e)
{
	struct elements *s = self->state;
	const uint8_t *p;
	uint32_t count;

	if (!elements_items(s, &count, &p))
		return elements_no_list(e);
	if (self->by_index)
		elements_index(s, count, p);
	return ints_walk_open(self, &s->walk, count, e);
}

static enum status
elements_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct elements *s = self->state;
	const uint8_t *end = buf_end(&s->list);
	uint32_t n = ints_walk_some(&s->walk), count;

	(void)e;
	if (n == 0)
		return ST_END;
	if (!s->p && elements_items(s, &count, &s->p))
		for (uint64_t i = 0; i < s->walk.at; i++)
			s->p = mp_skip(s->p, end);
	/* The elements are slices of the plan's own memory, which outlives every run. */
	for (; n; n--) {
		const uint8_t *next = mp_skip(s->p, end);

		run_push(out, (struct elem){ s->p, NULL, (uint32_t)(next - s->p),
					     (uint32_t)s->walk.at++ });
		s->p = next;
	}
	return ST_OK;
}

static const struct state_row elements_state[] = {
	{ &ints_walk_state, offsetof(struct elements, walk), 0 },
	{ 0 }
};

const struct op_desc op_elements = {
	.name = "elements",
	.brief = "gives the items of a list, one by one",
	.doc = "The list is a constant expression. Its items may be of any kind, and of "
	       "different kinds.",
	.kind = OP_SOURCE,
	.params = elements_params,
	.state_size = sizeof(struct elements),
	.typing = elements_typing,
	.list = elements_list,
	.cardinality = elements_cardinality,
	.open = elements_open,
	.next = elements_next,
	.at = elements_at,
	.close = elements_close,
	.state_rows = elements_state,
	.example = "elements [3, 5, 8] | map x * x",
	.output = "9\n25\n64\n",
};
