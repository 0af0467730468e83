/* SPDX-License-Identifier: MIT
 *
 * Using an invitation (trust/invitation.h): the dispatcher learns this user's key, and the
 * dispatcher's key is pinned here.
 */
#ifndef HOST_JOIN_H
#define HOST_JOIN_H

#include <stdbool.h>

#include "base/err.h"

struct joined {
	char address[256]; /* the dispatcher is there */
	char name[65];     /* by which it knows us */
	char roles[64], key[16];
};

/* path: a file with the line, or "-" for standard input. name NULL: the name in the key.
 * anew: another key that was pinned for the address before is replaced; else that is ST_PERM,
 * as is an invitation that was used or has ended. */
enum status join_with(const char *path, const char *name, bool anew, struct joined *out, struct err *e);

/* For --join FILE: nothing for NULL. Says in the log what it joined, and gives that address
 * to *dispatcher (owned), unless there is one. */
enum status join_first(const char *path, char **dispatcher, struct err *e);

#endif
