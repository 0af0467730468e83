/* SPDX-License-Identifier: MIT
 *
 * Streams that kill their workers. An element may bring down whoever makes it: a program
 * that it runs, its size, a fault of ours. Given to the next worker and the next it would
 * take all of them, and with them the jobs of others. So losses are counted:
 *
 *	lost while it was being made, and no further than at any loss before  ->  one more
 *	the same, but elements before that place have been acknowledged       ->  half of one more
 *	lost before it was heard that it was begun                            ->  half of one more
 *	further                                                               ->  begins anew
 *	DISP_LOST of them                                                     ->  its iteration fails
 *
 * Half of one, for a worker may die before it says anything, but may as well have had the
 * stream among a thousand that wait for a slot; and while readers take what was made long ago, it
 * runs into the same element again and again.
 *
 * What a worker made last dies with it. So a stream may seem to get a little further with each of fifty
 * workers, though all of them die of one element. After BLAME_CARE losses in a row it is therefore
 * made carefully: before each run its worker says where it is, and waits for the answer
 * (STEP). Then it is known what was being made:
 *
 *	nothing, for readers or other streams held it up                      ->  does not count
 *	a run long before the furthest one at which it was lost               ->  does not count
 *	one not long before that, for runs need not begin where they did      ->  half of one more
 *	that one                                                              ->  one more
 *	a run behind that                                                     ->  begins anew
 *
 * Streams that are lost along with such a one look the same. So one that needs but one
 * more loss to be convicted gets a worker with no other such stream on it, for a minute, or until
 * that worker can do nothing before its readers go on: they may wait for another suspect.
 *
 * Workers that left in order, and those that had the stream for long, do not count: what
 * stands still there because nobody reads is not what killed them.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

#define BLAME_LONG_NS (600 * 1000000000ll)
#define BLAME_TRIAL_NS (60 * 1000000000ll) /* a suspect keeps others off its worker so long */
#define BLAME_AGAIN_NS 1000000000ll /* a stream waiting for a worker of its own looks again after */

enum { BLAME_BEGUN = 2, BLAME_GIVEN = 1 };
enum {
	BLAME_CARE = 2,   /* losses in a row after which a stream is made carefully */
	BLAME_RUN = 4096  /* elements: a run has fewer */
};

static uint64_t
blame_most(const struct disp *d)
{
	return (uint64_t)BLAME_BEGUN * (d->o.lost_max ? d->o.lost_max : DISP_LOST);
}

/* Grows whenever the stream gets further than it ever was. */
static uint64_t
blame_progress(const struct stream *s)
{
	uint64_t point = s->n_points ? s->points[s->n_points - 1].offset : 0, end = views_end(s);
	uint64_t most = point > end ? point : end;

	return (s->step.at > most ? s->step.at : most) + s->renewed + s->n_splits + s->failed;
}

bool
blame_careful(const struct stream *s)
{
	return s->losses >= BLAME_CARE;
}

/* Care makes small elements slower. So at first it ends early, and only if the stream is lost once more it lasts
 * for as long as a loss counts. */
static bool
blame_care_ends(const struct disp *d, const struct stream *s)
{
	return d->now - s->given > (s->losses > BLAME_CARE ? BLAME_LONG_NS : BLAME_TRIAL_NS);
}

void
blame_step(struct disp *d, struct stream *s, const struct msg *m)
{
	struct msg *out;
	bool free = !m->step.held && blame_care_ends(d, s);

	s->began = true;
	s->step = (struct stream_step){ !free, m->step.held, m->step.ahead, m->step.offset };
	if (m->step.held)
		return;
	out = disp_send(d, s->worker, MSG_STEP_OK, m->req);
	out->step_ok.key = m->step.key;
	out->step_ok.free = free;
}

bool
blame_suspect(const struct disp *d, const struct stream *s)
{
	return s->blame + (uint64_t)BLAME_BEGUN >= blame_most(d);
}

char *
blame_words(const struct stream *s, const struct peer *w)
{
	const struct iteration *it = s->iter;
	uint64_t at = s->n_points ? s->points[s->n_points - 1].split : 0;
	char *split = it->by_split ? disp_split_describe(s, at) : mem_strdup("the whole dataset");
	char *text = mem_printf("stream %u of dataset %s has cost %u workers, and got no further: "
				"each was lost while making it; the last one was %s, in %s", s->index, it->job->dataset->id, s->lost,
				w->name ? w->name : "unknown", split);

	mem_free(split);
	return text;
}

/* Its worker was making nothing, or what another one had made long before. */
static bool
blame_clears(const struct stream *s, uint64_t progress)
{
	return s->step.told && !s->step.ahead && (s->step.held || progress + BLAME_RUN < s->lost_at);
}

/* Counts the loss of its worker. True: that was one too many. */
static bool
blame_stream(const struct disp *d, struct stream *s)
{
	uint64_t progress = blame_progress(s), count = views_count(s);
	bool full = s->began && (s->step.told ? progress >= s->lost_at : count <= s->lost_count);

	if (s->told_end || s->blamed == s->gen)
		return false;
	s->blamed = s->gen;
	if (d->now - s->given > BLAME_LONG_NS) {
		s->losses = 0;
		return false;
	}
	s->losses += s->began;
	if (blame_clears(s, progress))
		return false;
	if (progress > s->lost_at) {
		s->lost = s->blame = 0;
		s->lost_at = progress;
	}
	s->lost++;
	s->blame += full ? BLAME_BEGUN : BLAME_GIVEN;
	s->lost_count = count;
	return s->blame >= blame_most(d);
}

struct stream *
blame_worker(const struct disp *d, const struct peer *w)
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

		if (!s->told_end && blame_suspect(d, s) && blame_progress(s) <= s->lost_at && d->now - s->given < BLAME_TRIAL_NS &&
		    !blame_is_held_up(d, w, s))
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
