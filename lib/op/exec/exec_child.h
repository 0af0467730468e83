/* SPDX-License-Identifier: MIT
 *
 * One child process of `exec` or `cmd`: its pipes, the last lines of its stderr,
 * and its end. The child leads a process group of its own, so that what it
 * starts is ended with it, and is killed by the kernel when the thread that
 * started it is gone, its group by a guard (so even `kill -9` leaves none behind).
 *
 *	spawn -> in, out: non-blocking pipes -> reap or stop -> status
 *
 * One thread uses a child. Nothing here prints.
 */
#ifndef EXEC_EXEC_CHILD_H
#define EXEC_EXEC_CHILD_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	CHILD_GRACE_MS = 5000, /* between TERM and KILL */
	CHILD_TICK_MS = 20,    /* how often a wait checks *stop */
	CHILD_LINES = 20,      /* lines of stderr that go into an error */
	CHILD_SHOWN = 100,     /* lines of stderr handed out per second */
	/* silence that counts as the end, when the child has gone but its pipes are held open */
	CHILD_LEFT_MS = 1000,
	CHILD_TAIL = 8 * 1024
};

/* The common properties of one operator's children. */
struct child_kind {
	const char *path;      /* path of the program, as child_find gave it */
	const char *name;      /* name for messages */
	char *const *argv;     /* arguments, which may differ from child to child */
	char *const *envp;
	bool feed;             /* its stdin is a pipe; else /dev/null */
	uint64_t slot, element; /* which copy it is, and on what it works, for traces */
	bool pty;              /* its stdout is a terminal, which passes bytes unchanged */
};

struct child {
	pid_t pid;             /* process id; 0: none */
	int in, out, err;      /* our ends; -1: closed */
	int status;            /* wait status, once reaped */
	bool killed;           /* killed by us */
	const char *traced;    /* its name in the trace, lent by its kind; NULL: it is in none */
	struct buf said;       /* the end of what it wrote to stderr */
	size_t told;           /* how many bytes of `said` child_line has handed out */
	int guard;             /* its place in the table of groups; -1: none */
	int64_t gone_ns;       /* when it was first seen to have ended; 0: it has not */
	int64_t second;        /* the second that the following two count in */
	unsigned shown, missed; /* lines handed out in that second, and lines held back */
	char say[48];
};

/* Has the child's group killed when this process dies (exec_guard.c); child_unguard ends that. */
void child_guard(struct child *c);
void child_unguard(struct child *c);
void child_wait_gone(pid_t pid); /* waits for a process that is about to end */
void child_init(struct child *c);
void child_clear(struct child *c); /* clears one that has ended */
/* Finds a program as a shell would: ST_NOCMD (127), ST_NORUN (126). Gives the path. */
enum status child_find(const char *program, char **path, struct err *e);
enum status child_spawn(struct child *c, const struct child_kind *k, struct err *e);
void child_close_in(struct child *c);
/* Reads what there is on stderr, without waiting. */
void child_listen(struct child *c);
/* Lends the next whole line of stderr that was not handed out yet; NULL: none. Of many lines
 * in one second only their number is told. */
const char *child_line(struct child *c, size_t *n);

/* Waits for the child's end, drops what it still writes to stdout, and ends its group. Waits
 * grace_ms, then sends TERM, waits CHILD_GRACE_MS, and sends KILL; *stop (may be NULL) cuts
 * the first wait short. */
void child_reap(struct child *c, int grace_ms, const atomic_bool *stop);
/* Whether the child has ended while processes that it started hold its output open, and
 * nothing has come from there for `ms` since its end and since `since_ns`. */
bool child_held(struct child *c, int64_t since_ns, int ms);
/* Whether another line of this child may be handed out in this second. */
bool child_shows(struct child *c);
/* Whether the child's stdin is closed at its end while unread input lies in it. */
bool child_deaf(const struct child *c);
/* Sends TERM to the group now; child_reap must follow. */
void child_term(struct child *c);
void child_kill(struct child *c); /* sends KILL */

/* The error of a child that has gone while its pipes are held open. */
void child_left(const char *name, struct err *e);
/* Appends "exited with status 3", "was killed by signal 11 (Segmentation fault)". */
void child_status_print(int status, struct buf *out);
/* Appends the last lines of stderr to the text of e, each on a line of its own. */
void child_tell(const struct child *c, struct err *e);
static inline void
child_poll(const struct child *c, struct pollfd *p, bool in, bool out)
{
	p[0] = (struct pollfd){ .fd = in ? c->in : -1, .events = POLLOUT };
	p[1] = (struct pollfd){ .fd = out ? c->out : -1, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = c->err, .events = POLLIN };
}

#endif
