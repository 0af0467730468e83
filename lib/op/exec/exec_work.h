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
#include "op/programs.h"
#include "op/state.h"

enum {
	/* elements and bytes in flight, for each child */
	EXEC_WINDOW = 1024, EXEC_WINDOW_BYTES = 1024 * 1024,
	/* the largest that the window of a child that holds answers back may grow to */
	EXEC_WINDOW_MAX = 65536,
	EXEC_AHEAD_BYTES = 64 * 1024 * 1024, /* size of the answers that wait for their turn */
	EXEC_PARALLEL_MAX = 1024,
	EXEC_CRASHES = 3,        /* deaths of children on one element after which it is to blame */
	EXEC_LATER = 3,          /* how often exit status 75 is tried again */
	/* elements lost without any answer so far: the program cannot work */
	EXEC_BARREN = 5
};
#define EXEC_HOLD_NS ((int64_t)1000000000) /* silence after which the child is examined */
#define EXEC_NOBODY UINT64_MAX
#define EXEC_SAID_NS ((int64_t)50000000)

enum job_state { JOB_NEW, JOB_SENT, JOB_DONE, JOB_FAULT, JOB_GONE };

struct exec_job {
	struct feed_run *run;   /* run and index of the element */
	uint32_t i;
	uint8_t state;          /* enum job_state */
	/* how many children died on it; how often one asked to try it later */
	uint8_t crashes, later;
	uint32_t at;            /* talk, sent: its place in the slot's fifo */
	uint32_t many;          /* JOB_DONE: number of elements in answer */
	int tries;              /* retries that were used */
	/* told (op/programs.h): when its try began, how long it took (ns), how it ended */
	int64_t began, took;
	uint32_t sent, received;
	uint16_t slot;
	uint8_t code, signal;
	struct buf answer;      /* JOB_DONE: the elements, end to end, waiting for their turn */
	struct err *fault;      /* JOB_FAULT */
};

struct exec_slot {
	unsigned index;
	struct child child;
	struct frame frame;
	struct child_output pour;       /* output of the child */
	struct buf w;           /* input for the child that it has not taken yet, from w_at */
	size_t w_at;
	uint64_t *fifo;         /* talk: numbers of the jobs in flight, oldest first, in a ring. */
	uint32_t at, end;       /* Jobs answered out of turn are EXEC_NOBODY, never at `at`. */
	uint32_t n, window;     /* jobs in flight, and the limit */
	struct speak speak;     /* proto=msgpack */
	size_t bytes;           /* size of the elements in flight */
	uint64_t seq;           /* each: number of the job */
	/* talk: when it last took or gave something; each: when the job began */
	int64_t moved;
	int64_t heard;          /* when it last gave something or, talk, began to owe an answer */
	int64_t looked;         /* talk: when exec_hold_steady last examined it */
	/* when it wrote something to stderr that was not passed on; 0: never */
	int64_t said;
	bool warned, closing, alone, deaf; /* deaf: talk: the child has closed its stdin */
};

