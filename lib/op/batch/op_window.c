/* SPDX-License-Identifier: MIT
 * window: lists of SIZE elements each, which may overlap or leave gaps.
 *
 *	elements  0 1 2 3 4 5 6 7 8 9        window 3 shift=2 stride=2
 *	          a   a   a                  the first begins at 0,
 *	              b   b   b              the next `shift` further on;
 *	                  c   c   c          within one, each `stride`-th
 */
#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "op/op.h"
#include "op/state.h"
#include "value/mp.h"

#include <string.h>

struct window {
	int64_t size, shift, stride, mem;
	bool drop;
	uint64_t span;     /* distance from a window's first element to its last, both counted */
	struct kept *ring; /* elements [base, seen), each at its number mod cap */
	uint64_t cap;      /* a power of two */
	uint64_t base, seen;
	size_t bytes;      /* size of these elements */
	uint64_t start;    /* number of the element that begins the next window */
};

static const struct param window_params[] = {
	{ "size", PARAM_INT, offsetof(struct window, size), .min = 1, .max = INT32_MAX,
	  .help = "number of elements in a window" },
	{ "shift", PARAM_INT, offsetof(struct window, shift), "auto",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = INT32_MAX,
	  .help = "distance from the beginning of one window to the next; auto: SIZE" },
	{ "stride", PARAM_INT, offsetof(struct window, stride), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT32_MAX,
	  .help = "distance between neighbouring elements of a window" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct window, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the windows that are not full at the end" },
	{ "mem", PARAM_SIZE, offsetof(struct window, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes that the elements in incomplete windows may take" },
	{ 0 }
};

static enum status
window_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)e;
	*type = type_list(t->arena, n->in[0]->type);
	return ST_OK;
}

static uint64_t
window_shift(const struct window *w)
{
	return (uint64_t)(w->shift == PARAM_AUTO ? w->size : w->shift);
}

static uint64_t
window_span(const struct window *w)
{
	return (uint64_t)(w->size - 1) * (uint64_t)w->stride + 1;
}

static int64_t
window_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct window *w = n->params;
	uint64_t all = (uint64_t)in[0], span = w->drop ? window_span(w) : 1;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return all < span ? 0 : (int64_t)((all - span) / window_shift(w) + 1);
}

static enum status
window_open(struct op_inst *self, struct err *e)
{
	struct window *w = self->state;

	(void)e;
	w->span = window_span(w);
	return ST_OK;
}

static struct kept *
window_at(const struct window *w, uint64_t number)
{
	return &w->ring[number & (w->cap - 1)];
}

static void
window_grow(struct window *w)
{
	uint64_t cap = w->cap ? w->cap * 2 : 64;
	struct kept *ring = mem_array(cap, sizeof *ring);

	for (uint64_t k = w->base; k < w->seen; k++)
		ring[k & (cap - 1)] = *window_at(w, k);
	for (uint64_t k = w->seen; k < w->base + w->cap; k++)
		kept_clear(window_at(w, k));
	mem_free(w->ring);
	w->ring = ring;
	w->cap = cap;
}

static void
window_add(struct window *w, const struct elem *x)
{
	if (w->seen < w->start) { /* the element lies in a gap between windows */
		w->base = ++w->seen;
		return;
	}
	if (w->seen - w->base == w->cap)
		window_grow(w);
	kept_set(window_at(w, w->seen++), *x);
	w->bytes += x->len;
}

/* Forgets the elements before number `before`. Copies leave their memory to the elements that
 * take their places; held blocks are released now. */
static void
window_forget(struct window *w, uint64_t before)
{
	for (; w->base < before; w->base++) {
		struct kept *k = window_at(w, w->base);

		w->bytes -= k->e.len;
		if (k->block)
			kept_clear(k);
	}
}

static enum status
window_too_large(struct op_inst *self, struct err *e)
{
	struct window *w = self->state;

	err_set(e, ST_DATA, "the %llu elements in incomplete windows take more than mem=%lld bytes",
		(unsigned long long)(w->seen - w->base), (long long)w->mem);
	err_help(e, "make windows smaller, or mem= larger");
	return op_blame(self->node, e);
}

