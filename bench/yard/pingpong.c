/* SPDX-License-Identifier: MIT
 *
 * Yardstick: a child that answers lines, asked one line at a time over two pipes,
 * the next when the answer is there: what a naive co-process costs.
 *
 *	pingpong N PROGRAM [ARG...]     prints the seconds; lines are the numbers from 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
ask(int to, int from, long i)
{
	char line[32], answer[4096];
	int n = snprintf(line, sizeof line, "%ld\n", i);
	ssize_t got, all = 0;

	if (write(to, line, (size_t)n) != n)
		return 1;
	do {
		got = read(from, answer + all, sizeof answer - (size_t)all);
		if (got <= 0)
			return 1;
		all += got;
	} while (answer[all - 1] != '\n');
	return 0;
}

int
main(int argc, char **argv)
{
	int in[2], out[2];

	if (argc < 3 || pipe(in) || pipe(out))
		return 64;
	if (fork() == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		for (int fd = 3; fd < 16; fd++)
			close(fd);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	double t = now();
	for (long i = 0, n = atol(argv[1]); i < n; i++)
		if (ask(in[1], out[0], i))
			return 1;
	printf("%.6f\n", now() - t);
	close(in[1]);
	wait(NULL);
	return 0;
}
