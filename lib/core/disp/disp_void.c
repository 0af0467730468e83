/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_void.h"

static bool
void_looks(const struct iteration *it)
{
	return it->period && it->by_split && !it->reached && !it->short_;
}

void
void_reached(struct disp *d, struct iteration *it, bool reached)
{
	if (!reached || it->reached)
		return;
	it->reached = true;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

/* Marks the splits that belong to the first repetition, when the last of them is dealt out. */
static bool
void_mark(struct disp *d, struct iteration *it)
{
	if (it->marked)
		return true;
	if (cut_passes(&it->cut) < it->period)
		return false;
	for (size_t i = 0; i < it->n_streams; i++) {
		it->streams[i]->mark = it->streams[i]->n_splits;
		disp_dirty(d, &it->streams[i]->dirty, DIRTY_ROW);
	}
	it->void_at = 0;
	it->marked = true;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	return true;
}

/* Takes back what a worker neither had nor has to read for the first repetition. What one had may have given
 * elements that readers have. Rows go from the last one on, so that none is missing before another. */
static void
void_take_back(struct disp *d, struct stream *s)
{
	uint64_t keep = s->mark > s->sent ? s->mark : s->sent;

	for (; s->n_splits > keep; s->n_splits--)
		if (s->saved_splits == s->n_splits)
			disp_delete(d, ROW_SPLIT, 3, s->iter->id, s->index, --s->saved_splits);
}

void
void_sent(struct stream *s, uint64_t n)
{
	s->sent = n > s->sent ? n : s->sent;
}

void
void_check(struct disp *d, struct iteration *it)
{
	if (!void_looks(it) || !void_mark(d, it))
		return;
	for (; it->void_at < it->n_streams; it->void_at++) {
		const struct stream *s = it->streams[it->void_at];

		if (!s->ended && s->through < s->mark)
			return;
	}
	it->short_ = true;
	for (size_t i = 0; i < it->n_streams; i++)
		void_take_back(d, it->streams[i]);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

void
void_told(struct disp *d, struct stream *s, uint64_t split, bool reached)
{
	void_reached(d, s->iter, reached);
	if (split > s->through)
		s->through = split < s->n_splits ? split : s->n_splits;
	void_check(d, s->iter);
}

void
void_again(struct stream *s)
{
	s->through = s->n_points ? s->points[0].split : 0;
	if (s->through < s->mark && s->iter->void_at > s->index)
		s->iter->void_at = s->index;
}
