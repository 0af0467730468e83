/* SPDX-License-Identifier: MIT
 *
 * The tables of workers and of readers.
 */
#ifndef DSVC_STATUS_STATUS_PEERS_H
#define DSVC_STATUS_STATUS_PEERS_H

#include <stdbool.h>

#include "base/buf.h"
#include "value/record.h"

void status_peers_workers(struct slice report, bool all, struct buf *out);
void status_peers_readers(struct slice report, struct buf *out);

#endif
