/* SPDX-License-Identifier: MIT
 * bucket: batches elements together with others of about the same length.
 *
 *	bounds=[10, 20]   sizes=[32, 16, 8]
 *	length  0..9  -> batches of 32      10..19 -> of 16      20.. -> of 8
 */
#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "op/batch/batch_collect.h"
#include "value/mp.h"

enum { BUCKET_MAX = 10000 };

struct bucket {
	struct op_expr length;
	struct buf bounds, sizes, pad;
	bool ragged, drop;
	int64_t mem;
	struct expr_value key;
	uint64_t *bound, *size;
	uint32_t n;           /* number of buckets: one more than bounds */
	struct batch_collect *stacks;
	struct padding padding;
	struct batch_columns columns;
	uint32_t at;          /* in finish: the bucket to empty next */
};

static const struct param bucket_params[] = {
	{ "length", PARAM_EXPR, offsetof(struct bucket, length),
	  .help = "the length of an element, an integer from 0" },
	{ "bounds", PARAM_VALUE, offsetof(struct bucket, bounds), .flags = PARAM_KEY_ONLY,
	  .help = "lengths at which the next bucket begins, in rising order" },
	{ "sizes", PARAM_VALUE, offsetof(struct bucket, sizes), .flags = PARAM_KEY_ONLY,
	  .help = "batch size of each bucket (one more than there are bounds), or one size "
		  "for all" },
	{ "pad", PARAM_VALUE, offsetof(struct bucket, pad),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "value to pad with; by default 0, 0.0, \"\" or false, depending on the kind" },
	{ "ragged", PARAM_BOOL, offsetof(struct bucket, ragged), "false",
	  .flags = PARAM_KEY_ONLY, .help = "do not pad the lists" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct bucket, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the batches that are not full at the end" },
	{ "mem", PARAM_SIZE, offsetof(struct bucket, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes that the elements in incomplete batches may take" },
	{ 0 }
};

/* Reads a parameter of integers (a list, or one alone), each at least `min`; rising: each
 * larger than the one before. */
static enum status
bucket_ints(const struct buf *value, const char *name, uint64_t min, bool rising, uint64_t **out,
	    uint32_t *n, struct err *e)
{
	const uint8_t *p = value->data, *end = buf_end(value);
	struct mp m;

	*n = 1;
	mp_head(p, end, &m);
	if (m.kind == MP_LIST) {
		*n = m.n;
		p = m.p;
	}
	if (*n > BUCKET_MAX)
		return err_set(e, ST_DATA, "%s has more than %d numbers", name, BUCKET_MAX);
	*out = mem_array((size_t)*n + 1, sizeof **out);
	for (uint32_t k = 0; k < *n; k++) {
		p = mp_head(p, end, &m);
		if (m.kind != MP_INT || (!m.unsigned_big && m.i < 0) || m.u < min || m.u > INT32_MAX) {
			err_set(e, ST_DATA, "%s is not a list of integers from %d to %d", name,
				(int)min, INT32_MAX);
			err_help(e, "bounds=[10, 20] sizes=[32, 16, 8]");
			return ST_DATA;
		}
		(*out)[k] = m.u;
		if (rising && k && m.u <= (*out)[k - 1])
			return err_set(e, ST_DATA, "%s does not rise at %llu", name,
				       (unsigned long long)m.u);
	}
	return ST_OK;
}

static enum status
bucket_read(const struct bucket *b, uint64_t **bound, uint64_t **size, uint32_t *n, struct err *e)
{
	uint32_t sizes = 0;
	enum status st = bucket_ints(&b->bounds, "bounds", 0, true, bound, n, e);

	if (st == ST_OK)
		st = bucket_ints(&b->sizes, "sizes", 1, false, size, &sizes, e);
	if (st != ST_OK)
		return st;
	++*n;
	if (sizes == 1 && *n > 1) {
		uint64_t one = **size;

		*size = mem_realloc(*size, (size_t)*n * sizeof **size);
		for (sizes = 0; sizes < *n; sizes++)
			(*size)[sizes] = one;
	}
	if (sizes == *n)
		return ST_OK;
	return err_set(e, ST_DATA, "%u bounds make %u buckets, but there are %u sizes", *n - 1, *n,
		       sizes);
}

static enum status
bucket_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct bucket *b = n->params;
	uint64_t *bound = NULL, *size = NULL;
	uint32_t count = 0;
	enum status st = expr_value_typing_number(n, t, &b->length, false, e);

	if (st == ST_OK)
		st = bucket_read(b, &bound, &size, &count, e);
	mem_free(bound);
	mem_free(size);
	*type = batch_collect_typing(t, n->in[0]->type, !b->ragged);
	return st;
}

static enum status
bucket_open(struct op_inst *self, struct err *e)
{
	struct bucket *b = self->state;
	enum status st = bucket_read(b, &b->bound, &b->size, &b->n, e);

	expr_value_open(self, &b->key, &b->length);
	b->padding.value = &b->pad;
	b->padding.type = self->node->in[0]->type;
	b->stacks = mem_array(b->n + 1, sizeof *b->stacks);
	return st;
}

/* The bucket of a length: the number of bounds that are not above it. */
static uint32_t
bucket_of(const struct bucket *b, uint64_t length)
{
	uint32_t low = 0, high = b->n - 1;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (b->bound[mid] <= length)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static enum status
bucket_give(struct op_inst *self, struct batch_collect *s, struct run *out, struct err *e)
{
	struct bucket *b = self->state;

	return batch_collect_give(self, s, &b->columns, b->ragged ? NULL : &b->padding, out, e);
}

static enum status
bucket_limit(struct op_inst *self, struct err *e)
{
	struct bucket *b = self->state;
	size_t bytes = 0;

	for (uint32_t k = 0; k < b->n; k++)
		bytes += b->stacks[k].bytes;
	if (bytes <= (size_t)b->mem)
		return ST_OK;
	err_set(e, ST_DATA, "the elements in incomplete batches take more than mem=%lld bytes",
		(long long)b->mem);
	err_help(e, "make sizes= smaller, or mem= larger");
	return op_blame(self->node, e);
}

static enum status
bucket_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct bucket *b = self->state;
	uint64_t length;

	for (; self->at < in->n; self->at++) {
		uint32_t i = self->at;

		if (run_full(out))
			return ST_AGAIN;
		enum status st = expr_value_index(self, &b->key, in, i, out, "length", INT64_MAX, &length, e);

		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		uint32_t k = bucket_of(b, length);
		st = batch_collect_add(self, &b->stacks[k], in->e[i], e);
		if (st == ST_OK && b->stacks[k].part.n == b->size[k])
			st = bucket_give(self, &b->stacks[k], out, e);
		if (st != ST_OK)
			return st;
	}
	return bucket_limit(self, e);
}

static enum status
bucket_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct bucket *b = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && b->at < b->n && out->n < RUN_USUAL && !run_full(out); b->at++)
		if (b->stacks[b->at].part.n && !b->drop)
			st = bucket_give(self, &b->stacks[b->at], out, e);
	return st == ST_OK && b->at == b->n ? ST_END : st;
}

