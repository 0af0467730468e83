/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_hold.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *
exec_hold_cure(const char *program)
{
	static const struct { const char *begin, *cure; } cures[] = {
		{ "python", "`python3 -u`, or print(..., flush=True)" },
		{ "jq", "`jq --unbuffered`" },
		{ "sed", "`sed -u`" },
		{ "grep", "`grep --line-buffered`" },
		{ "egrep", "`grep -E --line-buffered`" },
		{ "fgrep", "`grep -F --line-buffered`" },
		{ "zgrep", "`grep --line-buffered`" },
		{ "mawk", "`mawk -W interactive`, or fflush() after each print" },
		{ "awk", "`mawk -W interactive` where awk is mawk, else fflush() after each print" },
		{ "gawk", "fflush() after each print" },
		{ "perl", "`$| = 1;` at the start of the script" },
		{ "ruby", "`$stdout.sync = true` at the start of the script" },
		{ "lua", "io.stdout:setvbuf(\"line\")" },
		{ "sh", "the unbuffered mode of what the script runs: `sed -u`, `jq --unbuffered`, "
			"`grep --line-buffered`, `stdbuf -oL COMMAND`" },
	};
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
		if (!strncmp(program, cures[i].begin, strlen(cures[i].begin)))
			return cures[i].cure;
	return "`stdbuf -oL` in front of the command, if it uses the C library's output";
}

static size_t
hold_read(pid_t pid, const char *what, char *out, size_t room)
{
	char path[64];
	ssize_t n = -1;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, out, room - 1);
		close(fd);
	}
	n = n < 0 ? 0 : n;
	out[n] = '\0';
	return (size_t)n;
}

/* Whether the child has read all its input and waits for more, as far as the system tells: it
 * sleeps and, where that can be seen, sleeps in a read of a pipe or (a shell) in a wait for a
 * child of its own. Time alone would not tell it from a child at work, whose input must not be
 * closed nor its run given up. */
static bool
hold_waits(const struct child *c)
{
	char text[512], *state;
	int unread = 0;

	if (c->in < 0 || ioctl(c->in, FIONREAD, &unread) || unread > 0)
		return false;
	hold_read(c->pid, "stat", text, sizeof text);
	state = strrchr(text, ')');
	if (!state || state[1] != ' ' || state[2] != 'S')
		return false;
	if (!hold_read(c->pid, "wchan", text, sizeof text) || !strcmp(text, "0"))
		return true;
	return strstr(text, "pipe") || strstr(text, "wait") || strstr(text, "poll")
	       || strstr(text, "select");
}

static void
hold_say(const struct exec *x, const struct exec_slot *s, struct err *e)
{
	err_set(e, ST_DATA, "%s appears to buffer its output (%u element%s in, none out for 1 s)",
		x->name, s->n, s->n == 1 ? "" : "s");
	err_help(e, "make it flush: %s; or use pty=true", exec_hold_cure(x->shell ? "sh" : x->name));
}

static void
hold_warn(struct exec *x, struct exec_slot *s)
{
	struct err say = { 0 };

	if (s->warned)
		return;
	s->warned = true;
	hold_say(x, s, &say);
	exec_note(x, &say);
}

void
exec_hold_steady(struct exec *x, struct exec_slot *s)
{
	int64_t now;

	if (s->warned || s->n == 0 || s->w_at < s->w.len || s->speak.delays)
		return;
	now = exec_now();
	/* Looking costs system calls, and there may be many steps in a second. */
	if (now - s->heard < EXEC_HOLD_NS || now - s->looked < EXEC_HOLD_NS / 10)
		return;
	s->looked = now;
	if (hold_waits(&s->child))
		hold_warn(x, s);
}

/* Warns once about a child that has had the end of its input for a while and owes answers; it
 * may still be at work. */
static void
hold_end(struct exec *x, struct exec_slot *s)
{
	int64_t silent = exec_now() - s->moved;
	struct err say = { 0 };

	if (s->warned || silent < (int64_t)CHILD_GRACE_MS * 1000000)
		return;
	s->warned = true;
	err_set(&say, ST_DATA, "%s has reached the end of its input and still owes answers to %u "
		"element%s (none for %d s)", x->name, s->n, s->n == 1 ? "" : "s",
		(int)(silent / 1000000000));
	err_help(&say, "timeout= limits the time that an answer may take");
	exec_note(x, &say);
}

enum status
exec_hold_look(struct exec *x, struct exec_slot *s, struct err *e)
{
	if (s->n && s->closing && s->child.in < 0)
		hold_end(x, s);
	if (s->n == 0 || s->w_at < s->w.len || exec_now() - s->moved < EXEC_HOLD_NS
	    || !hold_waits(&s->child))
		return ST_OK;
	s->moved = exec_now();
	hold_warn(x, s);
	/* the input waits for these answers before it begins the next split */
	if (exec_feed_border(&x->feed) && !s->speak.keeps) {
		child_close_in(&s->child);
		s->closing = true;
		return ST_OK;
	}
	bool full = s->alone || s->n >= s->window || exec_jobs_full(x);
	if (full && s->window < EXEC_WINDOW_MAX && s->bytes < EXEC_WINDOW_BYTES) {
		s->alone = false;
		s->window = s->window * 2 < EXEC_WINDOW_MAX ? s->window * 2 : EXEC_WINDOW_MAX;
		if (exec_jobs_full(x))
			exec_jobs_grow(x);
	} else if (full || s->bytes >= EXEC_WINDOW_BYTES) {
		uint64_t seq = s->fifo[s->at & (EXEC_WINDOW_MAX - 1)];

		hold_say(x, s, e);
		return exec_fatal(x, &seq, e);
	}
	return ST_OK;
}
