/* SPDX-License-Identifier: MIT
 *
 * What the files of the worker share.
 *
 *	worker.c        contact, messages of the dispatcher
 *	worker_stream.c one stream: its coming and going, its end
 *	worker_chunk.c  chunks: budget, readers, credit, acknowledgements
 *	worker_tail.c   elements that do not fill a round
 *	worker_window.c what is given up for groups that are behind
 *	worker_late.c   what is kept for groups that come late
 *	worker_view.c   the views of a stream
 *	worker_turn.c   which streams have a thread
 *	worker_split.c  splits, asked for ahead
 *	worker_takes.c  which readers have had chunks
 *	worker_clock.c  where the time of threads went
 *	worker_find.c   streams by name
 *	worker_out.c    actions for the program
 *
 * Files call those below them, and no file one above it.
 */
#ifndef WORK_WORKER_INNER_H
#define WORK_WORKER_INNER_H

#include "base/hash.h"
#include "core/contact.h"
#include "core/intervals.h"
#include "core/work/worker.h"

enum {
	WORKER_SPLITS_ASKED = 64,
	WORKER_EARLY = 384,       /* a stream may keep this part of the memory before readers ask: half a chunk, usually */
	WORKER_ROUND = 64         /* elements of a stream before the next one's turn, with an order */
};