struct exec {
	/* parameters */
	struct words command;
	char *script;           /* sh */
	int proto;
	int64_t parallel, window, timeout;
	bool ordered, shell, bytes, pty, log, tag;
	char *field, *into;     /* field to be read, field for the answer; NULL: whole elements */
	/* set by open */
	struct op_inst *self;
	struct exec_feed feed;
	struct exec_args args;
	struct exec_env env;
	struct child_kind kind;
	struct words owned;     /* the words to start, when they were made here */
	char *path, *name;
	bool opened;
	/* jobs */
	struct exec_job *jobs;
	uint64_t cap, head, next; /* cap is a power of 2 */
	uint64_t *again;        /* jobs to send again, smallest number last */
	size_t n_again, cap_again;
	/* unordered: finished jobs in the order to be given; a ring of cap */
	uint64_t *ready;
	uint64_t ready_at, ready_end;
	struct feed_run *cur;   /* the run from which elements are taken */
	struct feed_run *used;  /* runs to give back at the next call, since out may lie in them */
	const struct feed_run *out_run; /* the run whose elements are in out */
	size_t ahead;           /* size of the answers that wait */
	struct run scratch;
	struct buf record;      /* field: the records made from answers */
	struct buf logged, log_texts; /* log: the record about an element, and its texts */
	bool over;              /* the input has ended or failed: */
	enum status input;
	struct err input_err;
	bool wants;             /* another job could be taken if there were input */
	bool stopped;           /* the input was stopped */
	bool idle;              /* nothing has moved: the next step does all it can */
	unsigned barren;
	uint64_t answered;
	/* proto=msgpack */
	struct speak_stat stats[SPEAK_STATS];
	unsigned n_stats;
	bool kept;              /* the child keeps a state, so there can be only one */
	bool loads;             /* a child begins with the state in `load` */
	struct buf load;
	struct buf command_text; /* told: the command, quoted */
	const char *worker;     /* told: the name of this one */
	bool telling;           /* answers were told that have not been taken yet */
	bool halted;
	struct err broken;      /* error found while saving; the next call gives it */
	/* slots */
	struct exec_slot *slots;
	unsigned n_slots;
	struct pollfd *polls;
	int64_t closing_ns;     /* when the children were told that the input has ended */
};

/* Jobs (exec_jobs.c). */
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
/* Takes the next job to send. ST_AGAIN: none now; ST_END: no more. */
enum status exec_jobs_take(struct exec *x, uint64_t *seq);
void exec_jobs_drop(struct exec *x, uint64_t seq); /* ends one of which nothing is wanted */
void exec_jobs_again(struct exec *x, uint64_t seq); /* puts it among those to send again */
/* Takes the answer of n bytes: puts it into out when it is the job's turn and there is room. */
void exec_jobs_answer(struct exec *x, uint64_t seq, struct frame *f, const uint8_t *p, size_t n,
		      struct run *out);
/* Like exec_jobs_answer, for `many` checked values end to end. out NULL: they wait. */
void exec_jobs_values(struct exec *x, uint64_t seq, const uint8_t *p, size_t n, uint32_t many,
		      struct run *out);
/* Fails the job: it is tried again if on_error says so, else its fault waits for its turn. */
void exec_jobs_fail(struct exec *x, uint64_t seq, const struct err *e);
/* Gives the answers that are due, as far as out has room. */
enum status exec_jobs_emit(struct exec *x, struct run *out, struct err *e);
/* Gives runs whose elements are all finished back to the feed. */
void exec_jobs_release(struct exec *x);
/* Whether the ring has no place for another job; exec_jobs_grow doubles it. */
bool exec_jobs_full(const struct exec *x);
void exec_jobs_grow(struct exec *x);
bool exec_jobs_none(const struct exec *x);
uint64_t exec_jobs_waiting(struct exec *x); /* number of jobs whose answers have not been given */
/* Saves the input of the jobs whose answers have not been given (answered: of none), and the
 * input pulled but not yet sent. */
void exec_jobs_save(struct exec *x, struct buf *out, bool answered);
enum status exec_jobs_restore(struct exec *x, struct state_in *in, struct err *e);
/* Saves a finished job, with its answer. */
void exec_jobs_save_done(struct exec *x, uint64_t seq, struct buf *out);
void exec_jobs_restore_done(struct exec *x, struct state_in *in);

/* Gets the part of the element that the program is given; ST_DATA: it has no such field
 * (exec_field.c). exec_field_put appends the record with the answer in it to out. */
enum status exec_field_get(const struct exec *x, const struct elem *in, struct elem *part,
			   struct err *e);
void exec_field_put(const struct exec *x, const struct elem *in, const uint8_t *value, size_t n,
		    struct buf *out);

/* log=true (exec_log.c): the type of the elements; makes x->logged, the record with the answers. */
enum status exec_log_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e);
void exec_log_make(struct exec *x, uint64_t seq, const uint8_t *answers, size_t n, uint32_t many);

/* Saved states (exec_state.c). */
void exec_state_save(struct exec *x, struct buf *out);
enum status exec_state_restore(struct exec *x, const uint8_t *p, size_t n, struct err *e);

