/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/kit/expr_run.h"
#include "op/whole/stats.h"
#include "value/mp.h"

/* Puts what one tally has: bytes, or with by= a list of the key and bytes. A part has so few numbers that they
 * can be saved. */
static void
stats_put_part(struct stats *s, uint32_t at, struct run *out)
{
	struct buf saved = { 0 };
	const uint8_t *key = NULL;
	uint32_t len = 0;

	if (stats_keyed(s))
		key = row_keys_at(&s->keys, at, &len);
	tally_save(&s->v[at], &saved);
	uint8_t *p = run_room(out, 2 * MP_HEAD_MAX + len + saved.len);
	if (key) {
		p = mp_put_list_head(p, 2);
		memcpy(p, key, len);
		p += len;
	}
	p = mp_put_bytes_head(p, (uint32_t)saved.len);
	memcpy(p, saved.data, saved.len);
	run_done(out, p + saved.len, 0);
	buf_clear(&saved);
}

/* Gives what is known of the part that has ended: whether that was all. */
static bool
stats_give_part(struct op_inst *self, struct run *out)
{
	struct stats *s = self->state;
	uint32_t n = stats_count(s);

	for (; s->at < n && out->n < RUN_USUAL && !run_full(out); s->at++)
		if (s->v[s->at].count || s->v[s->at].nulls)
			stats_put_part(s, s->at, out);
	s->part.giving = s->at < n;
	if (s->part.giving)
		return false;
	partial_next(&s->part, n);
	stats_empty(s);
	return true;
}

static enum status
stats_take(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t end, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	for (; *i < end && (st == ST_OK || st == ST_SKIP); ++*i)
		st = stats_one(self, in, *i, out, e);
	return st == ST_SKIP ? ST_OK : st;
}

static uint32_t
stats_part_keys(const struct op_inst *self)
{
	const struct stats *s = self->state;

	return stats_keyed(s) ? stats_count(s) : 0;
}

enum status
stats_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	static const struct partial_how how = { stats_take, stats_give_part, stats_part_keys };

	return partial_feed(self, &how, &((struct stats *)self->state)->part, in, out, e);
}

enum status
stats_make_end(struct op_inst *self, struct run *out)
{
	return stats_give_part(self, out) ? ST_END : ST_OK;
}

/* Adds what a worker knows of one key, or of all elements: false: these bytes are something else. */
static bool
stats_join_one(struct stats *s, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *key = NULL;
	size_t len = 0;
	struct tally from = { 0 };
	struct mp m;

	p = mp_head(p, end, &m);
	if (stats_keyed(s)) {
		if (!p || m.kind != MP_LIST || m.n != 2)
			return false;
		key = p;
		p = mp_skip(p, end);
		len = p ? (size_t)(p - key) : 0;
		p = p ? mp_head(p, end, &m) : NULL;
	}
	if (p != end || m.kind != MP_BYTES)
		return false;
	struct state_in in = state_begin(m.p, m.n);
	tally_restore(&from, &in);
	bool right = state_ended(&in);
	if (right) {
		uint32_t at = key ? stats_find(s, key, len) : 0;
		struct tally *to = &s->v[at];
		size_t before = tally_size(to);

		tally_join(to, &from);
		s->bytes += tally_size(to) - before;
	}
	tally_clear(&from);
	return right;
}

enum status
stats_join(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	for (uint32_t i = 0; i < in->n; i++) {
		if (stats_join_one(self->state, in->e[i].p, in->e[i].p + in->e[i].len))
			continue;
		enum status st = expr_run_wrong(self, in, i, out, e, "this is not an answer of the same operator with partial=make");
		if (st != ST_OK && st != ST_SKIP)
			return st;
	}
	out->n = 0;
	return stats_fits(self, e);
}
