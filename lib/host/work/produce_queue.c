/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/wake.h"
#include "host/work/produce.h"

void
produce_queue_init(struct produce_queue *q)
{
	*q = (struct produce_queue){ .fd = wake_open() };
	pthread_mutex_init(&q->lock, NULL);
}

void
produce_queue_clear(struct produce_queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		produce_event_clear(&q->v[i]);
	mem_free(q->v);
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	*q = (struct produce_queue){ .fd = -1 };
}

void
produce_queue_push(struct produce_queue *q, const struct produce_event *ev)
{
	pthread_mutex_lock(&q->lock);
	q->v = mem_grow(q->v, &q->cap, q->n + 1, sizeof *q->v);
	q->v[q->n++] = *ev;
	bool first = q->n == 1;
	pthread_mutex_unlock(&q->lock);
	if (first)
		wake_set(q->fd);
}

size_t
produce_queue_take(struct produce_queue *q, struct produce_event **v, size_t *cap)
{
	wake_clear(q->fd);
	pthread_mutex_lock(&q->lock);
	struct produce_event *events = q->v;
	size_t n = q->n, room = q->cap;
	q->v = *v;
	q->cap = *cap;
	q->n = 0;
	pthread_mutex_unlock(&q->lock);
	*v = events;
	*cap = room;
	return n;
}

void
produce_event_clear(struct produce_event *ev)
{
	chunk_free(&ev->chunk);
	buf_clear(&ev->state);
	mem_free(ev->err);
	if (ev->units) {
		mem_free(ev->units->text);
		mem_free(ev->units->help);
		mem_free(ev->units->facts.global);
		split_list_clear(&ev->units->units);
		mem_free(ev->units);
	}
	struct msg scratch = { .type = MSG_FAULTS, .faults.list = ev->faults };
	msg_clear(&scratch);
	mem_free(ev->tapped.elements.p);
	*ev = (struct produce_event){ .kind = ev->kind };
}
