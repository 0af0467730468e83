/* SPDX-License-Identifier: MIT
 *
 * What the files of the reader share.
 *
 *	reader.c         contact, messages of the dispatcher, the end
 *	reader_chunk.c   chunks that come
 *	reader_order.c   what is delivered next; what was written
 *	reader_mark.c    rounds: where another number of consumers can go on
 *	reader_position.c positions
 *	reader_ack.c     acknowledgements
 *	reader_credit.c  credit, silent workers
 *	reader_reach.c   workers that cannot be reached
 *	reader_stream.c  streams: their workers and generations
 *	reader_clock.c   where the time of the reader went
 *	reader_out.c     actions for the program
 *
 * Files call those below them, and no file one above it.
 *
 * Sets of offsets per stream:
 *
 *	received     not to be accepted again: had in earlier runs, acknowledged
 *	             by anybody, or accepted here
 *	open         accepted here, and not yet to be acknowledged
 *	unsaved      (checkpoint) written, in no position yet
 *	saving       (checkpoint) written, in the position taken last
 *	fresh        to be acknowledged to the dispatcher
 *	sending      in the ACK that is not answered yet
 *
 *	accept -> open -(written)-> [unsaved -> saving ->] fresh -> sending -> gone
 *
 * What HELD says is open + fresh + sending: nobody else may be given those.
 */
#ifndef READ_READER_INNER_H
#define READ_READER_INNER_H

#include "base/hash.h"
#include "core/contact.h"
#include "core/intervals.h"
#include "core/read/reader.h"

enum {
	/* rounds: an ACK for so much does not wait for company; while there is more to be written,
	 * one for a consumer's part of so much of all consumers, and at most so much of its own */
	READER_ROUND_BYTES = 256 << 10, READER_ROUND_ALL = 8 << 20, READER_ROUND_OWN = 2 << 20,
	READER_FRESH_MAX = 32768,    /* unacknowledged ranges: no more credit beyond */
	READER_ACK_RANGES = 4096     /* per stream in one ACK */
};
#define READER_ACK_NS 50000000ll     /* acknowledgements wait so long for company */
#define READER_ACK_MOST_NS 2000000000ll /* ... longer when the dispatcher has many readers, up to this */
#define READER_CREDIT_NS 2000000000ll /* credit is said again to a silent stream */
#define READER_REACH_NS 5000000000ll /* a worker without a connection is told after so long, */
#define READER_REACH_AGAIN_NS 2500000000ll /* and again */
#define READER_MUTE_NS 6000000000ll  /* a silent worker is called anew; doubled each time ... */
#define READER_MUTE_MOST_NS 60000000000ll /* ... up to this */

struct reader_stream;
struct reader_chunk_ {               /* a handle and how much of it is still needed */
	struct reader_stream *stream;
	void *handle;
	size_t bytes;
	uint32_t parts;            /* not written yet */
};
/* Elements to deliver, or delivered and not written yet. */
struct reader_part {
	struct reader_chunk_ *chunk;
	struct reader_stream *stream;
	uint64_t offset, split;    /* offset and split of its first element */
	uint32_t gen, first, count;/* place in the chunk */
	uint32_t turn;             /* order stable: left of the block after this part */
	bool tail;                 /* rounds: behind the whole rounds of the stream */
	struct reader_part *next;
};

/* Where a sequence stands: whose turn it is, left of its block, split number. */
struct reader_turn { uint64_t turn, left, split; };
/* Elements one behind the other that were written; left: of the block, after them. */
struct reader_run { struct reader_stream *stream; uint64_t start, n, left, split; };

struct reader_worker {
	uint64_t id;
	char *endpoint;
	uint32_t session;
	bool up;                     /* there is a connection; else since when there is none, */
	int64_t down, reach_due;     /* and when that is said (again) */
	int64_t heard, patience;     /* when a chunk came last, or it was called; how long to wait for more */
	struct reader_stream *streams; /* by next_at_worker */
	size_t n_streams;
};

