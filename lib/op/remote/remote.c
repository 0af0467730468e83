/* SPDX-License-Identifier: MIT */
#include "op/remote/remote.h"

#include "base/pool.h"

const struct remote *
remote_of(const struct op_node *n)
{
	return n->params;
}

enum status
remote_open(struct op_inst *self, struct err *e)
{
	struct remote *r = self->state;
	const struct op_service *s = self->ctx->service;

	if (!s) {
		err_set(e, ST_UNAVAIL, "`%s` needs the service, and there is no connection to one",
			self->desc->name);
		err_help(e, "start dsvc-dispatch and dsvc-work, and name the dispatcher with -d");
		return ST_UNAVAIL;
	}
	self->elsewhere = false;
	return s->open(s->arg, self->node, self->node->remote_spec, r->dataset, self->epoch,
		       &r->handle, e);
}

enum status
remote_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct remote *r = self->state;

	pool_wait_begin();
	enum status st = self->ctx->service->next(r->handle, out, e);
	pool_wait_end();
	if (st == ST_END)
		self->elsewhere = self->ctx->service->had_any(r->handle);
	return st;
}

void
remote_close(struct op_inst *self)
{
	struct remote *r = self->state;

	if (r->handle)
		self->ctx->service->close(r->handle);
	r->handle = NULL;
}
