/* SPDX-License-Identifier: MIT
 * top: keeps the N elements with the greatest values and gives them at the end,
 * the greatest first.
 *
 * A heap with the least of them on top. Of equal ones the earlier counts as
 * greater, so that what comes out does not depend on how the heap was built.
 */
#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "op/whole/partial.h"
#include "value/mp.h"

#include <string.h>

struct top_item {
	struct kept x;
	struct buf key;
	uint64_t number;
};

struct top {
	int64_t n;
	struct op_expr by;
	bool reverse;
	int partial; /* enum op_partial; join is as none: what is left of the parts goes through it again */
	int64_t mem;
	struct expr_value key;
	struct top_item *heap;
	size_t have, cap;
	size_t bytes;
	uint64_t seen;
	bool sorted;
	size_t at; /* when sorted: the item to give next */
};

static const struct param top_params[] = {
	{ "n", PARAM_INT, offsetof(struct top, n), .min = 1, .max = INT32_MAX,
	  .help = "how many to keep" },
	{ "by", PARAM_EXPR, offsetof(struct top, by), .flags = PARAM_OPTIONAL,
	  .help = "the value to compare; by default the whole element" },
	{ "reverse", PARAM_BOOL, offsetof(struct top, reverse), "false", .flags = PARAM_KEY_ONLY,
	  .help = "give the least elements instead of the greatest" },
	PARTIAL_ROW(struct top),
	{ "mem", PARAM_SIZE, offsetof(struct top, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the N elements may take" },
	{ 0 }
};

static bool
top_makes(const struct op_node *n)
{
	return ((const struct top *)n->params)->partial == PARTIAL_MAKE;
}

static enum op_scope
top_scope(const struct op_node *n)
{
	return partial_scope(((const struct top *)n->params)->partial);
}

static bool
top_partwise(const struct op_node *n, const char **remedy)
{
	(void)remedy;
	return top_makes(n);
}

static bool
top_combines(const struct op_node *n, const char **why)
{
	(void)n, (void)why;
	return true;
}

static enum status
top_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct top *s = n->params;

	*type = n->in[0]->type;
	return expr_value_typing(n, t, &s->by, NULL, e);
}

static int64_t
top_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct top *s = n->params;

	if (top_makes(n) && in[0] != INT64_MAX)
		return -1;
	return in[0] == -1 || in[0] == INT64_MAX || in[0] < s->n ? in[0] : s->n;
}

static enum status
top_open(struct op_inst *self, struct err *e)
{
	struct top *s = self->state;

	(void)e;
	expr_value_open(self, &s->key, &s->by);
	return ST_OK;
}

/* Whether a comes after b in the output. */
static bool
top_behind(const struct top *s, const uint8_t *a, size_t a_len, uint64_t a_number,
	   const struct top_item *b)
{
	int c = mp_compare(a, a_len, b->key.data, b->key.len);

	if (c == 0)
		return a_number > b->number;
	return s->reverse ? c > 0 : c < 0;
}

static bool
top_item_behind(const struct top *s, size_t a, size_t b)
{
	const struct top_item *i = &s->heap[a];

	return top_behind(s, i->key.data, i->key.len, i->number, &s->heap[b]);
}

static void
top_swap(struct top *s, size_t a, size_t b)
{
	struct top_item t = s->heap[a];

	s->heap[a] = s->heap[b];
	s->heap[b] = t;
}

static void
top_up(struct top *s, size_t at)
{
	while (at && top_item_behind(s, at, (at - 1) / 2)) {
		top_swap(s, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static void
top_down(struct top *s, size_t at, size_t n)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;

		if (child < n && top_item_behind(s, child, least))
			least = child;
		if (child + 1 < n && top_item_behind(s, child + 1, least))
			least = child + 1;
		if (least == at)
			return;
		top_swap(s, at, least);
		at = least;
	}
}

static void
top_item_set(struct top *s, struct top_item *item, const struct elem *x, const uint8_t *p,
	     size_t len, uint64_t number)
{
	s->bytes -= item->x.e.len + item->key.len;
	kept_set(&item->x, *x);
	buf_reset(&item->key);
	buf_put(&item->key, p, len);
	item->number = number;
	s->bytes += item->x.e.len + item->key.len;
}

static void
top_add(struct top *s, const struct elem *x, const uint8_t *p, size_t len, uint64_t number)
{
	if (s->have < (size_t)s->n) {
		size_t had = s->cap;

		if (s->have == s->cap) {
			s->heap = mem_grow(s->heap, &s->cap, s->have + 1, sizeof *s->heap);
			memset(s->heap + had, 0, (s->cap - had) * sizeof *s->heap);
		}
		top_item_set(s, &s->heap[s->have], x, p, len, number);
		top_up(s, s->have++);
	} else if (!top_behind(s, p, len, number, &s->heap[0])) {
		top_item_set(s, &s->heap[0], x, p, len, number);
		top_down(s, 0, s->have);
	}
}

/* Heap sort: takes the last in order off the top, again and again. */
static void
top_sort(struct top *s)
{
	for (size_t n = s->have; n > 1; n--) {
		top_swap(s, 0, n - 1);
		top_down(s, 0, n - 1);
	}
	s->sorted = true;
}

/* Gives elements that are kept, as many as make a run. */
static void
top_give(struct top *s, struct run *out)
{
	size_t bytes = 0;

	for (; s->at < s->have && out->n < RUN_USUAL && bytes < RUN_BYTES; s->at++) {
		struct elem x = s->heap[s->at].x.e;

		x.pos = 0;
		x.block = s->heap[s->at].x.block;
		bytes += x.len;
		run_push(out, x); /* lent until the heap is filled again */
	}
}

/* Begins another part. */
static void
top_begin(struct top *s)
{
	for (size_t k = 0; k < s->have; k++) {
		kept_clear(&s->heap[k].x);
		s->heap[k].x = (struct kept){ 0 };
		buf_reset(&s->heap[k].key);
	}
	s->have = s->at = s->bytes = 0;
	s->sorted = false;
}

/* partial=make: a part ends before its elements would take more than mem=. */
static enum status
top_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct top *s = self->state;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = self->at; i < in->n; i++) {
		if (s->sorted && s->at < s->have) {
			top_give(s, out);
			self->at = i;
			return ST_AGAIN;
		}
		if (s->sorted)
			top_begin(s);
		enum status st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);

		out->n = 0;
		if (st == ST_OK)
			top_add(s, &in->e[i], p, len, s->seen++);
		else if (st != ST_SKIP)
			return st;
		if (s->bytes > (size_t)s->mem)
			top_sort(s);
	}
	return ST_OK;
}

