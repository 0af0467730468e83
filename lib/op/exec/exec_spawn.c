/* SPDX-License-Identifier: MIT
 *
 * Starting children. vfork and not posix_spawn, which cannot have the kernel end
 * the child with its parent; and not fork, which copies the tables of a large
 * process. What runs between vfork and exec shares our memory: it makes system
 * calls and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/trace.h"
#include "op/child_rules.h"
#include "op/exec/exec_child.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

struct spawn {
	const char *path;
	char *const *argv, *const *envp;
	pid_t parent;
	int fd[3];
	volatile int error; /* errno of the child's failed step; 0: it runs the program */
};

static _Noreturn void
spawn_child(struct spawn *s)
{
	static const int usual[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != s->parent) /* the parent died before the signal was set */
		_exit(127);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		sigaction(usual[i], &dfl, NULL);
	for (int i = 0; i < 3; i++)
		dup2(s->fd[i], i);
	syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	s->error = child_rules_apply();
	if (!s->error) {
		execve(s->path, s->argv, s->envp);
		s->error = errno;
	}
	_exit(127);
}

/* A function of its own, not inlined: the child returns to no frame that the parent needs. */
static __attribute__((noinline)) pid_t
spawn_vfork(struct spawn *s)
{
	sigset_t all, before;
	pid_t pid;

	/* No signal handler of this process may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = vfork();
	if (pid == 0)
		spawn_child(s);
	int keep = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = keep;
	return pid;
}

static int
spawn_high(int fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high;
}

/* Makes a pipe with neither end at 0, 1 or 2, which get new meanings in the child. */
static bool
spawn_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		return false;
	for (int i = 0; i < 2; i++)
		fd[i] = spawn_high(fd[i]);
	return fd[0] >= 0 && fd[1] >= 0;
}

/* Makes a terminal in place of a pipe, since programs that write blocks to a pipe write lines
 * to a terminal. It is raw, and nobody's controlling terminal. */
static bool
spawn_pty(int fd[2])
{
	struct termios raw;
	char name[64];

	fd[0] = spawn_high(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (fd[0] < 0 || grantpt(fd[0]) || unlockpt(fd[0]) || ptsname_r(fd[0], name, sizeof name))
		return false;
	fd[1] = spawn_high(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (fd[1] < 0 || tcgetattr(fd[1], &raw))
		return false;
	cfmakeraw(&raw);
	return tcsetattr(fd[1], TCSANOW, &raw) == 0;
}

static int
spawn_null(void)
{
	return spawn_high(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static void
spawn_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static enum status
spawn_fail(const struct child_kind *k, int error, struct err *e)
{
	bool none = error == ENOENT || error == ENOTDIR;

	if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE)
		return err_set(e, ST_TEMP, "cannot start %s: %s", k->name, strerror(error));
	err_set(e, none ? ST_NOCMD : ST_NORUN, "cannot run %s: %s", k->name,
		error == ENOEXEC ? "it is not a program (a script begins with #!)" :
		error == E2BIG ? "its arguments are longer than the system allows" : strerror(error));
	if (error == E2BIG)
		err_help(e, "give it fewer at a time, with a smaller batch, or its input by proto=raw or line");
	return e->kind;
}

enum status
child_spawn(struct child *c, const struct child_kind *k, struct err *e)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	struct spawn s = { .path = k->path, .argv = k->argv, .envp = k->envp, .parent = getpid() };
	char **wrapped = child_rules_wrap(&s.path, k->argv);
	if (wrapped)
		s.argv = wrapped;
	enum status st = ST_OK;
	pid_t pid = -1;

	bool ok = (k->pty ? spawn_pty(out) : spawn_pipe(out)) && spawn_pipe(err);
	if (ok && k->feed)
		ok = spawn_pipe(in);
	else if (ok)
		ok = (in[0] = spawn_null()) >= 0;
	if (ok) {
		s.fd[0] = in[0], s.fd[1] = out[1], s.fd[2] = err[1];
		pid = spawn_vfork(&s);
	}
	if (pid < 0) {
		st = spawn_fail(k, errno, e);
	} else if (s.error) {
		child_wait_gone(pid);
		st = spawn_fail(k, s.error, e);
	}
	mem_free(wrapped);
	spawn_close(&in[0]);
	spawn_close(&out[1]);
	spawn_close(&err[1]);
	if (st != ST_OK) {
		spawn_close(&in[1]);
		spawn_close(&out[0]);
		spawn_close(&err[0]);
		return st;
	}
	if (in[1] >= 0)
		fcntl(in[1], F_SETFL, O_NONBLOCK);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	c->pid = pid;
	child_guard(c);
	c->in = in[1], c->out = out[0], c->err = err[0];
	c->killed = false;
	c->gone_ns = 0;
	buf_reset(&c->said);
	c->told = 0;
	c->traced = trace_on() ? k->name : NULL;
	if (c->traced) {
		trace_task(TRACE_PROGRAM, (uint64_t)pid, k->name, (uint64_t)pid, k->slot, k->element);
		trace_gauge(TRACE_PROGRAMS, 1);
	}
	return ST_OK;
}

/* The errno that running the file at path would give; 0: it can be run. */
static int
spawn_refuses(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return errno;
	if (!S_ISREG(s.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* Gives the path of a program that can be run, if it may be. */
static enum status
spawn_take(char *found, const char *program, char **path, struct err *e)
{
	enum status st = child_rules_check(found, program, e);

	if (st == ST_OK)
		*path = found;
	else
		mem_free(found);
	return st;
}

enum status
child_find(const char *program, char **path, struct err *e)
{
	const char *dirs = getenv("PATH"), *end;
	struct child_kind k = { .name = program };
	int error = ENOENT;

	*path = NULL;
	if (strchr(program, '/')) {
		error = spawn_refuses(program);
		return error ? spawn_fail(&k, error, e) : spawn_take(mem_strdup(program), program, path, e);
	}
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *program && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		char *try = end == dirs ? mem_printf("./%s", program)
					: mem_printf("%.*s/%s", (int)(end - dirs), dirs, program);
		int why = spawn_refuses(try);
		if (!why)
			return spawn_take(try, program, path, e);
		if (why == EACCES)
			error = why;
		mem_free(try);
	}
	if (error != ENOENT)
		return spawn_fail(&k, error, e);
	err_set(e, ST_NOCMD, "cannot run %s: there is no such program in PATH",
		*program ? program : "''");
	err_help(e, "a shell builtin needs shell=true, or `sh`");
	return ST_NOCMD;
}
