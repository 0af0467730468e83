/* SPDX-License-Identifier: MIT */
#include "core/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Sums of weights saturate: endless units weigh INT64_MAX each. */
static uint64_t
cut_sum(uint64_t a, uint64_t b)
{
	return a > CUT_ENDLESS - b ? CUT_ENDLESS : a + b;
}

static uint64_t
cut_weight(const struct split *s)
{
	uint64_t w = s->kind == SPLIT_RANGE ? s->count : s->weight;

	if (!w)
		w = s->kind == SPLIT_FILE && !s->whole && s->count ? s->count : 1;
	return w < CUT_ENDLESS / 2 ? w : CUT_ENDLESS;
}

static bool
cut_cuttable(const struct cut *c, const struct split *s)
{
	return !c->whole && s->cuttable && !s->whole && s->kind != SPLIT_ALL && s->count > 1;
}

static int
cut_compare(const void *a, const void *b)
{
	const struct split *x = a, *y = b;
	/* the place of a unit that grows is the same when its end is known */
	uint64_t wx = x->grows ? CUT_ENDLESS : cut_weight(x), wy = y->grows ? CUT_ENDLESS : cut_weight(y);

	return wx == wy ? 0 : wx > wy ? -1 : 1;
}

/* Largest first, equals in their order. Merge sort: glibc's qsort is one, but
 * nobody promises it; a stable order is part of the position's meaning. */
static void
cut_sort(struct split *v, struct split *tmp, size_t n)
{
	size_t half = n / 2, i = 0, k = half, at = 0;

	if (n < 2)
		return;
	cut_sort(v, tmp, half);
	cut_sort(v + half, tmp, n - half);
	while (i < half || k < n)
		if (k == n || (i < half && cut_compare(&v[i], &v[k]) <= 0))
			tmp[at++] = v[i++];
		else
			tmp[at++] = v[k++];
	memcpy(v, tmp, n * sizeof *v);
}

static void
cut_weigh(struct cut *c)
{
	c->rest_weight = 0;
	for (uint64_t i = c->pos.unit + 1; i < c->units.n; i++)
		c->rest_weight = cut_sum(c->rest_weight, cut_weight(&c->units.v[i]));
}

static void
cut_weigh_pass(struct cut *c)
{
	c->pass_weight = 0;
	for (size_t i = 0; i < c->units.n; i++)
		c->pass_weight = cut_sum(c->pass_weight, cut_weight(&c->units.v[i]));
}

/* Whether nothing is in any unit: then one pass is as good as many. */
static bool
cut_empty(const struct cut *c)
{
	for (size_t i = 0; i < c->units.n; i++)
		if (c->units.v[i].kind != SPLIT_RANGE || c->units.v[i].count)
			return false;
	return c->units.n > 0;
}

void
cut_open(struct cut *c, struct split_list *units, uint64_t times, bool ordered)
{
	*c = (struct cut){ .units = *units, .ordered = ordered };
	*units = (struct split_list){ 0 };
	c->times = !times || times > CUT_ENDLESS ? CUT_ENDLESS : times;
	if (!ordered && c->units.n > 1) {
		struct split *tmp = mem_array(c->units.n, sizeof *tmp);

		cut_sort(c->units.v, tmp, c->units.n);
		mem_free(tmp);
	}
	for (size_t i = 0; i < c->units.n; i++) {
		struct split *s = &c->units.v[i];

		if (s->kind == SPLIT_RANGE && s->start > CUT_ENDLESS - s->count)
			s->count = CUT_ENDLESS - s->start; /* the largest count there is */
	}
	cut_weigh_pass(c);
	cut_weigh(c);
	if (cut_empty(c))
		c->times = 1;
}

void
cut_clear(struct cut *c)
{
	split_list_clear(&c->units);
	*c = (struct cut){ 0 };
}

