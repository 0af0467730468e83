/* SPDX-License-Identifier: MIT
 * dedup: drops an element that is like one of the WINDOW given before it.
 * With a window of 1, as it is usual, what `uniq` does.
 *
 *	ring   keys of the last WINDOW elements given, the oldest at `oldest`
 *	slots  hash -> place in the ring (base/slots.h)
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "value/normal.h"

struct dedup_key {
	uint8_t *data; /* the key; its memory is used again for the key that replaces it */
	uint32_t len, cap, code;
};

struct dedup {
	struct op_expr key;
	int64_t window, mem;
	struct expr_value by;
	struct buf normal;
	struct dedup_key *ring;
	size_t have, cap, oldest, bytes; /* bytes: size of all keys */
	struct slots slots;
};

static const struct param dedup_params[] = {
	{ "key", PARAM_EXPR, offsetof(struct dedup, key), .flags = PARAM_OPTIONAL,
	  .help = "the key that must differ; by default the whole element" },
	{ "window", PARAM_INT, offsetof(struct dedup, window), "1", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = 100000000, .help = "how many of the last elements to compare with" },
	{ "mem", PARAM_SIZE, offsetof(struct dedup, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the elements to compare with may take" },
	{ 0 }
};

static enum status
dedup_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct dedup *d = n->params;

	*type = n->in[0]->type;
	return expr_value_typing(n, t, &d->key, NULL, e);
}

static int64_t
dedup_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == 0 || in[0] == 1 ? in[0] : -1;
}

static enum status
dedup_open(struct op_inst *self, struct err *e)
{
	struct dedup *d = self->state;

	(void)e;
	expr_value_open(self, &d->by, &d->key);
	return ST_OK;
}

static inline bool
dedup_same(const void *owner, uint32_t place, const void *key)
{
	const struct dedup_key *k = &((const struct dedup *)owner)->ring[place], *want = key;

	return k->code == want->code && k->len == want->len && !memcmp(k->data, want->data, want->len);
}

static inline uint64_t
dedup_code(const void *owner, uint32_t place)
{
	return ((const struct dedup *)owner)->ring[place].code;
}

static size_t
dedup_slot(const struct dedup *d, const uint8_t *p, size_t n, uint32_t code)
{
	struct dedup_key want = { .data = (uint8_t *)p, .len = (uint32_t)n, .code = code };

	return slots_find(&d->slots, code, dedup_same, d, &want);
}

static void
dedup_remember(struct dedup *d, const uint8_t *p, size_t n, uint32_t code)
{
	size_t place = d->oldest, had = d->cap;

	if (d->have < (size_t)d->window) {
		place = d->have;
		if (place == d->cap) {
			d->ring = mem_grow(d->ring, &d->cap, place + 1, sizeof *d->ring);
			memset(d->ring + had, 0, (d->cap - had) * sizeof *d->ring);
		}
		if ((d->have + 1) * 2 > d->slots.n)
			slots_widen(&d->slots, d->slots.n * 2, (uint32_t)d->have, dedup_code, d);
		d->have++;
	} else {
		slots_remove(&d->slots, slots_of(&d->slots, d->ring[place].code, (uint32_t)place), dedup_code, d);
		d->oldest = place + 1 == d->have ? 0 : place + 1;
	}
	struct dedup_key *k = &d->ring[place];
	if (n > k->cap) {
		size_t cap = k->cap;

		k->data = mem_grow(k->data, &cap, n, 1);
		d->bytes += cap - k->cap;
		k->cap = (uint32_t)cap;
	}
	memcpy(k->data, p, n);
	k->len = (uint32_t)n;
	k->code = code;
	d->slots.v[dedup_slot(d, p, n, code)] = (uint32_t)place + 1;
}

/* Whether the key is new; if so, it is remembered. */
static bool
dedup_fresh(struct dedup *d, const uint8_t *p, size_t n)
{
	p = normal_key(p, &n, &d->normal);
	if (d->window == 1 && d->have) {
		struct dedup_key *k = &d->ring[0];

		if (k->len == n && !memcmp(k->data, p, n))
			return false;
	}
	uint32_t code = (uint32_t)(hash_bytes(p, n) >> 32);
	if (d->window > 1 && d->have && d->slots.v[dedup_slot(d, p, n, code)])
		return false;
	dedup_remember(d, p, n, code);
	return true;
}

static enum status
dedup_limit(struct op_inst *self, struct err *e)
{
	struct dedup *d = self->state;

	if (d->bytes + d->cap * sizeof *d->ring + d->slots.n * sizeof *d->slots.v <= (size_t)d->mem)
		return ST_OK;
	err_set(e, ST_DATA, "the %zu elements compared with take more than mem=%lld bytes", d->have,
		(long long)d->mem);
	err_help(e, "make window= smaller, or mem= larger");
	return op_blame(self->node, e);
}

static enum status
dedup_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct dedup *d = self->state;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_value_get(self, &d->by, in, i, out, &p, &len, e);

		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		if (dedup_fresh(d, p, len))
			run_push(out, in->e[i]);
	}
	return dedup_limit(self, e);
}

static void
dedup_close(struct op_inst *self)
{
	struct dedup *d = self->state;

	for (size_t k = 0; k < d->cap; k++)
		mem_free(d->ring[k].data);
	mem_free(d->ring);
	slots_clear(&d->slots);
	buf_clear(&d->normal);
	expr_value_close(&d->by);
}

static void
dedup_save(struct op_inst *self, struct buf *out)
{
	struct dedup *d = self->state;

	expr_value_save(&d->by, out);
	state_put_u64(out, d->have);
	for (size_t k = 0; k < d->have; k++) { /* oldest first */
		const struct dedup_key *key = &d->ring[(d->oldest + k) % d->have];

		state_put_bytes(out, key->data, key->len);
	}
}

static enum status
dedup_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct dedup *d = self->state;
	struct state_in in = state_begin(p, n);
	size_t len;

	expr_value_restore(&d->by, &in);
	uint64_t have = state_get_u64(&in, (uint64_t)d->window);
	for (uint64_t k = 0; k < have && state_get_value(&in, &p, &len); k++)
		if (!dedup_fresh(d, p, len))
			in.bad = true;
	return state_finish(self, &in, e);
}

const struct op_desc op_dedup = {
	.name = "dedup",
	.brief = "drops elements equal to the one before, or to one of the last WINDOW",
	.doc = "Compares each element with the last ones that were passed on, so the window limits "
	       "the memory. unique drops every repeated element, and has to keep all keys.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_PASSES | OP_BY_EXPR,
	.params = dedup_params,
	.state_size = sizeof(struct dedup),
	.typing = dedup_typing,
	.cardinality = dedup_cardinality,
	.open = dedup_open,
	.feed = dedup_feed,
	.close = dedup_close,
	.save = dedup_save,
	.restore = dedup_restore,
	.example = "elements [1, 1, 2, 1, 1] | dedup",
	.output = "1\n2\n1\n",
};
