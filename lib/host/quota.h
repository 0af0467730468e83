/* SPDX-License-Identifier: MIT
 *
 * How much one peer may ask of a dispatcher. What is over it is answered by ERROR 75
 * and does nothing else; a peer that goes on regardless is to be cut off.
 *
 *	reports      QUOTA_REPORTS a second, as many at once
 *	datasets     QUOTA_DATASETS, QUOTA_SPECS bytes in all, while it is connected
 *	OPENs        QUOTA_OPENS, likewise
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
/* Counts a message. ST_TEMP: it is over the quota, and e is the answer; ST_PERM: so often that
 * the peer is to be cut off. */
enum status quota_take(struct quota *q, uint64_t peer, int64_t now_ns, const struct msg *m, struct err *e);
void quota_forget(struct quota *q, uint64_t peer);

#endif
