/* SPDX-License-Identifier: MIT
 *
 * A reader of the service as a library: the reader's state machine (core) on
 * sockets and a thread of its own, so that a consumer which does not take its
 * elements for an hour still sends its beats.
 *
 *	client_open -> poll client_fd -> client_take ... client_written ...
 *	            -> ST_END or an error -> client_free
 *
 * The elements of a piece are to be written in the order in which pieces were
 * taken; client_written says how many more are safe, and only then are they
 * acknowledged and their memory given back. One thread calls all of this.
 */
#ifndef HOST_READ_HOST_H
#define HOST_READ_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/read/reader.h"
#include "value/block.h"

struct client;

struct client_conf {
	const char *dispatcher, *from; /* address, and where it came from */
	const char *job;               /* NULL: anonymous */
	const char *dataset;           /* id; or NULL with spec and type */
	const char *spec, *type;
	uint32_t sharding, order, shards, epoch;
	bool seeded;
	uint64_t seed;
	const char *options;           /* what all readers of a job must agree on; NULL: nothing */
	uint32_t min_workers;
	int64_t wait_ns;               /* for so many workers */
	uint32_t window;
	size_t budget;
	int64_t give_up_ns;            /* a durable dispatcher is waited for so long; 0: for ever */
	bool limited;                  /* max_errors is given */
	uint64_t max_errors;           /* when more elements fail, the pass ends with 65 */
	bool checkpoint;
	const struct buf *position;    /* of an earlier run; NULL: from the start */
};

/* What the dispatcher said of the job; texts live as long as the client. */
struct client_job {
	const char *dataset, *spec, *type;
	uint64_t seed;
	uint32_t epoch;
};

/* Consecutive elements of a stream. Lent until the next client_take; who needs
 * them longer takes a reference to the block. */
struct client_piece {
	const uint8_t *p;
	size_t len;
	uint64_t count;
	struct block *block;   /* in which they lie */
	uint32_t stream;
	uint64_t offset;       /* of the first one */
};

/* Looks for the dispatcher and starts. Gives. */
enum status client_open(const struct client_conf *conf, struct client **out, struct err *e);
/* Stops the thread and frees everything; what was not acknowledged is given back
 * to the job. */
void client_free(struct client **c);
/* Readable when client_take would not answer ST_AGAIN, and once when the job is known. */
int client_fd(const struct client *c);
/* ST_OK: a piece; ST_AGAIN: nothing now; ST_END: that was all; or an error. */
enum status client_take(struct client *c, struct client_piece *out, struct err *e);
/* So many more elements are written and flushed. */
void client_written(struct client *c, uint64_t elements);
/* With `checkpoint`: puts the position after all that was written into out; once
 * it is on disk, client_saved has it acknowledged. */
void client_position(struct client *c, struct buf *out);
void client_saved(struct client *c);
/* Once a piece was taken, or the end, or client_opened: what the job is. */
const struct client_job *client_job(const struct client *c);
/* The job is known. With `checkpoint` and no position nothing comes before one has been
 * saved after this. */
bool client_opened(struct client *c);
/* Wants no more: what was written is acknowledged, and the service told, within
 * wait_ms. keep: the job waits for the reader's return. */
void client_close(struct client *c, bool keep, int wait_ms);
/* At the end of the pass, good or bad: what failed in it, all readers' share. NULL:
 * the service did not say. Lives as long as the client. */
const struct msg_done *client_result(struct client *c);
/* At the end: the pass had been read to its end, by others or earlier, before this reader
 * came to it. */
bool client_was_over(struct client *c);
void client_stats(struct client *c, struct read_stats *out);

#endif