enum chunk_state { CHUNK_QUEUED, CHUNK_SENT, CHUNK_AGAIN, CHUNK_DONE };
/* A handle that is in several views. */
struct worker_piece { uint32_t views, taken; }; /* taken: of those, where a reader has it */
struct worker_chunk {
	void *handle;
	struct worker_piece *piece; /* NULL: it is in this view alone */
	uint64_t offset, split;
	size_t bytes;
	uint32_t count, skip;   /* skip: elements at its front that are acknowledged */
	bool tail;              /* not of the whole rounds of the stream */
	enum chunk_state state; /* AGAIN: for the same reader, whose connection broke */
	struct worker_link *link; /* SENT, AGAIN */
};
/* A reader of a stream. */
struct worker_link {
	uint64_t seat, peer, total, sent;
	struct secret ticket;
	uint32_t session;
	size_t again;           /* chunks to be sent again */
	size_t kept, kept_bytes;/* chunks sent to it, and not acknowledged */
	bool told;              /* it has had a chunk: the dispatcher is told */
	struct worker_link *next;
};
/* The streams of an iteration, which share its turns. */
struct worker_pass {
	uint64_t iteration, turn; /* turn: when one of them got a thread last */
	size_t streams;
	struct worker_stream **waiting; /* those that want a thread (worker_turn.c) */
	size_t n_waiting, cap_waiting;
	uint64_t work_ns, wait_ns; /* time of threads since the last BEAT: making, held back */
	struct msg_op_times ops;   /* and in which operators */
	uint64_t call_ns;          /* the longest call of an operator that was under way */
	uint32_t call_place;
	uint64_t raw, wire;        /* bytes of elements sent since then, and what they were on sockets */
	struct worker_pass *next;
};
struct worker_stream_name { uint64_t iteration, stream; };
enum worker_place { WORKER_OFF, WORKER_ON, WORKER_RESTING }; /* no thread; has one; is to give it up */
enum worker_producing { PRODUCING, PRODUCED_ALL, PRODUCED_FAILED, PRODUCED_HANDED };
/* Some of a stream's elements, or all of them: those readers may take that have its number. */
struct worker_view {
	struct round_part part;
	uint64_t begin;         /* it gets nothing before this offset; of a view that was added */
	struct intervals skip;  /* offsets that it does not get, though others may */
	struct worker_chunk *chunks; /* by offset; those at the front that are DONE are dropped */
	size_t first, n_chunks, cap_chunks; /* n_chunks counts from 0, not from first */
	size_t next;            /* no chunk before this one is QUEUED */
	size_t live;            /* chunks that are not DONE */
	struct worker_link *links;
	size_t n_links;
	uint64_t *gone;         /* seats that do not count any more */
	size_t n_gone, cap_gone;
	struct intervals acked; /* by readers, to us */
	bool ended;             /* nothing is kept for it */
	bool ends;              /* its group has ended, but there is no other yet: kept until one is added */
	bool wanted;            /* a part of a chunk was asked for, and none has come since */
	bool hungry;            /* a reader with credit waits, since nothing is there */
	bool starved;           /* ... and has nothing that it has not acknowledged */
	struct intervals missed;/* given up, and MISSED is not answered */
	bool missed_told;
	int64_t missed_at;
};
/* An element that does not fill a round; pad: to be put where one is missing, as often as need be. */
struct worker_rest {
	void *handle;
	size_t bytes;
	bool pad;
	struct worker_piece *piece;
	bool taken;             /* is in some view */
};
/* Chunks that all views have, by offset; those before first are gone. */
struct worker_late { struct worker_chunk *v; size_t first, n, cap, bytes; };
struct worker_stream {
	struct stream_key key;
	struct worker_view one, *views; /* `one` if that is all */
	uint32_t n_views;
	uint64_t base;          /* the views begin with this element */
	size_t bytes;           /* a handle counts once, in however many views it is */
	size_t heavy_at;        /* 1 + its index in worker.heavy; 0: it is not there */
	bool shared;            /* views may be added */
	struct worker_late late;
	uint64_t hole;          /* elements before it may be left out, since no view wanted them */
	uint64_t window;        /* bytes kept of the pass for views behind; 0: they miss nothing */
	uint64_t put_n, put_bytes; /* elements and bytes of all chunks so far */
	uint64_t sent_bytes;    /* bytes of chunks that were sent to readers; what one gets again counts once */
	size_t kept, live;      /* chunks in all views; of them, those that are not DONE */
	struct worker_rest *rest; /* until they are dealt; the pad last */
	size_t n_rest, cap_rest;
	bool tail_known, dealt;
	uint64_t tail_at;       /* the first goes to this place, mod those of a round */
	uint32_t tail_n;
	uint64_t tail_all;      /* so many of all streams, to be spread; 0: not */
	bool active, ordered, by_split, stalled, handing, asking, split_end;
	bool fixed;             /* its splits are its own: they may be asked for while it is handed over */
	bool yields, stays;     /* is to be handed over by order; cannot be */
	uint64_t next_split, taken; /* to ask for; taken by the thread */
	int64_t asked_at, told_at;
	enum worker_producing producing;
	enum worker_place place;
	bool wants, begun;      /* wants a thread; has had one */
	size_t waits_at;        /* wants: its index in worker_pass.waiting */
	uint32_t order;
	struct secret secret;   /* its tickets are made of it */
	struct msg assign;      /* until it has begun */
	struct worker_pass *pass;
	uint64_t turn;          /* counts turns: the one it had last */
	uint64_t turn_made, barren; /* the element after the last made when that began; turns since in which none was */
	int64_t turn_at;        /* on: since when; resting: told so when */
	int64_t clock_at;       /* the time of its thread is counted up to here */
	uint64_t first_split, made_to; /* first split in the ASSIGN; the element after the last made */
	uint64_t stored;        /* elements that its pipeline has put away */
	bool reached;           /* an element has come to the repeat that is watched */
	bool ended;             /* a source that grew, `ended_leaf`, has its last part behind it */
	uint32_t ended_leaf;
	uint64_t ended_length;
	struct msg_stored files; /* in files that are whole, */
	int64_t files_at;       /* told then; */
	bool files_more, waits; /* and more since; was told to stand still */
	uint64_t failed;        /* elements that failed, of this and earlier generations */
	uint64_t length, made, hand_offset, hand_split;
	uint64_t fail_split;    /* PRODUCED_FAILED: the split that was being read */
	struct bytes hand_state;
	uint32_t code;
	char *text, *help;
	bool told;              /* the end was said; until END_OK */
	bool confirmed;
	bool steps;             /* its thread waits for STEP_OK, */
	struct msg_step step;   /* said last, */
	uint64_t step_req;      /* under this number */
	int64_t step_told;
};

