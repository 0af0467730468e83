/* SPDX-License-Identifier: MIT
 *
 * Results of cores: kept until all cores have answered a step, cut into rows, padding dropped.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_host_inner.h"
#include "value/mp.h"
#include "value/tensor.h"

/* One column of an answer: a list, whose items follow each other, or a tensor. */
struct answer_rows {
	const uint8_t *key, *p;      /* key: encoded name of the field; NULL: a bare column */
	size_t key_len;
	bool tensor;
	struct tensor t;
	uint64_t n;
};

static bool
answer_rows_of(const uint8_t *p, const uint8_t *end, struct answer_rows *out)
{
	struct mp h;

	mp_head(p, end, &h);
	if (h.kind == MP_LIST) {
		out->p = h.p;
		out->n = h.n;
		return true;
	}
	if (h.kind != MP_EXT || h.ext != MP_EXT_TENSOR || !tensor_read(h.p, h.n, &out->t) || !out->t.n_dims)
		return false;
	out->tensor = true;
	out->n = out->t.dims[0];
	return true;
}

/* The columns of an answer; 0: it has no rows. They are given. */
static size_t
answer_columns(const uint8_t *p, size_t len, struct answer_rows **out)
{
	const uint8_t *end = p + len;
	struct mp h;

	mp_head(p, end, &h);
	size_t n = h.kind == MP_RECORD ? h.n : 1;
	struct answer_rows *v = *out = mem_array(n ? n : 1, sizeof *v);
	if (h.kind != MP_RECORD)
		return answer_rows_of(p, end, &v[0]) ? 1 : 0;
	p = h.p;
	for (size_t i = 0; i < n; i++) {
		v[i].key = p;
		p = mp_skip(p, end);
		v[i].key_len = (size_t)(p - v[i].key);
		if (!answer_rows_of(p, end, &v[i]) || v[i].n != v[0].n)
			return 0;
		p = mp_skip(p, end);
	}
	return n;
}

/* The next row of a column. */
static void
answer_put(struct answer_rows *r, uint64_t row, const uint8_t *end, struct buf *out)
{
	if (!r->tensor) {
		const uint8_t *next = mp_skip(r->p, end);

		buf_put(out, r->p, (size_t)(next - r->p));
		r->p = next;
		return;
	}
	size_t size = r->t.size / r->n;
	const uint8_t *data = r->t.data + row * size;
	struct tensor one = r->t;
	uint8_t *p = buf_room(out, TENSOR_HEAD_MAX + size);
	one.n_dims--;
	memmove(one.dims, one.dims + 1, (size_t)one.n_dims * sizeof *one.dims);
	if (!one.n_dims) {
		out->len += (size_t)(dtype_put(one.dtype, data, p) - p);
		return;
	}
	uint8_t *to = tensor_put_head(p, &one);
	memcpy(to, data, size);
	out->len += (size_t)(to + size - p);
}

static void
answer_split(struct answer_rows *v, size_t n, uint64_t rows, const uint8_t *end, struct buf *out)
{
	for (uint64_t i = 0; i < rows; i++) {
		if (v[0].key) {
			uint8_t *p = buf_room(out, MP_HEAD_MAX);
			out->len += (size_t)(mp_put_record_head(p, (uint32_t)n) - p);
		}
		for (size_t k = 0; k < n; k++) {
			buf_put(out, v[k].key, v[k].key_len);
			answer_put(&v[k], i, end, out);
		}
	}
}

void
feed_answer_want(struct feed_seat *s, const struct feed_batch *b)
{
	s->given = mem_grow(s->given, &s->cap_given, s->n_given + 1, sizeof *s->given);
	s->given[s->n_given++] = (struct feed_given){ b->step, b->rows, b->valid };
}

/* Cuts an answer into the rows of the step. */
static enum status
answer_cut(const struct feed_given *g, uint32_t core, const uint8_t *p, size_t len, struct feed_answer *a,
	   struct err *e)
{
	struct answer_rows *v;
	size_t n = answer_columns(p, len, &v);
	enum status st = ST_OK;

	if (!n) {
		err_set(e, ST_DATA, "the result of core %u for step %llu has no rows", core, (unsigned long long)g->step);
		err_help(e, "--results rows takes a list or an array with one value a row, or a record of "
			"them; --results step takes anything");
		st = ST_DATA;
	} else if (v[0].n != g->rows && v[0].n != g->valid) {
		err_set(e, ST_DATA, "the result of core %u for step %llu has %llu row%s, and the step has %llu", core,
			(unsigned long long)g->step, (unsigned long long)v[0].n, str_s(v[0].n), (unsigned long long)g->rows);
		st = ST_DATA;
	} else {
		answer_split(v, n, g->valid, p + len, &a->value);
		a->rows = g->valid;
	}
	mem_free(v);
	return st;
}

enum status
feed_answer_take(struct feed_host *h, uint32_t core, uint64_t step, const uint8_t *p, size_t n, struct err *e)
{
	struct feed_seat *s = &h->seat[core];
	struct feed_answer a = { .step = step, .rows = 1 };

	if (!s->n_given || s->given[0].step != step)
		return err_set(e, ST_DATA, "core %u gave a result for step %llu, which it has not", core,
			       (unsigned long long)step);
	if (!mp_check(p, n))
		return err_set(e, ST_PROTO, "core %u gave a result that is not a MessagePack value", core);
	if (h->c->machine.results == FEED_RESULTS_STEP)
		buf_put(&a.value, p, n);
	else if (answer_cut(&s->given[0], core, p, n, &a, e) != ST_OK) {
		buf_clear(&a.value);
		return e->kind;
	}
	memmove(s->given, s->given + 1, --s->n_given * sizeof *s->given);
	s->answer = mem_grow(s->answer, &s->cap_answer, s->n_answer + 1, sizeof *s->answer);
	s->answer[s->n_answer++] = a;
	return ST_OK;
}

enum status
feed_answer_pass(struct feed_host *h, uint64_t step, struct err *e)
{
	enum status st = ST_OK;

	for (uint32_t i = 0; i < h->c->machine.cores; i++) {
		struct feed_seat *s = &h->seat[i];
		struct feed_answer a = s->answer[0];

		memmove(s->answer, s->answer + 1, --s->n_answer * sizeof *s->answer);
		if (st == ST_OK && a.rows)
			st = h->c->results(h->c->arg, step, i, a.value.data, a.value.len, a.rows, e);
		buf_clear(&a.value);
	}
	return st;
}
