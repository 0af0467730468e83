/* SPDX-License-Identifier: MIT
 *
 * Where the rows of dsvc-feed come from: a pass after the other, either from the service
 * (reader_host.h) or from a plan that a thread of this process runs. The caller polls and takes;
 * what it took is lent until it takes again.
 *
 *	feed_source_open -> poll feed_source_fd -> feed_source_take ... ST_END
 *	                 -> feed_source_pass -> ... -> feed_source_free
 */
#ifndef HOST_FEED_SOURCE_H
#define HOST_FEED_SOURCE_H

#include <stdatomic.h>

#include "host/reader_host.h"
#include "lang/spec.h"

struct feed_source;

struct feed_source_conf {
	struct reader_host_conf reader;  /* for the service, when plan is NULL; lent as long as the source */
	struct plan *plan;               /* to be run here; lent */
	uint64_t seed;                   /* for the plan */
	const struct op_service *service;/* for plans that take something from the service; may be NULL */
	const atomic_bool *stop;
	void (*note)(void *arg, const struct op_node *n, const struct err *e);
	/* failure: an element of the plan failed, called in any thread; passed: a pass of the service is over, done
	 * may be NULL */
	void (*failure)(void *arg, const struct op_failure *f);
	void (*passed)(void *arg, const struct msg_done *done);
	void *arg;
	uint64_t max_errors;             /* when the plan runs here; UINT64_MAX: not limited */
	uint32_t epoch;                  /* the pass to begin with, from 1 */
	const struct buf *position;      /* in that pass: what feed_source_position gave; NULL: its beginning */
	uint64_t skip;                   /* elements to be passed over from there */
};

/* Elements end to end; those of the service are not checked yet. */
struct feed_rows {
	const uint8_t *p, *end;
	const struct elem *e;    /* or n single ones, of a plan: p is NULL */
	uint64_t n;
	uint32_t stream;         /* address of the first, from the service */
	uint64_t offset;
	const char *worker;      /* address of the one that made them; NULL: not known */
	const struct run *run;   /* from a plan: tells file and line */
};

enum status feed_source_open(const struct feed_source_conf *c, struct feed_source **out, struct err *e);
void feed_source_free(struct feed_source **s);
/* Whether it passes over `skip` elements itself. */
bool feed_source_skips(const struct feed_source *s);
int feed_source_fd(const struct feed_source *s);
/* ST_OK; ST_AGAIN: nothing now; ST_END: the pass is over; or what failed. */
enum status feed_source_take(struct feed_source *s, struct feed_rows *out, struct err *e);
/* Begins the next pass, after ST_END. */
enum status feed_source_pass(struct feed_source *s, struct err *e);
/* So many more elements of the service need not be kept. */
void feed_source_used(struct feed_source *s, uint64_t elements);
/* The position after all that was used; false: there is none but a number of elements. It may wait for a
 * thread. */
bool feed_source_position(struct feed_source *s, struct buf *out);
/* The job; NULL until it is known, and for a plan. */
const struct reader_host_job *feed_source_job(const struct feed_source *s);
/* In rounds: whether its first element is not the first of the pass, though no position was given: an earlier run
 * has taken those before it. */
bool feed_source_midway(struct feed_source *s);
/* In rounds, with reader.stops: readable when another host asks for an end or the end is known; -1: never. */
int feed_source_stop_fd(const struct feed_source *s);
/* The reader of the pass, for an end on which hosts agree; NULL: there is none. Lent. */
struct reader_host *feed_source_reader(struct feed_source *s);
/* A clause that says what keeps the service from giving anything; NULL: nothing that is known. */
const char *feed_source_waits(struct feed_source *s);

#endif
