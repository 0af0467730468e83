/* SPDX-License-Identifier: MIT */
#include "asker.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/wake.h"
#include "core/disp/dispatcher.h"
#include "host/tool.h"

struct answer {
	int64_t at;           /* ns; 0: none */
	enum status st;
	struct err err;
	struct msg report;
};

struct asker {
	const struct endpoint *ep;
	int stop_fd, wake;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* for what follows */
	pthread_cond_t more;
	bool wanted[ASKS], leave;
	bool known;           /* it has answered once */
	enum status hopeless; /* nor will it ever answer us: why, and err */
	struct err err;
	struct answer answer[ASKS];
	/* the thread's own */
	struct tool *tool;
	bool lost;            /* it was said that nobody answers */
};

/* A dispatcher that has never answered may come yet, unless it is ourselves who may not ask. */
static void
asker_judge(struct asker *a, enum status st, const struct err *e)
{
	bool ours = st == ST_PERM || st == ST_CONFIG || st == ST_PROTO || st == ST_USAGE;

	a->known = a->known || st == ST_OK;
	if (a->known || !ours || a->hopeless)
		return;
	a->hopeless = st;
	a->err = *e;
}

/* Whether the dispatcher answers is said when that changes. */
static void
asker_say(struct asker *a, enum status st, const struct err *e)
{
	if (st == ST_AGAIN || (st != ST_OK) == a->lost)
		return;
	a->lost = st != ST_OK;
	if (a->lost)
		log_say(LOG_WARN, "no report: %s", e->text);
	else
		log_say(LOG_WARN, "the dispatcher answers again");
}

static enum status
asker_ask(struct asker *a, enum ask what, struct msg *report, struct err *e)
{
	struct msg_status ask = { .what = what == ASK_BRIEF ? REPORT_BRIEF : REPORT_ALL };
	enum status st = ST_OK;

	if (!a->tool) {
		st = tool_open(a->ep->address, a->ep->from, &a->tool, e);
		if (st == ST_OK)
			tool_stop_on(a->tool, a->stop_fd);
	}
	if (st == ST_OK)
		st = tool_report(a->tool, &ask, report, e);
	/* The next question looks for the dispatcher anew: it may have moved. */
	if (st != ST_OK)
		tool_close(&a->tool);
	return st;
}

static int
asker_next(struct asker *a)
{
	int what = -1;

	pthread_mutex_lock(&a->lock);
	while (!a->leave && what < 0) {
		for (int i = 0; i < ASKS; i++)
			what = a->wanted[i] ? i : what;
		if (what < 0)
			pthread_cond_wait(&a->more, &a->lock);
	}
	if (a->leave)
		what = -1;
	pthread_mutex_unlock(&a->lock);
	return what;
}

static void *
asker_thread(void *arg)
{
	struct asker *a = arg;
	int what;

	while ((what = asker_next(a)) >= 0) {
		struct answer now = { 0 }, before;

		now.st = asker_ask(a, (enum ask)what, &now.report, &now.err);
		now.at = clock_mono_ns();
		pthread_mutex_lock(&a->lock);
		before = a->answer[what];
		a->answer[what] = now;
		a->wanted[what] = false;
		asker_judge(a, now.st, &now.err);
		bool say = !a->hopeless;
		pthread_mutex_unlock(&a->lock);
		if (say)
			asker_say(a, now.st, &now.err);
		msg_clear(&before.report);
		wake_set(a->wake);
	}
	tool_close(&a->tool);
	return NULL;
}

enum status
asker_open(const struct endpoint *ep, int stop_fd, struct asker **out, struct err *e)
{
	struct asker *a = mem_zalloc(sizeof *a);

	a->ep = ep;
	a->stop_fd = stop_fd;
	a->wake = wake_open();
	if (a->wake < 0) {
		mem_free(a);
		return err_errno(e, "cannot wait for the dispatcher");
	}
	pthread_mutex_init(&a->lock, NULL);
	thread_cond_init(&a->more);
	enum status st = thread_start(&a->thread, asker_thread, a, "the questions to the dispatcher", e);
	a->started = st == ST_OK;
	*out = a;
	if (st != ST_OK)
		asker_close(out);
	return st;
}

void
asker_close(struct asker **ap)
{
	struct asker *a = *ap;

	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->leave = true;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
	if (a->started)
		pthread_join(a->thread, NULL);
	for (int i = 0; i < ASKS; i++)
		msg_clear(&a->answer[i].report);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->more);
	close(a->wake);
	mem_free(a);
	*ap = NULL;
}

void
asker_want(struct asker *a, enum ask what)
{
	pthread_mutex_lock(&a->lock);
	a->wanted[what] = true;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->lock);
}

int
asker_fd(const struct asker *a)
{
	return a->wake;
}

void
asker_heard(struct asker *a)
{
	wake_clear(a->wake);
}

enum status
asker_hopeless(struct asker *a, struct err *e)
{
	pthread_mutex_lock(&a->lock);
	enum status st = a->hopeless;
	if (st)
		*e = a->err;
	pthread_mutex_unlock(&a->lock);
	return st;
}

enum status
asker_look(struct asker *a, enum ask what, int64_t since, struct slice *report, struct err *e)
{
	const struct answer *x = &a->answer[what];

	pthread_mutex_lock(&a->lock);
	if (!x->at || x->at <= since) {
		pthread_mutex_unlock(&a->lock);
		return ST_AGAIN;
	}
	*report = tool_record(&x->report);
	*e = x->err;
	return x->st == ST_AGAIN ? err_set(e, ST_TEMP, "it is ending") : x->st;
}

void
asker_done(struct asker *a)
{
	pthread_mutex_unlock(&a->lock);
}
