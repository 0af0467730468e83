/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_step.h"

#include "core/disp/disp_inner.h"

#define STEP_WAIT_NS 500000000ll
#define STEP_WAIT_MOST_NS (5 * 1000000000ll)

enum { STEP_RUNS = 64 }; /* that are made carefully at first; four times as many each time that this was too few */

void
step_begin(struct stream *s, bool careful)
{
	ring_drop(&s->step.node);
	s->step = (struct stream_step){ .careful = careful };
}

/* Streams that wait for a worker without a suspect look again: this one may not be in the way any more. */
static void
step_trial_over(struct disp *d)
{
	if (d->trial_due != INT64_MAX)
		d->trial_due = d->now;
}

static void
step_answer(struct disp *d, struct stream *s)
{
	struct msg *out = disp_send(d, s->worker, MSG_STEP_OK, s->step.req);

	ring_drop(&s->step.node);
	s->step.waits = false;
	out->step_ok.key = (struct stream_key){ s->iter->id, s->index, s->gen };
	out->step_ok.free = s->step.free;
}

/* How long it waits before an element at which workers were lost: as long as the last of them lived. So what kills
 * workers at a steady pace kills this one while it waits. */
static int64_t
step_wait(const struct stream *s)
{
	int64_t ns = s->care.lived > STEP_WAIT_NS ? s->care.lived : STEP_WAIT_NS;

	return ns < STEP_WAIT_MOST_NS ? ns : STEP_WAIT_MOST_NS;
}

/* Whether the answer comes later. A stream that is held in between waits no longer for it. */
static bool
step_waits(struct disp *d, struct stream *s)
{
	struct stream_step *t = &s->step;

	if (!s->care.places || t->at != s->care.place || t->ahead)
		return false;
	if (!t->due)
		t->due = d->now + step_wait(s);
	if (t->due <= d->now)
		return false;
	t->waits = t->waited = true;
	ring_push_by_time(&d->steps, &t->node, RING_TIME(struct stream_step, node, due));
	return true;
}

void
step_message(struct disp *d, struct stream *s, const struct msg *m)
{
	struct stream_step *t = &s->step;

	if (t->at != m->step.offset)
		t->due = 0;
	t->careful = t->told = s->began = true; /* it may have been given out before a restart */
	t->held = m->step.held;
	t->ahead = m->step.ahead;
	t->at = m->step.offset;
	t->req = m->req;
	t->waits = false;
	ring_drop(&t->node);
	if (t->held)
		step_trial_over(d);
	if (t->held || step_waits(d, s))
		return;
	if (++t->n > (uint64_t)STEP_RUNS << 2 * s->care.tries && (!s->care.places || t->at > s->care.place)) {
		t->free = true;
		step_trial_over(d);
	}
	step_answer(d, s);
}

bool
step_knows(const struct stream *s)
{
	return s->step.careful && !s->step.free && s->step.told && (s->step.held || !s->step.ahead);
}

bool
step_lost(struct stream *s, uint64_t most)
{
	struct stream_step *t = &s->step;
	struct stream_care *c = &s->care;

	if (c->renewed != s->renewed) /* it gets on, without giving anything */
		c->places = 0;
	c->renewed = s->renewed;
	/* While it could make nothing, or where another one got past before: it died of something else. */
	if (t->held || t->waits || (c->places && t->at < c->place)) {
		c->places = c->places ? 1 : 0;
		return false;
	}
	c->places = c->places && t->at == c->place ? c->places + 1 : 1;
	c->place = t->at;
	return c->places >= most;
}

void
step_tick(struct disp *d)
{
	while (!ring_empty(&d->steps)) {
		struct stream_step *t = LIST_OF(d->steps.next, struct stream_step, node);

		if (t->due > d->now)
			return;
		step_answer(d, LIST_OF(t, struct stream, step));
	}
}

int64_t
step_deadline(const struct disp *d)
{
	return ring_empty(&d->steps) ? INT64_MAX : LIST_OF(d->steps.next, struct stream_step, node)->due;
}
