/* SPDX-License-Identifier: MIT
 *
 * The service at this user's private socket, as its user sees it: as processes. Whoever listens
 * in the private folder is known from the kernel (SO_PEERCRED of a connection), readers and
 * workers with other sockets from the dispatcher's report.
 *
 *	own_look -> own_tell, own_wait ... -> own_clear
 */
#ifndef HOST_OWN_H
#define HOST_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum own_role { OWN_DISPATCHER = 1, OWN_WORKER = 2, OWN_READER = 4, OWN_ALL = 7 };

struct own_process {
	long pid;
	enum own_role role;
	int fd;       /* pidfd: a number that is used again does no harm */
	bool ended;
};

struct own {
	struct own_process *v;
	size_t n, cap;
	bool answers;       /* the dispatcher did, and the following are what it said */
	bool durable;       /* it keeps its state (--state) */
	uint64_t slots;     /* sum over all workers */
	uint64_t readers, elsewhere; /* readers; workers on other machines */
};

/* Looks. address: the private socket. Nobody there is no error: out->n is 0. Clear it in any
 * case. ST_PERM: the folder is not private. */
enum status own_look(const char *address, struct own *out, struct err *e);
void own_clear(struct own *o);
/* Processes with one of the roles that have not ended. */
size_t own_count(const struct own *o, unsigned roles);
/* Sends them the signal. */
void own_tell(const struct own *o, unsigned roles, int sig);
/* Waits until they have ended, or ns (INT64_MAX: for ever) have passed, or stop_fd (-1: none)
 * is readable; whether they have ended. */
bool own_wait(struct own *o, unsigned roles, int64_t ns, int stop_fd);
/* Removes what dead programs left in the private folder, and the folder if it is empty then. */
void own_sweep(void);

#endif
