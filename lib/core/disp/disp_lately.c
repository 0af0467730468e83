/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_lately.h"

#include "base/mem.h"
#include "core/disp/disp_inner.h"

/* Each step of a tenth of the time after which something counts half. */
#define LATELY_STEP_NS (LATELY_NS / 10)
#define LATELY_STEP 0.933 /* 0.5 to the power of a tenth */
#define LATELY_MOST 1e14  /* ns of one BEAT; no worker spends more between two of them */
enum { LATELY_STEPS = 500 }; /* after so many nothing is left */

static void
lately_fade(struct lately *l, int64_t now)
{
	int64_t steps = (now - l->at) / LATELY_STEP_NS;
	double by = 1;

	if (steps <= 0)
		return;
	l->at += steps * LATELY_STEP_NS;
	for (int64_t i = 0; i < steps && i < LATELY_STEPS; i++)
		by *= LATELY_STEP;
	l->slot_work *= by;
	l->slot_wait *= by;
	l->read_work *= by;
	l->read_wait *= by;
	l->read_out *= by;
	for (size_t i = 0; i < l->n_ops; i++)
		l->ops[i].ns *= by;
}

static double
lately_ns(uint64_t ns)
{
	return (double)ns < LATELY_MOST ? (double)ns : LATELY_MOST;
}

static void
lately_op(struct lately *l, const struct msg_op_time *t)
{
	size_t i = 0;

	while (i < l->n_ops && l->ops[i].place != t->place)
		i++;
	if (i == WIRE_OPS_MAX)
		return;
	if (i == l->n_ops) {
		if (!l->ops)
			l->ops = mem_array(WIRE_OPS_MAX, sizeof *l->ops);
		l->ops[l->n_ops++] = (struct lately_op){ .place = t->place };
	}
	l->ops[i].ns += lately_ns(t->ns);
}

void
lately_beat(struct disp *d, struct iteration *it, const struct peer *p, const struct msg_clock *c)
{
	struct lately *l = it->lately;

	if (!l) {
		l = it->lately = mem_zalloc(sizeof *l);
		l->at = d->now;
	}
	lately_fade(l, d->now);
	if (p->role == ROLE_WORKER) {
		l->slot_work += lately_ns(c->work_ns);
		l->slot_wait += lately_ns(c->wait_ns);
		for (size_t i = 0; i < c->ops.n; i++)
			lately_op(l, &c->ops.v[i]);
	} else if (p->seat && p->seat->iter == it) {
		l->read_work += lately_ns(c->work_ns);
		l->read_wait += lately_ns(c->wait_ns);
		l->read_out += lately_ns(c->out_ns);
	}
}

void
lately_free(struct lately **lp)
{
	struct lately *l = *lp;

	*lp = NULL;
	if (!l)
		return;
	mem_free(l->ops);
	mem_free(l);
}
