/* SPDX-License-Identifier: MIT
 * shuffle: holds up to BUF elements and gives a random one of them for each
 * that comes in; at the end the rest, in random order. `shuffle all` holds nothing: it
 * has the elements before it read by index, in a random order (by_index.h).
 *
 * A slot is half a cache line and holds a short element itself, because what
 * a large buffer costs is the memory it waits for: the next slots are known
 * before they are needed, and asked for in time.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "op/kit/expr_value.h"
#include "op/op.h"
#include "op/facts.h"
#include "op/kit/slab.h"
#include "op/state.h"

enum { SHUFFLE_INLINE = 24, SHUFFLE_AHEAD = 16 };
#define SHUFFLE_ALL INT64_MAX
enum shuffle_place { SHUFFLE_IN_SLOT, SHUFFLE_IN_CELL, SHUFFLE_IN_BLOCK };

struct shuffle_slot {
	uint32_t len;
	uint32_t place;
	union {
		uint8_t bytes[SHUFFLE_INLINE];
		uint8_t *cell;
		struct {
			const uint8_t *p;
			struct block *block;
		} big;
	};
};

struct shuffle {
	int64_t size, seed, mem;
	bool reshuffle;
	struct shuffle_slot *slots;
	size_t n, cap, bytes; /* bytes: size of the elements outside the slots */
	uint64_t key, drawn; /* the generator: key and counter */
	struct slab cells;
};

static const struct param shuffle_params[] = {
	{ "buf", PARAM_INT, offsetof(struct shuffle, size), .flags = PARAM_ALLOW_ALL,
	  .min = 1, .max = (int64_t)1 << 40,
	  .help = "size of the buffer in elements; `all`: all elements, without holding them "
		  "in memory" },
	{ "seed", PARAM_INT, offsetof(struct shuffle, seed), "auto",
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO,
	  .help = "equal seeds give equal orders; auto takes the seed of the iteration" },
	{ "reshuffle", PARAM_BOOL, offsetof(struct shuffle, reshuffle), "true",
	  .flags = PARAM_KEY_ONLY, .help = "use another order in each pass of a repeat" },
	{ "mem", PARAM_SIZE, offsetof(struct shuffle, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the elements in the buffer may take" },
	{ 0 }
};

static int64_t
shuffle_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static bool
shuffle_permutes(const struct op_node *n, int64_t *seed, bool *reshuffle)
{
	const struct shuffle *s = n->params;

	if (seed) {
		*seed = s->seed;
		*reshuffle = s->reshuffle;
	}
	return s->size == SHUFFLE_ALL;
}

static enum status
shuffle_check(const struct op_node *n, struct err *e)
{
	uint64_t count;

	return n->permutes ? op_permute_count(n, &count, e) : ST_OK;
}

static enum status
shuffle_open(struct op_inst *self, struct err *e)
{
	struct shuffle *s = self->state;

	(void)e;
	s->key = op_rng_key(self, s->seed, s->reshuffle);
	return ST_OK;
}

/* Whether the element's block is held instead of copying the element. Only when the element is
 * a good part of its block; otherwise the buffer would pin many times its size. */
static bool
shuffle_holds(const struct elem *x)
{
	return x->block && x->len > KEEP_COPY_MAX && x->len >= x->block->cap / 4;
}

static void
shuffle_put(struct shuffle *s, struct shuffle_slot *slot, const struct elem *x)
{
	slot->len = x->len;
	if (x->len <= SHUFFLE_INLINE) {
		slot->place = SHUFFLE_IN_SLOT;
		memcpy(slot->bytes, x->p, x->len);
	} else if (!shuffle_holds(x)) {
		slot->place = SHUFFLE_IN_CELL;
		s->bytes += x->len;
		slot->cell = slab_take(&s->cells, x->len);
		memcpy(slot->cell, x->p, x->len);
	} else {
		slot->place = SHUFFLE_IN_BLOCK;
		s->bytes += x->len;
		slot->big.p = x->p;
		slot->big.block = block_ref(x->block);
	}
}

static struct elem
shuffle_elem(struct shuffle_slot *slot)
{
	struct elem x = { .len = slot->len };

	x.p = slot->place == SHUFFLE_IN_SLOT ? slot->bytes
	    : slot->place == SHUFFLE_IN_CELL ? slot->cell : slot->big.p;
	if (slot->place == SHUFFLE_IN_BLOCK)
		x.block = slot->big.block;
	return x;
}

static void
shuffle_drop(struct shuffle *s, struct shuffle_slot *slot)
{
	if (slot->place != SHUFFLE_IN_SLOT)
		s->bytes -= slot->len;
	if (slot->place == SHUFFLE_IN_CELL)
		slab_give(&s->cells, slot->cell, slot->len);
	else if (slot->place == SHUFFLE_IN_BLOCK)
		block_unref(&slot->big.block);
}

/* Moves the slot's element to out, which copies it or holds its block. */
static void
shuffle_take(struct shuffle *s, struct shuffle_slot *slot, struct run *out)
{
	run_keep(out, shuffle_elem(slot)); /* a cell has no block: the element is copied */
	shuffle_drop(s, slot);
}

static void
shuffle_add(struct shuffle *s, const struct elem *x)
{
	s->slots = mem_grow(s->slots, &s->cap, s->n + 1, sizeof *s->slots);
	shuffle_put(s, &s->slots[s->n++], x);
}

/* The slot drawn among n by draw number `at`. A product without rejection has a bias of n /
 * 2^64, too small to be observed. */
static size_t
shuffle_draw(const struct shuffle *s, uint64_t at, size_t n)
{
	__extension__ typedef unsigned __int128 wide;

	return (size_t)(((wide)rng_at(s->key, at) * n) >> 64);
}

static enum status
shuffle_too_large(struct op_inst *self, struct err *e)
{
	struct shuffle *s = self->state;

	err_set(e, ST_DATA, "the %zu elements in the buffer take more than mem=%lld bytes", s->n,
		(long long)s->mem);
	err_help(e, "make the buffer smaller, raise mem=, or use `shuffle all`, which needs no buffer");
	return op_blame(self->node, e);
}

static enum status
shuffle_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct shuffle *s = self->state;
	uint32_t i = 0;
	size_t ahead[SHUFFLE_AHEAD];

	if (self->order) { /* the input comes in the final order already */
		self->give = self->in[0]->lent;
		return ST_OK;
	}
	out->file = NULL; /* from here on a run mixes elements from many places */
	out->line = 0;
	out->parts = NULL;
	for (; i < in->n && s->n < (size_t)s->size; i++)
		shuffle_add(s, &in->e[i]);
	while (i < in->n) {
		uint32_t some = in->n - i < SHUFFLE_AHEAD ? in->n - i : SHUFFLE_AHEAD;

		for (uint32_t k = 0; k < some; k++) {
			ahead[k] = shuffle_draw(s, s->drawn++, s->n);
			__builtin_prefetch(&s->slots[ahead[k]], 1);
		}
		for (uint32_t k = 0; k < some; k++)
			if (s->slots[ahead[k]].place == SHUFFLE_IN_CELL)
				__builtin_prefetch(s->slots[ahead[k]].cell);
		for (uint32_t k = 0; k < some; k++, i++) {
			shuffle_take(s, &s->slots[ahead[k]], out);
			shuffle_put(s, &s->slots[ahead[k]], &in->e[i]);
		}
	}
	for (uint32_t k = 0; k < out->n; k++)
		out->e[k].pos = 0;
	return s->bytes + s->n * sizeof *s->slots > (size_t)s->mem ? shuffle_too_large(self, e) : ST_OK;
}

static enum status
shuffle_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct shuffle *s = self->state;
	size_t bytes = 0;

	(void)e;
	while (s->n && out->n < RUN_USUAL && bytes < RUN_BYTES) {
		struct shuffle_slot *slot = &s->slots[shuffle_draw(s, s->drawn++, s->n)];

		bytes += slot->len;
		shuffle_take(s, slot, out);
		*slot = s->slots[--s->n];
	}
	return s->n ? ST_OK : ST_END;
}

