/* SPDX-License-Identifier: MIT
 *
 * Elements that are written and not acknowledged before a position behind them is safe, though their memory is
 * given back at once: whoever comes in the place of this reader, with that position, gets all that follows.
 *
 *	reader_written -> kept in order -> reader_position_at -> reader_saved -> acknowledgements
 */
#include "base/mem.h"
#include "core/read/reader_inner.h"

void
reader_lag_add(struct reader *r, const struct reader_run *run)
{
	struct reader_run *last = r->n_runs > r->first_run ? &r->runs[r->n_runs - 1] : NULL;

	if (last && last->stream == run->stream && last->start + last->n == run->start && last->left &&
	    last->split == run->split) {
		last->n += run->n;
		last->left = run->left;
		return;
	}
	if (r->first_run > 64 && r->first_run > r->n_runs / 2) {
		for (size_t i = r->first_run; i < r->n_runs; i++)
			r->runs[i - r->first_run] = r->runs[i];
		r->n_runs -= r->first_run;
		r->first_run = 0;
	}
	r->runs = mem_grow(r->runs, &r->cap_runs, r->n_runs + 1, sizeof *r->runs);
	r->runs[r->n_runs++] = *run;
}

/* Moves so many of the first elements to those that reader_saved acknowledges. */
static void
reader_lag_take(struct reader *r, uint64_t n)
{
	while (n && r->first_run < r->n_runs) {
		struct reader_run *run = &r->runs[r->first_run];
		uint64_t k = n < run->n ? n : run->n;

		intervals_add(&run->stream->saving, run->start, run->start + k);
		run->start += k;
		run->n -= k;
		n -= k;
		r->lag_taken += k;
		r->lag_at = (struct reader_turn){ run->stream->index, run->left + run->n, run->split };
		r->first_run += !run->n;
	}
}

/* Where the sequence stands after n elements more than those taken; takes out of `had` what comes behind. */
static struct reader_turn
reader_lag_turn(const struct reader *r, uint64_t n, struct intervals *had)
{
	struct reader_turn at = r->lag_at;

	for (size_t i = r->first_run; i < r->n_runs; i++) {
		const struct reader_run *run = &r->runs[i];
		uint64_t k = n < run->n ? n : run->n;

		if (k)
			at = (struct reader_turn){ run->stream->index, run->left + (run->n - k), run->split };
		intervals_sub(&had[run->stream->index], run->start + k, run->start + run->n);
		n -= k;
	}
	return at;
}

/* The begin of the run in which the n-th element lies. */
static uint64_t
reader_lag_before(const struct reader *r, uint64_t n)
{
	uint64_t begin = 0;

	for (size_t i = r->first_run; i < r->n_runs && begin + r->runs[i].n < n; i++)
		begin += r->runs[i].n;
	return begin;
}

uint64_t
reader_position_at(struct reader *r, uint64_t elements, struct buf *out)
{
	uint64_t all = 0, n = elements > r->lag_taken ? elements - r->lag_taken : 0;

	if (!r->lag_begun && r->first_run == r->n_runs)
		r->lag_at = (struct reader_turn){ r->pos_turn, r->pos_left, r->pos_split };
	for (size_t i = r->first_run; i < r->n_runs; i++)
		all += r->runs[i].n;
	n = n < all ? n : all;
	for (bool there = false; !there;) {
		struct intervals *had = reader_position_sets(r);
		struct reader_turn at = reader_lag_turn(r, n, had);

		there = reader_position_put(r, &at, had, out) || !n;
		for (size_t i = 0; i < r->n_streams; i++)
			intervals_clear(&had[i]);
		mem_free(had);
		n = there ? n : reader_lag_before(r, n);
	}
	reader_lag_take(r, n);
	return r->lag_taken;
}

void
reader_release(struct reader *r, int64_t now_ns)
{
	reader_lag_take(r, UINT64_MAX);
	reader_saved(r, now_ns);
}
