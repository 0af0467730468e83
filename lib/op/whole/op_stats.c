/* SPDX-License-Identifier: MIT
 * stats: gives one record at the end: number, sum, mean, least, greatest,
 * standard deviation and quantiles.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/whole/digest.h"
#include "op/kit/expr_value.h"
#include "value/mp.h"

enum { STATS_QUANTILES = 100, STATS_NAME = 40 };
#define STATS_APPROX "approx" /* error bound of the quantiles; absent when they are exact */

struct stats {
	struct op_expr of;
	struct buf quantiles;
	int64_t mem;
	struct expr_value key;
	uint64_t count;
	__int128 sum, least, greatest; /* exact sums, while all values are ints */
	bool is_float;
	double mean, spread; /* Welford's algorithm: spread is the sum of squares */
	double float_sum;
	struct digest digest;
	uint64_t nans;
};

static const struct param stats_params[] = {
	{ "of", PARAM_EXPR, offsetof(struct stats, of), .flags = PARAM_OPTIONAL,
	  .help = "the number to use; by default the element itself" },
	{ "quantiles", PARAM_VALUE, offsetof(struct stats, quantiles), "[0.5, 0.9, 0.99]",
	  .flags = PARAM_KEY_ONLY, .help = "which quantiles to give, from 0 to 1" },
	{ "mem", PARAM_SIZE, offsetof(struct stats, mem), "64M", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes of memory for the numbers, 8 for each; beyond that quantiles "
		  "are approximate" },
	{ 0 }
};

/* Reads the quantiles asked for; gives their number. */
static enum status
stats_quantiles(const struct stats *s, double *v, uint32_t *n, struct err *e)
{
	const uint8_t *p = s->quantiles.data, *end = buf_end(&s->quantiles);
	struct mp m;

	*n = 0;
	if (!s->quantiles.len)
		return ST_OK;
	mp_head(p, end, &m);
	uint32_t count = m.kind == MP_LIST ? m.n : STATS_QUANTILES + 1;
	p = m.p;
	for (; *n < count && count <= STATS_QUANTILES; ++*n) {
		p = mp_head(p, end, &m);
		v[*n] = m.kind == MP_FLOAT ? m.f : m.kind == MP_INT && m.u <= 1 ? (double)m.i : -1;
		if (!(v[*n] >= 0 && v[*n] <= 1))
			break;
	}
	if (*n == count)
		return ST_OK;
	err_set(e, ST_DATA, "quantiles= is not a list of numbers from 0 to 1");
	err_help(e, "quantiles=[0.25, 0.5, 0.75]");
	return ST_DATA;
}

/* Names a quantile: p50, p99, p99.9. */
static void
stats_name(double q, char out[STATS_NAME])
{
	snprintf(out, STATS_NAME, "p%.12g", q * 100);
}

static enum status
stats_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct stats *s = n->params;
	static const char *const names[] = { "count", "sum", "mean", "min", "max", "stddev" };
	struct type_field fields[7 + STATS_QUANTILES];
	char text[STATS_QUANTILES][STATS_NAME];
	double q[STATS_QUANTILES];
	uint32_t count;
	enum status st = expr_value_typing_number(n, t, &s->of, e);

	if (st == ST_OK)
		st = stats_quantiles(s, q, &count, e);
	if (st != ST_OK)
		return st;
	for (uint32_t k = 0; k < 6; k++)
		fields[k] = (struct type_field){ names[k], type_scalar(k == 2 || k == 5 ? TYPE_FLOAT : TYPE_ANY) };
	fields[0].type = type_scalar(TYPE_INT);
	for (uint32_t k = 0; k < count; k++) {
		stats_name(q[k], text[k]);
		fields[6 + k] = (struct type_field){ text[k], type_scalar(TYPE_FLOAT) };
	}
	fields[6 + count] = (struct type_field){ STATS_APPROX, type_scalar(TYPE_FLOAT) };
	for (uint32_t k = 2; k < 6 + count + 1; k++) /* without elements there are no such values */
		fields[k].type = type_nullable(t->arena, fields[k].type);
	*type = type_record(t->arena, fields, 6 + count + (count > 0), false);
	return ST_OK;
}

