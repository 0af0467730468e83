/* SPDX-License-Identifier: MIT
 *
 * A core of dsvc-feed that does nothing with its rows, by the two files that a project copies. The first core
 * prints the seconds from the end of its 8th step to the end of the feed.
 */
#include <stdio.h>
#include <time.h>

#include "../../client/dsvc_feed.c"

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(void)
{
	struct dsvc_batch b;
	struct dsvc_error why;
	struct dsvc_feed *f = dsvc_feed_open(NULL, &why);
	double begun = now();

	if (!f) {
		fprintf(stderr, "cores: %s\n", why.text);
		return why.code;
	}
	while (dsvc_feed_next(f, &b) == 1) {
		dsvc_feed_done(f, &b);
		if (b.step == 7)
			begun = now();
	}
	if (!dsvc_feed_rank(f))
		printf("%f\n", now() - begun);
	return dsvc_feed_close(&f);
}
