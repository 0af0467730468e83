/* SPDX-License-Identifier: MIT */
#include "op/kit/ints.h"

#include "value/mp.h"

uint64_t
ints_count(int64_t start, int64_t stop, int64_t step)
{
	/* Subtracts as unsigned, where no difference of two int64 overflows. */
	if (step > 0)
		return start >= stop ? 0 : ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
	return start <= stop ? 0 : ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
}

/* Finds the first number after v, in the direction of step, whose encoding may have another
 * length; false: all that follow have the length of v's. */
static bool
ints_border(int64_t v, int64_t step, int64_t *border)
{
	static const int64_t up[] = { -2147483648, -32768, -128, -32, 128, 256, 65536, 4294967296 };

	if (step > 0) {
		for (size_t i = 0; i < 8; i++)
			if (v < up[i]) {
				*border = up[i];
				return true;
			}
	} else if (step < 0) {
		for (size_t i = 8; i-- > 0;)
			if (v >= up[i]) {
				*border = up[i] - 1;
				return true;
			}
	}
	return false;
}

/* One loop per length: without branches in it, the compiler can unroll it. */
#define INTS_LOOP(SIZE, PUT)                                                             \
	for (uint32_t i = 0; i < n; i++, u += (uint64_t)step, p += (SIZE)) {              \
		PUT;                                                                      \
		e[i] = (struct elem){ p, b, (SIZE), pos };                                \
		pos += every;                                                             \
	}

static uint8_t *
ints_same_length(struct elem *e, struct block *b, uint8_t *p, int64_t first, int64_t step,
		 uint32_t n, uint32_t pos, uint32_t every)
{
	uint64_t u = (uint64_t)first;
	uint8_t head[MP_INT_MAX];
	size_t size = (size_t)(mp_put_int(head, first) - head);

	switch (size) {
	case 1:
		INTS_LOOP(1, *p = (uint8_t)u)
		break;
	case 2:
		INTS_LOOP(2, (p[0] = head[0], p[1] = (uint8_t)u))
		break;
	case 3:
		INTS_LOOP(3, (p[0] = head[0], mp_put_u16(p + 1, (uint16_t)u)))
		break;
	case 5:
		INTS_LOOP(5, (p[0] = head[0], mp_put_u32(p + 1, (uint32_t)u)))
		break;
	default:
		INTS_LOOP(9, (p[0] = head[0], mp_put_u64(p + 1, u)))
	}
	return p;
}

/* The pos of each is `every` more than that of the one before. */
static void
ints_series(struct run *out, int64_t first, int64_t step, uint32_t n, uint32_t pos, uint32_t every)
{
	uint8_t *p = run_room(out, (size_t)n * MP_INT_MAX);
	struct block *b = out->arena;

	while (out->cap - out->n < n)
		run_more(out);
	while (n) {
		int64_t border;
		uint32_t some = n;

		if (ints_border(first, step, &border)) {
			uint64_t count = ints_count(first, border, step);
			if (count < some)
				some = (uint32_t)count;
		}
		p = ints_same_length(out->e + out->n, b, p, first, step, some, pos, every);
		out->n += some;
		pos += some * every;
		n -= some;
		first = ints_at(first, step, some);
	}
	b->len = (size_t)(p - b->data);
}

void
ints_fill(struct run *out, int64_t first, int64_t step, uint32_t n, uint32_t pos)
{
	ints_series(out, first, step, n, pos, 1);
}

void
ints_every(struct run *out, int64_t start, int64_t step, uint64_t first, uint64_t stride, uint32_t *n)
{
	int64_t far = 0;

	/* Where one step is further than an int64 tells, one number at a time. */
	if (stride > INT64_MAX || __builtin_mul_overflow(step, (int64_t)stride, &far)) {
		*n = 1;
		far = 0;
	}
	ints_series(out, ints_at(start, step, first), far, *n, (uint32_t)first, (uint32_t)stride);
}

void
ints_pick(struct run *out, int64_t start, int64_t step, const uint64_t *index, uint32_t n)
{
	uint8_t *p = run_room(out, (size_t)n * MP_INT_MAX);
	struct block *b = out->arena;

	while (out->cap - out->n < n)
		run_more(out);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *end = mp_put_int(p, ints_at(start, step, index[i]));

		out->e[out->n++] = (struct elem){ p, b, (uint32_t)(end - p), (uint32_t)index[i] };
		p = end;
	}
	b->len = (size_t)(p - b->data);
}

enum status
ints_walk_open(struct op_inst *self, struct ints_walk *w, uint64_t count, struct err *e)
{
	const struct split *s = self->split;

	w->at = 0;
	w->end = count;
	if (!s || s->kind == SPLIT_ALL)
		return ST_OK;
	if (s->kind != SPLIT_RANGE || s->start > count)
		return err_set(e, ST_PROTO, "%s has no such split: it has %llu elements",
			       self->desc->name, (unsigned long long)count);
	w->at = s->start;
	if (s->count < count - s->start)
		w->end = s->start + s->count;
	return ST_OK;
}

static void
ints_walk_save(const void *field, struct buf *out)
{
	state_put_u64(out, ((const struct ints_walk *)field)->at);
}

static void
ints_walk_restore(void *field, struct state_in *in, uint64_t max)
{
	struct ints_walk *w = field;
	uint64_t at = state_get_u64(in, w->end < max ? w->end : max);

	if (at < w->at)
		in->bad = true;
	else
		w->at = at;
}

const struct state_kind ints_walk_state = { ints_walk_save, ints_walk_restore };

void
ints_list(struct split_list *out, uint64_t count)
{
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .times = 1 };

	s.count = s.weight = count < INT64_MAX ? count : INT64_MAX;
	split_list_add(out, &s);
}
