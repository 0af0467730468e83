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

/* A run of the input, the caller's until it is given back. */
struct feed_run {
	struct feed_run *next;
	struct run run;
	struct run_part *parts;
	uint32_t open;         /* for the caller: elements not done with */
	uint32_t from;         /* for the caller: the next one to take */
	size_t bytes;
};

struct exec_feed {
	struct op_inst *in;
	struct op_ctx ctx;     /* of the input: the same with another stop */
	struct op_inst *self;  /* has the context of an exec behind it: a split ends in both */
	atomic_bool stop;
	int fd;                /* readable: there is news (eventfd); -1: none */
	pthread_t thread;
	pthread_mutex_t lock;  /* all below */
	pthread_cond_t room, rest;
	bool started, pause, busy, hungry;
	bool border;           /* the thread waits for leave to go on to the next split */
	struct feed_run *first, **last, *spare;
	uint32_t count;
	size_t bytes;
	enum status status;    /* what the input came to; ST_OK: it goes on */
	struct err err;
};

void exec_feed_open(struct exec_feed *f, struct op_inst *self);
/* The next run. ST_AGAIN: none now, f->fd tells when; ST_END and errors come
 * after the last run. *stopped: what ended it was a stop, and may go on. */
enum status exec_feed_take(struct exec_feed *f, struct feed_run **r, bool *stopped, struct err *e);
void exec_feed_give(struct exec_feed *f, struct feed_run *r);
void exec_feed_heard(struct exec_feed *f); /* takes the news off fd */
/* Brings the thread to rest until the next take. What it has made stands in first. */
void exec_feed_rest(struct exec_feed *f);
/* Where splits are told apart: nothing of the one before is left, go on. */
void exec_feed_pass(struct exec_feed *f);
bool exec_feed_border(struct exec_feed *f); /* it waits for that */
/* An empty run that is the caller's until it is given back; for a restore. */
struct feed_run *exec_feed_spare(struct exec_feed *f);
/* An empty run at the end of the queue, to be filled by a restore. */
struct feed_run *exec_feed_add(struct exec_feed *f);
void exec_feed_close(struct exec_feed *f);

#endif
