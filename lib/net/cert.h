/* SPDX-License-Identifier: MIT
 *
 * Key pairs in files, as czmq's certificates (zcert, ZPL text), so that other
 * programs of ZeroMQ can use them:
 *
 *	metadata
 *	    name = "b"
 *	    made = "2026-11-22T10:00:00Z"
 *	curve
 *	    public-key = "..."
 *	    secret-key = "..."
 *
 * czmq itself reads and writes them. It is loaded at the first call, for it brings
 * twenty libraries along, and most programs never use a key.
 */
#ifndef NET_CERT_H
#define NET_CERT_H

#include "base/err.h"
#include "net/key.h"

enum { CERT_NAME_MAX = 64 };

/* Reads what the descriptor is open on. The name is "" when there is none. ST_CONFIG: not a
 * key pair, or czmq is missing. */
enum status cert_read(int fd, struct key_pair *out, char name[CERT_NAME_MAX], struct err *e);
/* Writes into the file that the descriptor is open on; it keeps its mode. made: a date. */
enum status cert_write(int fd, const struct key_pair *p, const char *name, const char *made, struct err *e);

#endif
