/* SPDX-License-Identifier: MIT
 *
 * A thread that asks the dispatcher for reports, so that nobody who waits for one keeps others from
 * being answered. It asks only what somebody wants, one question at a time, and keeps the last answer to each.
 *
 *	asker_want -> (thread asks) -> asker_fd is readable -> asker_look
 */
#ifndef EXPORT_ASKER_H
#define EXPORT_ASKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/endpoint.h"
#include "value/record.h"

/* BRIEF has no streams and no datasets: it costs the dispatcher little, however large the service is. */
enum ask { ASK_BRIEF, ASK_ALL, ASKS };

struct asker;

/* stop_fd: once it is readable, a question that waits is given up. Gives. */
enum status asker_open(const struct endpoint *ep, int stop_fd, struct asker **out, struct err *e);
void asker_close(struct asker **a);
/* Asks, unless that is being asked already. */
void asker_want(struct asker *a, enum ask what);
int asker_fd(const struct asker *a); /* readable once there is an answer: asker_heard makes it silent again */
void asker_heard(struct asker *a);
/* ST_OK; or why no question will ever be answered: the key is not known there, for example. */
enum status asker_hopeless(struct asker *a, struct err *e);
/* The last answer that came after `since` (ns, clock_mono_ns), lent until asker_done: ST_OK and a report, or why
 * there is none and *e; ST_AGAIN: there is no such answer yet, and asker_done is not called. */
enum status asker_look(struct asker *a, enum ask what, int64_t since, struct slice *report, struct err *e);
void asker_done(struct asker *a);

#endif
