/* SPDX-License-Identifier: MIT
 *
 * A worker as a state machine: which streams it runs, which chunks it keeps,
 * to whom they go. Messages, the time and what the producing threads have made
 * come in; actions come out. Threads, chains and sockets are the program's
 * (host): it calls everything here from one thread.
 *
 *	dispatcher --ASSIGN--> WORKER_START   (start a thread on the stream)
 *	thread wants splits    WORKER_SPLITS  (asked ahead: told by worker_split_taken)
 *	thread makes chunks    worker_produced -> WORKER_CHUNK to a reader with credit
 *	reader acknowledges    WORKER_FREE
 *	budget                 WORKER_STALL, WORKER_RESUME
 *	more streams than slots  WORKER_REST -> worker_rested; WORKER_GO (worker_turn.c)
 *
 * A chunk is the program's: an opaque handle with offset, count and bytes. Every handle given in
 * comes out exactly once as WORKER_FREE; it may be sent (WORKER_CHUNK) any number
 * of times before: to another reader when the first one is gone, again to the
 * same one when its connection broke. Bytes of all handles stay below
 * `memory`, divided over the streams; beyond it each stream may make one chunk, and one
 * for each reader that has none. Of the readers of a stream all but one may hold half
 * of its part. So those which stand still do not starve the others. A stream that no reader has
 * asked yet makes one chunk, and what it may keep grows with what it sends.
 *
 * Rules for chunks of one stream and generation: in the order of offsets,
 * consecutive elements only, none that is in the `skip` of the ASSIGN for all its views (a chunk
 * ends where a range that some view skips begins). After WORKER_STOP nothing of that key is needed;
 * what still comes is freed.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/msg.h"

struct worker;

enum { WORKER_MEMORY = 48 << 20, WORKER_CHUNKS_MAX = 4096 }; /* chunks kept per view of a stream */
#define WORKER_ALL_VIEWS UINT32_MAX

struct worker_opts {
	uint64_t peer;
	const char *name, *host, *hostname, *endpoint; /* lent, also later; hostname: may be NULL */
	const struct words *tags;           /* lent; may be NULL */
	uint32_t pid, slots;
	size_t memory;          /* 0: WORKER_MEMORY */
	const char *where;      /* place of the dispatcher, for messages; lent, may be NULL */
	int64_t give_up_ns;     /* a durable dispatcher is waited for so long; 0: for ever */
	uint32_t splits_ahead;  /* splits asked for before they are needed; 0: 1 */
	uint32_t units_part;    /* units in one UNITS; 0: WIRE_UNITS_PART */
};

struct worker *worker_new(const struct worker_opts *o, int64_t now_ns); /* gives; first action: HELLO */
/* At the end of the program: what is held comes out as WORKER_FREE; then worker_free. */
void worker_stop(struct worker *w);
void worker_free(struct worker **w);

/* Messages; may take parts out of *m, the caller clears it. */
void worker_message(struct worker *w, int64_t now_ns, struct msg *m);             /* from the dispatcher */
void worker_data(struct worker *w, int64_t now_ns, uint64_t peer, struct msg *m); /* from a reader */
/* Whether a CREDIT has the ticket of its seat, or there is no such stream. */
bool worker_admits(struct worker *w, const struct msg_credit *c);
/* It was reached at another address: what was sent to it in the meantime is lost. */
void worker_dispatcher_reached(struct worker *w, int64_t now_ns);
void worker_dispatcher_gone(struct worker *w, int64_t now_ns); /* connection broke; it may come back */
void worker_peer_gone(struct worker *w, int64_t now_ns, uint64_t peer); /* a reader's connection broke */
void worker_tick(struct worker *w, int64_t now_ns);
int64_t worker_next_deadline(const struct worker *w); /* ns; INT64_MAX: none */

/* From the producing threads. Takes the handle in every case. view: in rounds (`places` of
 * the ASSIGN above 1), the view whose elements these are, and offset counts in it; else
 * WORKER_ALL_VIEWS, and each view gets the handle. split: the number
 * of the split being read when its elements were made (0 when not by split);
 * under order source a chunk may not hold elements of two splits. */
void worker_produced(struct worker *w, int64_t now_ns, struct stream_key key, uint32_t view, void *handle,
		     uint64_t offset, uint32_t count, size_t bytes, uint64_t split);
/* The thread of a careful stream (ASSIGN says so) is about to make the element at `offset`, and waits for WORKER_STEP.
 * It gives its thread up meanwhile, or is handed over, as at any time between two elements, and does not say this
 * once more. ahead: threads of its chain make elements before they are asked for. */
void worker_step(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t offset, bool ahead);
/* Answers WORKER_REST: the stream has no thread now, and goes on at WORKER_GO. Nothing of it
 * follows until then but a chunk that was begun. */
void worker_rested(struct worker *w, int64_t now_ns, struct stream_key key);
/* In rounds, before worker_ended: the elements that do not fill a round, one by one; then, if `pad`
 * of the ASSIGN is set, null as one that may be put where others are missing. Takes the handle. */
void worker_rest(struct worker *w, int64_t now_ns, struct stream_key key, void *handle, size_t bytes, bool pad);
/* The thread began to read split k: the next ones are asked for. stored: elements that its
 * pipeline has put away without giving anything for them; never less than before. */
void worker_split_taken(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t k, uint64_t stored);
/* Before anything else that is told of the stream then: an element has come to the repeat whose passes the
 * splits count. Until then worker_split_taken says that the splits before k have gone through. */
void worker_reached(struct worker *w, struct stream_key key);
/* Before worker_split_taken: the split before that one lay behind the end of a source that grew, which
 * has so many parts in all. */
