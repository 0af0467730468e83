/* SPDX-License-Identifier: MIT
 *
 * Yardstick: posix_spawn and wait, N times one after the other, of a program whose
 * output goes to a pipe that is read to its end, as who wants its answer must.
 *
 *	spawn N PROGRAM [ARG...]        prints the seconds
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double
now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
once(char **argv)
{
	posix_spawn_file_actions_t fa;
	int fd[2], status;
	char buf[4096];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return 1;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	int rc = posix_spawn(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	while (!rc && read(fd[0], buf, sizeof buf) > 0)
		;
	close(fd[0]);
	return rc || waitpid(pid, &status, 0) < 0;
}

int
main(int argc, char **argv)
{
	if (argc < 3)
		return 64;
	double t = now();
	for (long i = 0, n = atol(argv[1]); i < n; i++)
		if (once(argv + 2))
			return 1;
	printf("%.6f\n", now() - t);
	return 0;
}
