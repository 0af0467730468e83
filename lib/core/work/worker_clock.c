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

/* Moves what the pass has spent. */
static void
worker_clock_add(struct msg_clocks *out, struct worker_pass *p)
{
	if ((!p->work_ns && !p->wait_ns && !p->raw) || out->n == WIRE_CLOCKS_MAX)
		return;
	if (!out->v)
		out->v = mem_array(WIRE_CLOCKS_MAX, sizeof *out->v);
	out->v[out->n++] = (struct msg_clock){ .iteration = p->iteration, .work_ns = p->work_ns,
		.wait_ns = p->wait_ns, .ops = p->ops, .call_ns = p->call_ns, .call_place = p->call_place,
		.raw = p->raw, .wire = p->wire };
	p->work_ns = p->wait_ns = p->call_ns = p->raw = p->wire = 0;
	p->ops = (struct msg_op_times){ 0 };
}

void
worker_clock_tell(struct worker *w, struct msg_clocks *out)
{
	for (size_t i = 0; i < w->n_on; i++)
		worker_clock(w, w->on[i]);
	*out = w->clocks;
	w->clocks = (struct msg_clocks){ 0 };
	for (struct worker_pass *p = w->passes; p && out->n < WIRE_CLOCKS_MAX; p = p->next)
		worker_clock_add(out, p);
}

void
worker_clock_leave(struct worker *w, struct worker_pass *p)
{
	worker_clock_add(&w->clocks, p);
	mem_free(p->ops.v);
}

void
worker_clock_clear(struct worker *w)
{
	for (size_t i = 0; i < w->clocks.n; i++)
		mem_free(w->clocks.v[i].ops.v);
	mem_free(w->clocks.v);
	w->clocks = (struct msg_clocks){ 0 };
}

static struct worker_pass *
worker_clock_pass(const struct worker *w, uint64_t iteration)
{
	struct worker_pass *p = w->passes;

	while (p && p->iteration != iteration)
		p = p->next;
	return p;
}

void
worker_called(struct worker *w, uint64_t iteration, uint32_t place, uint64_t ns)
{
	struct worker_pass *p = worker_clock_pass(w, iteration);

	if (!p || ns <= p->call_ns)
		return;
	p->call_ns = ns;
	p->call_place = place;
}

void
worker_sent(struct worker *w, uint64_t iteration, uint64_t raw, uint64_t wire)
{
	struct worker_pass *p = worker_clock_pass(w, iteration);

	if (!p)
		return;
	p->raw += raw;
	p->wire += wire;
}

void
worker_spent(struct worker *w, uint64_t iteration, const struct msg_op_time *t)
{
	struct worker_pass *p = worker_clock_pass(w, iteration);

	if (!p)
		return;
	for (size_t i = 0; i < p->ops.n; i++)
		if (p->ops.v[i].place == t->place) {
			p->ops.v[i].ns += t->ns;
			p->ops.v[i].elements += t->elements;
			return;
		}
	if (p->ops.n == WIRE_OPS_MAX)
		return;
	if (!p->ops.v)
		p->ops.v = mem_array(WIRE_OPS_MAX, sizeof *p->ops.v);
	p->ops.v[p->ops.n++] = *t;
}
