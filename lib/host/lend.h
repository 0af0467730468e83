/* SPDX-License-Identifier: MIT
 *
 * What goes over the socket by which a worker lends its memory to readers on the same
 * machine (doc/protocol.md). Both ends are of one machine, so numbers are as they lie.
 */
#ifndef HOST_LEND_H
#define HOST_LEND_H

#include <stddef.h>
#include <stdint.h>

enum lend_kind {
	LEND_HELLO = 1, /* reader: v[0] is the cookie of ARENA */
	LEND_ARENA,     /* worker: v[0] number of the arena, v[1] its bytes; its descriptor goes along */
	LEND_MAPPED,    /* reader: v[0] number; from now on chunks may lie in it */
	LEND_RELEASE,   /* reader: v[0 .. n) are leases that are over */
	LEND_GONE       /* worker: v[0] number; nothing will lie in it any more */
};
enum { LEND_MOST = 64 };
struct lend_packet {
	uint32_t kind, n;      /* n: of v that are used; no more than those are sent */
	uint64_t v[LEND_MOST];
};
#define LEND_BYTES(n) (offsetof(struct lend_packet, v) + (n) * sizeof(uint64_t))

#endif