/* Pairs of a stream and a reader that the dispatcher is to hear of. */
struct worker_takes {
	struct msg_take *v;
	size_t n, cap, under_way; /* under_way: of those at the front, told and not answered */
	uint64_t req;
	int64_t due, again;
};

struct worker {
	struct worker_opts o;
	struct contact contact;
	int64_t now;
	struct hash streams;    /* by struct worker_stream_name */
	struct worker_action *actions;
	size_t first_action, n_actions, cap_actions;
	uint64_t *lists;        /* LISTs under way */
	size_t n_lists, cap_lists;
	uint64_t n_listings;    /* lists told so far */
	size_t arena, leased;   /* told by worker_shares */
	size_t bytes, n_active; /* bytes of all streams; number of streams that need a share */
	struct worker_stream **heavy; /* those that are being made and have bytes or stall, and perhaps some others */
	size_t n_heavy, cap_heavy;
	size_t late_bytes;      /* besides `bytes`, all streams together */
	struct worker_pass *passes;
	struct worker_takes takes;
	struct msg_clocks clocks; /* clocks of passes that have ended since the last BEAT */
	struct worker_stream **on;/* those that have a thread */
	size_t n_on, cap_on, n_want;
	uint64_t turns;
	bool draining, over, shown;
	bool full;              /* some stream stalls because of all together */
	int64_t again_due;
	struct err err;
};

/* worker_out.c */
struct worker_action *worker_do(struct worker *w, enum worker_action_kind kind);   /* lends, to be filled */
struct msg *worker_tell(struct worker *w, enum msg_type t);                    /* to the dispatcher */

/* worker_stores.c */
void worker_stores_rest(struct worker *w, struct worker_stream *s); /* before its end is told */

/* worker_find.c */
struct worker_stream *worker_stream_find(struct worker *w, struct stream_key key);   /* this generation */
struct worker_stream *worker_stream_any(struct worker *w, struct stream_key key);

/* worker_split.c */
void worker_stream_tell_ask(struct worker *w, struct worker_stream *s); /* (again) */
void worker_stream_splits(struct worker *w, struct msg *m);
void worker_stream_ask(struct worker *w, struct worker_stream *s);

/* worker_stream.c */
void worker_stream_assign(struct worker *w, struct msg *m);
void worker_stream_drop(struct worker *w, struct worker_stream *s);
void worker_stream_end_ok(struct worker *w, struct stream_key key);
void worker_stream_again(struct worker *w, struct worker_stream *s, bool all); /* unanswered requests */
void worker_stream_yield(struct worker *w, struct stream_key key);
void worker_stream_hand(struct worker *w, struct worker_stream *s);

/* worker_turn.c */
void worker_turn_enter(struct worker *w, struct worker_stream *s);     /* a new stream */
void worker_turn_leave(struct worker *w, struct worker_stream *s);     /* it is about to go */
void worker_turn_moved(struct worker_stream *s); /* it has got on, and may be needed less than others that wait */
void worker_turn_check(struct worker *w, struct worker_stream *s);     /* whether it wants a thread may have changed */
void worker_turn_over(struct worker *w, struct worker_stream *s);      /* it has no thread any more */
void worker_turns(struct worker *w);                                 /* some time has gone by */
int64_t worker_turn_deadline(const struct worker *w);

/* worker_step.c */
void worker_step_check(struct worker *w, struct worker_stream *s); /* whether it is held may have changed */
void worker_step_again(struct worker *w, struct worker_stream *s, bool all); /* one that is not answered */
void worker_step_ok(struct worker *w, const struct msg *m);

/* worker_clock.c */
/* Counts the time of the stream's thread up to now: called before anything changes by
 * which it is working, held back or idle. */
void worker_clock(struct worker *w, struct worker_stream *s);
void worker_clock_tell(struct worker *w, struct msg_clocks *out); /* since the last call; gives */
void worker_clock_leave(struct worker *w, struct worker_pass *p); /* p is about to be freed */
void worker_clock_clear(struct worker *w);

/* worker_takes.c */
void worker_takes_add(struct worker *w, const struct worker_stream *s, const struct worker_view *v,
		      struct worker_link *l); /* it gets its first chunk */
