/* SPDX-License-Identifier: MIT */
#include "cli/beside.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

extern char **environ;

void
beside_each(const char *dir, void (*each)(void *arg, const char *file, const char *verb), void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name, *verb = name + strlen(BESIDE_PREFIX);
		if (!str_starts(name, BESIDE_PREFIX) || !*verb || faccessat(dirfd(d), name, X_OK, 0) != 0)
			continue;
		char *file = mem_printf("%s/%s", dir, name);
		each(arg, file, verb);
		mem_free(file);
	}
	if (d)
		closedir(d);
}

bool
beside_ask(const char *const *argv, bool quiet, struct buf *out)
{
	posix_spawn_file_actions_t files;
	char part[4096];
	int ends[2], status = -1;
	ssize_t n;
	pid_t pid;

	if (pipe(ends) != 0)
		return false;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&files, ends[0]);
	posix_spawn_file_actions_addclose(&files, ends[1]);
	if (quiet)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	bool runs = posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)argv, environ) == 0;
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	while (runs && (n = read(ends[0], part, sizeof part)) > 0)
		buf_put(out, part, (size_t)n);
	close(ends[0]);
	return runs && waitpid(pid, &status, 0) == pid && status == 0;
}
