/* SPDX-License-Identifier: MIT
 * stats: gives one record at the end, or one for each key of by=: number, sum,
 * mean, least, greatest, standard deviation and quantiles.
 */
#include <string.h>

#include "base/mem.h"
#include "op/whole/stats.h"

enum {
	STATS_LARGE = 256 * 1024,             /* bytes of numbers that take more than buckets do */
	STATS_STATE_MAX = 256 * 1024 * 1024
};

static const struct param stats_params[] = {
	{ "of", PARAM_EXPR, offsetof(struct stats, of), .flags = PARAM_OPTIONAL,
	  .help = "the number to use; by default the element itself" },
	{ "by", PARAM_EXPR, offsetof(struct stats, by), .flags = PARAM_OPTIONAL | PARAM_KEY_ONLY,
	  .help = "a key: give one record for each, with the key in the field `key`" },
	{ "quantiles", PARAM_VALUE, offsetof(struct stats, quantiles), "[0.5, 0.9, 0.99]",
	  .flags = PARAM_KEY_ONLY, .help = "which quantiles to give, from 0 to 1" },
	PARTIAL_ROW(struct stats),
	{ "mem", PARAM_SIZE, offsetof(struct stats, mem), "64M", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes of memory for the numbers, 8 for each; beyond that quantiles "
		  "are approximate" },
	{ 0 }
};

static enum status
stats_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct stats *s = n->params;
	struct tally_quantiles q;
	struct type_field fields[1 + TALLY_FIELDS + TALLY_QUANTILES + 2] = { { "key", NULL } };
	enum status st = expr_value_typing_number(n, t, &s->of, true, e);
	bool keyed = s->by.ast != NULL;

	if (st == ST_OK && keyed)
		st = expr_value_typing(n, t, &s->by, &fields[0].type, e);
	if (st != ST_OK)
		return st;
	if (!tally_quantiles_read(s->quantiles.data, s->quantiles.len, &q)) {
		err_set(e, ST_DATA, "quantiles= is not a list of numbers from 0 to 1");
		err_help(e, "quantiles=[0.25, 0.5, 0.75]");
		return ST_DATA;
	}
	const struct type *of = expr_type(s->of.code);
	bool some = keyed && type_fits(of, type_scalar(TYPE_FLOAT)) && of->kind != TYPE_ANY;
	size_t count = tally_types(t->arena, &q, some, fields + 1);
	*type = s->partial == PARTIAL_MAKE ? type_scalar(TYPE_ANY) :
					     type_record(t->arena, fields + !keyed, count + keyed, false);
	return ST_OK;
}

static enum op_scope
stats_scope(const struct op_node *n)
{
	return partial_scope(((const struct stats *)n->params)->partial);
}

static bool
stats_partwise(const struct op_node *n, const char **remedy)
{
	(void)remedy;
	return ((const struct stats *)n->params)->partial == PARTIAL_MAKE;
}

static bool
stats_combines(const struct op_node *n, const char **why)
{
	(void)n, (void)why;
	return true;
}

static int64_t
stats_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct stats *s = n->params;

	return in[0] == INT64_MAX ? in[0] : s->by.ast || s->partial == PARTIAL_MAKE ? -1 : 1;
}

/* Makes the tally with this number, which is the next one. */
static void
stats_new(struct stats *s, uint32_t at)
{
	s->v = mem_grow(s->v, &s->cap, (size_t)at + 1, sizeof *s->v);
	s->v[at] = (struct tally){ 0 };
	s->v[at].numbers.most = stats_keyed(s) || s->partial == PARTIAL_MAKE ? SIZE_MAX : (size_t)s->mem / sizeof(double);
}

static enum status
stats_open(struct op_inst *self, struct err *e)
{
	struct stats *s = self->state;

	(void)e;
	s->q = mem_zalloc(sizeof *s->q);
	tally_quantiles_read(s->quantiles.data, s->quantiles.len, s->q); /* typing has checked them */
	expr_value_open(self, &s->value, &s->of);
	if (stats_keyed(s))
		expr_value_open(self, &s->key, &s->by);
	else
		stats_new(s, 0);
	return ST_OK;
}

