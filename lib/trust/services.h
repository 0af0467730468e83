/* SPDX-License-Identifier: MIT
 *
 * The services that this user knows: the file `services` (trust_file.h), a line each,
 *
 *	ADDRESS KEY [NAME]
 *
 * with `#` before comments. An address that is there is spoken to with that key and no other;
 * nothing is ever added by itself. The first one is the default.
 */
#ifndef TRUST_SERVICES_H
#define TRUST_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/key.h"

enum { SERVICE_ADDRESS = 256, SERVICE_NAME = 65 };
struct service_pin { char address[SERVICE_ADDRESS], name[SERVICE_NAME]; struct key key; };

/* Reads one line: 1 a service, 0 nothing, -1 it is neither. */
int service_line(const char *line, size_t n, struct service_pin *out);
/* Looks an address up; NULL: the first that there is. *found tells. A file that is not
 * there has none; ST_CONFIG: it can be read by others, or a line of it is no service. */
enum status services_find(const char *address, struct service_pin *out, bool *found, struct err *e);
/* A file that only this user writes has told the key of addresses (net/address_list.h), the ready file of a dispatcher:
 * it counts for this process where the file of services knows none. Before there are threads. */
void services_told(const char *addresses, const struct key *k);
/* Puts a service in, as the first one. Another key for its address, which *old (may be NULL)
 * is filled with, is ST_PERM unless `anew`. */
enum status services_put(const struct service_pin *pin, bool anew, struct key *old, struct err *e);

#endif
