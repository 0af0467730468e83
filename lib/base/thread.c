/* SPDX-License-Identifier: MIT */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/trace.h"

/* A thread that is to have a name in a trace. */
struct thread_named {
	void *(*run)(void *);
	void *arg;
	const char *name;
};

static void *
thread_named(void *arg)
{
	struct thread_named own = *(struct thread_named *)arg;

	mem_free(arg);
	trace_thread(own.name);
	return own.run(own.arg);
}

enum status
thread_start(pthread_t *t, void *(*run)(void *), void *arg, const char *what, struct err *e)
{
	sigset_t all, before;
	int rc;

	/* A thread inherits the mask of the one that starts it. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	struct thread_named *named = trace_on() ? mem_dup(&(struct thread_named){ run, arg, what }, sizeof *named) : NULL;
	rc = named ? pthread_create(t, NULL, thread_named, named) : pthread_create(t, NULL, run, arg);
	if (rc)
		mem_free(named);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return err_set(e, ST_TEMP, "cannot start a thread for %s: %s", what, strerror(rc));
	return ST_OK;
}

void
thread_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

bool
thread_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
	struct timespec until = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };

	return pthread_cond_timedwait(c, lock, &until) != ETIMEDOUT;
}
