/* SPDX-License-Identifier: MIT
 *
 * A reader as a state machine: opens a job, grants credit to workers, accepts
 * each element once, delivers in the promised order, acknowledges what has
 * been written. Messages, the time and what was written come in; actions come
 * out. Sockets and output are the program's (host).
 *
 *	chunk arrives       reader_chunk -> READER_DELIVER (parts of chunks, in order)
 *	elements written    reader_written(n) -> acknowledgements, READER_FREE, credit
 *	all is over         READER_DONE
 *
 * A chunk is the program's handle, with the header that came with it. Every
 * handle given in comes out exactly once as READER_FREE. What is delivered is to
 * be written in the order of the actions; reader_written counts elements in that
 * order. Chunks of void generations and elements it already has are dropped
 * here and never delivered.
 *
 * Memory: chunks that were accepted and not yet written stay below `budget`
 * plus one chunk per stream, because credit is granted by what is free.
 *
 * With `checkpoint`, written elements are acknowledged only when the program
 * says that the position which includes them is safe:
 *	reader_position -> write the file -> reader_saved
 * and without a position to go on from, nothing is taken before a first one is
 * safe: save it at READER_JOB. Who is killed earlier has left nothing to wait for.
 */
#ifndef READER_READER_H
#define READER_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/msg.h"

struct reader;

enum { READER_BUDGET = 32 << 20, READER_WINDOW = 16, READER_CHUNK_USUAL = 256 << 10 };

struct reader_opts {
	uint64_t peer;
	const char *name, *host;      /* lent, also later, as all texts here */
	const char *hostname;         /* machine, for people; NULL: not told */
	uint32_t pid;
	struct job_opts job;          /* window 0: READER_WINDOW; min_workers 0: 1 */
	const char *dataset;          /* id; or NULL with spec and type */
	const char *spec, *type;
	size_t budget;                /* bytes; 0: READER_BUDGET */
	const char *where;            /* place of the dispatcher, for messages; lent, may be NULL */
	int64_t give_up_ns;           /* a durable dispatcher is waited for so long; 0: for ever */
	const uint8_t *position;      /* position that an earlier run saved; NULL: from the start */
	size_t position_len;
	bool stops;                   /* rounds: the program sees to an agreed end (READER_HALT); else the reader does */
	const struct bytes *given;    /* positions of consumers of another number, from whose rounds we go on; lent */
	size_t n_given;               /* until reader_new is over */
	bool lag;                     /* in rounds: what is written is acknowledged behind a position: reader_position_at */
	bool in_rounds;               /* positions count rounds: they are the same for all consumers of a job of rounds */
};

/* Fails only on a position that is malformed (ST_DATA), or such tags (ST_USAGE). Gives; first action: HELLO. */
enum status reader_new(const struct reader_opts *o, int64_t now_ns, struct reader **out,
		       struct err *e);
/* At the end of the program: what is held comes out as READER_FREE; then reader_free. */
void reader_stop(struct reader *r);
void reader_free(struct reader **r);

/* Messages; may take parts out of *m, the caller clears it. */
void reader_message(struct reader *r, int64_t now_ns, struct msg *m);               /* from the dispatcher */
void reader_data(struct reader *r, int64_t now_ns, uint64_t worker, struct msg *m); /* from a worker, not CHUNK */
/* Takes the handle; bytes: what it holds in memory. */
void reader_chunk(struct reader *r, int64_t now_ns, uint64_t worker, const struct msg_chunk *c,
		  void *handle, size_t bytes);
/* It was reached at another address: what was sent to it in the meantime is lost. */
void reader_dispatcher_reached(struct reader *r, int64_t now_ns);
void reader_dispatcher_gone(struct reader *r, int64_t now_ns); /* connection broke; it may come back */
/* its connection broke; it may come back */
void reader_worker_gone(struct reader *r, int64_t now_ns, uint64_t worker);
void reader_worker_up(struct reader *r, int64_t now_ns, uint64_t worker);   /* there is a connection (again) */
/* Answers READER_UNREACHED, at any time. False: there is a connection by now, or the worker is not needed any more. */
bool reader_unreached(struct reader *r, int64_t now_ns, uint64_t worker, const char *why);
void reader_tick(struct reader *r, int64_t now_ns);
/* For how long, in all, the output of the program has taken nothing: for the dispatcher's report. */
void reader_blocked(struct reader *r, uint64_t ns);
int64_t reader_next_deadline(const struct reader *r); /* ns; INT64_MAX: none */

/* So many more elements, in the order they were delivered, are written and flushed. */
void reader_written(struct reader *r, int64_t now_ns, uint64_t elements);
/* The position: all that was written, one MessagePack value. With in_rounds it counts rounds, names no job and no
 * consumer, and must be taken between two rounds; nothing is put into out where there is no such position: within a
 * round, and behind the whole rounds of the streams. */
