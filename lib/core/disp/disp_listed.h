/* SPDX-License-Identifier: MIT
 *
 * Which jobs a report lists. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_LISTED_H
#define DISP_DISP_LISTED_H

#include "core/disp/disp_inner.h"

struct listed { struct job **v; size_t n, cap; };

/* A user who may not see all sees his own jobs, and those who read them. NULL: one who may. */
bool listed_shown(const struct job *j, const char *user);
/* Jobs by name or number ("": all), in the order of their numbers; those that nobody reads only
 * if they are among the `recent` ones left last (0: all). Gives how many were left out. The
 * caller frees out->v. */
size_t listed_fill(const struct disp *d, const char *name, const char *user, uint32_t recent, struct listed *out);

#endif
