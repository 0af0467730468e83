/* SPDX-License-Identifier: MIT
 *
 * Contexts: names for services, so that -c lab stands for an address. Each is a file NAME in
 * the folder `context` of trust/trust_file.h, whose first line is the address; one of them
 * may be in use, which the file `current-context` beside that folder names. As the other files
 * there they are used only if nobody else can write them, for whoever can is obeyed. The key of
 * a service is found by its address (trust/services.h).
 */
#ifndef CLI_CONTEXT_H
#define CLI_CONTEXT_H

#include "base/err.h"
#include "cli/endpoint.h"

enum { CONTEXT_NAME = 64 };

/* Fills in the address. ST_NOINPUT: there is no such context; ST_USAGE: no name can be so. */
enum status context_find(const char *name, char address[ENDPOINT_LIST], struct err *e);
/* The name of the one in use; "": none is. */
enum status context_current(char name[CONTEXT_NAME + 1], struct err *e);
/* Has it used from now on; "": none. ST_NOINPUT as above. */
enum status context_use(const char *name, struct err *e);
/* Writes a context, also in place of an older one. ST_USAGE: no name, or no address. */
enum status context_set(const char *name, const char *address, struct err *e);
/* ST_NOINPUT as above. One that is in use is in use no longer. */
enum status context_remove(const char *name, struct err *e);
/* Calls each with every context, by name. Names and addresses are lent. */
enum status context_each(void (*each)(void *arg, const char *name, const char *address), void *arg,
			 struct err *e);

#endif
