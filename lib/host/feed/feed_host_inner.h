/* SPDX-License-Identifier: MIT
 *
 * What the files of the host of dsvc-feed share.
 *
 *	feed_host.c     the loop, the start, the actions of the machine
 *	feed_seat.c     what cores say on their sockets; who sits where
 *	feed_pipe.c     cores that read steps on stdin and answer on stdout
 *	feed_sure.c     positions that wait until such cores have read beyond them
 *	feed_child.c    starting and ending children
 *	feed_answer.c   results: kept, cut into rows, passed on in order
 *	feed_agree.c    an end on which several hosts agree
 */
#ifndef HOST_FEED_HOST_INNER_H
#define HOST_FEED_HOST_INNER_H

#include <sys/types.h>

#include "core/feed/feed_sent.h"
#include "host/feed/feed_host.h"
#include "host/feed/feed_link.h"
#include "op/exec/exec_child.h"
#include "value/json/json.h"

struct feed_answer { uint64_t step, rows; struct buf value; };
struct feed_given { uint64_t step, rows, valid; };
struct feed_waiting { struct feed_place place; enum feed_keep when; };

/* A core's seat. */
struct feed_seat {
	struct feed_link link;
	struct feed_ring *ring;      /* that it was told of last; NULL: none */
	bool joined, closing;        /* closing: nothing more is sent to it */
	struct buf position;         /* that it brought */
	struct child child;          /* pid 0: none; only its group is used of the rest */
	int pidfd;                   /* -1: none */
	int in, out, err;            /* our ends of its pipes; -1: none */
	struct buf text;             /* to be written to in, from text_at */
	size_t text_at;
	struct { uint64_t step; size_t end; } *line; /* steps in text, not counted as done yet */
	size_t n_line, cap_line;
	struct buf said, told;       /* unfinished lines of out and err */
	uint64_t done;               /* a core on pipes: steps done */
	int peek;                    /* a blind core's own end of `in`, to see what it has not read; -1: none */
	uint64_t wrote;              /* bytes written to in */
	struct feed_sent sent;       /* a blind core: the steps that it has read and done */
	struct feed_given *given;    /* steps told and not answered, with the rows that an answer must have */
	size_t n_given, cap_given;
	struct feed_answer *answer;  /* in order of steps */
	size_t n_answer, cap_answer;
};

struct feed_host {
	const struct feed_host_conf *c;
	struct feed *machine;
	struct feed_source *source;
	struct feed_fill *fill;
	struct feed_seat *seat;
	struct feed_what what;
	char *dataset;               /* a copy for `what` once the job is known: it outlives the reader of a pass */
	struct feed_place begin;
	uint64_t until;              /* the step to stop at; UINT64_MAX: none */
	bool began, dry, filled, over, signalled;
	int listener;                /* -1: none */
	struct feed_link *guest;     /* connections that have not joined */
	size_t n_guest, cap_guest;
	struct json *json;
	uint64_t done;               /* steps that were passed on as done by all cores */
	bool done_last;              /* and that they were the last was said */
	uint64_t kept;               /* the step of the position that was kept last */
	struct feed_waiting *waiting; /* positions, in order of their steps */
	size_t n_waiting, cap_waiting;
	int64_t sure_looked;         /* when cores were looked at for their sake */
	int64_t keep_since;          /* since when cores have waited with nothing left to do; 0: they do not */
	uint32_t released;           /* the pass of which all is acknowledged; 0: none */
	bool wants_end, agreed;      /* an end is asked for, by us or another host; and settled */
	uint32_t asked_epoch;        /* the pass in which the other hosts were asked; 0: none */
	uint64_t held;               /* the step that this host goes to, whatever the others have begun */
	enum feed_end_why end_why;
	char end_text[256];
	struct reader_feeds told;    /* to the reader of this pass, of the cores */
	const struct reader_host *told_reader;
	bool parched, parched_why;   /* that all cores wait for data was said; and why */
	int64_t now, starved_at, full_at;
	struct feed_host_end *end;
};

void feed_host_say(struct feed_host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The core broke the rules; e says how. */
void feed_host_blame(struct feed_host *h, uint32_t core, const struct err *e);

/* All cores have done so many steps: keeps a position of it, if it is time for one. */
enum status feed_host_done(struct feed_host *h, uint64_t step, enum feed_keep when, struct err *e);

/* Keeps a position now. */
enum status feed_host_keep(struct feed_host *h, const struct feed_place *place, enum feed_keep when, struct err *e);

/* feed_keep.c */
int64_t feed_keep_deadline(const struct feed_host *h);     /* ns; INT64_MAX: none */
enum status feed_keep_run(struct feed_host *h, struct err *e);

/* feed_seat.c */
enum status feed_seat_listen(struct feed_host *h, struct err *e);
void feed_seat_accept(struct feed_host *h);
void feed_seat_guest(struct feed_host *h, size_t i);       /* reads; may move the guest to a seat, or drop it */
void feed_seat_read(struct feed_host *h, uint32_t core);
void feed_seat_flush(struct feed_host *h, uint32_t core);
void feed_seat_welcome(struct feed_host *h, uint32_t core);
void feed_seat_batch(struct feed_host *h, const struct feed_action *a);
void feed_seat_end(struct feed_host *h, uint32_t core);
void feed_seat_error(struct feed_host *h, uint32_t core);

/* feed_pipe.c */
void feed_pipe_join(struct feed_host *h, uint32_t core);   /* it is there, and wants all steps */
void feed_pipe_batch(struct feed_host *h, const struct feed_action *a);
void feed_pipe_write(struct feed_host *h, uint32_t core);
void feed_pipe_read(struct feed_host *h, uint32_t core);   /* stdout */
void feed_pipe_hear(struct feed_host *h, uint32_t core, bool all); /* stderr */
void feed_pipe_close(struct feed_host *h, uint32_t core);  /* stdin, once all of it is written */
void feed_pipe_look(struct feed_host *h, uint32_t core);   /* tells the machine what of it was read */

/* feed_child.c */
enum status feed_child_start(struct feed_host *h, uint32_t core, struct err *e);
/* Starts it for its next loop. */
void feed_child_again(struct feed_host *h, uint32_t core);
void feed_child_reap(struct feed_host *h, uint32_t core);
void feed_child_signal(struct feed_host *h, uint32_t core, int sig);
void feed_child_clear(struct feed_host *h, uint32_t core);

/* feed_answer.c */
void feed_answer_want(struct feed_seat *s, const struct feed_batch *b);
/* Takes the value. ST_DATA: it has another number of rows than the step. */
enum status feed_answer_take(struct feed_host *h, uint32_t core, uint64_t step, const uint8_t *p, size_t n,
	   struct err *e);
/* Passes on the answers of all cores to a step. */
enum status feed_answer_pass(struct feed_host *h, uint64_t step, struct err *e);

/* feed_agree.c: all cores are to end soon, at the same step; with several hosts those of all. */
void feed_host_stop(struct feed_host *h, enum feed_end_why why, const char *text);
/* Goes on with that: to be called when something was heard of the other hosts, or steps came. */
void feed_host_agree(struct feed_host *h);

#endif
