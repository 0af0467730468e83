/* SPDX-License-Identifier: MIT
 *
 * Threads for the streams of a worker. A stream is given a thread for a while
 * (turns_give), and the thread takes the next one when the stream rests or is over.
 *
 * Threads are started as they are needed, never more than `most`, and do not end
 * before turns_free: programs that a stream runs live as long as the thread that
 * started them.
 */
#ifndef HOST_TURNS_H
#define HOST_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct turns;

struct turns *turns_new(size_t most);
/* run(arg) on a thread, as soon as one is free. ST_TEMP: there is none, and the system
 * gives none. */
enum status turns_give(struct turns *t, void (*run)(void *arg), void *arg, struct err *e);
/* Waits until nothing runs any more, at most until then; false: something does. */
bool turns_wait(struct turns *t, int64_t until_ns);
/* Ends the threads; nothing may run. */
void turns_free(struct turns **t);

#endif
