/* SPDX-License-Identifier: MIT */
#include "op/batch/batch_collect.h"

#include "base/mem.h"
#include "value/pack.h"

/* The type of a batch of x. A padded batch of tensors is one tensor, whose lengths are not
 * known before the run. */
static const struct type *
batch_collect_list(struct op_typing *t, const struct type *x, bool padded)
{
	int64_t dims[TYPE_DIMS_MAX];

	if (padded && (x->kind == TYPE_ANY || (x->kind == TYPE_TENSOR && x->nullable)))
		return type_scalar(TYPE_ANY); /* the elements may be tensors */
	if (!padded || x->kind != TYPE_TENSOR)
		return type_list(t->arena, x);
	for (int d = 0; d < TYPE_DIMS_MAX; d++)
		dims[d] = -1;
	return x->n_dims < 0 || x->n_dims + 1 > TYPE_DIMS_MAX
		       ? type_tensor(t->arena, x->dtype, dims, -1)
		       : type_tensor(t->arena, x->dtype, dims, x->n_dims + 1);
}

const struct type *
batch_collect_typing(struct op_typing *t, const struct type *x, bool padded)
{
	struct type_field *fields;
	const struct type *type;

	if (x->kind == TYPE_ANY || x->nullable)
		return type_scalar(TYPE_ANY); /* the elements may or may not be records */
	if (x->kind != TYPE_RECORD)
		return batch_collect_list(t, x, padded);
	fields = mem_array(x->n_fields + 1, sizeof *fields);
	for (size_t k = 0; k < x->n_fields; k++)
		fields[k] = (struct type_field){ x->fields[k].name,
						 batch_collect_list(t, x->fields[k].type, padded) };
	type = type_record(t->arena, fields, x->n_fields, x->open);
	mem_free(fields);
	return type;
}

void
batch_collect_clear(struct batch_collect *s)
{
	run_clear(&s->part);
	s->bytes = 0;
}

void
batch_collect_reset(struct batch_collect *s)
{
	run_reset(&s->part);
	s->bytes = 0;
}

static size_t
batch_collect_max(const struct op_inst *self)
{
	return self->ctx->element_max ? self->ctx->element_max : UINT32_MAX - 16;
}

static enum status
batch_collect_too_large(struct op_inst *self, struct err *e)
{
	err_set(e, ST_DATA, "a batch is larger than the limit of %zu bytes for an element",
		batch_collect_max(self));
	err_help(e, "make batches smaller");
	return op_source_fault(self, NULL, 0, e);
}

enum status
batch_collect_add(struct op_inst *self, struct batch_collect *s, struct elem x, struct err *e)
{
	if (s->bytes + x.len > batch_collect_max(self)) {
		batch_collect_reset(s);
		return batch_collect_too_large(self, e);
	}
	s->bytes += x.len;
	run_keep(&s->part, x);
	return ST_OK;
}

static const struct type *
batch_collect_field_type(const struct type *record, const uint8_t *key, const uint8_t *end)
{
	struct mp m;

	mp_head(key, end, &m);
	for (size_t k = 0; record && record->kind == TYPE_RECORD && k < record->n_fields; k++)
		if (strlen(record->fields[k].name) == m.n && !memcmp(record->fields[k].name, m.p, m.n))
			return record->fields[k].type;
	return NULL;
}

/* Pads a list, or every list of a record of lists. */
static enum status
batch_collect_pad(const struct padding *pad, const struct elem *x, bool record, size_t max,
		  struct run *out, struct err *e)
{
	const uint8_t *end = x->p + x->len, *p, *value;
	struct buf b = { 0 };
	enum status st = ST_OK;
	struct mp m;

	if (!record) {
		st = padding_list(pad, pad->type, x->p, end, max, &b, e);
	} else {
		mp_head(x->p, end, &m);
		uint8_t *w = buf_room(&b, MP_HEAD_MAX);
		b.len = (size_t)(mp_put_record_head(w, m.n) - w);
		p = m.p;
		for (uint32_t k = 0; st == ST_OK && k < m.n; k++) {
			const struct type *type = batch_collect_field_type(pad->type, p, end);

			value = mp_skip(p, end);
			buf_put(&b, p, (size_t)(value - p));
			p = mp_skip(value, end);
			st = padding_list(pad, type, value, p, max, &b, e);
		}
	}
	if (st == ST_OK) {
		uint8_t *w = run_room(out, b.len);

		memcpy(w, b.data, b.len);
		run_done(out, w + b.len, x->pos);
	}
	buf_clear(&b);
	return st;
}

/* How tensors in records are put together. In a padded batch they come here as lists: padding
 * makes tensors of them afterwards. */
static enum batch_rows_as
batch_collect_as(const struct batch_collect *s)
{
	return s->tensors ? BATCH_ROWS_AUTO : BATCH_ROWS_LIST;
}

static enum status
batch_collect_give_rows(struct batch_collect *s, size_t max, struct run *to, struct err *e)
{
	const struct elem *x = s->part.e;
	uint32_t n = s->part.n;
	struct batch_rows r;
	uint8_t *w;

	batch_rows_begin(&r, batch_collect_as(s));
	for (uint32_t i = 0; i < n; i++)
		batch_rows_look(&r, x[i].p, x[i].len);
	size_t size = batch_rows_size(&r, max, e);
	if (!size)
		return ST_DATA;
	w = batch_rows_head(&r, run_room(to, size));
	if (!r.tensor)
		w = pack_copy(w, x, n);
	for (uint32_t i = 0; r.tensor && w && i < n; i++)
		w = batch_rows_put(&r, w, x[i].p, x[i].len, e);
	if (!w)
		return ST_DATA;
	run_done(to, w, x[n - 1].pos);
	return ST_OK;
}

enum status
batch_collect_give(struct op_inst *self, struct batch_collect *s, struct batch_columns *c,
		   const struct padding *pad, struct run *out, struct err *e)
{
	struct run flat = { 0 }, *to = pad ? &flat : out;
	const struct elem *x = s->part.e;
	uint32_t i = 0, n = s->part.n;
	enum status st = ST_OK;

	while (i < n && batch_columns_is_record(&x[i]))
		i++;
	if (i == n) {
		st = batch_columns_build(c, x, n, batch_collect_as(s), batch_collect_max(self), to,
					 e);
	} else {
		st = batch_collect_give_rows(s, batch_collect_max(self), to, e);
	}
	if (st == ST_OK && pad)
		st = batch_collect_pad(pad, &flat.e[0], i == n, batch_collect_max(self), out, e);
	run_clear(&flat);
	batch_collect_reset(s);
	return st == ST_OK ? st : op_source_fault(self, NULL, 0, e);
}

void
batch_collect_save(const struct batch_collect *s, struct buf *out)
{
	state_put_elems(out, s->part.e, s->part.n);
}

void
batch_collect_restore(struct batch_collect *s, struct state_in *in)
{
	batch_collect_reset(s);
	state_get_elems(in, &s->part);
	s->bytes = run_bytes(&s->part);
}
