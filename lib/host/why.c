/* SPDX-License-Identifier: MIT */
#include "host/why.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "base/wake.h"
#include "net/address.h"

enum { WHY_MS = 500 };

struct why_question { uint64_t id; char *address; struct why_question *next; };
struct why_answer { uint64_t id; char text[WHY_TEXT]; struct why_answer *next; };
struct why {
	pthread_mutex_t lock;
	struct why_question *first, **last;
	struct why_answer *answers;
	unsigned waiting;
	bool running, over;     /* there is a thread; nobody waits for its answers */
	int wake;
};

struct why *
why_new(int wake)
{
	struct why *y = mem_zalloc(sizeof *y);

	pthread_mutex_init(&y->lock, NULL);
	y->last = &y->first;
	y->wake = fcntl(wake, F_DUPFD_CLOEXEC, 3);
	return y;
}

/* With the lock held. */
static void
why_answer(struct why *y, uint64_t id, const char *text)
{
	struct why_answer *a = mem_zalloc(sizeof *a);

	a->id = id;
	snprintf(a->text, sizeof a->text, "%s", text);
	a->next = y->answers;
	y->answers = a;
	if (y->wake >= 0)
		wake_set(y->wake);
}

/* Nobody has it any more. */
static void
why_end(struct why *y)
{
	struct why_question *q;
	struct why_answer *a;

	while ((q = y->first)) {
		y->first = q->next;
		mem_free(q->address);
		mem_free(q);
	}
	while ((a = y->answers)) {
		y->answers = a->next;
		mem_free(a);
	}
	if (y->wake >= 0)
		close(y->wake);
	pthread_mutex_destroy(&y->lock);
	mem_free(y);
}

static void
why_look(const char *text, char out[WHY_TEXT])
{
	struct address a;
	struct err e;
	enum status st = address_parse(text, &a, &e);

	if (st == ST_OK)
		st = address_probe(&a, WHY_MS, NULL, &e);
	snprintf(out, WHY_TEXT, "%.250s", st == ST_OK ? "something listens there, and does not answer" : e.text);
}

static void *
why_thread(void *arg)
{
	struct why *y = arg;
	struct why_question *q;
	char text[WHY_TEXT];

	pthread_mutex_lock(&y->lock);
	while (!y->over && (q = y->first)) {
		y->first = q->next;
		if (!y->first)
			y->last = &y->first;
		y->waiting--;
		pthread_mutex_unlock(&y->lock);
		why_look(q->address, text);
		pthread_mutex_lock(&y->lock);
		why_answer(y, q->id, text);
		mem_free(q->address);
		mem_free(q);
	}
	y->running = false;
	bool over = y->over;
	pthread_mutex_unlock(&y->lock);
	if (over)
		why_end(y);
	return NULL;
}

void
why_ask(struct why *y, uint64_t id, const char *address)
{
	pthread_t t;

	pthread_mutex_lock(&y->lock);
	if (y->waiting == WHY_WAITING) {
		why_answer(y, id, "no answer in time");
	} else {
		struct why_question *q = mem_zalloc(sizeof *q);

		*q = (struct why_question){ id, mem_strdup(address), NULL };
		*y->last = q;
		y->last = &q->next;
		y->waiting++;
	}
	bool start = y->first && !y->running;
	y->running |= start;
	pthread_mutex_unlock(&y->lock);
	if (!start)
		return;
	if (thread_start(&t, why_thread, y, "the reason of a failure", NULL) == ST_OK)
		pthread_detach(t);
	else
		why_thread(y); /* better late than never */
}

bool
why_take(struct why *y, uint64_t *id, char out[WHY_TEXT])
{
	pthread_mutex_lock(&y->lock);
	struct why_answer *a = y->answers;
	if (a)
		y->answers = a->next;
	pthread_mutex_unlock(&y->lock);
	if (!a)
		return false;
	*id = a->id;
	memcpy(out, a->text, WHY_TEXT);
	mem_free(a);
	return true;
}

void
why_free(struct why **yp)
{
	struct why *y = *yp;

	*yp = NULL;
	if (!y)
		return;
	pthread_mutex_lock(&y->lock);
	y->over = true;
	bool running = y->running;
	pthread_mutex_unlock(&y->lock);
	if (!running)
		why_end(y);
}