static void
bucket_close(struct op_inst *self)
{
	struct bucket *b = self->state;

	for (uint32_t k = 0; b->stacks && k < b->n; k++)
		batch_collect_clear(&b->stacks[k]);
	expr_value_close(&b->key);
	batch_columns_clear(&b->columns);
	mem_free(b->stacks);
	mem_free(b->bound);
	mem_free(b->size);
}

static void
bucket_save(struct op_inst *self, struct buf *out)
{
	struct bucket *b = self->state;

	expr_value_save(&b->key, out);
	state_put_u64(out, b->at);
	for (uint32_t k = 0; k < b->n; k++)
		batch_collect_save(&b->stacks[k], out);
}

static enum status
bucket_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct bucket *b = self->state;
	struct state_in in = state_begin(p, n);

	expr_value_restore(&b->key, &in);
	b->at = (uint32_t)state_get_u64(&in, b->n);
	for (uint32_t k = 0; k < b->n; k++) {
		batch_collect_restore(&b->stacks[k], &in);
		if (b->stacks[k].part.n >= b->size[k])
			in.bad = true;
	}
	return state_finish(self, &in, e);
}

const struct op_desc op_bucket = {
	.name = "bucket",
	.aliases = "bucket_by_sequence_length",
	.brief = "batches elements of about the same length",
	.doc = "Each element is put into the bucket for its length. When a bucket is full, it becomes a batch, "
	       "whose lists are padded to the longest of them. Buckets that are not full are given at the end, "
	       "the one with the shortest lengths first.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_REORDERS | OP_ALIKE,
	.params = bucket_params,
	.state_size = sizeof(struct bucket),
	.typing = bucket_typing,
	.open = bucket_open,
	.feed = bucket_feed,
	.finish = bucket_finish,
	.close = bucket_close,
	.save = bucket_save,
	.restore = bucket_restore,
	.example = "elements [[1], [2, 3, 4], [5], [6, 7]] | bucket len(x) bounds=[2] sizes=[2, 2]",
	.output = "[[1],[5]]\n[[2,3,4],[6,7,0]]\n",
};
