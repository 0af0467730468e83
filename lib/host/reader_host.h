/* SPDX-License-Identifier: MIT
 *
 * A reader of the service as a library: the reader's state machine (core) on
 * sockets and a thread of its own, so that a consumer which does not take its
 * elements for an hour still sends its beats.
 *
 *	reader_host_open -> poll reader_host_fd -> reader_host_take ... reader_host_written ...
 *	            -> ST_END or an error -> reader_host_free
 *
 * The elements of a piece are to be written in the order in which pieces were
 * taken; reader_host_written says how many more are safe, and only then are they
 * acknowledged and their memory given back. One thread calls all of this.
 */
#ifndef HOST_READER_HOST_H
#define HOST_READER_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blocked.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/read/reader.h"
#include "value/block.h"

struct reader_host;

struct reader_host_conf {
	const char *dispatcher, *from; /* address, and where it came from */
	struct job_opts job;
	const char *dataset;           /* id; or NULL with spec and type */
	const char *spec, *type;
	size_t budget;
	int64_t give_up_ns;            /* a durable dispatcher is waited for so long; 0: for ever */
	const struct buf *position;    /* position of an earlier run; NULL: from the start */
	const struct bytes *given;     /* positions of consumers that are not there any more (core/read/reader.h); lent */
	size_t n_given;                /* until reader_host_open is over */
	bool stops;                    /* the caller sees to an agreed end of rounds (reader_host_halted) */
	bool lag;                      /* see core/read/reader.h */
	bool in_rounds;                /* positions count rounds (core/read/reader.h) */
	const struct blocked *blocked; /* for how long the caller's output took nothing; lent; NULL: it does not say */
	bool in_place;                 /* the caller looks into nothing: pieces may lie in a worker's memory */
};

/* The job as the dispatcher describes it; texts live as long as the reader. */
struct reader_host_job {
	const char *dataset, *spec, *type;
	uint64_t seed;
	uint32_t epoch;
};

/* Consecutive elements of a stream. Lent until the next reader_host_take; who needs
 * them longer takes a reference to the block. */
struct reader_host_piece {
	const uint8_t *p;
	size_t len;
	uint64_t count;
	struct block *block;   /* in which they lie */
	uint32_t stream;
	uint64_t offset;       /* offset of the first one */
	const char *worker;    /* address of the one that it came from; NULL: not known any more; outlives the reader */
};

/* Looks for the dispatcher and starts. Gives. */
enum status reader_host_open(const struct reader_host_conf *conf, struct reader_host **out,
			     struct err *e);
/* Says on standard error how many elements filled no round and, unless `quiet`, how many its group missed,
 * so far if the pass is not over. Gives the latter. */
uint64_t reader_host_tell(struct reader_host *c, bool quiet);
/* Stops the thread and frees everything; what was not acknowledged is given back
 * to the job. */
void reader_host_free(struct reader_host **c);
/* Readable when reader_host_take would not answer ST_AGAIN, and once when the job is known. */
int reader_host_fd(const struct reader_host *c);
/* ST_OK: a piece; ST_AGAIN: nothing now; ST_END: that was all; or an error. */
enum status reader_host_take(struct reader_host *c, struct reader_host_piece *out, struct err *e);
/* So many more elements are written and flushed. */
void reader_host_written(struct reader_host *c, uint64_t elements);
/* With `checkpoint`: puts the position after all that was written into out; once
 * it is on disk, reader_host_saved has it acknowledged. */
void reader_host_position(struct reader_host *c, struct buf *out);
void reader_host_saved(struct reader_host *c);
/* With `lag`: the position after the first n of all elements written, or the last before it where there is none. Gives
 * how many it has before it. */
uint64_t reader_host_position_at(struct reader_host *c, uint64_t n, struct buf *out);
/* With `lag`: all that is written is acknowledged. */
void reader_host_release(struct reader_host *c);
/* In rounds: all of the pass has been taken. The descriptor is readable when that becomes true. */
bool reader_host_at_end(struct reader_host *c);
/* With checkpoint_rounds: when the n-th of the elements taken is written, after how many more it is time for
 * reader_host_mark; UINT64_MAX: never. Of use once one was taken. */
uint64_t reader_host_mark_in(struct reader_host *c, uint64_t n);
/* All that reader_host_written was told is whole rounds, from which another number of consumers can go on: then the
 * output had so many bytes and elements. In the positions that are taken later. */
void reader_host_mark(struct reader_host *c, uint64_t bytes, uint64_t elements);
/* Once a piece was taken, or the end, or reader_host_opened: what the job is. */
const struct reader_host_job *reader_host_job(const struct reader_host *c);
/* The job is known. With `checkpoint` and no position nothing comes before one has been
 * saved after this. */
bool reader_host_opened(struct reader_host *c);
/* In rounds (--consumer): the number of rounds of the pass, in all runs together, that the pieces taken so far
 * reach into. Of use once one was taken. */
uint64_t reader_host_rounds(struct reader_host *c);
/* Asks for an end on which all consumers of the pass agree, as does the answer to reader_host_halted: the
 * caller has begun so many rounds, and begins no other until reader_host_fence is true. The end is a multiple of
 * `multiple` (0: any number). Said again it changes nothing. Without `stops` all that has come counts as begun, no
 * piece goes beyond the end, and the reader ends with it. */
void reader_host_stop_at(struct reader_host *c, uint64_t rounds, uint64_t multiple);
/* A descriptor that is readable when what the next two calls answer has become true; they clear it. */
int reader_host_stop_fd(const struct reader_host *c);
/* Whether another consumer asks for one; the descriptor is readable when that changes. */
bool reader_host_halted(struct reader_host *c);
/* Whether an end is known: all consumers are to write *rounds rounds of the pass, and then to close. It may have
 * been reached in an earlier run. The descriptor is readable when that changes. */
bool reader_host_fence(struct reader_host *c, uint64_t *rounds);
/* Wants no more: what was written is acknowledged, and the service told, within
 * wait_ms. keep: the job waits for the reader's return. */
void reader_host_close(struct reader_host *c, bool keep, int wait_ms);
/* The use of the elements: for the dispatcher's report. */
void reader_host_feeds(struct reader_host *c, const struct reader_feeds *f);
/* At the end of the pass, good or bad: what failed in it, all readers' share. NULL:
 * the service did not say. Lives as long as the reader. */
const struct msg_done *reader_host_result(struct reader_host *c);
/* At the end: the pass had been read to its end, by others or earlier, before this reader
 * came to it. */
bool reader_host_was_over(struct reader_host *c);
void reader_host_stats(struct reader_host *c, struct reader_stats *out);

#endif
