/* SPDX-License-Identifier: MIT
 *
 * Streams that kill their workers. An element may bring down whoever makes it: a program
 * that it runs, its size, a fault of ours. Given to the next worker and the next it would
 * take all of them, and with them the jobs of others. But workers die of other things, too, and then no
 * stream may be failed for it, however often it happens. So a stream comes under suspicion first:
 *
 *	lost while it was being made, and no further than at any loss before  ->  one more
 *	the same, but elements before that place have been acknowledged       ->  half of one more
 *	lost before it was heard that it was begun                            ->  half of one more
 *	further                                                               ->  begins anew
 *
 * Half of one, for a worker may die before it says anything, but may as well have had the
 * stream among a thousand that wait for a slot; and while readers take what was made long ago, it
 * runs into the same element again and again.
 *
 * With one less than DISP_LOST of them it is made carefully from then on, and so is one that gets a little further
 * each time, after DISP_LOST. Then its worker says where it is before each run of elements (disp_step.h), and it is
 * known what was being made when it was lost:
 *
 *	nothing, for readers or other streams held it up  ->  innocent of that
 *	nothing, for it was told to wait there            ->  innocent of all so far
 *	an element that another worker has got past       ->  innocent of all so far
 *	DISP_LOST times the same element                  ->  its iteration fails
 *	unknown: threads of its chain are ahead of it,
 *	or nothing was heard                              ->  counts as above; with BLAME_BLIND times DISP_LOST of
 *	                                                      them its iteration fails
 *
 * Once a good deal is made beyond that place it need not be careful any more; more each time that this was too early.
 *
 * Streams that are lost along with a guilty one look the same. So a suspect gets a worker with no other one on it,
 * for a minute, or until that worker can do nothing before its readers go on: they may wait for another suspect.
 *
 * Workers that left in order, and those that had the stream for long, do not count: what
 * stands still there because nobody reads is not what killed them.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

#define BLAME_LONG_NS (600 * 1000000000ll)
#define BLAME_TRIAL_NS (60 * 1000000000ll) /* a suspect keeps others off its worker so long */
#define BLAME_AGAIN_NS 1000000000ll /* a stream waiting for a worker of its own looks again after */

#define BLAME_CALM_NS (60 * 1000000000ll) /* a stream that runs for so long begins anew */

enum { BLAME_BEGUN = 2, BLAME_GIVEN = 1, BLAME_BLIND = 4, BLAME_TRIES = 8 };

static uint64_t
blame_lost(const struct disp *d)
{
	return d->o.lost_max ? d->o.lost_max : DISP_LOST;
}

/* Grows whenever the stream gets further than it ever was. */
static uint64_t
blame_progress(const struct stream *s)
{
	uint64_t point = s->n_points ? s->points[s->n_points - 1].offset : 0, end = views_end(s);

	return (point > end ? point : end) + s->renewed + s->n_splits + s->failed;
}

bool
blame_suspect(const struct disp *d, const struct stream *s)
{
	return s->blame >= BLAME_BEGUN * (blame_lost(d) - 1);
}

bool
blame_careful(const struct disp *d, const struct stream *s)
{
	return blame_suspect(d, s) || s->care.losses >= blame_lost(d);
}

char *
blame_words(const struct stream *s, const struct peer *w)
{
	const struct iteration *it = s->iter;
	uint64_t at = s->n_points ? s->points[s->n_points - 1].split : 0;
	char *split = it->by_split ? disp_split_describe(s, at) : mem_strdup("the whole dataset");
	char *place = s->care.places ? mem_printf(" than element %llu", (unsigned long long)s->care.place) : mem_strdup("");
	char *text = mem_printf("stream %u of dataset %s has cost %u workers, and got no further%s: "
				"each was lost while making it; the last one was %s, in %s", s->index, it->job->dataset->id,
				s->lost > s->care.places ? s->lost : s->care.places, place, w->name ? w->name : "unknown", split);

	mem_free(split);
	mem_free(place);
	return text;
}

/* Counts the loss of its worker. True: that was one too many. */
static bool
blame_stream(struct disp *d, struct stream *s)
{
	uint64_t progress = blame_progress(s), count = views_count(s);
	bool full = s->began && (s->step.careful || count <= s->lost_count);

	if (s->told_end || s->blamed == s->gen || d->now - s->given > BLAME_LONG_NS)
		return false;
	s->blamed = s->gen;
	if (!s->step.waited)
		s->care.lived = d->now - s->given;
	if (d->now - s->given > BLAME_CALM_NS)
		s->care.losses = s->care.tries = 0;
	s->care.losses++;
	s->care.tries += s->step.free && s->care.tries < BLAME_TRIES;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	if (progress > s->lost_at) {
		s->lost = s->blame = 0;
		s->lost_at = progress;
	}
	s->lost++;
	s->lost_count = count;
	if (step_knows(s))
		return step_lost(s, blame_lost(d));
	s->blame += full ? BLAME_BEGUN : BLAME_GIVEN;
	return s->blame >= BLAME_BLIND * BLAME_BEGUN * blame_lost(d);
}

struct stream *
blame_worker(struct disp *d, const struct peer *w)
{
	for (struct list_node *n = w->streams.next; !w->leaves && !w->draining && n != &w->streams; n = n->next) {
		struct stream *s = LIST_OF(n, struct stream, by_worker);

		if (blame_stream(d, s))
			return s;
	}
	return NULL;
}

/* Its worker has only waited for readers, for longer than a word from it is on its way: before they
 * go on, it gets no further, and dies of nothing. */
static bool
blame_is_held_up(const struct disp *d, const struct peer *w, const struct stream *s)
{
	int64_t since = w->held_up > s->given ? w->held_up : s->given;

	return w->held_up && w->beat - since >= 2 * (int64_t)d->o.beat_ms * 1000000;
}

static bool
blame_on_trial(const struct disp *d, const struct peer *w)
{
	for (struct list_node *n = w->streams.next; n != &w->streams; n = n->next) {
		const struct stream *s = LIST_OF(n, struct stream, by_worker);

		if (blame_suspect(d, s) && blame_progress(s) <= s->lost_at && d->now - s->given < BLAME_TRIAL_NS &&
		    !s->step.held && !s->step.free && !blame_is_held_up(d, w, s))
			return true;
	}
	return false;
}

struct peer *
blame_pick_worker(struct disp *d, const struct iteration *it)
{
	struct peer *best = NULL;

	for (struct list_node *n = d->workers.next; n != &d->workers; n = n->next) {
		struct peer *w = LIST_OF(n, struct peer, workers);

		if (!w->tagged || !place_fits(d, it, w) || blame_on_trial(d, w))
			continue;
		if (!best || (uint64_t)w->n_streams * best->slots < (uint64_t)best->n_streams * w->slots)
			best = w;
	}
	if (!best && d->trial_due == INT64_MAX)
		d->trial_due = d->now + BLAME_AGAIN_NS;
	return best;
}
