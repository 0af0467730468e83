/* SPDX-License-Identifier: MIT
 *
 * What the network thread asks of a stream in the making.
 */
#include <string.h>

#include "base/trace.h"
#include "host/work/produce_inner.h"

bool
produce_stopped(const struct produce *m)
{
	return atomic_load(&m->stop);
}

static void
produce_change(struct produce *m, bool *what, bool value)
{
	pthread_mutex_lock(&m->lock);
	*what = value;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

void
produce_stop(struct produce *m)
{
	atomic_store(&m->stop, true);
	pthread_mutex_lock(&m->lock);
	bool resting = !m->active;
	m->active = true;
	m->want = false;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	if (resting) /* its chain has to be closed */
		produce_give(m);
}

void
produce_rest(struct produce *m)
{
	produce_change(m, &m->rest, true);
}

void
produce_go(struct produce *m)
{
	produce_change(m, &m->active, true);
	produce_give(m);
}

void
produce_step(struct produce *m, bool free)
{
	pthread_mutex_lock(&m->lock);
	produce_step_answer(&m->step, free);
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

void
produce_stall(struct produce *m, bool stalled)
{
	produce_change(m, &m->stalled, stalled);
}

uint64_t
produce_spent(struct produce *m, void (*tell)(void *arg, const struct msg_op_time *t), void *arg, uint32_t *in)
{
	pthread_mutex_lock(&m->lock);
	produce_times_look(&m->times);
	produce_times_tell(&m->times, tell, arg);
	uint64_t ns = m->times.call_ns;
	*in = m->times.call_place;
	pthread_mutex_unlock(&m->lock);
	return ns;
}

void
produce_taken(struct produce *m, size_t bytes)
{
	pthread_mutex_lock(&m->lock);
	bool full = m->ahead > PRODUCE_AHEAD;
	m->ahead -= bytes;
	trace_gauge(TRACE_QUEUED, -(int64_t)bytes);
	if (full && m->ahead <= PRODUCE_AHEAD)
		pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

void
produce_handover(struct produce *m)
{
	produce_change(m, &m->handover, true);
}

void
produce_splits(struct produce *m, struct msg_split *s)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < s->splits.n; i++)
		split_list_add(&m->splits, &s->splits.v[i]);
	if (s->end) {
		m->no_more_splits = true;
		atomic_store(&m->streams, s->streams);
	}
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

int64_t
produce_want(struct produce *m, uint32_t view, uint32_t takers, int64_t now_ns)
{
	int64_t again = INT64_MAX, due;
	pthread_mutex_lock(&m->lock);
	due = m->cut_ns + (int64_t)PRODUCE_PAUSE_NS * (takers > 1 ? takers : 1);
	if (m->deal)
		again = deal_want(m->deal, view, now_ns, PRODUCE_PAUSE_NS);
	else if (now_ns < due)
		again = due;
	else if (m->builder.count)
		produce_cut(m);
	else
		m->want = true;
	pthread_mutex_unlock(&m->lock);
	return again;
}
