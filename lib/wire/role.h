/* SPDX-License-Identifier: MIT
 *
 * Roles: what a key may do. A message of doc/protocol.md that goes to a dispatcher names
 * those that may send it (struct msg_desc).
 */
#ifndef WIRE_ROLE_H
#define WIRE_ROLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum {
	MAY_READ = 1,      /* get datasets, open jobs by the id of a dataset */
	MAY_REGISTER = 2,  /* that, and register datasets, open jobs with a spec */
	MAY_WORK = 4,
	MAY_ADMIN = 8,     /* everything */
	MAY_GUEST = 16,    /* holds an invitation, perhaps: JOIN and nothing else */
	MAY_EXEC = 32,     /* no role, but an option beside them: its pipelines may run programs */
	MAY_USER = MAY_READ | MAY_REGISTER,
	MAY_ANY = MAY_READ | MAY_REGISTER | MAY_WORK | MAY_ADMIN,
	MAY_ALL = MAY_ANY | MAY_GUEST
};
enum { ROLES_TEXT = 64 };
#define ROLES_HELP "read, register, work, admin, or user for read,register"

/* Names with commas between into a set of MAY_, `exec` besides roles, too; false: one of them is
 * none, or there is no role. MAY_GUEST has no name here. */
bool roles_parse(const char *text, size_t n, unsigned *out);
void roles_print(unsigned may, char out[ROLES_TEXT]);

#endif
