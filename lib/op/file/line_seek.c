/* SPDX-License-Identifier: MIT */
#include "op/file/line_seek.h"

#include <string.h>

#include "expr/needle.h"
#include "value/mp.h"

enum {
	SEEK_BYTES = 2 * 1024 * 1024, /* passed through at most before whoever pulls gets his turn */
	SEEK_EMPTY = 128 * 1024, /* less where each line, which may be empty, has a text made for it */
	SEEK_RARE = 3,  /* seeking pays if there are so many lines for each that holds a needle */
	SEEK_REST = 15  /* else as many runs are made line by line before the next attempt */
};

struct line_seek {
	const struct needles *needles;
	uint8_t delim;
	uint64_t lines;                   /* lines before the place at hand, in this run */
	size_t given;                     /* bytes of the elements */
	bool sure;                        /* a line that holds a needle matches */
};

/* The number of lines in [p, end), of which the last may be without its end. */
static uint64_t
seek_lines(const struct line_seek *k, const uint8_t *p, const uint8_t *end)
{
	return p == end ? 0 : needle_count(p, end, k->delim) + (end[-1] != k->delim);
}

static void
seek_give(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	size_t n = (size_t)(end - p);

	run_done(out, mp_put_text(run_room(out, MP_HEAD_MAX + n), p, (uint32_t)n), (uint32_t)k->lines);
	k->lines++;
	k->given += n;
}

/* The end of a piece of whole lines that begin in [p, limit), of about `most` bytes, or NULL: not even the first line
 * is whole. The first `searched` bytes hold no line end. */
static const uint8_t *
seek_piece(const struct file_source *s, const uint8_t *p, const uint8_t *limit, const uint8_t *end, size_t most,
	   size_t searched)
{
	const uint8_t *stop = (size_t)(limit - p) > most ? p + most : limit, *last = NULL;

	if (searched < (size_t)(stop - p))
		last = memrchr(p + searched, s->delim, (size_t)(stop - p) - searched);
	else
		stop = p + searched;
	if (!last)
		last = memchr(stop, s->delim, (size_t)(end - stop));
	return last ? last + 1 : s->eof ? end : NULL;
}

/* Passes through a piece; gives the place where it stopped: the end, unless the run is full. */
static const uint8_t *
seek_through(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	while (p < end && out->n < RUN_USUAL && k->given < RUN_BYTES) {
		const uint8_t *hit = needles_next(k->needles, p, end, k->delim, &k->lines);

		if (!hit) {
			k->lines += end[-1] != k->delim;
			return end;
		}
		const uint8_t *before = memrchr(p, k->delim, (size_t)(hit - p));
		const uint8_t *line = before ? before + 1 : p;
		const uint8_t *stop = memchr(hit, k->delim, (size_t)(end - hit));

		if (k->needles->starts && hit != line)
			k->lines++;
		else
			seek_give(k, line, stop ? stop : end, out);
		p = stop ? stop + 1 : end;
	}
	return p;
}

/* Gives an empty text for each line of a piece. */
static const uint8_t *
seek_number(struct line_seek *k, const uint8_t *p, const uint8_t *end, struct run *out)
{
	static const uint8_t empty[] = { 0xa0 };

	uint64_t n = seek_lines(k, p, end);

	while (out->cap - out->n < n)
		run_more(out);
	for (uint64_t i = 0; i < n; i++)
		out->e[out->n + i] = (struct elem){ empty, NULL, sizeof empty, (uint32_t)(k->lines + i) };
	out->n += (uint32_t)n;
	k->lines += n;
	return end;
}

/* Gives the last one of the lines in [start, p), all of which were passed over. */
static void
seek_give_last(struct line_seek *k, const uint8_t *start, const uint8_t *p, struct run *out)
{
	const uint8_t *stop = p[-1] == k->delim ? p - 1 : p;
	const uint8_t *before = memrchr(start, k->delim, (size_t)(stop - start));

	k->lines--;
	seek_give(k, before ? before + 1 : start, stop, out);
}

/* Whether the filter would keep each line that holds a needle. One with the delimiter in it can lie across lines. */
static bool
seek_sure(const struct needles *k, uint8_t delim)
{
	bool sure = k && (k->all || k->starts);

	for (size_t i = 0; sure && i < k->n; i++)
		sure = !memchr(k->v[i].s, delim, k->v[i].n);
	return sure;
}

/* Whether lines may be passed over now: nobody looks at them, and none in the window is too long. */
static bool
seek_may(const struct op_inst *self, struct file_source *s)
{
	const struct op_ctx *ctx = self->ctx;
	size_t max = file_source_element_max(self);

	if ((!self->node->needles && !self->node->counted) || s->named || s->to - s->from + MP_HEAD_MAX > max)
		return false;
	if (ctx->tap && atomic_load_explicit(ctx->tap, memory_order_relaxed) == self->node->place)
		return false;
	if (!s->rest)
		return true;
	s->rest--;
	return false;
}

/* Makes a run of what lies in [start, end); gives how many bytes it took: whole lines. */
static size_t
seek_make(struct line_seek *k, struct file_source *s, const uint8_t *start, const uint8_t *end, struct run *out)
{
	const uint8_t *limit = s->end - s->offset < (uint64_t)(end - start) ? start + (s->end - s->offset) : end;
	const uint8_t *p = start;

	while (p < limit && out->n < RUN_USUAL && k->given < RUN_BYTES) {
		const uint8_t *piece = seek_piece(s, p, limit, end, k->needles ? SEEK_BYTES : SEEK_EMPTY,
						  p == start ? s->searched : 0);

		if (!piece)
			break;
		p = k->needles ? seek_through(k, p, piece, out) : seek_number(k, p, piece, out);
	}
	out->sifted = k->sure && out->n;
	if (p != start && !out->n)
		seek_give_last(k, start, p, out);
	return (size_t)(p - start);
}

/* Makes a run of lines where the kernel has them. */
static bool
seek_lent(struct line_seek *k, struct file_source *s, size_t max, struct run *out)
{
	size_t n, here = s->to - s->from;
	const uint8_t *p = file_source_lend(s, max < SEEK_BYTES ? max : SEEK_BYTES, &n);

	if (!p || n <= here || n <= s->searched)
		return false;
	size_t took = seek_make(k, s, p, p + n, out);
	if (took && file_source_take_lent(s, took, k->lines))
		return true;
	out->n = 0;
	out->sifted = false;
	k->lines = k->given = 0;
	return false;
}

bool
line_seek(struct op_inst *self, struct file_source *s, struct run *out)
{
	struct line_seek k = { .needles = self->node->needles, .delim = s->delim };
	size_t max = file_source_element_max(self);

	if (!seek_may(self, s))
		return false;
	s->lends = true;
	k.sure = seek_sure(k.needles, s->delim);
	if (!seek_lent(&k, s, max - MP_HEAD_MAX, out)) {
		const uint8_t *start = s->from < s->to ? s->window->data + s->from : NULL;
		size_t took = start ? seek_make(&k, s, start, start + (s->to - s->from), out) : 0;

		if (!took)
			return false;
		file_source_take(s, took, k.lines);
	}
	if (k.needles && k.lines < (uint64_t)out->n * SEEK_RARE)
		s->rest = SEEK_REST;
	op_stat_add(&self->stats.elements, k.lines - out->n);
	return true;
}
