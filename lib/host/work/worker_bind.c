/* SPDX-License-Identifier: MIT
 *
 * What a worker has for its readers: where they connect, with which key, and the memory
 * that they can map.
 */
#include <string.h>

#include "host/advertise.h"
#include "host/work/worker_host_inner.h"

/* Everybody who knows the worker's key was told it by the dispatcher; what he may have, his
 * tickets say. */
static const char *
worker_host_door(void *arg, const struct key *k, const char *address)
{
	(void)arg, (void)k, (void)address;
	return "reader";
}

/* A key of its own for each run, which goes to readers with the endpoint. Without one for the
 * dispatcher, anybody could read it there. */
static void
worker_host_keys(struct worker_host *h)
{
	enum worker_data_way way = h->conf->data;
	struct key_pair keys;

	if (way == WORKER_DATA_AUTO)
		way = link_is_ipc(h->conf->dispatcher) || h->way.secure.keyed ? WORKER_DATA_ENCRYPTED : WORKER_DATA_CLEAR;
	if (h->address.ipc || way == WORKER_DATA_CLEAR)
		return;
	key_pair_new(&keys);
	h->data_key = keys.public;
	h->door = door_new(h->net, worker_host_door, h);
	sock_use_keys(h->data, &keys);
	key_pair_wipe(&keys);
}

enum status
worker_host_bind(struct worker_host *h, const struct address_answer *met, struct err *e)
{
	const struct worker_host_conf *c = h->conf;
	struct buf at = { 0 };
	enum status st = ST_OK;
	if (c->bind) {
		buf_str(&at, c->bind);
	} else if (link_is_ipc(c->dispatcher)) {
		address_sweep("work");
		st = address_fresh("work", &at, e);
	} else {
		buf_printf(&at, "tcp://%s:*", met->local);
	}
	if (st == ST_OK)
		st = address_parse((char *)at.data, &h->address, e);
	if (st == ST_OK)
		st = advertise_check(c->advertise, &h->address, met, e);
	if (st == ST_OK)
		st = address_claim(&h->address, &h->claim, e);
	worker_host_keys(h);
	if (st == ST_OK)
		st = sock_bind(h->data, (char *)at.data, &h->bound, e);
	if (st == ST_OK)
		st = advertise_tell(c->advertise, (char *)h->bound.data, &h->told, e);
	if (st == ST_OK)
		secure_endpoint((char *)h->told.data, h->door ? &h->data_key : NULL, &h->endpoint);
	buf_clear(&at);
	return st;
}

enum status
worker_host_share(struct worker_host *h, struct err *e)
{
	const struct worker_host_conf *c = h->conf;
	h->arenas = arenas_new(c->memory);
	h->lender = lender_new(h->net, h->arenas, c->transfer, h->name);
	if (address_local(&h->address))
		lender_expect(h->lender);
	if (c->transfer != TRANSFER_SHM)
		return ST_OK;
	enum status st = lender_open(h->lender, e);
	if (st != ST_OK)
		err_wrap(e, "--transfer shm");
	return st;
}
