/* SPDX-License-Identifier: MIT
 *
 * What the files of the worker share.
 *
 *	worker.c       contact, messages of the dispatcher, actions
 *	work_stream.c  one stream: its coming and going, splits, end
 *	work_turn.c    which streams have a thread
 *	work_chunk.c   chunks: budget, readers, credit, acknowledgements
 */
#ifndef WORK_WORK_INNER_H
#define WORK_WORK_INNER_H

#include "base/hash.h"
#include "core/contact.h"
#include "core/intervals.h"
#include "core/work/worker.h"

enum {
	WORK_SPLITS_ASKED = 64,
	WORK_ROUND = 64         /* elements of a stream before the next one's turn, with an order */
};

enum chunk_state { CHUNK_QUEUED, CHUNK_SENT, CHUNK_AGAIN, CHUNK_DONE };
struct work_chunk {
	void *handle;
	uint64_t offset, split;
	size_t bytes;
	uint32_t count, skip;   /* skip: elements at its front that are acknowledged */
	enum chunk_state state; /* AGAIN: for the same reader, whose connection broke */
	struct work_link *link; /* SENT, AGAIN */
};
/* A reader of a stream. */
struct work_link {
	uint64_t seat, peer, total, sent;
	uint32_t session;
	size_t again;           /* chunks to be sent again */
	size_t kept, kept_bytes;/* chunks sent to it, and not acknowledged */
	struct work_link *next;
};
/* The streams of an iteration, which share its turns. */
struct work_pass {
	uint64_t iteration, turn; /* turn: when one of them got a thread last */
	size_t streams;
	struct work_pass *next;
};
enum work_place { WORK_OFF, WORK_ON, WORK_RESTING }; /* no thread; has one; is to give it up */
enum work_producing { PRODUCING, PRODUCED_ALL, PRODUCED_FAILED, PRODUCED_HANDED };
struct work_stream {
	struct stream_key key;
	struct work_chunk *chunks; /* by offset; those at the front that are DONE are dropped */
	size_t first, n_chunks, cap_chunks; /* n_chunks counts from 0, not from first */
	size_t next;            /* no chunk before this one is QUEUED */
	size_t bytes;
	struct work_link *links;
	size_t n_links;
	uint64_t *gone;         /* seats that do not count any more */
	size_t n_gone, cap_gone;
	struct intervals acked; /* by readers, to us */
	bool active, ordered, by_split, stalled, wanted, handing, asking, split_end;
	bool starved;           /* a reader with credit has nothing, and nothing is there */
	uint64_t next_split, taken; /* to ask for; taken by the thread */
	int64_t asked_at, told_at;
	enum work_producing producing;
	enum work_place place;
	bool wants, begun;      /* wants a thread; has had one */
	uint32_t order;
	struct msg assign;      /* until it has begun */
	struct work_pass *pass;
	uint64_t turn;          /* counts turns: the one it had last */
	int64_t turn_at;        /* on: since when; resting: told so when */
	uint64_t first_split, made_to; /* of the ASSIGN; the element after the last made */
	uint64_t failed;        /* elements that failed, of this and earlier generations */
	uint64_t length, made, hand_offset, hand_split;
	uint64_t fail_split;    /* PRODUCED_FAILED: the split that was being read */
	struct bytes hand_state;
	uint32_t code;
	char *text, *help;
	bool told;              /* the end was said; until END_OK */
	bool confirmed;
};

struct work {
	struct work_opts o;
	struct contact contact;
	int64_t now;
	struct hash streams;    /* by iteration and stream */
	struct work_action *actions;
	size_t first_action, n_actions, cap_actions;
	uint64_t *lists;        /* LISTs under way */
	size_t n_lists, cap_lists;
	uint64_t n_listings;    /* lists told so far */
	size_t bytes, n_active; /* of all streams; streams that need a share */
	struct work_pass *passes;
	struct work_stream **on;/* those that have a thread */
	size_t n_on, cap_on, n_want;
	uint64_t turns;
	bool draining, over, shown;
	bool full;              /* some stream stalls because of all together */
	int64_t again_due;
	struct err err;
};

/* worker.c */
struct work_action *work_do(struct work *w, enum work_action_kind kind);   /* lends, to be filled */
struct msg *work_tell(struct work *w, enum msg_type t);                    /* to the dispatcher */

/* work_stream.c */
struct work_stream *work_stream_find(struct work *w, struct stream_key key);   /* this generation */
struct work_stream *work_stream_any(struct work *w, struct stream_key key);
void work_stream_assign(struct work *w, struct msg *m);
void work_stream_drop(struct work *w, struct work_stream *s);
void work_stream_splits(struct work *w, struct msg *m);
void work_stream_ask(struct work *w, struct work_stream *s);
void work_stream_end_ok(struct work *w, struct stream_key key);
void work_stream_again(struct work *w, struct work_stream *s, bool all); /* unanswered requests */
void work_stream_hand(struct work *w, struct work_stream *s);

void work_stream_begin(struct work *w, struct work_stream *s);   /* its first turn */

/* work_turn.c */
void work_turn_enter(struct work *w, struct work_stream *s);     /* a new stream */
void work_turn_leave(struct work *w, struct work_stream *s);     /* it is about to go */
void work_turn_check(struct work *w, struct work_stream *s);     /* whether it wants a thread may have changed */
void work_turn_over(struct work *w, struct work_stream *s);      /* it has no thread any more */
void work_turns(struct work *w);                                 /* some time has gone by */
int64_t work_turn_deadline(const struct work *w);

/* work_chunk.c */
void work_chunk_free(struct work *w, struct work_stream *s, struct work_chunk *c);
void work_chunk_activity(struct work *w, struct work_stream *s);
void work_chunk_budget(struct work *w);               /* all streams weighed again */
void work_chunk_reader_gone(struct work *w, struct msg *m);
void work_chunk_hand_done(struct work *w, struct work_stream *s); /* HANDOVER, once nothing is kept */

#endif