struct reader_stream {
	uint32_t index, gen, state;
	uint64_t length;             /* ended, or failed */
	uint64_t fail_split;         /* failed: the split that was being read */
	bool told;                   /* STREAMS has come, so its floor is known; HOLD may come earlier */
	bool made;                   /* rounds: it is known how many elements are in whole rounds of it: */
	uint64_t own;
	struct reader_worker *worker;  /* NULL: none */
	struct reader_stream *next_at_worker, **link_at_worker; /* link: where it is linked from */
	bool local;                  /* the worker is on this host */
	struct secret ticket;        /* to be shown to the worker, in this generation */
	struct intervals received, open, unsaved, saving, fresh, sending, ack_worker;
	uint64_t total, arrived;     /* credit granted, chunks come, in this session */
	int64_t credit_at;
	uint64_t missed;             /* told by the dispatcher */
	uint32_t held;               /* chunks accepted and not written */
	uint64_t pos;                /* ordered: next offset to deliver */
	uint32_t unwritten;          /* parts delivered, and not written as a whole: */
	uint64_t written;            /* where the first of them is to go on */
	struct reader_part *parts;     /* ordered: waiting for their turn, by offset */
	bool over;                   /* ordered: delivered to its end */
	bool ack_listed, credit_listed, fresh_listed;
	struct reader_stream *next_ack, *next_credit;
};

struct reader {
	struct reader_opts o;
	struct contact contact;
	int64_t now;
	uint64_t iteration, seat, open_req;
	char *dataset, *job, *shard, *consumer; /* the last two: of the position resumed */
	struct job_shards only;      /* the streams that are read */
	uint32_t block, epoch, shards;
	uint32_t view;               /* the one of each stream that we take from: offsets are counted in it */
	bool rounds;                 /* there are other consumers, whose elements stand beside ours */
	bool recorded;               /* workers are told only of what the dispatcher has recorded: what it has of us
	                              * is always a beginning of the sequence, and who comes after us finds its place */
	bool aligned;                /* it is known where in the sequence we begin */
	bool stopping, halted, fenced; /* STOP is said; HALT was passed on; FENCE came, or was in JOB */
	uint64_t stop_rounds, stop_multiple, fence;
	uint64_t seed;               /* the pass has it */
	bool pass_seed;              /* so is the one in o.job: it comes from a position of a job that had none */
	uint32_t sessions;           /* with workers, so far */
	bool shared;                 /* told by reader_shared */
	struct reader_feeds feeds;   /* told by reader_feeds */
	bool starved;                /* some stream was refused credit */
	bool hungry;                 /* waited for elements, last time it was counted */
	size_t n_local;              /* streams that local workers still make or deliver */
	bool placed;                 /* may take elements: no checkpoint, or the dispatcher knows of a position */
	bool joining;                /* OPEN is not answered */
	bool opened, closing, closed_sent, keep, done, over;
	enum status code;            /* status in DONE */
	struct msg result;           /* DONE, until READER_DONE takes it */
	struct reader_stream **streams;
	size_t n_streams, cap_streams, n_known, n_attached; /* attached: with a worker */
	uint64_t version;            /* version of the last STREAMS */
	bool all_known;
	bool failing;                /* a stream has failed: acknowledgements do not wait */
	struct reader_stream *reached; /* ordered: what comes next is the element that failed there */
	struct stream_key told;      /* the stream of `reached` that was told last */
	struct hash workers;         /* by id */
	struct reader_stream *acks;    /* with something for ack_worker */
	struct reader_stream **fresh;  /* with something in `fresh` or `sending` */
	size_t n_fresh, cap_fresh;
	struct reader_stream *credits; /* streams whose credit may have changed */
	struct reader_part *first, **last; /* delivered, not written; in order */
	int64_t clock_at;            /* the time is counted up to here; 0: no seat yet */
	uint64_t work_ns, wait_ns;   /* since the last BEAT: with elements at hand, and without */
	uint64_t out_ns, out_told;   /* told by reader_blocked; of it, told in a BEAT */
	uint32_t first_written;      /* elements of the first part */
	uint64_t seq;                /* number of the last ACK sent */
	bool ack_out;                /* it is not answered */
	size_t fresh_ranges, fresh_bytes; /* bytes: of chunks that were written since the last ACK */
	bool has_fresh;
	int64_t ack_due, again_due, done_due;
	int64_t ack_pace;          /* told by the dispatcher; 0: READER_ACK_NS */
	int64_t late;                /* the part of contact.late by which done_due has been moved */
	size_t chunk_bytes;          /* usual size of a chunk */
	uint64_t chunks_come;        /* in all; the credit of each stream grows with them */
	uint64_t turn, block_left, split; /* ordered: whose turn; left of its block; split number */
	/* turn, block_left and split at the last element written */
	uint64_t pos_turn, pos_left, pos_split;
	struct reader_run *runs;     /* o.lag: written, and in no position yet; in order */
	size_t first_run, n_runs, cap_runs;
	uint64_t lag_taken;          /* elements before these, */
	struct reader_turn lag_at;   /* and where the sequence stands after them; of use once lag_begun */
	bool lag_begun;
	struct ranges_list have;     /* ranges of the resumed position */
	uint64_t have_iteration, have_seat;
	struct marks marks;          /* rounds that another number of consumers can go on from; the last one last */
	struct words took;           /* the consumers that had them, if of another number */
	bool given;                  /* they are of another number, and we go on from one of them */
	uint64_t begin, have_begin;  /* rounds that others had before the pass began, as JOB and the position say, */
	struct numbers base, have_base; /* and the elements of each stream in them */
	uint32_t places;             /* in a round */
	bool have_rounds;            /* it is of no iteration: have_iteration says nothing */
	struct reader_stats stats;
	struct reader_action *actions;
	size_t first_action, n_actions, cap_actions;
	char *lent;                  /* endpoint of the last action */
	struct err err;
};