/* The modes of work. A step does everything that needs no waiting; *moved: it did something.
 * ended: all children have gone. */
enum status exec_talk_step(struct exec *x, struct run *out, bool *moved, struct err *e);
/* Whether the slot has the job in flight. */
bool exec_sent_has(struct exec *x, const struct exec_slot *s, uint64_t seq);
/* Removes a job in flight from the slot. */
void exec_sent_take(struct exec *x, struct exec_slot *s, uint64_t seq);
enum status exec_each_step(struct exec *x, struct run *out, bool *moved, struct err *e);
enum status exec_flow_next(struct exec *x, struct run *out, struct err *e);

/* Tells the commands instead of running them (exec_dry.c). */
enum status exec_dry_step(struct exec *x, struct run *out, bool *moved, struct err *e);
static inline bool
exec_is_dry(const struct exec *x)
{
	return x->self->ctx->programs && x->self->ctx->programs->dry;
}

/* Whether a program that writes nothing gives no element: not where its answer is bytes, exactly as
 * they were written, or the field of a record. */
static inline bool
exec_may_be_silent(const struct exec *x)
{
	return x->proto == FRAME_ARG && !x->bytes && !x->field;
}
/* Appends the words of a command, quoted for a shell; line: on one line. */
void exec_words_quote(char *const *argv, bool line, struct buf *out);

/* Ends the children, and the input, of a chain that was closed; answers that are there stay. */
void exec_halt(struct exec *x);

/* Telling of each element (exec_told.c). sent: its try begins, with so many bytes on stdin. */
void exec_told_sent(struct exec *x, uint64_t seq, unsigned slot, size_t bytes);
/* How its try failed: to be called before exec_jobs_fail, which else counts the answer as bad. */
void exec_told_code(struct exec *x, uint64_t seq, int code);
void exec_told_child(struct exec *x, uint64_t seq, const struct child *c);
void exec_told_answer(struct exec *x, uint64_t seq, size_t bytes); /* its answer has come, */
void exec_told_over(struct exec *x, bool good); /* is good, or its last try has failed, */
/* and is given; answered: elements come of it. A failure is given at once, however long it waits for its turn. */
void exec_told_given(struct exec *x, uint64_t seq, bool answered);
/* All that is known of its run. Its texts are lent until the next call. */
void exec_told_run(struct exec *x, uint64_t seq, bool answered, struct op_program_run *out);
void exec_told_failed(struct exec *x, uint64_t seq);
void exec_told_taken(struct exec *x); /* all that was given is taken by the operator behind */
bool exec_told_before(struct exec *x, uint64_t seq);
enum op_programs_closed exec_told_closed(const struct exec *x);
/* tag=true: makes the answer, one text, of lines that begin with the element (exec_tag.c). */
enum status exec_tag_typing(const struct op_node *n, const struct op_typing *t, struct err *e);
void exec_tag_put(const struct elem *el, const uint8_t *answer, size_t n, struct buf *out);

/* Helpers in exec_op.c for both modes. */
enum status exec_start(struct exec *x, struct exec_slot *s, char *const *argv, struct err *e);
/* Writes what waits for the child. ST_END: it does not read any more. */
enum status exec_write(struct exec_slot *s, bool *moved);
/* Passes on a child's stderr as notes. exec_hear_old leaves out what was written a moment ago,
 * because the last lines before a bad end are part of the error. */
void exec_hear_old(struct exec *x, struct exec_slot *s);
void exec_hear(struct exec *x, struct exec_slot *s);
/* An error that no policy skips: adds the operator's words and, if seq is given, the place of
 * that job's element. */
enum status exec_fatal(struct exec *x, const uint64_t *seq, struct err *e);
void exec_note(struct exec *x, const struct err *e);
/* Whether the child has gone and nothing has come since `since`, though processes that it
 * started hold its output open. */
bool exec_left(struct exec_slot *s, int64_t since, int ms);
/* The status of a child that has ended: ST_OK, or an error with its last words. */
enum status exec_ended(struct exec *x, const struct exec_slot *s, struct err *e);
int64_t exec_now(void);

#endif