static int64_t
stats_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == INT64_MAX ? in[0] : 1;
}

static enum status
stats_open(struct op_inst *self, struct err *e)
{
	struct stats *s = self->state;
	double q[STATS_QUANTILES];
	uint32_t n = 0;

	/* otherwise only the extremes are asked for */
	if (stats_quantiles(s, q, &n, e) == ST_OK && n)
		s->digest.most = (size_t)s->mem / sizeof(double);
	expr_value_open(self, &s->key, &s->of);
	return ST_OK;
}

static void
stats_add(struct stats *s, const struct mp *m)
{
	__int128 whole = m->kind == MP_FLOAT ? 0 : m->unsigned_big ? (__int128)m->u : m->i;
	double x = m->kind == MP_FLOAT ? m->f : (double)whole, step;

	s->is_float = s->is_float || m->kind == MP_FLOAT;
	s->sum += whole;
	if (!s->count || whole < s->least)
		s->least = whole;
	if (!s->count || whole > s->greatest)
		s->greatest = whole;
	s->count++;
	s->float_sum += x;
	if (isnan(x)) {
		s->nans++;
		return;
	}
	step = x - s->mean;
	s->mean += step / (double)(s->count - s->nans);
	s->spread += step * (x - s->mean);
	digest_add(&s->digest, x);
}

static enum status
stats_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct stats *s = self->state;
	const uint8_t *p;
	size_t len;
	struct mp m;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);

		if (st == ST_SKIP)
			continue;
		if (st == ST_OK) {
			mp_head(p, p + len, &m);
			if (m.kind == MP_INT || m.kind == MP_FLOAT)
				stats_add(s, &m);
			else
				st = expr_run_wrong(self, in, i, out, e, "%s", expr_value_not_number(m.kind));
		}
		if (st != ST_OK)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	return ST_OK;
}

static uint8_t *
stats_put(uint8_t *p, const char *name, bool known, double v)
{
	p = mp_put_text(p, name, (uint32_t)strlen(name));
	return known ? mp_put_float(p, v) : mp_put_nil(p);
}

/* Puts a whole number; one that does not fit 64 bits becomes a float. */
static uint8_t *
stats_put_whole(uint8_t *p, const char *name, __int128 v)
{
	p = mp_put_text(p, name, (uint32_t)strlen(name));
	if (v < INT64_MIN || v > UINT64_MAX)
		return mp_put_float(p, (double)v);
	return v < 0 ? mp_put_int(p, (int64_t)v) : mp_put_uint(p, (uint64_t)v);
}

static enum status
stats_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct stats *s = self->state;
	double q[STATS_QUANTILES];
	uint32_t n;
	enum status st = stats_quantiles(s, q, &n, e);
	double count = (double)(s->count - s->nans);
	bool any = s->count > 0, some = count > 0, near = n && !digest_exact(&s->digest);

	if (st != ST_OK)
		return st;
	uint8_t *p = run_room(out, MP_HEAD_MAX + (7 + (size_t)n) * (STATS_NAME + 2 * MP_FLOAT_MAX));
	p = mp_put_record_head(p, 6 + n + near);
	p = mp_put_uint(mp_put_text(p, "count", 5), s->count);
	p = s->is_float ? stats_put(p, "sum", true, s->float_sum) : stats_put_whole(p, "sum", s->sum);
	p = stats_put(p, "mean", any, (s->is_float ? s->float_sum : (double)s->sum) / (double)s->count);
	if (s->is_float || !any) {
		p = stats_put(p, "min", some, s->digest.least);
		p = stats_put(p, "max", some, s->digest.greatest);
	} else {
		p = stats_put_whole(p, "min", s->least);
		p = stats_put_whole(p, "max", s->greatest);
	}
	p = stats_put(p, "stddev", some, s->nans ? NAN : count > 0 ? sqrt(s->spread / count) : 0);
	for (uint32_t k = 0; k < n; k++) {
		char name[STATS_NAME];

		stats_name(q[k], name);
		p = stats_put(p, name, some, digest_quantile(&s->digest, q[k]));
	}
	if (near)
		p = stats_put(p, STATS_APPROX, true, DIGEST_ERROR);
	run_done(out, p, 0);
	return ST_END;
}

