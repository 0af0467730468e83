/* SPDX-License-Identifier: MIT
 *
 * The consumer's side of dsvc-feed in C: two files to be copied into a project, with libc only.
 *
 *	struct dsvc_batch b;
 *	struct dsvc_error err;
 *	size_t rows;
 *	struct dsvc_feed *f = dsvc_feed_open(NULL, &err);
 *	if (!f)
 *		return err.code;
 *	while (dsvc_feed_next(f, &b) == 1) {
 *		const float *x = dsvc_feed_column(&b, "x", DSVC_F32, &rows);
 *		...
 *		dsvc_feed_done(f, &b);
 *	}
 *	return dsvc_feed_close(&f);
 *
 * One thread uses a feed. Rows lie in memory that is shared with dsvc-feed: they are valid until
 * dsvc_feed_done, which gives batches back in the order in which they came. As many as --prefetch says may
 * be in hand; dsvc_feed_next for one more is an error.
 */
#ifndef DSVC_FEED_H
#define DSVC_FEED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dsvc_dtype {
	DSVC_U8, DSVC_U16, DSVC_U32, DSVC_U64, DSVC_I8, DSVC_I16, DSVC_I32, DSVC_I64, DSVC_F32, DSVC_F64, DSVC_BOOL,
	DSVC_F16, DSVC_BF16
};

struct dsvc_feed;

/* What went wrong, and the exit code that says so, as the programs of dsvc have them: 64 usage, 65 data, 69 there is
 * no feed, 74 memory, 75 contact lost, 76 another version, or that of whatever ended the feed. */
struct dsvc_error {
	int code;               /* 0: nothing */
	char text[1024];
};

struct dsvc_batch {
	uint64_t step;
	uint32_t epoch;
	uint64_t rows, valid;   /* rows before the padding come first */
	int last_of_loop;       /* known when it was sent; of data that end with a full step, only by chance */
	/* private */
	const struct dsvc_ring *ring;
	const unsigned char *slot;
	uint64_t first;
};

/* Joins at address: `fd:N` or the path of a socket; NULL: as DSVC_FEED says. NULL on an error, which is then in
 * *err (may be NULL). */
struct dsvc_feed *dsvc_feed_open(const char *address, struct dsvc_error *err);
/* 1: a batch; 0: the end; -1: an error (dsvc_feed_error). */
int dsvc_feed_next(struct dsvc_feed *f, struct dsvc_batch *b);
/* The rows of a field, `a.b` in a nested record, "" for bare values: rows of the numbers of dims, one
 * after the other, also where --axis cuts along another axis than the first. NULL when there is no such
 * column of that type. rows may be NULL. */
const void *dsvc_feed_column(const struct dsvc_batch *b, const char *name, enum dsvc_dtype dtype, size_t *rows);
/* Numbers in one row of a column; 0: there is none of fixed size. */
size_t dsvc_feed_width(const struct dsvc_batch *b, const char *name);
/* A row of texts, bytes or other values: its bytes, and how many. NULL: no such column or row. */
const void *dsvc_feed_bytes(const struct dsvc_batch *b, const char *name, size_t row, size_t *len);
/* The result of the batch in hand, with --results: n numbers, one a row (--results rows), or one number. 0 or -1. */
int dsvc_feed_put(struct dsvc_feed *f, const struct dsvc_batch *b, const double *v, size_t n);
/* The step is done, and its rows are not needed any more. 0, or -1 on an error. */
int dsvc_feed_done(struct dsvc_feed *f, struct dsvc_batch *b);
/* All cores end at the same step, soon. */
int dsvc_feed_stop(struct dsvc_feed *f, const char *why);
/* Tells the others that this one goes down, and why. */
void dsvc_feed_fail(struct dsvc_feed *f, const char *why);
/* The first error: its text, lent, and its code; "" and 0: there was none. */
const char *dsvc_feed_error(const struct dsvc_feed *f, int *code);
int dsvc_feed_rank(const struct dsvc_feed *f);
int dsvc_feed_world(const struct dsvc_feed *f);
/* Leaves; gives the exit code: 0, or that of the error. */
int dsvc_feed_close(struct dsvc_feed **f);

#ifdef __cplusplus
}
#endif
#endif
