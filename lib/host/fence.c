/* SPDX-License-Identifier: MIT */
#include "host/fence.h"

#include <string.h>

#include "base/gate.h"
#include "host/plans.h"
#include "op/child_rules.h"

static enum status
fence_exec(const struct words *exec, bool strangers, struct err *e)
{
	for (size_t i = 0; i < exec->n; i++)
		if (!strcmp(exec->v[i], "any"))
			return ST_OK;
	if (!exec->n && strangers)
		plans_refuse_exec();
	struct child_rules r = { .list = exec->n > 0, .programs = *exec };
	return child_rules_set(&r, e);
}

enum status
fence_up(const struct fence_conf *c, bool strangers, struct err *e)
{
	enum status st = ST_OK;

	if (c->read.n || strangers)
		st = gate_close(GATE_READ, &c->read, e);
	if (st == ST_OK && (c->write.n || strangers))
		st = gate_close(GATE_WRITE, &c->write, e);
	return st == ST_OK ? fence_exec(&c->exec, strangers, e) : st;
}
