/* SPDX-License-Identifier: MIT
 *
 * A consumer of dsvc-feed in C, or C++: the square of each row is its answer. To be compiled with the two files
 * that a project copies:
 *
 *	cc -std=c99 -o core -I client examples/core.c client/dsvc_feed.c
 *	dsvc-feed --local -n 2 --batch 4 --results rows -e 'range 8 | map {x: x}' -- ./core
 *
 * Rows are records with a number x, or numbers.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dsvc_feed.h"

/* Answers a batch. 0, or -1 when it cannot be used, or the feed has gone. */
static int
square(struct dsvc_feed *f, const struct dsvc_batch *b)
{
	size_t rows;
	const int64_t *x = (const int64_t *)dsvc_feed_column(b, "x", DSVC_I64, &rows);

	if (!x)
		x = (const int64_t *)dsvc_feed_column(b, "", DSVC_I64, &rows);
	if (!x) {
		dsvc_feed_fail(f, "there is no column x of whole numbers");
		return -1;
	}
	double *y = (double *)malloc((rows + 1) * sizeof *y);
	if (!y) {
		dsvc_feed_fail(f, "out of memory");
		return -1;
	}
	for (size_t i = 0; i < rows; i++) /* the rows from b->valid on are padding: what is said of them is dropped */
		y[i] = (double)x[i] * (double)x[i];
	int sent = dsvc_feed_put(f, b, y, rows);
	free(y);
	return sent;
}

int
main(void)
{
	struct dsvc_batch b;
	struct dsvc_error why;
	struct dsvc_feed *f = dsvc_feed_open(NULL, &why);

	if (!f) {
		fprintf(stderr, "core: %s\n", why.text);
		return why.code;
	}
	while (dsvc_feed_next(f, &b) == 1 && square(f, &b) == 0)
		dsvc_feed_done(f, &b);
	return dsvc_feed_close(&f);
}