void reader_position(struct reader *r, struct buf *out);
/* With `lag`: the position after the first n of all elements written, or, where there is none, the last before it:
 * gives how many come before it. Once it is on disk, reader_saved acknowledges these. */
uint64_t reader_position_at(struct reader *r, uint64_t n, struct buf *out);
/* With `lag`: acknowledges all that is written, in a position or not. */
void reader_release(struct reader *r, int64_t now_ns);
/* The position last taken is on disk. */
void reader_saved(struct reader *r, int64_t now_ns);
/* All rounds before this one are written: another number of consumers can go on here, as the positions that follow
 * say, with what an output has by now. Where that is not so nothing is done. */
void reader_mark(struct reader *r, uint64_t bytes, uint64_t elements);
/* Stop here (enough elements, closed pipe, TERM): what was written is
 * acknowledged, then READER_DONE with code 0. keep: the job is to wait for my return. */
void reader_close(struct reader *r, int64_t now_ns, bool keep);

/* Rounds: asks for an end on which all consumers agree, or answers READER_HALT. The program has begun so many
 * rounds of the pass, in all runs together (reader_rounds), and begins no other before READER_FENCE. The end is
 * a multiple of `multiple` (0: any number). Said again it changes nothing. Without `stops` all that was delivered
 * has begun, nothing is delivered that is not to be written, and the reader closes by itself. */
void reader_stop_at(struct reader *r, int64_t now_ns, uint64_t rounds, uint64_t multiple);
/* The number of rounds of the pass that n delivered elements of this reader reach into, with those that were
 * written before it, in its place. Of use from the first READER_DELIVER on. */
uint64_t reader_rounds(const struct reader *r, uint64_t n);

enum reader_action_kind {
	READER_NONE,
	READER_TELL,       /* send msg to the dispatcher */
	READER_SEND,       /* send msg to `worker` on its data socket */
	READER_CONNECT,    /* open a data socket to `worker` at `endpoint`: before any READER_SEND to it */
	READER_UNREACHED,  /* no connection to `worker` at `endpoint` comes up: find out why, then reader_unreached */
	READER_DISCONNECT, /* close it */
	READER_DELIVER,    /* write elements [first, first + count) of handle's payload */
	READER_FREE,       /* handle */
	READER_JOB,        /* opened: msg is the JOB (once) */
	READER_HALT,       /* rounds: another consumer asks for an end (once): answer by reader_stop_at */
	READER_FENCE,      /* rounds: all are to have `offset` rounds of the pass: then reader_close */
	READER_DONE        /* over, nothing follows: end with code; err has text and help unless ST_OK;
	                  * msg is the DONE, if one came (its texts moved to err): what failed */
};
struct reader_action {
	enum reader_action_kind kind;
	uint64_t worker;
	const char *endpoint;   /* lent until the next call */
	void *handle;
	uint32_t first, count;
	uint32_t stream;        /* READER_DELIVER: the address of the first element */
	uint64_t offset;
	struct msg msg;         /* given: msg_clear after use */
	enum status code;
	struct err *err;        /* lent until the next call */
};
/* The next action; false: none. Call until false after every event. */
bool reader_action(struct reader *r, struct reader_action *out);

/* Whether elements are read in the memory of a worker: for the dispatcher's report. */
void reader_shared(struct reader *r, bool shared);

/* The use of the elements, if it is a feed: likewise. */
struct reader_feeds {
	uint32_t cores;              /* 0: it is none */
	uint64_t step;               /* that all have done */
	uint32_t last;               /* 1 + the core that is behind all others; 0: none */
};
void reader_feeds(struct reader *r, const struct reader_feeds *f);

/* For progress. */
struct reader_stats {
	uint64_t delivered, written, acknowledged; /* elements */
	uint64_t missed;             /* elements that its group is known not to get */
	uint64_t dropped;            /* elements that came twice or were void */
	uint64_t before;             /* rounds: elements of the pass that others wrote in its place, or it itself before */
	uint32_t places;             /* it has in each round */
	/* Rounds: the one that the pass begins with; what our output had by then, if the position that we went on from
	 * was of another number of consumers (given). */
	struct msg_mark begin;
	bool given;
	bool marks;                  /* reader_mark is to be called */
	uint32_t streams, streams_ended;
	size_t held_bytes;
	bool at_end;                 /* rounds: all of the pass has been delivered */
	bool midway;                 /* rounds, without a position: what comes first is not the begin of the pass */
	bool waiting_for_worker;     /* opened, and no stream has one */
	bool dispatcher_lost;
};
void reader_stats(const struct reader *r, struct reader_stats *out);
/* When this reader has written n elements: after how many more it is time for reader_mark (UINT64_MAX: never), with
 * checkpoint_rounds = every. Of use from the first READER_DELIVER on. */
uint64_t reader_mark_in(const struct reader_stats *s, uint64_t every, uint64_t n);

#endif