void
cut_seek(struct cut *c, struct cut_pos pos)
{
	c->pos = pos;
	if (c->pos.unit >= c->units.n && c->units.n)
		c->pos.unit = c->units.n - 1;
	for (c->leaf = c->pos.unit; c->leaf && c->units.v[c->leaf - 1].leaf == c->units.v[c->pos.unit].leaf;)
		c->leaf--;
	cut_weigh(c);
}

uint64_t
cut_passes(const struct cut *c)
{
	const struct split *order = c->units.n == 1 && c->units.v[0].of ? &c->units.v[0] : NULL;
	uint64_t n = c->dealt > c->pos.pass ? c->dealt : c->pos.pass;

	if (order && n)
		return CUT_ENDLESS; /* all passes are in its one unit */
	return order ? c->pos.at / order->of : n;
}

uint64_t
cut_place(const struct cut *c)
{
	return c->pos.unit - c->leaf;
}

uint64_t
cut_least(const struct cut *c)
{
	uint64_t least = 0, n = 0;

	for (size_t i = 0; i < c->units.n; i++) {
		n++;
		if (i + 1 < c->units.n && c->units.v[i + 1].leaf == c->units.v[i].leaf)
			continue;
		least = least && least < n ? least : n;
		n = 0;
	}
	return least;
}

bool
cut_left(const struct cut *c)
{
	return c->units.n && c->pos.pass < c->times;
}

static bool
cut_endless(const struct cut *c)
{
	return c->times == CUT_ENDLESS || c->pass_weight >= CUT_ENDLESS;
}

void
cut_uncut(struct split_list *units)
{
	for (size_t i = 0; i < units->n; i++)
		if (units->v[i].grows)
			units->v[i] = (struct split){ .kind = SPLIT_ALL, .leaf = units->v[i].leaf, .times = units->v[i].times };
}

/* The least that a split of the unit should weigh. An order's elements may be images or
 * whole files: few of them are as much as many numbers. */
static uint64_t
cut_min(const struct cut *c, const struct split *unit)
{
	uint64_t each = unit->of ? unit->weight / unit->of : 0, usual = CUT_MIN_ELEMENTS;

	if (c->small || unit->grows)
		return 1;
	if (unit->kind == SPLIT_FILE)
		usual = CUT_MIN_BYTES;
	else if (each > CUT_MIN_BYTES / CUT_MIN_ELEMENTS)
		usual = each < CUT_MIN_BYTES ? CUT_MIN_BYTES / each : 1;
	return c->min && c->min < usual ? c->min : usual;
}

uint64_t
cut_rest(const struct cut *c)
{
	uint64_t passes, left;

	if (!cut_left(c))
		return 0;
	if (cut_endless(c))
		return CUT_ENDLESS;
	passes = c->times - c->pos.pass - (c->pos.times ? c->pos.times : 1);
	if (__builtin_mul_overflow(passes, c->pass_weight, &left))
		left = CUT_ENDLESS;
	return cut_sum(left, cut_sum(c->rest_weight, cut_weight(&c->units.v[c->pos.unit]) - c->pos.at));
}

/* The weight that the next split should have. */
static uint64_t
cut_size(const struct cut *c, const struct split *unit, uint32_t streams)
{
	bool bytes = unit->kind == SPLIT_FILE;
	uint64_t min = cut_min(c, unit), size;

	if (unit->grows)
		return 1;
	if (cut_endless(c)) {
		size = c->small ? 4 : bytes ? CUT_MAX_BYTES / 4 : CUT_ENDLESS_ELEMENTS;
	} else {
		size = cut_rest(c) / 4 / (streams ? streams : 1);
	}
	if (size < min)
		size = min;
	if (bytes && size > CUT_MAX_BYTES)
		size = CUT_MAX_BYTES;
	return c->max && size > c->max ? c->max : size;
}

/* Passes smaller than a split are dealt out several at once. In source order
 * only a single unit can be: else the second unit would come too late. */
