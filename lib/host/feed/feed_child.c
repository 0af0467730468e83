/* SPDX-License-Identifier: MIT
 *
 * Children of dsvc-feed: each leads a group of its own, which ends with it and with us.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_host_inner.h"

extern char **environ;

enum { CHILD_SOCKET = 3 };

static bool
child_env_has(const char *name)
{
	return getenv(name) != NULL;
}

/* The environment of a core: ours, and what it is told of its place. Gives. */
static char **
child_env(const struct feed_host *h, uint32_t core)
{
	const struct feed_conf *m = &h->c->machine;
	uint64_t rank = m->rank + core, ranks = (uint64_t)m->cores * h->c->hosts;
	const struct { const char *name; uint64_t v; bool always; } set[] = {
		{ "DSVC_CORE", core, true }, { "DSVC_CORES", m->cores, true }, { "DSVC_RANK", rank, true },
		{ "DSVC_RANKS", ranks, true }, { "DSVC_HOST", h->c->host, true }, { "DSVC_HOSTS", h->c->hosts, true },
		{ "DSVC_BATCH", h->c->fill.element == FEED_ROWS ? h->c->fill.batch / m->cores : 0, true },
		{ "RANK", rank, false }, { "LOCAL_RANK", core, false }, { "WORLD_SIZE", ranks, false },
		{ "LOCAL_WORLD_SIZE", m->cores, false } };
	size_t n = 0, count = sizeof set / sizeof *set;

	while (environ[n])
		n++;
	char **v = mem_array(n + count + 2, sizeof *v), **w = v;
	for (size_t i = 0; i < n; i++) {
		bool ours = str_starts(environ[i], "DSVC_FEED=");

		for (size_t k = 0; k < count && !ours; k++)
			ours = set[k].always && str_starts(environ[i], set[k].name) &&
			       environ[i][strlen(set[k].name)] == '=';
		if (!ours)
			*w++ = mem_strdup(environ[i]);
	}
	if (h->c->as == FEED_AS_MEMORY)
		*w++ = mem_printf("DSVC_FEED=fd:%d", CHILD_SOCKET);
	for (size_t k = 0; k < count; k++)
		if (set[k].always || !child_env_has(set[k].name))
			*w++ = mem_printf("%s=%llu", set[k].name, (unsigned long long)set[k].v);
	return v;
}

struct child_fds { int in, out, err, socket; };

