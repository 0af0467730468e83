/* SPDX-License-Identifier: MIT
 *
 * What runs inside `exec`: jobs, which are elements on their way through a
 * child, and slots, which are the children they go through.
 *
 *	input -> feed -> job  new -> sent -> done -> out
 *	                       ^      |       |
 *	                       +------+-------+  the child died, or a retry
 *
 *	jobs:  head |done|sent|done|sent|new | next      a ring, by number
 *	            ^ ordered: given when it is done      (a window of them)
 *
 * Three ways of work: exec_talk.c speaks with long-lived children, one answer for
 * each element; exec_each.c runs a process for each element; exec_flow.c pours
 * all of a stream through one child. The operator (op_exec.c) chooses one.
 */
#ifndef EXEC_EXEC_WORK_H
#define EXEC_EXEC_WORK_H

#include "op/exec_args.h"
#include "op/exec/exec_child.h"
#include "op/exec/exec_env.h"
#include "op/exec/exec_feed.h"
#include "value/format/frame.h"
#include "op/exec/exec_output.h"
#include "op/exec/exec_speak.h"
#include "op/op.h"
#include "op/state.h"

enum {
	EXEC_WINDOW = 1024, EXEC_WINDOW_BYTES = 1024 * 1024, /* in flight, for each child */
	EXEC_WINDOW_MAX = 65536, /* what the window of a child that holds back grows to */
	EXEC_AHEAD_BYTES = 64 * 1024 * 1024, /* answers that wait for their turn */
	EXEC_PARALLEL_MAX = 1024,
	EXEC_CRASHES = 3,        /* on one element: then it is to blame */
	EXEC_LATER = 3,          /* times that exit status 75 is tried again */
	EXEC_BARREN = 5          /* elements lost without any answer ever: it cannot work */
};
#define EXEC_HOLD_NS ((int64_t)1000000000) /* silence that is looked into */
#define EXEC_NOBODY UINT64_MAX
#define EXEC_SAID_NS ((int64_t)50000000)

enum job_state { JOB_NEW, JOB_SENT, JOB_DONE, JOB_FAULT, JOB_GONE };

struct exec_job {
	struct feed_run *run;   /* the element: i of it */
	uint32_t i;
	uint8_t state;          /* enum job_state */
	uint8_t crashes, later; /* children that died on it; that asked for it later */
	uint32_t at;            /* talk, sent: its place in the slot's fifo */
	uint32_t many;          /* JOB_DONE: elements in answer */
	int tries;              /* retries that were used */
	struct buf answer;      /* JOB_DONE: elements, end to end, waiting for their turn */
	struct err *fault;      /* JOB_FAULT */
};

struct exec_slot {
	unsigned index;
	struct child child;
	struct frame frame;
	struct child_output pour;       /* what the child writes */
	struct buf w;           /* what it has not taken yet, from w_at */
	size_t w_at;
	uint64_t *fifo;         /* talk: numbers of jobs in flight, oldest first; a ring. */
	uint32_t at, end;       /* Those answered out of turn are EXEC_NOBODY; at `at` is none */
	uint32_t n, window;     /* in flight; how many may be */
	struct speak speak;     /* proto=msgpack */
	size_t bytes;           /* of elements in flight */
	uint64_t seq;           /* each: the job */
	int64_t moved;          /* talk: when it last took or gave something; each: when it began */
	int64_t heard;          /* when it last gave something; talk: or began to owe an answer */
	int64_t looked;         /* talk: when exec_hold_steady last looked */
	int64_t said;           /* when it wrote to stderr what was not passed on; 0: nothing */
	bool warned, closing, alone, deaf; /* deaf: talk: it has closed its stdin */
};

struct exec {
	/* parameters */
	struct words command;
	char *script;           /* sh */
	int proto;
	int64_t parallel, window, timeout;
	bool ordered, shell, bytes, pty;
	char *field, *into;     /* of each record; NULL: the element is given, and replaced */
	/* set by open */
	struct op_inst *self;
	struct exec_feed feed;
	struct exec_args args;
	struct exec_env env;
	struct child_kind kind;
	struct words owned;     /* the words that are started */
	char *path, *name;
	bool opened;
	/* jobs */
	struct exec_job *jobs;
	uint64_t cap, head, next; /* cap: a power of 2 */
	uint64_t *again;        /* jobs to be sent again, smallest number last */
	size_t n_again, cap_again;
	uint64_t *ready;        /* unordered: done, in the order to be given; a ring of cap */
	uint64_t ready_at, ready_end;
	struct feed_run *cur;   /* elements are taken from it */
	struct feed_run *used;  /* given back at the next call: out may lie in them */
	const struct feed_run *out_run; /* elements of it are in out */
	size_t ahead;           /* bytes of answers that wait */
	struct run scratch;
	struct buf record;      /* field: the records that answers make */
	bool over;              /* the input has ended, or failed: */
	enum status input;
	struct err input_err;
	bool wants;             /* a job could be taken if there were input */
	bool stopped;           /* the input was stopped */
	bool idle;              /* nothing has moved: the next step is to do all it can */
	unsigned barren;
	uint64_t answered;
	/* proto=msgpack */
	struct speak_stat stats[SPEAK_STATS];
	unsigned n_stats;
	bool kept;              /* the child keeps a state: there can be no other */
	bool loads;             /* a child begins with the state in `load` */
	struct buf load;
	struct err broken;      /* found while a state was saved: the next error */
	/* slots */
	struct exec_slot *slots;
	unsigned n_slots;
	struct pollfd *polls;
	int64_t closing_ns;     /* when the children were told that nothing more comes */
};

