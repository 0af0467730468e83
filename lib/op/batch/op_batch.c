/* SPDX-License-Identifier: MIT
 * batch: puts every N elements together: records into a record of lists,
 * tensors into a tensor, anything else into a list.
 */
#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/batch/batch_columns.h"
#include "op/op.h"
#include "value/pack.h"
#include "op/batch/batch_rows.h"
#include "op/state.h"

struct batch {
	int64_t n;
	bool drop;
	int as;            /* enum batch_rows_as */
	struct run part;   /* the elements of the batch being filled */
	size_t part_bytes;
	struct batch_columns columns;
};

static const struct param batch_params[] = {
	{ "n", PARAM_INT, offsetof(struct batch, n), .min = 1, .max = INT32_MAX,
	  .help = "elements in a batch" },
	{ "drop_remainder", PARAM_BOOL, offsetof(struct batch, drop), "false",
	  .flags = PARAM_KEY_ONLY, .help = "drop the last batch when it is not full" },
	{ "as", PARAM_CHOICE, offsetof(struct batch, as), "auto", .choices = "auto|list|tensor",
	  .flags = PARAM_KEY_ONLY, .help = "auto: tensors become a tensor with a new first axis, "
	  "anything else a list; tensor: numbers and bools become a tensor too; list: always a list" },
	{ 0 }
};

/* With as=tensor: refuses elements that cannot become a tensor. */
static enum status
batch_typing_fits(struct op_node *n, struct op_typing *t, const char *field,
		  const struct type *x, struct err *e)
{
	const struct batch *b = n->params;
	enum status st;

	if (b->as != BATCH_ROWS_TENSOR || batch_rows_fits_tensor(x))
		return ST_OK;
	st = typed_fail(t, n, e, "as=tensor needs numbers, bools or tensors%s%.100s%s",
			field ? ", and field " : "", field ? field : "", field ? " is none" : "");
	err_help(e, "as=auto makes lists of everything else");
	return st;
}

static enum status
batch_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct batch *b = n->params;
	const struct type *x = n->in[0]->type;
	int64_t length = b->drop ? b->n : -1;
	struct type_field *fields;
	enum status st = ST_OK;

	if (x->kind != TYPE_RECORD || x->nullable) {
		/* elements of unknown type may be records */
		*type = x->kind == TYPE_ANY || x->nullable ? type_scalar(TYPE_ANY)
			: batch_rows_typing(t->arena, (enum batch_rows_as)b->as, x, length);
		return x->kind == TYPE_RECORD ? ST_OK : batch_typing_fits(n, t, NULL, x, e);
	}
	fields = mem_array(x->n_fields + 1, sizeof *fields);
	for (size_t k = 0; st == ST_OK && k < x->n_fields; k++) {
		const struct type *f = x->fields[k].type;

		st = batch_typing_fits(n, t, x->fields[k].name, f, e);
		fields[k] =
			(struct type_field){ x->fields[k].name,
					     batch_rows_typing(t->arena, (enum batch_rows_as)b->as,
							       f, length) };
	}
	if (st == ST_OK)
		*type = type_record(t->arena, fields, x->n_fields, x->open);
	mem_free(fields);
	return st;
}

static uint64_t
batch_groups(const struct op_node *n)
{
	const struct batch *b = n->params;

	return (uint64_t)b->n;
}

static int64_t
batch_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct batch *b = n->params;

	if (in[0] == -1 || in[0] == INT64_MAX)
		return in[0];
	return in[0] / b->n + (!b->drop && in[0] % b->n);
}

static enum status
batch_too_large(struct op_inst *self, struct err *e)
{
	struct batch *b = self->state;

	err_set(e, ST_DATA, "a batch of %lld is larger than the limit of %u bytes",
		(long long)b->n, self->ctx->element_max);
	return op_source_fault(self, NULL, 0, e);
}

/* Gives a batch of tensors, or of numbers that become one. */
static enum status
batch_give_tensor(struct op_inst *self, const struct elem *x, uint32_t n, size_t max,
		  struct run *out, struct err *e)
{
	struct batch *b = self->state;
	struct batch_rows r;
	uint8_t *w;

	batch_rows_begin(&r, (enum batch_rows_as)b->as);
	for (uint32_t i = 0; i < n; i++)
		batch_rows_look(&r, x[i].p, x[i].len);
	size_t size = batch_rows_size(&r, max, e);
	if (!size)
		return op_source_fault(self, NULL, 0, e);
	w = batch_rows_head(&r, run_room(out, size));
	if (!r.tensor) {
		run_done(out, pack_copy(w, x, n), x[n - 1].pos);
		return ST_OK;
	}
	for (uint32_t i = 0; w && i < n; i++)
		w = batch_rows_put(&r, w, x[i].p, x[i].len, e);
	if (!w)
		return op_source_fault(self, NULL, 0, e);
	run_done(out, w, x[n - 1].pos);
	return ST_OK;
}

