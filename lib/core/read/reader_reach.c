/* SPDX-License-Identifier: MIT
 *
 * Workers to which no connection comes up: a firewall, an address that is of use only on
 * their own machine, a socket in a folder that only they see. They live, so that the
 * dispatcher gives them streams. The program is told of each after a while, finds out why, and
 * the dispatcher then gives the streams to others.
 */
#include "base/mem.h"
#include "base/str.h"
#include "core/read/reader_inner.h"

static struct reader_worker *
reader_reach_find(const struct reader *r, uint64_t worker)
{
	return hash_get(&r->workers, &worker, sizeof worker);
}

void
reader_worker_up(struct reader *r, int64_t now_ns, uint64_t worker)
{
	struct reader_worker *w = reader_reach_find(r, worker);

	r->now = now_ns;
	if (w)
		w->up = true;
}

void
reader_reach_down(struct reader *r, struct reader_worker *w)
{
	if (!w->up && w->down)
		return;
	w->up = false;
	w->down = r->now;
	w->reach_due = r->now + READER_REACH_NS;
}

void
reader_reach_again(struct reader *r)
{
	if (r->closing)
		return;
	for (size_t i = 0; i < r->workers.n; i++) {
		struct reader_worker *w = r->workers.items[i].value;
		struct reader_action *a;

		if (w->up || r->now < w->reach_due)
			continue;
		w->reach_due = r->now + READER_REACH_AGAIN_NS;
		a = reader_do(r, READER_UNREACHED);
		a->worker = w->id;
		a->endpoint = mem_strdup(w->endpoint);
	}
}

bool
reader_unreached(struct reader *r, int64_t now_ns, uint64_t worker, const char *why)
{
	struct reader_worker *w = reader_reach_find(r, worker);
	struct msg *m;

	r->now = now_ns;
	if (!w || w->up || r->over || r->closing)
		return false;
	m = reader_tell(r, MSG_UNREACHED);
	m->unreached = (struct msg_unreached){ r->iteration, r->seat, w->id,
		(uint32_t)((now_ns - w->down) / 1000000), mem_strdup(why) };
	return true;
}