uint32_t
stats_find(struct stats *s, const uint8_t *p, size_t len)
{
	bool fresh;
	uint32_t at = row_keys_add(&s->keys, p, len, &fresh);

	if (fresh) {
		stats_new(s, at);
		s->part.weight += len;
	}
	return at;
}

static void
stats_add(struct stats *s, uint32_t at, const struct mp *m)
{
	struct tally *t = &s->v[at];
	size_t before = tally_size(t);

	tally_add(t, m, s->q->n > 0);
	s->bytes += tally_size(t) - before;
	s->part.weight += s->q->n ? sizeof(double) : 0;
}

enum status
stats_one(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	struct stats *s = self->state;
	uint32_t at = 0;
	const uint8_t *p;
	size_t len;
	struct mp m;
	enum status st = expr_value_get(self, &s->value, in, i, out, &p, &len, e);

	if (st != ST_OK)
		return st;
	mp_head(p, p + len, &m);
	if (m.kind != MP_INT && m.kind != MP_FLOAT && m.kind != MP_NIL) {
		st = expr_run_wrong(self, in, i, out, e, "%s", expr_value_not_number(m.kind));
		return st == ST_OK ? ST_SKIP : st;
	}
	if (stats_keyed(s)) {
		st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);
		if (st != ST_OK)
			return st;
		at = stats_find(s, p, len);
	}
	if (m.kind == MP_NIL)
		s->v[at].nulls++;
	else
		stats_add(s, at, &m);
	return ST_OK;
}

static size_t
stats_size(const struct stats *s)
{
	return row_keys_size(&s->keys) + row_keys_count(&s->keys) * sizeof *s->v + s->bytes;
}

/* Makes the quantiles of the larger groups approximate, which takes less memory. */
static void
stats_squeeze(struct stats *s)
{
	for (uint32_t k = 0; k < row_keys_count(&s->keys); k++) {
		struct digest *d = &s->v[k].numbers;
		size_t before = digest_size(d);

		if (d->n * sizeof *d->v >= STATS_LARGE)
			digest_squeeze(d);
		s->bytes -= before - digest_size(d);
	}
}

/* Whether a quantile is approximate must not depend on when the numbers of a key came: if one is, those
 * of all keys with many numbers are. */
static void
stats_squeeze_rest(struct stats *s)
{
	for (uint32_t k = 0; stats_keyed(s) && k < stats_count(s); k++)
		if (!digest_exact(&s->v[k].numbers)) {
			stats_squeeze(s);
			return;
		}
}

static enum status
stats_too_large(struct op_inst *self, struct err *e)
{
	struct stats *s = self->state;

	err_set(e, ST_DATA, "%u keys and their numbers take more than mem=%lld bytes",
		row_keys_count(&s->keys), (long long)s->mem);
	err_help(e, "make mem= larger%s", s->q->n ? ", or leave the quantiles out: quantiles=[]" : "");
	return op_blame(self->node, e);
}

enum status
stats_fits(struct op_inst *self, struct err *e)
{
	struct stats *s = self->state;

	if (!stats_keyed(s) || stats_size(s) <= (size_t)s->mem)
		return ST_OK;
	stats_squeeze(s);
	return stats_size(s) <= (size_t)s->mem ? ST_OK : stats_too_large(self, e);
}

static enum status
stats_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	const struct stats *s = self->state;

	if (s->partial == PARTIAL_MAKE)
		return stats_make(self, in, out, e);
	if (s->partial == PARTIAL_JOIN)
		return stats_join(self, in, out, e);
	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = stats_one(self, in, i, out, e);

		if (st != ST_OK && st != ST_SKIP)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	return stats_fits(self, e);
}

static void
stats_give(struct stats *s, uint32_t at, struct run *out)
{
	const uint8_t *key = NULL;
	uint32_t len = 0;

	if (stats_keyed(s))
		key = row_keys_at(&s->keys, at, &len);
	uint8_t *p = run_room(out, 2 * MP_HEAD_MAX + len + tally_room(s->q));
	p = mp_put_record_head(p, (key != NULL) + tally_fields(s->q, &s->more));
	if (key) {
		p = mp_put_text(p, "key", 3);
		memcpy(p, key, len);
		p += len;
	}
	run_done(out, tally_put(&s->v[at], s->q, &s->more, p), 0);
}