void worker_takes_send(struct worker *w);                 /* if it is time to */
void worker_takes_ok(struct worker *w, uint64_t req);
void worker_takes_again(struct worker *w);                /* those without an answer */
void worker_takes_all(struct worker *w);                  /* the dispatcher may know of none */
int64_t worker_takes_deadline(const struct worker *w);

/* worker_tail.c */
void worker_tail_known(struct worker *w, struct worker_stream *s, const struct msg_assign *a);
void worker_tail_deal(struct worker *w, struct worker_stream *s); /* if all is made, and their places are known */
void worker_tail_clear(struct worker *w, struct worker_stream *s);

/* worker_view.c */
void worker_views_init(struct worker_stream *s, const struct msg_assign *a);
void worker_views_clear(struct worker *w, struct worker_stream *s); /* all that is kept comes out as WORKER_FREE */
struct worker_view *worker_view_of(struct worker_stream *s, uint32_t view); /* NULL: there is none */
struct worker_link *worker_view_link(struct worker_view *v, uint64_t seat); /* NULL: not known */
bool worker_view_is_gone(const struct worker_view *v, uint64_t seat);
/* Puts a chunk at the end of the queue; the handle's bytes are counted by the caller. */
void worker_view_put(struct worker_stream *s, struct worker_view *v, const struct worker_chunk *c);
/* It is DONE. */
void worker_view_drop(struct worker *w, struct worker_stream *s, struct worker_view *v, struct worker_chunk *c);
/* Its group has ended: nothing is kept for it, unless it is the last view. */
void worker_view_end(struct worker *w, struct worker_stream *s, struct worker_view *v);

void worker_view_trim(struct worker_stream *s, struct worker_view *v); /* forgets those at the front that are DONE */
size_t worker_view_search(const struct worker_view *v, uint64_t at); /* the first chunk that ends after `at` */

/* worker_late.c */
/* Takes the handle of the chunk, which all views have; false: it is not kept. */
bool worker_late_keep(struct worker *w, struct worker_stream *s, const struct worker_chunk *c);
void worker_late_trim(struct worker *w, struct worker_stream *s); /* lets go for which there is no room */
void worker_late_clear(struct worker *w, struct worker_stream *s);
void worker_late_view(struct worker *w, const struct msg_view_add *m);

/* worker_window.c */
size_t worker_window_share(const struct worker *w, const struct worker_stream *s); /* bytes that it may keep */
/* While too much is kept and a reader waits, the oldest chunks that no reader has are given up. */
void worker_window_make_room(struct worker *w, struct worker_stream *s);
bool worker_window_full(const struct worker *w, const struct worker_stream *s);
bool worker_window_hungry(const struct worker_stream *s); /* some reader waits */
bool worker_window_may(const struct worker *w, const struct worker_stream *s, const struct worker_link *l);
uint64_t worker_window_elements(const struct worker *w, const struct worker_stream *s); /* that fit; 0: not known */
void worker_window_again(struct worker *w, struct worker_stream *s, bool all);
void worker_window_answer(struct worker *w, const struct msg_missed *m);

/* worker_chunk.c */
void worker_chunk_pump(struct worker *w, struct worker_stream *s, struct worker_view *v); /* sends what may be sent */
/* A view was added: those end that were only kept because there was no other. */
void worker_chunk_ends(struct worker *w, struct worker_stream *s);
void worker_chunk_tell_want(struct worker *w, const struct worker_stream *s, const struct worker_view *v);
void worker_chunk_activity(struct worker *w, struct worker_stream *s);
void worker_chunk_budget(struct worker *w);               /* all streams weighed again that have something */
void worker_chunk_add(struct worker *w, struct worker_stream *s, size_t bytes); /* for a handle that has come */
void worker_chunk_leave(struct worker *w, struct worker_stream *s); /* it is not weighed any more */
void worker_chunk_reader_gone(struct worker *w, struct msg *m);
void worker_chunk_hand_done(struct worker *w, struct worker_stream *s); /* HANDOVER, once nothing is kept */

#endif