/* reader_clock.c */
/* Counts the time up to now: called before elements come to hand, or the last go. */
void reader_clock(struct reader *r);

/* reader_out.c */
struct reader_action *reader_do(struct reader *r, enum reader_action_kind kind);
struct msg *reader_tell(struct reader *r, enum msg_type t);

/* reader_stream.c */
struct reader_stream *reader_stream_get(struct reader *r, uint32_t index); /* made if need be */
void reader_streams_changed(struct reader *r, struct msg *m);
void reader_stream_floor(struct reader_stream *s, uint64_t floor);
void reader_hold(struct reader *r, const struct stream_key *key);
struct reader_part *reader_stream_front(const struct reader_stream *s);
void reader_credit_later(struct reader *r, struct reader_stream *s);
bool reader_all_made(const struct reader *r);
bool reader_near_end(const struct reader *r);             /* that, or a stream has failed */

/* reader_credit.c */
void reader_credit(struct reader *r);                     /* those whose time has come */
void reader_credit_again(struct reader *r);
void reader_credit_all(struct reader *r);                 /* every stream's may have changed */
void reader_credit_hunger(struct reader *r);              /* before the times of work and of waiting are sent */
void reader_chunk_done(struct reader *r, struct reader_chunk_ *c);

/* reader_reach.c */
void reader_reach_down(struct reader *r, struct reader_worker *w); /* a connection is to be made */
void reader_reach_again(struct reader *r);                /* those whose time has come */

/* reader_order.c */
void reader_order_add(struct reader *r, struct reader_part *p);
void reader_order_run(struct reader *r);
bool reader_order_in_turns(const struct reader *r);       /* a block of each stream after the other */
void reader_order_next(struct reader *r);                 /* the next stream's turn */
void reader_order_clear(struct reader *r);
void reader_reached(struct reader *r, bool again);        /* tells the dispatcher, if it is so */

/* reader_lag.c */
void reader_lag_add(struct reader *r, const struct reader_run *run);

/* reader_position.c */
struct intervals *reader_position_sets(const struct reader *r); /* gives: what is written, by stream */
/* Fails if there is no position at that place. */
bool reader_position_put(const struct reader *r, const struct reader_turn *at, struct intervals *had, struct buf *out);
enum status reader_position_parse(struct reader *r, struct err *e);

/* reader_mark.c */
void reader_marks_clear(struct marks *m);
void reader_begin(struct reader *r, const struct msg_job *m); /* it is known which round is the first */
/* Fills in the OPEN; gives m->marks.v, lends all else. */
void reader_marks_open(const struct reader *r, struct msg_open *m);
/* Leaves in `all` what is in both. */
enum status reader_marks_meet(struct marks *all, struct marks *more, struct err *e);
bool reader_marks(const struct reader *r);                /* whether they are kept */

/* reader_fence.c */
void reader_fence_begin(struct reader *r);                /* it is known where in the rounds we begin */
void reader_fence_job(struct reader *r, const struct msg_job *m); /* after READER_JOB */
uint64_t reader_fence_room(const struct reader *r);       /* so many elements may still be delivered */
void reader_fence_end(struct reader *r);                  /* closes, with all that was agreed on */
void reader_fence_again(struct reader *r);                /* STOP, unless it is answered */
void reader_halt(struct reader *r, const struct msg_halt *m);
void reader_fence(struct reader *r, const struct msg_fence *m);

/* reader_ack.c */
void reader_released(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end);
void reader_ack_send(struct reader *r, bool again);
void reader_ack_soon(struct reader *r);                   /* sends one if it should not wait */
void reader_acked(struct reader *r, struct msg *m);
void reader_acks_to_workers(struct reader *r);
void reader_close_send(struct reader *r);
void reader_ack_worker(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end);

#endif
