/* SPDX-License-Identifier: MIT
 *
 * Threads beside the program's own: how they are started, and how one waits for
 * another until a moment of the monotonic clock.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Starts a thread in which every signal is blocked, so that INT, TERM and the like are
 * handled by the program's first thread. ST_TEMP when the system gives no thread;
 * `what`, which is not copied, completes
 * "cannot start a thread for ..." and names the thread in traces. */
enum status thread_start(pthread_t *t, void *(*run)(void *), void *arg, const char *what, struct err *e);

/* A condition variable whose waits end by the monotonic clock (clock_mono_ns). */
void thread_cond_init(pthread_cond_t *c);
/* Waits for a signal, at most until `until_ns`. False: that moment has passed. As with
 * pthread_cond_wait the caller holds the lock and looks at its condition afterwards. */
bool thread_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns);

#endif
