/* SPDX-License-Identifier: MIT */
#include "op/batch/coo.h"

#include <string.h>

#include "value/mp.h"

enum { COO_HEADS = 64 /* size of the names and heads of the record */ };

struct coo {
	uint32_t values, columns;
	size_t bytes; /* size of the values */
};

const struct type *
coo_typing(struct op_typing *t, const struct type *x)
{
	const struct type *ints = type_list(t->arena, type_scalar(TYPE_INT));
	const struct type *item = x->kind == TYPE_LIST ? x->item : type_scalar(TYPE_ANY);
	struct type_field fields[] = { { "indices", type_list(t->arena, ints) },
				       { "values", type_list(t->arena, item) },
				       { "shape", ints } };

	return type_record(t->arena, fields, 3, false);
}

static bool
coo_is_null(const uint8_t *p)
{
	return *p == 0xc0;
}

static enum status
coo_measure(struct coo *c, const struct elem *x, uint32_t n, struct err *e)
{
	struct mp m;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p, *next, *end = x[i].p + x[i].len;
		mp_head(x[i].p, end, &m);
		if (m.kind != MP_LIST) {
			err_set(e, ST_DATA, "as=coo takes lists");
			err_help(e, "map gives the list of a record: map .name");
			return ST_DATA;
		}
		if (m.n > c->columns)
			c->columns = m.n;
		p = m.p;
		for (uint32_t k = 0; k < m.n; k++, p = next) {
			next = mp_skip(p, end);
			c->values += !coo_is_null(p);
			c->bytes += coo_is_null(p) ? 0 : (size_t)(next - p);
		}
	}
	return ST_OK;
}

static uint8_t *
coo_indices(uint8_t *w, const struct elem *x, uint32_t n)
{
	struct mp m;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *end = x[i].p + x[i].len;
		mp_head(x[i].p, end, &m);
		const uint8_t *p = m.p;
		for (uint32_t k = 0; k < m.n; k++, p = mp_skip(p, end))
			if (!coo_is_null(p))
				w = mp_put_uint(mp_put_uint(mp_put_list_head(w, 2), i), k);
	}
	return w;
}

static uint8_t *
coo_values(uint8_t *w, const struct elem *x, uint32_t n)
{
	struct mp m;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *next, *end = x[i].p + x[i].len;
		mp_head(x[i].p, end, &m);
		const uint8_t *p = m.p;
		for (uint32_t k = 0; k < m.n; k++, p = next) {
			next = mp_skip(p, end);
			if (coo_is_null(p))
				continue;
			memcpy(w, p, (size_t)(next - p));
			w += next - p;
		}
	}
	return w;
}

enum status
coo_build(const struct elem *x, uint32_t n, size_t max, struct run *out, struct err *e)
{
	struct coo c = { 0 };
	enum status st = coo_measure(&c, x, n, e);

	if (st)
		return st;
	size_t size = COO_HEADS + c.bytes + (size_t)c.values * (1 + 2 * MP_INT_MAX);
	if (size > max) {
		err_set(e, ST_DATA, "a batch is larger than the limit of %zu bytes for an element", max);
		err_help(e, "make batches smaller");
		return ST_DATA;
	}
	uint8_t *w = run_room(out, size);
	w = mp_put_text(mp_put_record_head(w, 3), "indices", 7);
	w = coo_indices(mp_put_list_head(w, c.values), x, n);
	w = mp_put_text(w, "values", 6);
	w = coo_values(mp_put_list_head(w, c.values), x, n);
	w = mp_put_text(w, "shape", 5);
	w = mp_put_uint(mp_put_uint(mp_put_list_head(w, 2), n), c.columns);
	run_done(out, w, x[n - 1].pos);
	return ST_OK;
}
