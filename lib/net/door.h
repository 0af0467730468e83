/* SPDX-License-Identifier: MIT
 *
 * The door: what libzmq asks, for each connection to a bound socket, about the key that
 * came with it (ZAP, RFC 27). The answer comes from our own loop, so it is given with
 * what is known at that moment.
 *
 *	connection -> libzmq: has it the key that it says? -> ask(key, address)
 *	                                                       text: let in; each message of
 *	                                                       it tells the text (sock_msg.user)
 *	                                                       NULL: refused
 *
 * Connections without keys, to sockets that were bound without them, are let in.
 */
#ifndef NET_DOOR_H
#define NET_DOOR_H

#include "net/key.h"
#include "net/loop.h"

/* Domains of ZAP: sockets bound with keys, and all others. */
#define DOOR_KEYS "dsvc"
#define DOOR_OPEN "open"

struct door;

/* One for each loop, before sockets are bound; freed before the loop. Gives. ask lends its
 * answer until the next call; address is that of the peer, without port. */
struct door *door_new(struct net *n, const char *(*ask)(void *arg, const struct key *k, const char *address),
		      void *arg);
void door_free(struct door **d);

#endif