/* Finds out which fields the records need: they all have the same, as a table wants it. */
static void
stats_look(struct stats *s)
{
	s->more = (struct tally_more){ 0 };
	for (uint32_t k = 0; k < stats_count(s); k++)
		tally_look(&s->v[k], s->q, &s->more);
	s->looked = true;
}

static enum status
stats_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct stats *s = self->state;
	uint32_t n = stats_count(s);

	(void)e;
	if (s->partial == PARTIAL_MAKE)
		return stats_make_end(self, out);
	if (!s->at)
		stats_squeeze_rest(s);
	if (!s->looked)
		stats_look(s);
	for (; s->at < n && out->n < RUN_USUAL && !run_full(out); s->at++)
		stats_give(s, s->at, out);
	return s->at >= n ? ST_END : ST_OK;
}

void
stats_empty(struct stats *s)
{
	for (uint32_t k = 0; s->v && k < stats_count(s); k++)
		tally_clear(&s->v[k]);
	row_keys_clear(&s->keys);
	s->bytes = 0;
	s->at = 0;
	s->looked = false;
}

static void
stats_close(struct op_inst *self)
{
	struct stats *s = self->state;

	stats_empty(s);
	mem_free(s->v);
	mem_free(s->q);
	expr_value_close(&s->value);
	expr_value_close(&s->key);
}

static void
stats_save(struct op_inst *self, struct buf *out)
{
	struct stats *s = self->state;
	uint32_t n = stats_count(s);

	if (stats_size(s) > STATS_STATE_MAX) {
		self->unsaved = true;
		return;
	}
	expr_value_save(&s->value, out);
	expr_value_save(&s->key, out);
	partial_save(&s->part, out);
	state_put_u64(out, s->at);
	state_put_u64(out, n);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t len;
		const uint8_t *p = stats_keyed(s) ? row_keys_at(&s->keys, k, &len) : NULL;

		if (p)
			state_put_bytes(out, p, len);
		if (!tally_save(&s->v[k], out))
			self->unsaved = true;
	}
}

static enum status
stats_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct stats *s = self->state;
	struct state_in in = state_begin(p, n);
	bool keyed = stats_keyed(s);
	size_t len;

	stats_empty(s);
	expr_value_restore(&s->value, &in);
	expr_value_restore(&s->key, &in);
	struct partial_end part;
	partial_restore(&part, &in);
	uint64_t at = state_get_u64(&in, KEY_TABLE_MAX), count = state_get_u64(&in, keyed ? KEY_TABLE_MAX : 1);
	in.bad = in.bad || (!keyed && count != 1);
	for (uint64_t k = 0; k < count && !in.bad; k++) {
		if (keyed && !state_get_value(&in, &p, &len))
			break;
		/* a key twice would take the numbers of the first one */
		if (keyed && stats_find(s, p, len) != k) {
			in.bad = true;
			break;
		}
		tally_restore(&s->v[k], &in);
		s->bytes += tally_size(&s->v[k]) - sizeof s->v[k];
	}
	s->part = part;
	s->at = at <= count ? (uint32_t)at : (uint32_t)count;
	return state_finish(self, &in, e);
}

const struct op_desc op_stats = {
	.name = "stats",
	.brief = "computes count, sum, mean, min, max, standard deviation and quantiles",
	.doc = "Gives one record, after the last element; with by= one for each key, in the order in which the "
	       "keys first appeared. Sums, means and standard deviations are rounded once, so they do not "
	       "depend on the order of the elements; the sum of integers is exact as long as it fits into 64 "
	       "bits. stddev is the standard deviation of the population, not of a sample. Nulls are left out, "
	       "as in SQL, and counted in a field `nulls`, which all records have if there is a null anywhere. "
	       "Quantiles are exact as long as mem= holds all numbers: 8 million. Beyond that they are "
	       "approximate: each lies within 0.1 % of the exact one, and the record says so: approx 0.001. "
	       "With by=, if one record has this field, all have it; in exact ones it is 0. For other results "
	       "for each key use group_by.\n\nDirectly after `distribute`, the workers sum up their parts of "
	       "the elements and the reader combines these, with the same result; the numbers themselves are "
	       "sent only for quantiles. With on_error= and with an expression that uses i, rand() or now(), "
	       "the reader does all of it; --explain says so.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.scope_of = stats_scope,
	.partwise = stats_partwise,
	.combines = stats_combines,
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