/* Gives the window that begins at start, as far as its elements are there. */
static enum status
window_give(struct op_inst *self, struct run *out, struct err *e)
{
	struct window *w = self->state;
	uint32_t max = self->ctx->element_max ? self->ctx->element_max : UINT32_MAX - 16;
	uint64_t step = (uint64_t)w->stride, end = w->start + w->span;
	uint32_t n = 0, pos = 0;
	size_t bytes = 0;

	if (end > w->seen)
		end = w->seen;
	for (uint64_t k = w->start; k < end; k += step, n++)
		bytes += window_at(w, k)->e.len;
	if (bytes <= max) {
		uint8_t *p = mp_put_list_head(run_room(out, bytes + MP_HEAD_MAX), n);

		for (uint64_t k = w->start; k < end; k += step) {
			const struct elem *x = &window_at(w, k)->e;

			memcpy(p, x->p, x->len);
			p += x->len;
		}
		run_done(out, p, pos);
	}
	w->start += window_shift(w);
	window_forget(w, w->start < w->seen ? w->start : w->seen);
	if (bytes <= max)
		return ST_OK;
	err_set(e, ST_DATA, "a window of %lld is larger than the limit of %u bytes",
		(long long)w->size, max);
	return op_source_fault(self, NULL, 0, e);
}

static enum status
window_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct window *w = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && self->at < in->n; self->at++) {
		const struct elem *x = &in->e[self->at];
		uint32_t before = out->n;

		if (run_full(out))
			return ST_AGAIN;
		window_add(w, x);
		if (w->seen >= w->start + w->span)
			st = window_give(self, out, e);
		if (out->n > before)
			out->e[before].pos = x->pos;
		if (st == ST_OK && w->bytes + w->cap * sizeof *w->ring > (size_t)w->mem)
			return window_too_large(self, e);
	}
	return st;
}

static enum status
window_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct window *w = self->state;
	enum status st = ST_OK;

	while (st == ST_OK && !w->drop && w->start < w->seen && out->n < RUN_USUAL && !run_full(out))
		st = window_give(self, out, e);
	if (st != ST_OK)
		return st;
	return w->drop || w->start >= w->seen ? ST_END : ST_OK;
}

static void
window_close(struct op_inst *self)
{
	struct window *w = self->state;

	for (uint64_t k = 0; k < w->cap; k++)
		kept_clear(&w->ring[k]);
	mem_free(w->ring);
}

static void
window_save(struct op_inst *self, struct buf *out)
{
	struct window *w = self->state;

	state_put_u64(out, w->start);
	state_put_u64(out, w->base);
	state_put_u64(out, w->seen - w->base);
	for (uint64_t k = w->base; k < w->seen; k++)
		state_put_elem(out, &window_at(w, k)->e);
}

static enum status
window_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct window *w = self->state;
	struct state_in in = state_begin(p, n);

	w->start = state_get_u64(&in, INT64_MAX);
	window_forget(w, w->seen);
	w->base = w->seen = state_get_u64(&in, INT64_MAX);
	uint64_t count = state_get_u64(&in, w->span);
	if (count && w->base < w->start)
		in.bad = true; /* elements before the window are not kept */
	for (uint64_t k = 0; k < count && !in.bad; k++) {
		struct elem x;

		if (state_get_elem(&in, &x))
			window_add(w, &x);
	}
	if (w->base > w->start)
		in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_window = {
	.name = "window",
	.brief = "groups SIZE elements into lists, which may overlap",
	.doc = "A new window begins every `shift` elements and takes every `stride`-th element. "
	       "The windows at the end have fewer elements, unless drop_remainder is set. Records "
	       "in a window stay records; batch would turn them into columns.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = window_params,
	.state_size = sizeof(struct window),
	.typing = window_typing,
	.cardinality = window_cardinality,
	.open = window_open,
	.feed = window_feed,
	.finish = window_finish,
	.close = window_close,
	.save = window_save,
	.restore = window_restore,
	.example = "range 5 | window 3 shift=1",
	.output = "[0,1,2]\n[1,2,3]\n[2,3,4]\n[3,4]\n[4]\n",
};
