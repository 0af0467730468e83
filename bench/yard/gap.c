/* SPDX-License-Identifier: MIT
 * How long a stream of bytes stood still: reads stdin, and prints the longest
 * time between two pieces of it in seconds, once the first has come and until BYTES are read.
 * usage: gap BYTES */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	static char piece[64 * 1024];
	long long left = argc == 2 ? atoll(argv[1]) : 0;
	double last = 0, longest = 0, t;
	ssize_t n;

	if (left <= 0) {
		fprintf(stderr, "usage: gap BYTES\n");
		return 64;
	}
	while (left > 0 && (n = read(STDIN_FILENO, piece, sizeof piece)) > 0) {
		t = now();
		if (last > 0 && t - last > longest)
			longest = t - last;
		last = t;
		left -= n;
	}
	printf("%.6f\n", longest);
	return left > 0;
}
