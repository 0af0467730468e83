/* SPDX-License-Identifier: MIT
 *
 * How much may be asked of a dispatcher by one key, over all its connections; or, without a
 * key, by one connection. What is over it is answered by ERROR 75 and does nothing else; a
 * connection that goes on regardless is to be cut.
 *
 *	reports      QUOTA_REPORTS a second, as many at once
 *	datasets     QUOTA_DATASETS, QUOTA_SPECS bytes in all, and as many again in the next hour
 *	OPENs        QUOTA_OPENS, of connections that are still there
 *
 * The same asked again (it was not answered yet) is not counted again.
 */
#ifndef HOST_QUOTA_H
#define HOST_QUOTA_H

#include <stdint.h>

#include "base/err.h"
#include "wire/msg.h"

enum {
	QUOTA_REPORTS = 10,
	QUOTA_DATASETS = 10000,
	QUOTA_SPECS = 256 << 20,
	QUOTA_OPENS = 1000,
	QUOTA_REFUSED = 64 /* refusals after which a peer is cut off */
};

struct quota;

struct quota *quota_new(void);
void quota_free(struct quota **q);
/* Counts a message of a peer, whose user is that key; NULL: it counts for itself. ST_TEMP: it is
 * over the quota, and e is the answer; ST_PERM: so often that the peer is to be cut off. */
enum status quota_take(struct quota *q, uint64_t peer, const char *user, int64_t now_ns, const struct msg *m,
		       struct err *e);
/* The connection is closed. A key keeps what counts beyond that, at most one entry for each key. */
void quota_forget(struct quota *q, uint64_t peer, int64_t now_ns);

#endif
