/* SPDX-License-Identifier: MIT
 *
 * Cores behind pipes of little room: what is written, what they have read of it, and what is known of that.
 */
#include <stdio.h>
#include <string.h>

#include "feed_sim.h"

void
sim_bad(struct sim *s, const char *why)
{
	if (!s->bad[0])
		snprintf(s->bad, sizeof s->bad, "%s", why);
}

/* Steps that the core has read whole. */
static uint64_t
sim_pipe_steps(const struct sim_core *k)
{
	uint64_t n = k->done;

	while (n < k->told && k->pipe.end[n] <= k->pipe.took)
		n++;
	return n;
}

void
sim_pipe_look(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct sim_pipe *p = &k->pipe;

	feed_sent_taken(&p->sent, p->took);
	struct feed_taken t = { .bytes = p->took, .steps = p->sent.read, .more = p->wrote > p->took };
	feed_taken(s->f, s->now, i, &t);
	if (p->sent.sure > k->done)
		sim_bad(s, "a step is beyond doubt that the core has not done");
}

void
sim_pipe_write(struct sim *s, uint32_t i)
{
	struct sim_core *k = &s->core[i];
	struct sim_pipe *p = &k->pipe;
	uint64_t room = PIPE - (p->wrote - p->took), left = p->told - p->wrote;
	struct feed_ready m = { .given = k->told, .wanted = UINT64_MAX };
	struct err e;

	p->wrote += left < room ? left : room;
	while (p->counted < k->told && p->end[p->counted] <= p->wrote)
		p->counted++;
	m.done = p->counted;
	k->given = k->told;
	if (feed_ready(s->f, s->now, i, &m, &e))
		sim_bad(s, e.text);
}

void
sim_pipe_batch(struct sim *s, uint32_t i, uint64_t step)
{
	struct sim_pipe *p = &s->core[i].pipe;

	p->told += 1 + rng_below(&s->r, PIPE);
	p->end[step] = p->told;
	feed_sent_add(&p->sent, p->told);
	sim_pipe_write(s, i);
}

void
sim_pipe_again(struct sim_core *k)
{
	struct sim_pipe *p = &k->pipe;

	feed_sent_again(&p->sent);
	p->told = p->wrote = p->took = 0;
	p->counted = k->done = k->told;
}

void
sim_pipe_left(struct sim *s, uint32_t i, int status)
{
	struct sim_core *k = &s->core[i];

	sim_pipe_look(s, i);
	if (!status)
		feed_sent_ended(&k->pipe.sent, s->c.each_loop);
}

void
sim_pipe_judge(struct sim *s, const struct feed_fault *cause, uint64_t last)
{
	char at[64];

	for (uint32_t i = 0; i < s->c.cores && !cause; i++) {
		if (s->core[i].pipe.sent.sure != last)
			sim_bad(s, "a good end, and a step is not done beyond doubt");
		if (s->core[i].done != last && !s->c.each_loop)
			sim_bad(s, "a good end, and a core has left steps");
	}
	if (!cause || cause->core == FEED_ANY_CORE || cause->class != FEED_SILENT)
		return;
	uint64_t read = sim_pipe_steps(&s->core[cause->core]);
	snprintf(at, sizeof at, " in step %llu (as far", (unsigned long long)(read > s->c.from ? read - 1 : read));
	if (!strstr(cause->err.text, at))
		sim_bad(s, cause->err.text);
}
