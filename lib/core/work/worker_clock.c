/* SPDX-License-Identifier: MIT
 *
 * Where the time of slots goes: into making elements, or into waiting for readers that
 * have not taken what was made (back-pressure). A thread that waits for splits is idle
 * and counts as neither.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

void
worker_clock(struct worker *w, struct worker_stream *s)
{
	int64_t ns = w->now - s->clock_at;
	bool idle = s->asking && s->next_split <= s->taken;

	s->clock_at = w->now;
	if (s->place == WORKER_OFF || ns <= 0)
		return;
	if (s->stalled)
		s->pass->wait_ns += (uint64_t)ns;
	else if (!idle)
		s->pass->work_ns += (uint64_t)ns;
}

static void
worker_clock_add(struct msg_clocks *out, const struct worker_pass *p)
{
	if ((!p->work_ns && !p->wait_ns) || out->n == WIRE_CLOCKS_MAX)
		return;
	if (!out->v)
		out->v = mem_array(WIRE_CLOCKS_MAX, sizeof *out->v);
	out->v[out->n++] = (struct msg_clock){ p->iteration, p->work_ns, p->wait_ns };
}

void
worker_clock_tell(struct worker *w, struct msg_clocks *out)
{
	for (size_t i = 0; i < w->n_on; i++)
		worker_clock(w, w->on[i]);
	*out = w->clocks;
	w->clocks = (struct msg_clocks){ 0 };
	for (struct worker_pass *p = w->passes; p && out->n < WIRE_CLOCKS_MAX; p = p->next) {
		worker_clock_add(out, p);
		p->work_ns = p->wait_ns = 0;
	}
}

void
worker_clock_leave(struct worker *w, const struct worker_pass *p)
{
	worker_clock_add(&w->clocks, p);
}
