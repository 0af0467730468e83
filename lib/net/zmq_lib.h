/* SPDX-License-Identifier: MIT
 *
 * libzmq (base/late.h), loaded with the first context or key: dsvc-run, which mostly speaks to nobody, would start
 * later by a quarter for it and the eleven libraries that it needs. Its functions are zmq.NAME for zmq_NAME.
 */
#ifndef NET_ZMQ_LIB_H
#define NET_ZMQ_LIB_H

#include <zmq.h>

#define ZMQ_LIB_FNS(F) \
	F(bind) F(close) F(connect) F(ctx_new) F(ctx_set) F(ctx_term) F(curve_keypair) F(curve_public) F(disconnect) \
	F(getsockopt) F(msg_close) F(msg_data) F(msg_get) F(msg_gets) F(msg_init) F(msg_init_data) F(msg_more) F(msg_move) \
	F(msg_recv) F(msg_send) F(msg_size) F(send) F(setsockopt) F(socket) F(socket_monitor) F(strerror) F(unbind) \
	F(version) F(z85_decode) F(z85_encode)
#define ZMQ_LIB_FN(name) __typeof__(zmq_##name) *name;

struct zmq_lib { ZMQ_LIB_FNS(ZMQ_LIB_FN) };

/* Only after zmq_lib_need. */
extern struct zmq_lib zmq;

/* Loads it; ends the process (ST_CONFIG) if it cannot be had, as the system does when a program cannot be loaded. */
void zmq_lib_need(void);

#endif
