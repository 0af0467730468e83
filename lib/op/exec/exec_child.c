/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/trace.h"

void
child_init(struct child *c)
{
	*c = (struct child){ .in = -1, .out = -1, .err = -1, .guard = -1 };
}

static void
child_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
child_clear(struct child *c)
{
	child_close(&c->in);
	child_close(&c->out);
	child_close(&c->err);
	buf_clear(&c->said);
}

void
child_close_in(struct child *c)
{
	child_close(&c->in);
}

void
child_wait_gone(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Keeps the end of what the child wrote to stderr; lines handed out are dropped first. */
static void
child_trim(struct child *c)
{
	size_t drop = c->said.len - CHILD_TAIL / 2;

	memmove(c->said.data, c->said.data + drop, c->said.len - drop);
	c->said.len -= drop;
	c->told = c->told > drop ? c->told - drop : 0;
}

void
child_listen(struct child *c)
{
	while (c->err >= 0) {
		if (c->said.len > CHILD_TAIL)
			child_trim(c);
		ssize_t n = read(c->err, buf_room(&c->said, CHILD_TAIL), CHILD_TAIL);
		if (n > 0) {
			c->said.len += (size_t)n;
			if (n < CHILD_TAIL)
				return;
		} else if (n == 0) {
			child_close(&c->err);
		} else if (errno != EINTR) {
			return;
		}
	}
}

static const char *
child_next_line(struct child *c, size_t *n)
{
	const char *p = (const char *)c->said.data + c->told, *end;

	if (c->told >= c->said.len)
		return NULL;
	end = memchr(p, '\n', c->said.len - c->told);
	if (!end && c->said.len - c->told < CHILD_TAIL / 4)
		return NULL;
	*n = end ? (size_t)(end - p) : c->said.len - c->told;
	c->told += *n + (end != NULL);
	return p;
}

bool
child_shows(struct child *c)
{
	int64_t second = clock_mono_ns() / 1000000000;

	if (second != c->second) {
		c->second = second;
		c->shown = 0;
	}
	if (c->shown < CHILD_SHOWN) {
		c->shown++;
		return true;
	}
	c->missed++;
	return false;
}

const char *
child_line(struct child *c, size_t *n)
{
	const char *p;

	if (c->missed && (c->pid == 0 || clock_mono_ns() / 1000000000 != c->second)) {
		*n = (size_t)snprintf(c->say, sizeof c->say, "(%u more lines)", c->missed);
		c->missed = 0;
		return c->say;
	}
	while ((p = child_next_line(c, n)))
		if (child_shows(c))
			return p;
	return NULL;
}

/* Sends the signal to the group, or to the child if it has no group yet. */
static void
child_signal(struct child *c, int sig)
{
	if (c->pid > 0 && kill(-c->pid, sig))
		kill(c->pid, sig);
}

void
child_term(struct child *c)
{
	c->killed = true;
	child_signal(c, SIGTERM);
}

void
child_kill(struct child *c)
{
	c->killed = true;
	child_signal(c, SIGKILL);
}

/* Whether the child has ended; it stays a zombie, so that its process id is not used again. */
static bool
child_gone(const struct child *c)
{
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)c->pid, &si, WEXITED | WNOWAIT | WNOHANG) < 0
	       ? errno == ECHILD : si.si_pid != 0;
}

/* Output from before a child's end is read after it, so the silence counts from the end. */
bool
child_held(struct child *c, int64_t since_ns, int ms)
{
	int64_t now = clock_mono_ns(), need = (int64_t)ms * 1000000;

	if (c->pid <= 0 || now - since_ns < (int64_t)CHILD_TICK_MS * 1000000)
		return false;
	if (!c->gone_ns && child_gone(c))
		c->gone_ns = now;
	return c->gone_ns && now - c->gone_ns > need && now - since_ns > need;
}

bool
child_deaf(const struct child *c)
{
	struct pollfd p = { .fd = c->in };
	int unread = 0;

	return c->in >= 0 && poll(&p, 1, 0) == 1 && (p.revents & POLLERR)
	       && ioctl(c->in, FIONREAD, &unread) == 0 && unread > 0;
}