/* Runs in the child, between fork and exec: system calls and nothing else. */
static _Noreturn void
child_run(const char *path, char *const *argv, char *const *env, const struct child_fds *f, pid_t parent, int report)
{
	static const int usual[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGALRM };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		signal(usual[i], SIG_DFL);
	dup2(f->in, 0);
	if (f->out >= 0)
		dup2(f->out, 1);
	if (f->err >= 0)
		dup2(f->err, 2);
	syscall(SYS_close_range, 3U, ~0U, 4U); /* closed by exec */
	if (f->socket == CHILD_SOCKET)
		fcntl(CHILD_SOCKET, F_SETFD, 0);
	else if (f->socket >= 0)
		dup2(f->socket, CHILD_SOCKET);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(path, argv, env);
	int error = errno;
	if (write(report, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

static void
child_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A pipe with both ends above the numbers that get a new meaning in the child. */
static bool
child_pipe(int fd[2], bool socket)
{
	if (socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) : pipe2(fd, O_CLOEXEC))
		return false;
	for (int i = 0; i < 2; i++) {
		int high = fcntl(fd[i], F_DUPFD_CLOEXEC, 16);

		close(fd[i]);
		fd[i] = high;
	}
	return fd[0] >= 0 && fd[1] >= 0;
}

/* Forks, and waits until the program runs or does not. */
static enum status
child_fork(struct feed_seat *s, const char *path, char *const *argv, char *const *env, const struct child_fds *f,
	   struct err *e)
{
	int report[2], error = 0;
	sigset_t all, before;

	if (!child_pipe(report, false))
		return err_errno(e, "cannot start %s", argv[0]);
	pid_t parent = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (!pid)
		child_run(path, argv, env, f, parent, report[1]);
	int failed = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	child_close(&report[1]);
	ssize_t n = pid > 0 ? read(report[0], &error, sizeof error) : 0;
	child_close(&report[0]);
	if (pid < 0)
		return err_set(e, ST_TEMP, "cannot start %s: %s", argv[0], strerror(failed));
	if (n == sizeof error) {
		waitpid(pid, NULL, 0);
		return err_set(e, error == ENOENT ? ST_NOCMD : ST_NORUN, "cannot run %s: %s", argv[0],
			       error == ENOEXEC ? "it is not a program (a script begins with #!)" : strerror(error));
	}
	s->child.pid = pid;
	child_guard(&s->child);
	s->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return s->pidfd < 0 ? err_errno(e, "cannot watch process %d", (int)pid) : ST_OK;
}

static enum status
child_pipes(struct feed_host *h, int in[2], int out[2], int err[2], int sock[2], struct err *e)
{
	bool pipes = h->c->as != FEED_AS_MEMORY, ok = true;

	if (pipes)
		ok = child_pipe(in, false);
	else
		in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (ok && pipes && h->c->machine.results)
		ok = child_pipe(out, false);
	if (ok && h->c->machine.cores > 1)
		ok = child_pipe(err, false);
	if (ok && !pipes)
		ok = child_pipe(sock, true);
	return ok ? ST_OK : err_errno(e, "cannot start %s", h->c->argv[0]);
}

enum status
feed_child_start(struct feed_host *h, uint32_t core, struct err *e)
{
	struct feed_seat *s = &h->seat[core];
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 }, sock[2] = { -1, -1 };
	char *path = NULL;
	enum status st = child_find(h->c->argv[0], &path, e);

	if (st == ST_OK)
		st = child_pipes(h, in, out, err, sock, e);
	if (st == ST_OK) {
		char **env = child_env(h, core);
		struct child_fds f = { in[0], out[1], err[1], sock[1] };

		st = child_fork(s, path, h->c->argv, env, &f, e);
		for (size_t i = 0; env[i]; i++)
			mem_free(env[i]);
		mem_free(env);
	}
	if (st == ST_OK && h->c->machine.blind) {
		s->peek = in[0];
		in[0] = -1;
	}
	child_close(&in[0]);
	child_close(&out[1]);
	child_close(&err[1]);
	child_close(&sock[1]);
	s->in = in[1];
	s->out = out[0];
	s->err = err[0];
	for (int *fd[] = { &s->in, &s->out, &s->err }, i = 0; i < 3; i++)
		if (*fd[i] >= 0)
			fcntl(*fd[i], F_SETFL, O_NONBLOCK);
	if (sock[0] >= 0)
		feed_link_init(&s->link, sock[0]);
	mem_free(path);
	return st;
}

void
feed_child_reap(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	int status = 0;

	if (waitpid(s->child.pid, &status, WNOHANG) != s->child.pid)
		return;
	/* Messages from before its end count. */
	if (s->link.fd >= 0)
		feed_seat_read(h, core);
	if (s->out >= 0)
		feed_pipe_read(h, core);
	if (s->err >= 0)
		feed_pipe_hear(h, core, true);
	kill(-s->child.pid, SIGKILL); /* processes that it has left behind */
	feed_pipe_look(h, core);
	if (!status && s->peek >= 0)
		feed_sent_ended(&s->sent, h->c->machine.each_loop);
	child_unguard(&s->child);
	s->child.pid = 0;
	child_close(&s->pidfd);
	child_close(&s->in);
	child_close(&s->peek);
	child_close(&s->out);
	child_close(&s->err);
	feed_link_clear(&s->link);
	feed_exited(h->machine, h->now, core, status);
}

void
feed_child_again(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	struct err e;

	feed_ring_unref(&s->ring);
	s->joined = s->closing = false;
	s->text_at = s->n_line = s->n_given = 0;
	s->wrote = 0;
	feed_sent_again(&s->sent);
	buf_reset(&s->text);
	buf_reset(&s->said);
	buf_reset(&s->told);
	buf_reset(&s->position);
	if (feed_child_start(h, core, &e) != ST_OK)
		feed_host_blame(h, core, &e);
	else if (h->c->as != FEED_AS_MEMORY)
		feed_pipe_join(h, core);
}

void
feed_child_signal(struct feed_host *h, uint32_t core, int sig)
{
	struct feed_seat *s = &h->seat[core];

	if (s->child.pid > 0)
		kill(-s->child.pid, sig);
	else
		feed_link_clear(&s->link);
}

void
feed_child_clear(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];

	if (s->child.pid > 0) {
		kill(-s->child.pid, SIGKILL);
		waitpid(s->child.pid, NULL, 0);
		child_unguard(&s->child);
	}
	child_close(&s->pidfd);
	child_close(&s->in);
	child_close(&s->peek);
	child_close(&s->out);
	child_close(&s->err);
	feed_link_clear(&s->link);
	feed_ring_unref(&s->ring);
	for (size_t i = 0; i < s->n_answer; i++)
		buf_clear(&s->answer[i].value);
	mem_free(s->answer);
	mem_free(s->given);
	mem_free(s->line);
	feed_sent_clear(&s->sent);
	buf_clear(&s->position);
	buf_clear(&s->text);
	buf_clear(&s->said);
	buf_clear(&s->told);
}
