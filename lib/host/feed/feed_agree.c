/* SPDX-License-Identifier: MIT
 *
 * An end on which all hosts agree. Whoever is asked to stop begins no other step and asks the others, through the
 * service, how many they have begun (STOP and FENCE of the reader); all end with the largest number. The service
 * counts the rounds of a pass. When a pass is over before there was an answer, the others are asked in the next.
 */
#include <stdio.h>

#include "base/str.h"
#include "host/feed/feed_host_inner.h"

static void
agree_wants(struct feed_host *h, enum feed_end_why why, const char *text)
{
	if (h->wants_end)
		return;
	h->wants_end = true;
	h->end_why = why;
	snprintf(h->end_text, sizeof h->end_text, "%s", str_or_empty(text));
	h->held = feed_hold(h->machine, h->now);
}

void
feed_host_stop(struct feed_host *h, enum feed_end_why why, const char *text)
{
	if (h->c->hosts == 1 || !h->c->fill.rounds)
		feed_stop(h->machine, h->now, why, text);
	else if (!h->agreed)
		agree_wants(h, why, text);
}

static void
agree_settle(struct feed_host *h, uint64_t step)
{
	h->agreed = true;
	feed_stop_at(h->machine, h->now, step, h->end_why, h->end_text);
}

void
feed_host_agree(struct feed_host *h)
{
	struct reader_host *r = h->source ? feed_source_reader(h->source) : NULL;
	uint64_t before, rounds;
	uint32_t epoch;

	if (!r || !h->fill || h->agreed || h->c->hosts == 1 || !h->c->fill.rounds)
		return;
	if (reader_host_halted(r))
		agree_wants(h, FEED_END_STOP, "another host ends");
	bool known = feed_fill_pass(h->fill, &epoch, &before);
	if (reader_host_fence(r, &rounds) && known) {
		agree_wants(h, FEED_END_STOP, "another host ends");
		agree_settle(h, before + rounds);
	} else if (h->wants_end && h->filled && !known) {
		agree_settle(h, UINT64_MAX); /* the data ends, for all of them */
	} else if (h->wants_end && known && h->asked_epoch != epoch) {
		h->asked_epoch = epoch;
		feed_fill_look(h->fill);
		reader_host_stop_at(r, h->held > before ? h->held - before : 0, 0);
	}
}
