/* SPDX-License-Identifier: MIT
 *
 * The input of exec, pulled on a thread of its own: so answers of children are
 * passed on while the next element is still waited for, and children are kept
 * busy from an input that gives its elements one by one.
 *
 *	thread: op_pull -> [run][run]   a few; then it waits
 *	caller: exec_feed_take -> uses it -> exec_feed_give
 *
 * The thread starts with the first take, and stands still while a state is saved.
 */
#ifndef EXEC_EXEC_FEED_H
#define EXEC_EXEC_FEED_H

#include <pthread.h>

#include "op/op.h"

/* A run of the input, owned by the caller until it is given back. */
struct feed_run {
	struct feed_run *next;
	struct run run;
	struct run_part *parts;
	uint32_t open;         /* used by the caller: number of elements still in work */
	uint32_t from;         /* used by the caller: index of the next element to take */
	size_t bytes;
};

struct exec_feed {
	struct op_inst *in;
	struct op_ctx ctx;     /* context of the input: the chain's, with a stop of its own */
	struct op_inst *self;  /* the operator; an exec after it may give it another context */
	atomic_bool stop;
	int fd;                /* readable when there is news (eventfd); -1: none */
	pthread_t thread;
	pthread_mutex_t lock;  /* guards everything below */
	pthread_cond_t room, rest;
	bool started, pause, busy, hungry;
	bool border;           /* the thread waits for leave to begin the next split */
	struct feed_run *first, **last, *spare;
	uint32_t count;
	size_t bytes;
	enum status status;    /* status of the input; ST_OK: there is more */
	struct err err;
};

void exec_feed_open(struct exec_feed *f, struct op_inst *self);
/* Takes the next run. ST_AGAIN: none yet, f->fd becomes readable when there is; ST_END and
 * errors come after the last run. *stopped: the input was stopped, and may go on later. */
enum status exec_feed_take(struct exec_feed *f, struct feed_run **r, bool *stopped, struct err *e);
void exec_feed_give(struct exec_feed *f, struct feed_run *r);
void exec_feed_heard(struct exec_feed *f); /* clears the readiness of fd */
/* Brings the thread to rest until the next take. Runs that it has made stay in the queue. */
void exec_feed_rest(struct exec_feed *f);
/* Lets the thread begin the next split: nothing is left of the one before. */
void exec_feed_pass(struct exec_feed *f);
bool exec_feed_border(struct exec_feed *f); /* whether it waits for that */
/* An empty run, owned by the caller until it is given back, for a restore. */
struct feed_run *exec_feed_spare(struct exec_feed *f);
/* Adds an empty run at the end of the queue, to be filled by a restore. */
struct feed_run *exec_feed_add(struct exec_feed *f);
void exec_feed_close(struct exec_feed *f);

#endif