static void
stats_close(struct op_inst *self)
{
	struct stats *s = self->state;

	digest_clear(&s->digest);
	expr_value_close(&s->key);
}

static void
stats_put_wide(struct buf *out, __int128 v)
{
	state_put_u64(out, (uint64_t)v);
	state_put_u64(out, (uint64_t)(v >> 64));
}

static __int128
stats_get_wide(struct state_in *in)
{
	uint64_t low = state_get_u64(in, UINT64_MAX);

	return (__int128)((unsigned __int128)state_get_u64(in, UINT64_MAX) << 64 | low);
}

static void
stats_save(struct op_inst *self, struct buf *out)
{
	struct stats *s = self->state;
	uint64_t bits[3];

	memcpy(&bits[0], &s->mean, 8);
	memcpy(&bits[1], &s->spread, 8);
	memcpy(&bits[2], &s->float_sum, 8);
	expr_value_save(&s->key, out);
	state_put_u64(out, s->count);
	state_put_u64(out, s->nans);
	stats_put_wide(out, s->sum);
	stats_put_wide(out, s->least);
	stats_put_wide(out, s->greatest);
	state_put_u64(out, s->is_float);
	for (int k = 0; k < 3; k++)
		state_put_u64(out, bits[k]);
	if (!digest_save(&s->digest, out))
		self->unsaved = true;
}

static enum status
stats_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct stats *s = self->state;
	struct state_in in = state_begin(p, n);
	uint64_t bits[3];

	expr_value_restore(&s->key, &in);
	s->count = state_get_u64(&in, UINT64_MAX);
	s->nans = state_get_u64(&in, UINT64_MAX);
	s->sum = stats_get_wide(&in);
	s->least = stats_get_wide(&in);
	s->greatest = stats_get_wide(&in);
	s->is_float = state_get_u64(&in, 1);
	for (int k = 0; k < 3; k++)
		bits[k] = state_get_u64(&in, UINT64_MAX);
	memcpy(&s->mean, &bits[0], 8);
	memcpy(&s->spread, &bits[1], 8);
	memcpy(&s->float_sum, &bits[2], 8);
	digest_restore(&s->digest, &in);
	return state_finish(self, &in, e);
}

const struct op_desc op_stats = {
	.name = "stats",
	.brief = "computes count, sum, mean, min, max, standard deviation and quantiles",
	.doc = "Gives one record, after the last element. The sum of integers is exact as long as "
	       "it fits into 64 bits. stddev is the standard deviation of the population, not of a "
	       "sample. Quantiles are exact as long as mem= holds all numbers: 8 million. Beyond "
	       "that they are approximate: each lies within 0.1 % of the exact one, and the record "
	       "says so: approx 0.001.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_BY_EXPR,
	.params = stats_params,
	.state_size = sizeof(struct stats),
	.typing = stats_typing,
	.cardinality = stats_cardinality,
	.open = stats_open,
	.feed = stats_feed,
	.finish = stats_finish,
	.close = stats_close,
	.save = stats_save,
	.restore = stats_restore,
	.example = "range 5 | stats quantiles=[0.5]",
	.output = "{\"count\":5,\"sum\":10,\"mean\":2.0,\"min\":0,\"max\":4,"
		  "\"stddev\":1.4142135623730951,\"p50\":2.0}\n",
};
