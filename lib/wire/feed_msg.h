/* SPDX-License-Identifier: MIT
 *
 * Messages between dsvc-feed and the consumers that it feeds ("cores"), on a stream socket:
 *
 *	u32 length, little endian | MessagePack list [type, field ...]
 *
 * The fields are the rows of wire/table_feed.c. Rows of data never travel here: they lie in
 * memory that both map, and BATCH says where. Numbers of slots and steps are totals, so that
 * a message that is sent late does no harm.
 */
#ifndef WIRE_FEED_MSG_H
#define WIRE_FEED_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/msg.h"

enum {
	FEED_VERSION = 1,
	FEED_MSG_MAX = 1 << 20,      /* bytes of a message ... */
	FEED_RESULT_MAX = 1 << 30,   /* ... and of a RESULT */
	FEED_POSITION_MAX = 512 << 10,
	FEED_CORES_MAX = 4096,
	FEED_ANY_CORE = UINT32_MAX
};

enum feed_msg_type {
	/* core -> feed */
	FEED_JOIN = 1, FEED_READY, FEED_POSITION, FEED_SAVED, FEED_RESULT, FEED_STOP, FEED_FAIL, FEED_BYE,
	/* feed -> core */
	FEED_WELCOME = 16, FEED_RING, FEED_BATCH, FEED_HERE, FEED_END, FEED_ERROR,
	FEED_MSG_TYPES
};

/* Flags of BATCH: what is known of it when it is sent. */
enum { FEED_LAST_OF_LOOP = 1, FEED_LAST_OF_EPOCH = 2, FEED_LAST = 4 };
enum feed_end_why { FEED_END_DATA, FEED_END_STEPS, FEED_END_STOP, FEED_END_SIGNAL };
enum feed_results { FEED_RESULTS_NONE, FEED_RESULTS_STEP, FEED_RESULTS_ROWS };

struct feed_join {
	uint32_t version, core; /* FEED_ANY_CORE: any that is free */
	uint32_t pid;
	char *name, *want;      /* want: the type that elements must have; NULL: any */
	struct bytes position;  /* to go on from; empty: wherever the feed is */
	uint64_t features;
};
struct feed_ready { uint64_t given, done, wanted; };
struct feed_step { uint64_t step; };
struct feed_result { uint64_t step, rows; struct bytes value; };
struct feed_why { char *why; };
struct feed_fail { uint32_t code; char *text, *help, *detail; };
struct feed_bye { uint64_t done; };

struct feed_welcome {
	uint32_t version, core, cores, rank, ranks, host, hosts, epoch, prefetch, slots, results;
	uint64_t rows;          /* rows of a core in a full step; 0: known with the first RING */
	uint64_t step, loop, until, seed;
	char *tail, *dataset, *type;
	uint64_t each;          /* steps of a whole epoch; UINT64_MAX: not known */
};
struct feed_dim { uint64_t n; };
struct feed_column {
	struct words path;
	uint32_t kind;          /* enum column_kind */
	char *dtype;
	struct { struct feed_dim *v; size_t n; } dims;
	uint64_t at, heap;
	bool tensor;
	uint32_t axis;
};
struct feed_layout {
	uint32_t slots;
	uint64_t bytes, rows;   /* size and rows of a slot */
	bool whole, writable;
	char *mask;             /* NULL: no column tells real rows from padding */
	struct { struct feed_column *v; size_t n; } columns;
};
struct feed_batch { uint64_t step; uint32_t epoch, slot; uint64_t first, rows, valid; uint32_t flags; };
struct feed_here { uint64_t step; struct bytes position; };
struct feed_end { uint32_t why; uint64_t step; char *text; };
struct feed_error { uint32_t code; char *text, *help; uint32_t core; };

struct feed_msg {
	enum feed_msg_type type;
	union {
		struct feed_join join;
		struct feed_ready ready;
		struct feed_step position, saved;
		struct feed_result result;
		struct feed_why stop;
		struct feed_fail fail;
		struct feed_bye bye;
		struct feed_welcome welcome;
		struct feed_layout ring;
		struct feed_batch batch;
		struct feed_here here;
		struct feed_end end;
		struct feed_error error;
	};
};

/* Appends the message with its length. */
void feed_msg_encode(const struct feed_msg *m, struct buf *out);
/* Bytes of the message that begins at p, its length included; 0: more must come to know.
 * ST_PROTO: it would be larger than any. */
enum status feed_msg_size(const uint8_t *p, size_t n, size_t *size, struct err *e);
/* Decodes what follows the length. Gives (feed_msg_clear); on ST_PROTO nothing. */
enum status feed_msg_decode(const uint8_t *p, size_t n, struct feed_msg *m, struct err *e);
void feed_msg_clear(struct feed_msg *m);

#endif
