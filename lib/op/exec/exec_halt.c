/* SPDX-License-Identifier: MIT
 *
 * The end of work in the middle of it, when somebody wants no more of it: what is
 * finished is still given.
 */
#include "op/exec/exec_work.h"

void
exec_halt(struct exec *x)
{
	for (unsigned k = 0; k < x->n_slots; k++)
		if (x->slots[k].child.pid > 0)
			child_term(&x->slots[k].child);
	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		child_reap(&s->child, 0, NULL);
		child_output_reset(&s->pour);
		buf_reset(&s->w);
		s->w_at = s->bytes = 0;
		s->at = s->end;
		s->n = 0;
	}
	x->n_again = 0;
	for (uint64_t seq = x->head; seq < x->next; seq++)
		if (exec_job(x, seq)->state == JOB_NEW || exec_job(x, seq)->state == JOB_SENT)
			exec_jobs_drop(x, seq);
	if (!x->over)
		x->input = ST_END;
	x->over = x->halted = true;
}
