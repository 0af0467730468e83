/* SPDX-License-Identifier: MIT
 *
 * Elements that failed: a record of each in the file of --errors, and their number.
 */
#ifndef DSVC_FEED_BOOK_H
#define DSVC_FEED_BOOK_H

#include <pthread.h>

#include "cli/faults.h"
#include "op/op.h"
#include "wire/msg.h"

/* Zero, then book_open; book_close ends it. */
struct book {
	struct faults *faults;
	const char *file;            /* NULL: none is written */
	pthread_mutex_t lock;        /* failures come from several threads */
	uint64_t failed, dropped;
	uint64_t added;              /* padding of the last pass, on all hosts */
	bool open;
};

enum status book_open(struct book *b, const char *file, struct err *e);
/* An element of the plan that runs here failed; in any thread. */
void book_failure(struct book *b, const struct op_failure *f);
/* A pass of the service is over; done NULL: it did not say how. */
void book_pass(struct book *b, const struct msg_done *done);
enum status book_close(struct book *b, struct err *e);

#endif
