/* SPDX-License-Identifier: MIT
 *
 * What the files of the reader share.
 *
 *	reader.c       contact, messages of the dispatcher, actions, the end
 *	read_stream.c  streams: workers, generations, credit, accepting chunks
 *	read_order.c   what is delivered next; what was written
 *	read_ack.c     acknowledgements, position
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
#ifndef READ_READ_INNER_H
#define READ_READ_INNER_H

#include "base/hash.h"
#include "core/contact.h"
#include "core/intervals.h"
#include "core/read/reader.h"

enum {
	READ_FRESH_MAX = 32768,    /* unacknowledged ranges: no more credit beyond */
	READ_ACK_RANGES = 4096     /* per stream in one ACK */
};
#define READ_ACK_NS 50000000ll     /* acknowledgements wait so long for company */
#define READ_CREDIT_NS 2000000000ll /* credit is said again to a silent stream */
#define READ_MUTE_NS 6000000000ll  /* a silent worker is called anew; doubled each time ... */
#define READ_MUTE_MOST_NS 60000000000ll /* ... up to this */

struct read_stream;
struct read_chunk_ {               /* a handle and how much of it is still needed */
	struct read_stream *stream;
	void *handle;
	size_t bytes;
	uint32_t parts;            /* not written yet */
};
/* Elements to deliver, or delivered and not written yet. */
struct read_part {
	struct read_chunk_ *chunk;
	struct read_stream *stream;
	uint64_t offset, split;    /* of its first element */
	uint32_t gen, first, count;/* place in the chunk */
	uint32_t turn;             /* order stable: left of the block after this part */
	struct read_part *next;
};

struct read_worker {
	uint64_t id;
	char *endpoint;
	uint32_t session;
	int64_t heard, patience;     /* when a chunk came last, or it was called; how long to wait for more */
	struct read_stream *streams; /* by next_at_worker */
	size_t n_streams;
};

struct read_stream {
	uint32_t index, gen, state;
	uint64_t length;             /* ended, or failed */
	uint64_t fail_split;         /* failed: the split that was being read */
	struct read_worker *worker;  /* NULL: none */
	struct read_stream *next_at_worker;
	struct intervals received, open, unsaved, saving, fresh, sending, ack_worker;
	uint64_t total, arrived;     /* credit granted, chunks come, in this session */
	int64_t credit_at;
	uint32_t held;               /* chunks accepted and not written */
	uint64_t pos;                /* ordered: next offset to deliver */
	struct read_part *parts;     /* ordered: waiting for their turn, by offset */
	bool over;                   /* ordered: delivered to its end */
	bool ack_listed, credit_listed;
	struct read_stream *next_ack, *next_credit;
};

struct read {
	struct read_opts o;
	struct contact contact;
	int64_t now;
	uint64_t iteration, seat, open_req;
	char *dataset, *job;
	uint32_t block, epoch, shards;
	uint64_t seed;
	uint32_t sessions;           /* with workers, so far */
	bool starved;                /* some stream was refused credit */
	bool placed;                 /* may take elements: no checkpoint, or the dispatcher knows of a position */
	bool joining;                /* OPEN is not answered */
	bool opened, closing, closed_sent, keep, done, over;
	enum status code;            /* what DONE said */
	struct msg result;           /* DONE, until READ_DONE takes it */
	struct read_stream **streams;
	size_t n_streams, cap_streams, n_known, n_attached; /* attached: with a worker */
	uint64_t version;            /* of the last STREAMS */
	bool all_known;
	bool failing;                /* a stream has failed: acknowledgements do not wait */
	struct read_stream *reached; /* ordered: what comes next is the element that failed there */
	struct stream_key told;      /* the same, as it was told last */
	struct hash workers;         /* by id */
	struct read_stream *acks;    /* with something for ack_worker */
	struct read_stream *credits; /* whose credit may have changed */
	struct read_part *first, **last; /* delivered, not written; in order */
	uint32_t first_written;      /* elements of the first part */
	uint64_t seq;                /* of the last ACK sent */
	bool ack_out;                /* it is not answered */
	size_t fresh_ranges;
	bool has_fresh;
	int64_t ack_due, again_due, done_due;
	int64_t late;                /* of contact.late, how much done_due has been moved by */
	size_t chunk_bytes;          /* usual size of a chunk */
	uint64_t turn, block_left, split; /* ordered: whose turn; left of its block; split number */
	uint64_t pos_turn, pos_left, pos_split; /* the same at what was written */
	struct ranges_list have;     /* of the position resumed */
	uint64_t have_iteration, have_seat;
	struct read_stats stats;
	struct read_action *actions;
	size_t first_action, n_actions, cap_actions;
	char *lent;                  /* endpoint of the last action */
	struct err err;
};

/* reader.c */
struct read_action *read_do(struct read *r, enum read_action_kind kind);
struct msg *read_tell(struct read *r, enum msg_type t);
void read_fail(struct read *r, enum status code);    /* r->err is filled, or ST_OK */

/* read_stream.c */
struct read_stream *read_stream_get(struct read *r, uint32_t index); /* made if need be */
void read_streams_changed(struct read *r, struct msg *m);
void read_stream_floor(struct read_stream *s, uint64_t floor);
void read_hold(struct read *r, const struct stream_key *key);
void read_stream_detach(struct read *r, struct read_stream *s);
void read_credit_later(struct read *r, struct read_stream *s);
void read_credit(struct read *r);                     /* those whose time has come */
void read_credit_again(struct read *r);
void read_chunk_done(struct read *r, struct read_chunk_ *c);
bool read_all_made(const struct read *r);
bool read_near_end(const struct read *r);             /* that, or a stream has failed */

/* read_order.c */
void read_order_add(struct read *r, struct read_part *p);
void read_order_run(struct read *r);
struct read_part *read_order_front(const struct read_stream *s);
void read_order_next(struct read *r);                 /* the next stream's turn */
void read_order_clear(struct read *r);
void read_reached(struct read *r, bool again);        /* tells the dispatcher, if it is so */

/* read_ack.c */
void read_released(struct read *r, struct read_stream *s, uint64_t start, uint64_t end);
void read_ack_later(struct read *r);
void read_ack_send(struct read *r, bool again);
void read_acked(struct read *r, struct msg *m);
void read_acks_to_workers(struct read *r);
void read_close_send(struct read *r);
enum status read_position_parse(struct read *r, struct err *e);
void read_ack_worker(struct read *r, struct read_stream *s, uint64_t start, uint64_t end);

#endif
