/* SPDX-License-Identifier: MIT
 *
 * Positions of a host that may be killed while the others go on: what it has taken from the service is acknowledged
 * when a position behind it is safe. So the program may be started again with its last position, in the same job, and
 * gets its places of all steps that follow.
 *
 * Workers keep what is not acknowledged, and a pass is over when all of it is. So a position is kept early
 * when cores wait for data and all that they were given is done; what belongs to no such step is then acknowledged
 * without a position.
 */
#include "host/feed/feed_host_inner.h"
#include "host/feed/feed_sure.h"

#define KEEP_STUCK_NS 1000000000ll   /* how long all wait before it is taken to be for us, */
#define KEEP_GIVE_UP_NS 5000000000ll /* and before rows of the next step are acknowledged, too */

int64_t
feed_keep_deadline(const struct feed_host *h)
{
	if (!h->keep_since)
		return INT64_MAX;
	return h->keep_since + (h->kept == feed_done(h->machine) ? KEEP_GIVE_UP_NS : KEEP_STUCK_NS);
}

enum status
feed_keep_run(struct feed_host *h, struct err *e)
{
	struct reader_host *r = h->source ? feed_source_reader(h->source) : NULL;
	enum status st = ST_OK;
	uint64_t done = feed_done(h->machine), before;
	uint32_t epoch;

	if (!h->c->fill.lag || !h->fill || !r)
		return ST_OK;
	feed_fill_pass(h->fill, &epoch, &before);
	if (!h->dry || done != feed_fill_step(h->fill) || h->released == epoch || !feed_sure_read(h, done)) {
		h->keep_since = 0;
		return ST_OK;
	}
	bool ends = feed_fill_ended(h->fill), kept = h->kept == done;
	if (!h->keep_since)
		h->keep_since = h->now;
	if (!ends && h->now < feed_keep_deadline(h))
		return ST_OK;
	h->keep_since = h->now;
	if (!kept)
		st = feed_sure_run(h, true, e);
	if (!kept && st == ST_OK)
		st = feed_host_done(h, done, FEED_KEEP_EARLY, e);
	if (st == ST_OK && (kept || ends))
		reader_host_release(r);
	h->released = ends ? epoch : 0;
	return st;
}