static void
cut_decide(struct cut *c, uint32_t streams)
{
	uint64_t left = c->times - c->pos.pass, n = 1;

	if (!c->ordered || c->units.n == 1)
		n = cut_size(c, &c->units.v[0], streams) / (c->pass_weight ? c->pass_weight : 1);
	c->pos.times = n < 1 ? 1 : n > left ? left : n;
}

static void
cut_step(struct cut *c)
{
	c->pos.at = 0;
	if (++c->pos.unit < c->units.n && c->units.v[c->pos.unit].leaf != c->units.v[c->leaf].leaf)
		c->leaf = c->pos.unit;
	if (c->pos.unit == c->units.n) {
		c->pos.unit = c->leaf = 0;
		c->dealt = cut_sum(c->dealt, c->pos.times);
		if (c->times != CUT_ENDLESS)
			c->pos.pass += c->pos.times;
		c->pos.times = 0;
		cut_weigh(c);
	} else if (cut_endless(c)) {
		cut_weigh(c); /* saturated sums cannot be subtracted from */
	} else {
		c->rest_weight -= cut_weight(&c->units.v[c->pos.unit]);
	}
}

/* Goes on behind a unit whose end is known now, if that lies behind us. */
static void
cut_past(struct cut *c)
{
	if (cut_empty(c))
		c->pos.pass = c->times;
	else if (c->pos.at >= c->units.v[c->pos.unit].count)
		cut_step(c);
}

bool
cut_ends(struct cut *c, uint32_t leaf, uint64_t count)
{
	for (size_t i = 0; i < c->units.n; i++) {
		struct split *u = &c->units.v[i];

		if (!u->grows || u->leaf != leaf || u->count < CUT_ENDLESS)
			continue;
		u->count = u->weight = count;
		cut_weigh_pass(c);
		cut_weigh(c);
		if (cut_left(c) && c->pos.unit == i)
			cut_past(c);
		return true;
	}
	return false;
}

bool
cut_next(struct cut *c, uint32_t streams, struct split *out)
{
	if (!cut_left(c))
		return false;
	if (!c->pos.times)
		cut_decide(c, streams);
	const struct split *u = &c->units.v[c->pos.unit];
	split_copy(out, u);
	out->cuttable = false;
	out->times = (u->times ? u->times : 1) * c->pos.times;
	if (!cut_cuttable(c, u) || c->pos.times > 1) {
		cut_step(c);
		return true;
	}
	uint64_t size = cut_size(c, u, streams), left = u->count - c->pos.at;
	/* A rest smaller than half a split goes with the last one. */
	uint64_t n = left <= size + size / 2 ? left : size;
	out->start = u->start + c->pos.at;
	out->count = n;
	out->weight = n;
	c->pos.at += n;
	if (n == left)
		cut_step(c);
	return true;
}

uint32_t
cut_streams(const struct cut *c, uint32_t most)
{
	uint64_t n = 0;

	if (!cut_left(c))
		return 0;
	if (cut_endless(c))
		return most;
	for (uint64_t i = c->pos.unit; i < c->units.n && n < most; i++) {
		const struct split *u = &c->units.v[i];
		uint64_t min = cut_min(c, u);
		uint64_t w = i == c->pos.unit && c->pos.at ? u->count - c->pos.at : cut_weight(u);
		uint64_t k = cut_cuttable(c, u) ? w / min : 1;

		n += k ? k : 1;
	}
	uint64_t passes = c->times - c->pos.pass - (c->pos.times ? c->pos.times : 1);
	if (passes) {
		/* Passes are worth streams of their own as far as their weight goes. */
		uint64_t per = c->pass_weight / cut_min(c, &c->units.v[0]), more;

		if (__builtin_mul_overflow(passes, per ? per : 1, &more) || more > most)
			more = most;
		if (!per && !c->small)
			more = cut_sum(c->pass_weight, 0) > CUT_ENDLESS / passes ? most :
				passes * c->pass_weight / cut_min(c, &c->units.v[0]);
		n += more;
	}
	return n < most ? (uint32_t)n : most;
}