static enum status
top_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct top *s = self->state;
	const uint8_t *p;
	size_t len;

	if (s->partial == PARTIAL_MAKE)
		return top_make(self, in, out, e);
	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);

		if (st == ST_OK)
			top_add(s, &in->e[i], p, len, s->seen++);
		else if (st != ST_SKIP)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails would come out of order */
	if (s->bytes <= (size_t)s->mem)
		return ST_OK;
	err_set(e, ST_DATA, "the %zu elements kept take more than mem=%lld bytes", s->have,
		(long long)s->mem);
	err_help(e, "keep fewer, or make mem= larger");
	return op_blame(self->node, e);
}

static enum status
top_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct top *s = self->state;

	(void)e;
	if (!s->sorted)
		top_sort(s);
	top_give(s, out);
	return s->at == s->have ? ST_END : ST_OK;
}

static void
top_close(struct op_inst *self)
{
	struct top *s = self->state;

	for (size_t k = 0; k < s->cap; k++) {
		kept_clear(&s->heap[k].x);
		buf_clear(&s->heap[k].key);
	}
	mem_free(s->heap);
	expr_value_close(&s->key);
}

static void
top_save(struct op_inst *self, struct buf *out)
{
	struct top *s = self->state;

	expr_value_save(&s->key, out);
	state_put_u64(out, s->seen);
	state_put_u64(out, s->sorted);
	state_put_u64(out, s->at);
	state_put_u64(out, s->have);
	for (size_t k = 0; k < s->have; k++) {
		state_put_u64(out, s->heap[k].number);
		buf_put(out, s->heap[k].key.data, s->heap[k].key.len);
		state_put_elem(out, &s->heap[k].x.e);
	}
}

static enum status
top_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct top *s = self->state;
	struct state_in in = state_begin(p, n);
	struct elem key, x;

	expr_value_restore(&s->key, &in);
	s->seen = state_get_u64(&in, UINT64_MAX);
	bool sorted = state_get_u64(&in, 1);
	uint64_t at = state_get_u64(&in, INT32_MAX), have = state_get_u64(&in, (uint64_t)s->n);
	for (uint64_t k = 0; k < have && !in.bad; k++) {
		uint64_t number = state_get_u64(&in, UINT64_MAX);

		if (state_get_elem(&in, &key) && state_get_elem(&in, &x))
			top_add(s, &x, key.p, key.len, number);
	}
	if (sorted)
		top_sort(s);
	s->at = at <= s->have ? at : s->have;
	return state_finish(self, &in, e);
}

const struct op_desc op_top = {
	.name = "top",
	.brief = "gives the N greatest elements, the greatest first",
	.doc = "Elements are compared as in sort; among equal ones the earlier element comes first. "
	       "reverse=true gives the N least elements, the least first. Directly after `distribute`, each "
	       "stream gives the N greatest of its part, and the reader takes the N greatest of those.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.scope_of = top_scope,
	.partwise = top_partwise,
	.combines = top_combines,
	.flags = OP_WHOLE | OP_REORDERS | OP_PASSES | OP_BY_EXPR,
	.params = top_params,
	.state_size = sizeof(struct top),
	.typing = top_typing,
	.cardinality = top_cardinality,
	.open = top_open,
	.feed = top_feed,
	.finish = top_finish,
	.close = top_close,
	.save = top_save,
	.restore = top_restore,
	.example = "elements [{n: 3}, {n: 9}, {n: 5}] | top 2 .n",
	.output = "{\"n\":9}\n{\"n\":5}\n",
};
