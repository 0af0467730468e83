/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_work.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

int64_t
exec_now(void)
{
	return clock_mono_ns();
}

void
exec_note(struct exec *x, const struct err *e)
{
	const struct op_ctx *ctx = x->self->ctx;

	if (ctx->note)
		ctx->note(ctx->arg, x->self->node, e);
}

void
exec_hear(struct exec *x, struct exec_slot *s)
{
	const char *line;
	size_t n;

	while (x->self->ctx->note && (line = child_line(&s->child, &n))) {
		struct err e = { 0 };

		if (n == 0)
			continue;
		err_set(&e, ST_DATA, "%s: %.*s", x->name, (int)n, line);
		exec_note(x, &e);
	}
}

void
exec_hear_old(struct exec *x, struct exec_slot *s)
{
	size_t unheard = s->child.said.len - s->child.told;
	int64_t now = unheard ? exec_now() : 0;

	if (!unheard) {
		s->said = 0;
	} else if (!s->said) {
		s->said = now;
	} else if (now - s->said > EXEC_SAID_NS || unheard > CHILD_TAIL / 4) {
		exec_hear(x, s);
		s->said = 0;
	}
}

enum status
exec_fatal(struct exec *x, const uint64_t *seq, struct err *e)
{
	const char *file = NULL;
	uint64_t line = 0;

	if (seq)
		run_place(&exec_job(x, *seq)->run->run, exec_job_elem(x, *seq), &file, &line);
	if (file && line)
		err_wrap(e, "%s:%llu", file, (unsigned long long)line);
	return op_blame(x->self->node, e);
}

enum status
exec_ended(struct exec *x, const struct exec_slot *s, struct err *e)
{
	int status = s->child.status;
	struct buf what = { 0 };

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return ST_OK;
	child_status_print(status, &what);
	if (s->child.killed)
		err_set(e, ST_DATA, "%s closed its output and did not end", x->name);
	else
		err_set(e, ST_DATA, "%s %s", x->name, (char *)what.data);
	buf_clear(&what);
	child_tell(&s->child, e);
	if (WIFEXITED(status) && WEXITSTATUS(status) == ST_NORUN)
		e->kind = ST_NORUN;
	if (WIFEXITED(status) && WEXITSTATUS(status) == ST_NOCMD)
		e->kind = ST_NOCMD;
	return e->kind;
}

bool
exec_left(struct exec_slot *s, int64_t since, int ms)
{
	return !s->pour.eof && child_held(&s->child, since, ms);
}

enum status
exec_start(struct exec *x, struct exec_slot *s, char *const *argv, struct err *e)
{
	exec_env_slot(&x->env, s->index);
	x->kind.argv = argv ? argv : x->args.argv;
	x->kind.envp = x->env.v;
	x->kind.slot = s->index;
	x->kind.element = s->seq;
	return child_spawn(&s->child, &x->kind, e);
}

/* Writes with SIGPIPE blocked, which would end this process. It is not ignored altogether,
 * because programs are meant to die of it when their own reader has gone. */
static ssize_t
exec_write_quietly(int fd, const void *p, size_t n)
{
	struct timespec none = { 0 };
	sigset_t pipe, before;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	ssize_t w = write(fd, p, n);
	int keep = errno;
	if (w < 0 && keep == EPIPE)
		while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = keep;
	return w;
}

enum status
exec_write(struct exec_slot *s, bool *moved)
{
	if (s->child.in < 0 || s->w_at == s->w.len)
		return ST_OK;
	ssize_t n = exec_write_quietly(s->child.in, s->w.data + s->w_at, s->w.len - s->w_at);
	if (n < 0)
		return errno == EPIPE ? ST_END : ST_OK;
	*moved = true;
	s->w_at += (size_t)n;
	if (s->w_at == s->w.len)
		s->w_at = s->w.len = 0;
	return ST_OK;
}
