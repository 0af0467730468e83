/* SPDX-License-Identifier: MIT
 *
 * A reader as a state machine: opens a job, grants credit to workers, accepts
 * each element once, delivers in the promised order, acknowledges what has
 * been written. Messages, the time and what was written come in; actions come
 * out. Sockets and output are the program's (host).
 *
 *	chunk arrives       read_chunk -> READ_DELIVER (parts of chunks, in order)
 *	elements written    read_written(n) -> acknowledgements, READ_FREE, credit
 *	all is over         READ_DONE
 *
 * A chunk is the program's handle, with the header that came with it. Every
 * handle given in comes out exactly once as READ_FREE. What is delivered is to
 * be written in the order of the actions; read_written counts elements in that
 * order. Chunks of void generations and elements it already has are dropped
 * here and never delivered.
 *
 * Memory: chunks that were accepted and not yet written stay below `budget`
 * plus one chunk per stream, because credit is granted by what is free.
 *
 * With `checkpoint`, written elements are acknowledged only when the program
 * says that the position which includes them is safe:
 *	read_position -> write the file -> read_saved
 * and without a position to go on from, nothing is taken before a first one is
 * safe: save it at READ_JOB. Who is killed earlier has left nothing to wait for.
 */
#ifndef READ_READER_H
#define READ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/msg.h"

struct read;

enum { READ_BUDGET = 32 << 20, READ_WINDOW = 16, READ_CHUNK_USUAL = 256 << 10 };

struct read_opts {
	uint64_t peer;
	const char *name, *host;      /* lent, also later, as all texts here */
	uint32_t pid;
	const char *job;              /* NULL: anonymous */
	const char *dataset;          /* id; or NULL with spec and type */
	const char *spec, *type;
	uint32_t sharding, order, shards, epoch; /* epoch 0: 1 */
	bool seeded;
	uint64_t seed;
	const char *options;
	bool limited;                 /* max_errors is given */
	uint64_t max_errors;          /* when more elements fail, so does the iteration, with 65 */
	uint32_t min_workers, wait_ms;/* 0 workers: 1 */
	uint32_t window;              /* chunks of credit per stream; 0: READ_WINDOW */
	size_t budget;                /* bytes; 0: READ_BUDGET */
	const char *where;            /* of the dispatcher, for messages; lent, may be NULL */
	int64_t give_up_ns;           /* a durable dispatcher is waited for so long; 0: for ever */
	bool checkpoint;
	const uint8_t *position;      /* what read_position gave in an earlier run; NULL: from the start */
	size_t position_len;
};

/* Fails only on a position that is malformed (ST_DATA). Gives; first action: HELLO. */
enum status read_new(const struct read_opts *o, int64_t now_ns, struct read **out, struct err *e);
/* At the end of the program: what is held comes out as READ_FREE; then read_free. */
void read_stop(struct read *r);
void read_free(struct read **r);

/* Messages; may take parts out of *m, the caller clears it. */
void read_message(struct read *r, int64_t now_ns, struct msg *m);               /* from the dispatcher */
void read_data(struct read *r, int64_t now_ns, uint64_t worker, struct msg *m); /* from a worker, not CHUNK */
/* Takes the handle; bytes: what it holds in memory. */
void read_chunk(struct read *r, int64_t now_ns, uint64_t worker, const struct msg_chunk *c,
		void *handle, size_t bytes);
void read_dispatcher_gone(struct read *r, int64_t now_ns); /* connection broke; it may come back */
void read_worker_gone(struct read *r, int64_t now_ns, uint64_t worker); /* the same */
void read_tick(struct read *r, int64_t now_ns);
int64_t read_next_deadline(const struct read *r); /* ns; INT64_MAX: none */

/* So many more elements, in the order they were delivered, are written and flushed. */
void read_written(struct read *r, int64_t now_ns, uint64_t elements);
/* The position: all that was written, one MessagePack value. */
void read_position(struct read *r, struct buf *out);
/* The position last taken is on disk. */
void read_saved(struct read *r, int64_t now_ns);
/* Stop here (enough elements, closed pipe, TERM): what was written is
 * acknowledged, then READ_DONE with code 0. keep: the job is to wait for my return. */
void read_close(struct read *r, int64_t now_ns, bool keep);

enum read_action_kind {
	READ_NONE,
	READ_TELL,       /* send msg to the dispatcher */
	READ_SEND,       /* send msg to `worker` on its data socket */
	READ_CONNECT,    /* open a data socket to `worker` at `endpoint`: before any READ_SEND to it */
	READ_DISCONNECT, /* close it */
	READ_DELIVER,    /* write elements [first, first + count) of handle's payload */
	READ_FREE,       /* handle */
	READ_JOB,        /* opened: msg is the JOB (once) */
	READ_DONE        /* over, nothing follows: end with code; err has text and help unless ST_OK;
	                  * msg is the DONE, if one came (its texts moved to err): what failed */
};
struct read_action {
	enum read_action_kind kind;
	uint64_t worker;
	const char *endpoint;   /* lent until the next call */
	void *handle;
	uint32_t first, count;
	uint32_t stream;        /* READ_DELIVER: the address of the first element */
	uint64_t offset;
	struct msg msg;         /* given: msg_clear after use */
	enum status code;
	struct err *err;        /* lent until the next call */
};
/* The next action; false: none. Call until false after every event. */
bool read_action(struct read *r, struct read_action *out);

/* For progress. */
struct read_stats {
	uint64_t delivered, written, acknowledged; /* elements */
	uint64_t dropped;            /* elements that came twice or were void */
	uint32_t streams, streams_ended;
	size_t held_bytes;
	bool waiting_for_worker;     /* opened, and no stream has one */
	bool dispatcher_lost;
};
void read_stats(const struct read *r, struct read_stats *out);

#endif
