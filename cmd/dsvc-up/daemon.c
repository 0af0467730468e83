/* SPDX-License-Identifier: MIT */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

enum { DAEMON_TAIL = 400 };

enum status
daemon_folder(char **out, struct err *e)
{
	struct buf folder = { 0 };

	if (!path_state_folder(&folder))
		return err_set(e, ST_CONFIG, "neither XDG_STATE_HOME nor HOME says where logs may be kept");
	*out = mem_strdup((const char *)folder.data);
	buf_byte(&folder, '/'); /* it is to be made, too */
	enum status st = path_make_folders((const char *)folder.data, e);
	buf_clear(&folder);
	if (st != ST_OK) {
		mem_free(*out);
		*out = NULL;
	}
	return st;
}

/* In the child: never returns. */
static void
daemon_become(const char *file, char **argv, int out, int ready)
{
	int none = open("/dev/null", O_RDONLY);

	setsid();
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (none >= 0 && dup2(none, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2 && fcntl(ready, F_SETFD, 0) == 0)
		execv(file, argv);
	dprintf(2, "cannot run %s: %s\n", file, strerror(errno));
	_exit(126);
}

enum status
daemon_start(struct daemon *d, const char *file, char **argv, const char *log, struct err *e)
{
	char number[16];
	int ends[2], out;
	size_t n = 0;

	*d = (struct daemon){ .ready = -1, .log = mem_strdup(log) };
	unlink(log); /* one that still runs keeps its own */
	out = open(log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return err_errno(e, "cannot write %s", log);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		close(out);
		return err_errno(e, "cannot make a pipe");
	}
	while (argv[n])
		n++;
	snprintf(number, sizeof number, "%d", ends[1]);
	argv[n] = (char *)"--ready-fd";
	argv[n + 1] = number;
	argv[n + 2] = NULL;
	d->pid = fork();
	if (d->pid == 0)
		daemon_become(file, argv, out, ends[1]);
	argv[n] = NULL;
	close(out);
	close(ends[1]);
	d->ready = ends[0];
	if (d->pid < 0) {
		d->pid = 0;
		return err_errno(e, "cannot start %s", file);
	}
	return ST_OK;
}

/* The last line of its log, for the error. */
static void
daemon_last(const char *log, char *out, size_t size)
{
	char tail[DAEMON_TAIL + 1];
	FILE *f = fopen(log, "re");

	*out = '\0';
	if (!f)
		return;
	if (fseek(f, -DAEMON_TAIL, SEEK_END) != 0)
		rewind(f);
	size_t n = fread(tail, 1, DAEMON_TAIL, f);
	fclose(f);
	tail[n] = '\0';
	/* An error is one line, and perhaps lines of help that begin with blanks. */
	for (char *line = strtok(tail, "\n"); line; line = strtok(NULL, "\n"))
		if (*line != ' ')
			snprintf(out, size, "%s", line);
}

enum status
daemon_wait(struct daemon *d, struct err *e)
{
	char part[512], last[DAEMON_TAIL];
	int status = 0;
	ssize_t n;
	bool ready = false;

	while ((n = read(d->ready, part, sizeof part)) > 0 || (n < 0 && errno == EINTR))
		ready |= n > 0 && memchr(part, '\n', (size_t)n);
	close(d->ready);
	d->ready = -1;
	if (ready)
		return ST_OK;
	while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
		;
	d->pid = 0;
	daemon_last(d->log, last, sizeof last);
	enum status st = WIFEXITED(status) && WEXITSTATUS(status) ? status_from_code((uint64_t)WEXITSTATUS(status)) : ST_TEMP;
	err_set(e, st, "%s", *last ? last : "a program ended before it was ready");
	err_help(e, "all it wrote is in %s", d->log);
	return st;
}

void
daemon_clear(struct daemon *d)
{
	if (d->ready >= 0)
		close(d->ready);
	mem_free(d->log);
	*d = (struct daemon){ .ready = -1 };
}
