/* SPDX-License-Identifier: MIT
 *
 * The address that others are told, where it is not the one that was bound: readers, where a worker
 * is; everybody, where the dispatcher is.
 */
#ifndef HOST_ADVERTISE_H
#define HOST_ADVERTISE_H

#include "base/buf.h"
#include "base/err.h"
#include "net/address.h"

/* Checks that readers can use what they will be told: `as`, or `at`, the address to bind, when
 * that is NULL. met: how the dispatcher was reached. ST_USAGE: it is no address of one machine. If only this machine
 * can reach it, though the dispatcher is on another, that is said; `as` tells that it is meant. */
enum status advertise_check(const char *as, const struct address *at, const struct address_answer *met, struct err *e);
/* Checks `as`, which may be NULL, for a dispatcher. */
enum status advertise_check_name(const char *as, struct err *e);
/* Puts what others are told into out: `as`, in which the port `*` stands for the one that was
 * bound; or, when that is NULL, the address that was bound. */
enum status advertise_tell(const char *as, const char *bound, struct buf *out, struct err *e);
/* Likewise, but with the name of this host in place of "every interface". */
enum status advertise_tell_host(const char *as, const char *bound, struct buf *out, struct err *e);

#endif
