/* SPDX-License-Identifier: MIT
 *
 * Starting a program in the background: in a session of its own, with its words going to a
 * file, until it says that it is ready.
 */
#ifndef UP_DAEMON_H
#define UP_DAEMON_H

#include <sys/types.h>

#include "base/err.h"

struct daemon {
	pid_t pid; /* 0: not started */
	int ready; /* the descriptor on which it will write its endpoint; -1: closed */
	char *log; /* owned */
};

/* Puts the folder for logs (and `state`) into *out, made if need be: $XDG_STATE_HOME/dsvc, or
 * ~/.local/state/dsvc. Gives. */
enum status daemon_folder(char **out, struct err *e);
/* Starts the file with argv; `--ready-fd N` is added to it. log: the name of the file to write
 * to, which is begun anew. argv has room for two more and ends with NULL. */
enum status daemon_start(struct daemon *d, const char *file, char **argv, const char *log, struct err *e);
/* Waits until it is ready. When it ends before that, the error is its own: its exit code and
 * the last it wrote. */
enum status daemon_wait(struct daemon *d, struct err *e);
void daemon_clear(struct daemon *d);

#endif
