/* SPDX-License-Identifier: MIT
 * batch: puts every N elements together: records into a record of lists,
 * tensors into a tensor, anything else into a list.
 */
#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/batch/batch_every.h"
#include "op/op.h"
#include "value/pack.h"
#include "op/batch/batch_rows.h"

struct batch {
	struct batch_every every;
	int as;            /* enum batch_rows_as */
};

static const struct param batch_params[] = {
	BATCH_EVERY_N(struct batch),
	BATCH_EVERY_DROP(struct batch),
	{ "as", PARAM_CHOICE, offsetof(struct batch, as), "auto", .choices = "auto|list|tensor",
	  .flags = PARAM_KEY_ONLY,
	  .help = "auto: tensors of one dtype and shape become one tensor with a new first axis, "
		  "anything else a list; tensor: numbers and bools become a tensor as well; list: "
		  "always a list" },
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
	err_help(e, "as=auto turns everything else into lists");
	return st;
}

static enum status
batch_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct batch *b = n->params;
	const struct type *x = n->in[0]->type;
	int64_t length = b->every.drop ? b->every.n : -1;
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

static enum status
batch_too_large(struct op_inst *self, struct err *e)
{
	struct batch *b = self->state;

	err_set(e, ST_DATA, "a batch of %lld is larger than the limit of %u bytes",
		(long long)b->every.n, self->ctx->element_max);
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
		enum status st = batch_columns_build(&b->every.columns, x, n, (enum batch_rows_as)b->as,
						     max, out, e);

		return st == ST_OK ? st : op_source_fault(self, NULL, 0, e);
	}
	if (b->as == BATCH_ROWS_TENSOR || (b->as == BATCH_ROWS_AUTO && batch_is_ext(x)))
		return batch_give_tensor(self, x, n, max, out, e);
	uint8_t *p = mp_put_list_head(run_room(out, bytes + MP_HEAD_MAX), n);
	run_done(out, pack_copy(p, x, n), x[n - 1].pos);
	return ST_OK;
}

static enum status
batch_give_stack(struct op_inst *self, struct run *out, struct err *e)
{
	struct batch *b = self->state;
	enum status st = batch_give(self, b->every.stack.part.e, b->every.stack.part.n, out, e);

	batch_collect_reset(&b->every.stack);
	return st;
}

static enum status
batch_open(struct op_inst *self, struct err *e)
{
	struct batch *b = self->state;

	(void)e;
	b->every.give = batch_give_stack;
	return ST_OK;
}

static enum status
batch_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct batch_every *b = self->state;
	struct batch_collect *stack = &b->stack;
	uint32_t size = (uint32_t)b->n, i = 0;
	enum status st = ST_OK;

	while (st == ST_OK && i < in->n) {
		if (!stack->part.n && in->n - i >= size) {
			st = batch_give(self, in->e + i, size, out, e);
			i += size;
			continue;
		}
		for (; i < in->n && stack->part.n < size; i++) {
			run_keep(&stack->part, in->e[i]);
			stack->bytes += in->e[i].len;
		}
		if (self->ctx->element_max && stack->bytes > self->ctx->element_max) {
			batch_collect_reset(stack);
			st = batch_too_large(self, e);
		} else if (stack->part.n == size) {
			st = batch_give_stack(self, out, e);
		}
	}
	return st;
}

const struct op_desc op_batch = {
	.name = "batch",
	.brief = "groups every N elements into one",
	.doc = "N records become one record whose fields are lists; where a record lacks a "
	       "field that another one has, the list has null. N tensors of one dtype and "
	       "shape become a tensor with a new first axis. N values of any other kind "
	       "become a list; with as=tensor numbers and bools become a tensor with one "
	       "axis. The last batch may be smaller.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = batch_params,
	.state_size = sizeof(struct batch),
	.typing = batch_typing,
	.cardinality = batch_every_cardinality,
	.groups = batch_every_groups,
	.open = batch_open,
	.feed = batch_feed,
	.finish = batch_every_finish,
	.close = batch_every_close,
	.save = batch_every_save,
	.restore = batch_every_restore,
	.example = "range 5 | map {id: x, even: x % 2 == 0} | batch 2",
	.output = "{\"id\":[0,1],\"even\":[true,false]}\n{\"id\":[2,3],\"even\":[true,false]}\n"
		  "{\"id\":[4],\"even\":[true]}\n",
};