static bool
batch_is_ext(const struct elem *x)
{
	return x->p[0] >= 0xc7 && (x->p[0] <= 0xc9 || (x->p[0] >= 0xd4 && x->p[0] <= 0xd8));
}

static enum status
batch_give(struct op_inst *self, const struct elem *x, uint32_t n, struct run *out, struct err *e)
{
	struct batch *b = self->state;
	size_t bytes = pack_bytes(x, n);
	uint32_t i = 0, max = self->ctx->element_max ? self->ctx->element_max : UINT32_MAX - 16;

	if (bytes > max)
		return batch_too_large(self, e);
	while (i < n && batch_columns_is_record(&x[i]))
		i++;
	if (i == n) {
		enum status st = batch_columns_build(&b->columns, x, n, (enum batch_rows_as)b->as,
						     max, out, e);

		return st == ST_OK ? st : op_source_fault(self, NULL, 0, e);
	}
	if (b->as == BATCH_ROWS_TENSOR || (b->as == BATCH_ROWS_AUTO && batch_is_ext(x)))
		return batch_give_tensor(self, x, n, max, out, e);
	uint8_t *p = mp_put_list_head(run_room(out, bytes + MP_HEAD_MAX), n);
	run_done(out, pack_copy(p, x, n), x[n - 1].pos);
	return ST_OK;
}

static void
batch_part_reset(struct batch *b)
{
	run_reset(&b->part);
	b->part_bytes = 0;
}

static enum status
batch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct batch *b = self->state;
	uint32_t size = (uint32_t)b->n, i = 0;
	enum status st = ST_OK;

	while (st == ST_OK && i < in->n) {
		if (!b->part.n && in->n - i >= size) {
			st = batch_give(self, in->e + i, size, out, e);
			i += size;
			continue;
		}
		for (; i < in->n && b->part.n < size; i++) {
			run_keep(&b->part, in->e[i]);
			b->part_bytes += in->e[i].len;
		}
		if (self->ctx->element_max && b->part_bytes > self->ctx->element_max) {
			batch_part_reset(b);
			st = batch_too_large(self, e);
		} else if (b->part.n == size) {
			st = batch_give(self, b->part.e, size, out, e);
			batch_part_reset(b);
		}
	}
	return st;
}

static enum status
batch_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct batch *b = self->state;
	enum status st = ST_OK;

	if (b->part.n && !b->drop)
		st = batch_give(self, b->part.e, b->part.n, out, e);
	batch_part_reset(b);
	return st == ST_OK ? ST_END : st;
}

static void
batch_close(struct op_inst *self)
{
	struct batch *b = self->state;

	run_clear(&b->part);
	batch_columns_clear(&b->columns);
}

static void
batch_save(struct op_inst *self, struct buf *out)
{
	struct batch *b = self->state;

	state_put_elems(out, b->part.e, b->part.n);
}

static enum status
batch_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct batch *b = self->state;
	struct state_in in = state_begin(p, n);

	batch_part_reset(b);
	state_get_elems(&in, &b->part);
	if (b->part.n >= b->n)
		in.bad = true;
	b->part_bytes = run_bytes(&b->part);
	return state_finish(self, &in, e);
}

const struct op_desc op_batch = {
	.name = "batch",
	.brief = "every N elements together",
	.doc = "N records become one record whose fields are lists; a field that some of them "
	       "lack is null there. N tensors of one dtype and shape become a tensor with a new "
	       "first axis. N values of other kinds become a list; with as=tensor numbers and "
	       "bools become a tensor of one axis. The last batch may be smaller.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = batch_params,
	.state_size = sizeof(struct batch),
	.typing = batch_typing,
	.cardinality = batch_cardinality,
	.groups = batch_groups,
	.feed = batch_feed,
	.finish = batch_finish,
	.close = batch_close,
	.save = batch_save,
	.restore = batch_restore,
	.example = "range 5 | map {id: x, even: x % 2 == 0} | batch 2",
	.output = "{\"id\":[0,1],\"even\":[true,false]}\n{\"id\":[2,3],\"even\":[true,false]}\n"
		  "{\"id\":[4],\"even\":[true]}\n",
};
