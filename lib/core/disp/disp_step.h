/* SPDX-License-Identifier: MIT
 *
 * Streams that are made carefully, since workers were lost while they made them (disp_blame.c): the worker says
 * where it is before each run of elements, and makes it after the answer. So it is known what was being made when
 * it was lost, and an element that kills its workers is told from chance.
 *
 * The answer comes late where it was lost before: a worker that dies while it waits there dies of something else.
 */
#ifndef DISP_DISP_STEP_H
#define DISP_DISP_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/disp/ring.h"

struct disp;
struct msg;
struct peer;
struct stream;

/* A stream under care, in this generation. */
struct stream_step {
	bool careful;           /* its worker was told to be */
	bool told;              /* some STEP has come: */
	bool held, ahead;       /* by the last one */
	bool free;              /* it need not be careful any more */
	uint64_t at, n;         /* the element that it is about to make; runs so far */
	bool waited;            /* an answer came late */
	bool waits;             /* one is to come: */
	uint64_t req;
	int64_t due;            /* 0: it need not wait at `at` */
	struct list_node node;  /* waits: in disp.steps */
};

/* Over all generations; durable but for the last two. */
struct stream_care {
	uint32_t losses;        /* workers lost of late */
	uint32_t tries;         /* times that care ended too early */
	uint64_t place;         /* the furthest element at which a careful worker was lost, */
	uint32_t places;        /* so many there, of nothing else as far as is known */
	int64_t lived;          /* how long the worker had it that was lost last, without being told to wait */
	uint64_t renewed;       /* stream.renewed at that place */
};

/* It is given to a worker, and is to be made carefully or not. */
void step_begin(struct stream *s, bool careful);
void step_message(struct disp *d, struct stream *s, const struct msg *m);
/* Whether it is known what its worker was making: nothing, or the element step.at. */
bool step_knows(const struct stream *s);
/* Counts the loss of its worker, if step_knows. True: the element step.at has cost `most` workers. */
bool step_lost(struct stream *s, uint64_t most);
void step_tick(struct disp *d);
int64_t step_deadline(const struct disp *d);

#endif
