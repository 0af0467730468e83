/* SPDX-License-Identifier: MIT
 *
 * Elements that failed and were skipped or kept: their number, and the first of them.
 *
 * A stream's failures are numbered in the order in which its chain meets them.
 * That order is the same whoever makes the stream, and a restart point knows how
 * many came before it; so a stream that is made again counts the same failures
 * by the same numbers, and the largest number told is how many there are.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

void
fault_limit(struct iteration *it, const struct job_opts *o)
{
	if (o->limited && o->max_errors < it->max_errors)
		it->max_errors = o->max_errors;
}

void
fault_keep(const struct peer *p, const struct stream *s, struct msg *m)
{
	struct iteration *it = s->iter;
	struct msg_faults_list *l = &it->faults;

	for (size_t i = 0; i < m->faults.list.n && l->n < WIRE_FAULTS_MAX; i++) {
		struct msg_fault *f = &m->faults.list.v[i];

		if (f->nth && f->nth <= s->failed)
			continue; /* told by an earlier generation */
		if (l->n == it->cap_faults)
			l->v = mem_grow(l->v, &it->cap_faults, l->n + 1, sizeof *l->v);
		l->v[l->n] = *f;
		*f = (struct msg_fault){ 0 };
		l->v[l->n].worker = mem_strdup(p->name);
		l->v[l->n++].stream = s->index;
	}
}

void
fault_fill(const struct iteration *it, struct msg *done)
{
	struct msg_faults_list *to = &done->done.faults;

	done->done.failed = it->failed;
	done->done.dropped = it->dropped;
	done->done.added = round_filled_up(it);
	to->n = it->faults.n;
	to->v = to->n ? mem_array(to->n, sizeof *to->v) : NULL;
	for (size_t i = 0; i < to->n; i++) {
		struct msg_fault *f = &to->v[i];

		*f = it->faults.v[i];
		f->text = mem_strdup(f->text);
		f->error = mem_strdup(f->error);
		f->file = mem_strdup(f->file);
		f->element = mem_strdup(f->element);
		f->worker = mem_strdup(f->worker);
	}
}

void
fault_clear(struct iteration *it)
{
	struct msg m = { .type = MSG_DONE, .done.faults = it->faults };

	msg_clear(&m);
	it->faults = (struct msg_faults_list){ 0 };
	it->cap_faults = 0;
}