static void
child_drop(struct child *c)
{
	char waste[4096];
	ssize_t n;

	while (c->out >= 0 && (n = read(c->out, waste, sizeof waste)) != 0)
		if (n < 0 && errno != EINTR)
			return;
	child_close(&c->out);
}

/* Waits for the child's end or its output, at most `ms`. */
static void
child_pause(struct child *c, int pidfd, int ms)
{
	struct pollfd p[4];

	child_poll(c, p, false, true);
	p[3] = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	if (poll(p, 4, pidfd < 0 && ms > 1 ? 1 : ms) > 0) {
		child_listen(c);
		if (p[1].revents)
			child_drop(c);
	}
}

static void
child_await(struct child *c, int grace_ms, const atomic_bool *stop)
{
	int64_t until = clock_mono_ns() + (int64_t)grace_ms * 1000000;
	int pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0), steps = 0;

	while (!child_gone(c)) {
		bool quit = steps == 0 && stop
			    && atomic_load_explicit(stop, memory_order_relaxed);
		if (quit || clock_mono_ns() >= until) {
			child_close(&c->in);
			if (steps++ == 0)
				child_term(c);
			else
				child_kill(c);
			until = clock_mono_ns() + (int64_t)CHILD_GRACE_MS * 1000000;
		}
		child_pause(c, pidfd, CHILD_TICK_MS);
	}
	child_close(&pidfd);
}

void
child_reap(struct child *c, int grace_ms, const atomic_bool *stop)
{
	if (c->pid <= 0)
		return;
	if (!child_gone(c))
		child_await(c, grace_ms, stop);
	kill(-c->pid, SIGKILL); /* processes that the child started and left behind */
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	child_unguard(c);
	child_listen(c);
	child_close(&c->in);
	child_close(&c->out);
	child_close(&c->err);
	if (c->traced) {
		trace_task_over(TRACE_PROGRAM, (uint64_t)c->pid, c->traced, (uint64_t)c->pid,
				WIFEXITED(c->status) ? (uint64_t)WEXITSTATUS(c->status) : 0,
				WIFSIGNALED(c->status) ? (uint64_t)WTERMSIG(c->status) : 0);
		trace_gauge(TRACE_PROGRAMS, -1);
	}
	c->traced = NULL;
	c->pid = 0;
}

void
child_status_print(int status, struct buf *out)
{
	if (WIFSIGNALED(status))
		buf_printf(out, "was killed by signal %d (%s)", WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + NSIG)
		buf_printf(out, "exited with status %d (as after signal %d)", WEXITSTATUS(status),
			   WEXITSTATUS(status) - 128);
	else
		buf_printf(out, "exited with status %d", WEXITSTATUS(status));
}

void
child_left(const char *name, struct err *e)
{
	err_set(e, ST_DATA, "%s has ended, but a process that it started keeps its output open", name);
	err_help(e, "a process that is to keep running needs an output of its own: COMMAND >/dev/null 2>&1 &");
}

void
child_tell(const struct child *c, struct err *e)
{
	enum { ROOM = ERR_TEXT * 2 / 3 };
	const char *all = (const char *)c->said.data;
	size_t end = c->said.len, from;
	int lines = 0;

	while (end > 0 && all[end - 1] == '\n')
		end--;
	if (end == 0 || !e)
		return;
	for (from = end; from > 0 && end - from < ROOM; from--)
		if (all[from - 1] == '\n' && ++lines == CHILD_LINES)
			break;
	struct buf out = { 0 };
	buf_printf(&out, "%s\n    ", e->text);
	for (size_t i = from; i < end; i++) {
		buf_byte(&out, all[i] ? (uint8_t)all[i] : '?');
		if (all[i] == '\n')
			buf_str(&out, "    ");
	}
	char *text = buf_take(&out);
	strncpy(e->text, text, sizeof e->text - 1);
	e->text[sizeof e->text - 1] = '\0';
	mem_free(text);
}
