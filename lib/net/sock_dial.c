/* SPDX-License-Identifier: MIT
 *
 * Ids of peers, and the calling of one. On the wire the big end of an id is first (base/big.h),
 * so that a dump shows the number.
 */
#include "base/big.h"
#include "base/rng.h"
#include "net/sock_inner.h"

uint64_t
sock_peer_new(void)
{
	return rng_seed_fresh() | (uint64_t)1 << 63; /* ids that begin with 0 are libzmq's own */
}

bool
sock_dial(struct sock *s, struct track_peer *p)
{
	uint8_t id[8];
	p->alias = sock_peer_new();
	hash_put(&s->aliases, &p->alias, sizeof p->alias, p);
	big_put_u64(id, p->alias);
	zmq.setsockopt(s->handle, ZMQ_CONNECT_ROUTING_ID, id, sizeof id);
	if (s->o.fresh)
		zmq.setsockopt(s->handle, ZMQ_ROUTING_ID, id, sizeof id);
	sock_set_int(s->handle, ZMQ_CURVE_SERVER, 0); /* the way without keys, unless: */
	if (p->key && s->o.keys) {
		zmq.setsockopt(s->handle, ZMQ_CURVE_SERVERKEY, p->key->b, KEY_BYTES);
		zmq.setsockopt(s->handle, ZMQ_CURVE_PUBLICKEY, s->o.keys->public.b, KEY_BYTES);
		zmq.setsockopt(s->handle, ZMQ_CURVE_SECRETKEY, s->o.keys->secret.b, KEY_BYTES);
	}
	s->used = true;
	return zmq.connect(s->handle, p->address) == 0;
}