void worker_source_ended(struct worker *w, struct stream_key key, uint32_t leaf, uint64_t length);
/* Tells how much the stream has put into files, and why it stands still; waits NULL: it does not. The
 * sums never become less. */
void worker_stores(struct worker *w, int64_t now_ns, struct stream_key key, const struct msg_stored *sum,
		   const struct err *waits);
/* All made: after the last worker_produced. made: elements produced, skipped ones too. */
void worker_ended(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t length, uint64_t made);
/* The element behind the first `length` failed, in split number `split`: those before it
 * are delivered first. After the last worker_produced. */
void worker_failed(struct worker *w, int64_t now_ns, struct stream_key key, const struct err *e,
		   uint64_t length, uint64_t split, uint64_t made);
/* A restart point: the chain's state when it had made all elements before
 * `offset`; whoever goes on from it asks for split number `split` first (0 when
 * not by split). An empty state is a fresh chain at the begin of that split. The
 * state is copied. */
void worker_restart(struct worker *w, int64_t now_ns, struct stream_key key,
		    uint64_t offset, uint64_t split, const void *state, size_t n);
/* Answers WORKER_HANDOVER: the thread has stopped, worker_produced was told of all up to
 * `offset`, this is its last restart point. Or (can false) it goes on to its end. */
void worker_handed(struct worker *w, int64_t now_ns, struct stream_key key, bool can,
		   uint64_t offset, uint64_t split, const void *state, size_t n, uint64_t made);
/* So many elements of the stream have failed so far: as many as ASSIGN said, and
 * one more for each that its chain skipped or kept since. Takes the parts of list: those not
 * told yet. What worker_restart, worker_handed, worker_ended and worker_failed say comes
 * with the number told last. */
void worker_faults(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t failed,
		   struct msg_faults_list *list);
/* Elements that WORKER_TAP asked for; takes their bytes. */
void worker_tapped(struct worker *w, int64_t now_ns, struct msg_tapped *m);
/* Answers WORKER_LIST. Takes u's parts (the units, or code and text). */
void worker_listed(struct worker *w, int64_t now_ns, uint64_t req, struct msg_units *u);

/* Leave in order: streams are handed over, what was made is delivered, then
 * WORKER_LEAVE. */
void worker_drain(struct worker *w, int64_t now_ns);

enum worker_action_kind {
	WORKER_NONE,
	WORKER_TELL,     /* send msg to the dispatcher */
	WORKER_SEND,     /* send msg to `peer` (a reader) on the data socket */
	WORKER_CHUNK,    /* send msg (CHUNK; set codec and raw_len) and handle's payload to `peer` */
	WORKER_FREE,     /* handle: not needed any more (messages under way keep their own reference) */
	WORKER_START,    /* begin the stream, on a thread: msg is the ASSIGN */
	WORKER_REST,     /* key: give the thread up before the next element, then worker_rested */
	WORKER_GO,       /* key: go on, on a thread */
	WORKER_STEP,     /* key: answers worker_step; free: it need not be asked any more */
	WORKER_STOP,     /* key: stop it, whatever it does */
	WORKER_SPLITS,   /* msg is the SPLIT: the next splits, in order; `end`: no more after them */
	WORKER_STALL,    /* key: make no more for now */
	WORKER_RESUME,   /* key: go on */
	WORKER_WANT,     /* key: a reader waits and nothing is queued: hand in what there
	                * is, a part of a chunk too, once; forgotten at the next worker_produced */
	WORKER_HANDOVER, /* key: stop at the next place with a restart point, then worker_handed */
	WORKER_LIST,     /* msg is the LIST: list the units of its spec, then worker_listed with msg.req */
	WORKER_TAP,      /* msg is the TAP: copies of elements of its iteration's streams are wanted, for worker_tapped */
	WORKER_WELCOME,  /* the dispatcher has answered: now it is known there (once) */
	WORKER_DRAIN,    /* the dispatcher asks it to leave: worker_drain, as after a signal */
	WORKER_LEAVE,    /* drained, or the dispatcher has ended in order: end, exit 0 */
	WORKER_LOST      /* end: err says why and with which code */
};
struct worker_action {
	enum worker_action_kind kind;
	struct stream_key key;
	uint64_t peer;
	uint32_t view;   /* WORKER_WANT: as in worker_produced */
	uint32_t takers; /* WORKER_WANT: so many readers will be sent it */
	bool free;       /* WORKER_STEP */
	void *handle;
	struct msg msg;  /* given: msg_clear after use */
	struct err *err; /* lent until the next call */
};
/* The next action; false: none. Call until false after every event. */
bool worker_action(struct worker *w, struct worker_action *out);

/* How many streams of a worker with `slots` slots may have a thread at once. */
size_t worker_threads(uint32_t slots);

/* Bytes of memory that is shared, and of those that readers have: for the dispatcher's report. */
void worker_shares(struct worker *w, size_t arena, size_t leased);

/* A chunk of an iteration was sent: so many bytes of elements, and so many of them, as packed, on a socket. */
void worker_sent(struct worker *w, uint64_t iteration, uint64_t raw, uint64_t wire);
/* The threads of an iteration have spent so long in this operator, and so many elements came out of it. */
void worker_spent(struct worker *w, uint64_t iteration, const struct msg_op_time *t);

/* A call of this operator is under way for so long. */
void worker_called(struct worker *w, uint64_t iteration, uint32_t place, uint64_t ns);

/* For progress and status. */
size_t worker_kept_bytes(const struct worker *w);
size_t worker_streams(const struct worker *w);
bool worker_connected(const struct worker *w); /* with its dispatcher */

#endif
