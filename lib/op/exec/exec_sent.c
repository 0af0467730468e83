/* SPDX-License-Identifier: MIT
 *
 * Elements that were given to a child and are not answered yet.
 */
#include "op/exec/exec_work.h"

bool
exec_sent_has(struct exec *x, const struct exec_slot *s, uint64_t seq)
{
	if (seq < x->head || seq >= x->next)
		return false;
	const struct exec_job *j = exec_job(x, seq);
	return j->state == JOB_SENT && j->at - s->at < s->end - s->at
	       && s->fifo[j->at & (EXEC_WINDOW_MAX - 1)] == seq;
}

void
exec_sent_take(struct exec *x, struct exec_slot *s, uint64_t seq)
{
	s->fifo[exec_job(x, seq)->at & (EXEC_WINDOW_MAX - 1)] = EXEC_NOBODY;
	s->n--;
	s->bytes -= exec_job_elem(x, seq)->len;
	while (s->at != s->end && s->fifo[s->at & (EXEC_WINDOW_MAX - 1)] == EXEC_NOBODY)
		s->at++;
}