static void
shuffle_empty(struct shuffle *s)
{
	for (size_t i = 0; i < s->n; i++)
		shuffle_drop(s, &s->slots[i]);
	s->n = 0;
}

static void
shuffle_close(struct op_inst *self)
{
	struct shuffle *s = self->state;

	shuffle_empty(s);
	slab_clear(&s->cells);
	mem_free(s->slots);
}

static void
shuffle_save(struct op_inst *self, struct buf *out)
{
	struct shuffle *s = self->state;

	state_put_u64(out, s->key);
	state_put_u64(out, s->drawn);
	state_put_u64(out, s->n);
	for (size_t i = 0; i < s->n; i++) {
		struct elem x = shuffle_elem(&s->slots[i]);

		state_put_elem(out, &x);
	}
}

static enum status
shuffle_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct shuffle *s = self->state;
	struct state_in in = state_begin(p, n);

	shuffle_empty(s);
	s->key = state_get_u64(&in, UINT64_MAX);
	s->drawn = state_get_u64(&in, UINT64_MAX);
	uint64_t count = state_get_u64(&in, (uint64_t)s->size);
	for (uint64_t i = 0; i < count && !in.bad; i++) {
		struct elem x;

		if (state_get_elem(&in, &x))
			shuffle_add(s, &x);
	}
	return state_finish(self, &in, e);
}

static bool
shuffle_partwise(const struct op_node *n, const char **remedy)
{
	(void)n;
	*remedy = "`shuffle all` is one order of the whole; or ";
	return false;
}

const struct op_desc op_shuffle = {
	.name = "shuffle",
	.brief = "puts the elements in random order, by drawing from a buffer of BUF",
	.doc = "If the buffer is as large as the whole input, every order is equally likely; "
	       "a smaller one mixes only elements that are near each other. The order "
	       "depends only on the seed, the stream and the pass, so that a stream can be "
	       "produced again.\n`shuffle all` holds no elements: it reads them by index, in "
	       "an order computed from the seed and the pass. It begins at once and takes "
	       "the same memory for ten elements and for 10^12. The description of each "
	       "operator says whether it supports such random access; files must be "
	       "uncompressed. With dynamic sharding each worker has a part of one common "
	       "order, and order=source gives the order of dsvc-run.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_REORDERS | OP_RANDOM | OP_RESHUFFLES | OP_PASSES | OP_BY_EXPR,
	.params = shuffle_params,
	.state_size = sizeof(struct shuffle),
	.partwise = shuffle_partwise,
	.check = shuffle_check,
	.cardinality = shuffle_cardinality,
	.permutes = shuffle_permutes,
	.open = shuffle_open,
	.feed = shuffle_feed,
	.finish = shuffle_finish,
	.close = shuffle_close,
	.save = shuffle_save,
	.restore = shuffle_restore,
	.example = "range 6 | shuffle 3 seed=1 | batch 6 | map sorted(x)",
	.output = "[0,1,2,3,4,5]\n",
};
