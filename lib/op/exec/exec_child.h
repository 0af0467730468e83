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
	CHILD_TICK_MS = 20,    /* how often a wait looks at *stop */
	CHILD_LINES = 20,      /* of stderr that go into an error */
	CHILD_SHOWN = 100,     /* lines of stderr that are handed out in a second */
	CHILD_LEFT_MS = 1000,  /* it is gone, its pipes are held: silence that is the end */
	CHILD_TAIL = 8 * 1024
};

/* What children of one operator share. */
struct child_kind {
	const char *path;      /* of the program, as child_find gave it */
	const char *name;      /* for messages */
	char *const *argv;     /* may differ from child to child */
	char *const *envp;
	bool feed;             /* a pipe to its stdin; else /dev/null */
	bool pty;              /* its stdout is a terminal, which passes bytes as they are */
};

struct child {
	pid_t pid;             /* 0: none */
	int in, out, err;      /* our ends; -1: closed */
	int status;            /* once reaped, as of waitpid */
	bool killed;           /* by us */
	struct buf said;       /* what it wrote to stderr, cut to its end */
	size_t told;           /* bytes of it that child_line has handed out */
	int guard;             /* its place in the table of groups; -1: none */
	int64_t gone_ns;       /* when it was first seen to have ended; 0: it has not */
	int64_t second;        /* which second the following are about */
	unsigned shown, missed; /* lines of it handed out, and not */
	char say[48];
};

/* exec_guard.c: its group is killed when we are, or no longer. */
void child_guard(struct child *c);
void child_unguard(struct child *c);
void child_wait_gone(pid_t pid); /* waits for one that is at its end */
void child_init(struct child *c);
void child_clear(struct child *c); /* of an ended one */
/* Finds a program as a shell would: ST_NOCMD (127), ST_NORUN (126). Gives the path. */
enum status child_find(const char *program, char **path, struct err *e);
enum status child_spawn(struct child *c, const struct child_kind *k, struct err *e);
void child_close_in(struct child *c);
/* Takes what is there on stderr, without waiting. */
void child_listen(struct child *c);
/* The next whole line of stderr not handed out yet, lent; NULL: none. Of many in
 * one second only the number is told. */
const char *child_line(struct child *c, size_t *n);

/* Waits for its end, drops what it still writes to stdout, ends the group. Waits
 * patiently for grace_ms, then TERM, CHILD_GRACE_MS, KILL; *stop (may be NULL)
 * ends patience. */
void child_reap(struct child *c, int grace_ms, const atomic_bool *stop);
/* It has ended, and for so long nothing has come from its output (nor since `since`), which
 * what it started holds open. */
bool child_held(struct child *c, int64_t since_ns, int ms);
/* Whether another line of its own may be handed out in this second. */
bool child_shows(struct child *c);
/* Nobody reads its stdin any more, and something lies in it unread. */
bool child_deaf(const struct child *c);
/* TERM to the group now; child_reap is due. */
void child_term(struct child *c);
void child_kill(struct child *c); /* KILL */

/* The error of one that is gone while its pipes are held. */
void child_left(const char *name, struct err *e);
/* "exited with status 3", "was killed by signal 11 (Segmentation fault)". */
void child_status_print(int status, struct buf *out);
/* The last lines of stderr, each on a line of its own behind the text of e. */
void child_tell(const struct child *c, struct err *e);
static inline void
child_poll(const struct child *c, struct pollfd *p, bool in, bool out)
{
	p[0] = (struct pollfd){ .fd = in ? c->in : -1, .events = POLLOUT };
	p[1] = (struct pollfd){ .fd = out ? c->out : -1, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = c->err, .events = POLLIN };
}

#endif