/* exec_jobs.c */
void exec_jobs_open(struct exec *x, uint64_t window);
void exec_jobs_close(struct exec *x);
static inline struct exec_job *
exec_job(struct exec *x, uint64_t seq)
{
	return &x->jobs[seq & (x->cap - 1)];
}
static inline const struct elem *
exec_job_elem(struct exec *x, uint64_t seq)
{
	const struct exec_job *j = exec_job(x, seq);

	return &j->run->run.e[j->i];
}
/* The next job to be sent. ST_AGAIN: none now; ST_END: none any more. */
enum status exec_jobs_take(struct exec *x, uint64_t *seq);
void exec_jobs_again(struct exec *x, uint64_t seq); /* to be sent again */
/* The answer of n bytes: into out when it is its turn and there is room. */
void exec_jobs_answer(struct exec *x, uint64_t seq, struct frame *f, const uint8_t *p, size_t n,
		      struct run *out);
/* The same for `many` values end to end, which are checked. out NULL: they wait. */
void exec_jobs_values(struct exec *x, uint64_t seq, const uint8_t *p, size_t n, uint32_t many,
		      struct run *out);
/* It failed: tried again if on_error says so, else its fault waits for its turn. */
void exec_jobs_fail(struct exec *x, uint64_t seq, const struct err *e);
/* Gives what is due, as far as out has room. */
enum status exec_jobs_emit(struct exec *x, struct run *out, struct err *e);
/* Runs whose elements are all done with go back to the feed. */
void exec_jobs_release(struct exec *x);
/* The ring has no place for another job; twice as many places. */
bool exec_jobs_full(const struct exec *x);
void exec_jobs_grow(struct exec *x);
bool exec_jobs_none(const struct exec *x);
uint64_t exec_jobs_waiting(struct exec *x); /* jobs whose answers have not been given */
/* The inputs of those, unless they are answered, and what was pulled behind them. */
void exec_jobs_save(struct exec *x, struct buf *out, bool answered);
enum status exec_jobs_restore(struct exec *x, struct state_in *in, struct err *e);
/* A job that is done, with its answer. */
void exec_jobs_save_done(struct exec *x, uint64_t seq, struct buf *out);
void exec_jobs_restore_done(struct exec *x, struct state_in *in);

/* exec_field.c: what of the element the program is given; ST_DATA: it has no such field.
 * And the record with the answer in it, to the end of out. */
enum status exec_field_get(const struct exec *x, const struct elem *in, struct elem *part,
			   struct err *e);
void exec_field_put(const struct exec *x, const struct elem *in, const uint8_t *value, size_t n,
		    struct buf *out);

/* exec_state.c */
void exec_state_save(struct exec *x, struct buf *out);
enum status exec_state_restore(struct exec *x, const uint8_t *p, size_t n, struct err *e);

/* The ways of work. A step does what can be done without waiting; *moved: it
 * did something. ended: all children are gone. */
enum status exec_talk_step(struct exec *x, struct run *out, bool *moved, struct err *e);
/* Whether the slot was given that job and owes its answer; takes it from there. */
bool exec_talk_has(struct exec *x, const struct exec_slot *s, uint64_t seq);
void exec_talk_take(struct exec *x, struct exec_slot *s, uint64_t seq);
enum status exec_each_step(struct exec *x, struct run *out, bool *moved, struct err *e);
enum status exec_flow_next(struct exec *x, struct run *out, struct err *e);

/* op_exec.c, for the ways of work. */
enum status exec_start(struct exec *x, struct exec_slot *s, char *const *argv, struct err *e);
/* Writes what waits for the child. ST_END: it does not read any more. */
enum status exec_write(struct exec_slot *s, bool *moved);
/* stderr of a child goes on as notes. exec_hear_old: only what it said a moment ago,
 * for what is said just before a bad end stands in the error. */
void exec_hear_old(struct exec *x, struct exec_slot *s);
void exec_hear(struct exec *x, struct exec_slot *s);
/* An error that no policy lets go: completed with the operator and, if seq is of
 * a job, its place. */
enum status exec_fatal(struct exec *x, const uint64_t *seq, struct err *e);
void exec_note(struct exec *x, const struct err *e);
/* The child is gone, nothing has come since `since`, and what it started holds its
 * output open. */
bool exec_left(struct exec_slot *s, int64_t since, int ms);
/* The child has ended: what it said of itself, as an error. */
enum status exec_ended(struct exec *x, const struct exec_slot *s, struct err *e);
int64_t exec_now(void);

#endif
