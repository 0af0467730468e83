/* SPDX-License-Identifier: MIT
 *
 * How much one key may have waiting at a dispatcher, over all its connections. Nobody outside
 * the dispatcher includes this.
 */
#ifndef DISP_DISP_PENDING_H
#define DISP_DISP_PENDING_H

#include "core/disp/disp_inner.h"

enum {
	PENDING_OPENS = 64,       /* that wait for workers */
	PENDING_BYTES = 32 << 20  /* in memory, for the lists of elements of all that wait */
};

/* Bytes that a list takes in memory. */
uint64_t pending_bytes(const struct ranges_list *have);
/* Whether an OPEN that will perhaps have to wait may do so; if not, it has been answered. */
bool pending_room(struct disp *d, const struct peer *p, const struct msg *open);

#endif
