/* SPDX-License-Identifier: MIT */
#include "host/pass.h"

bool
pass_live(struct slice pass)
{
	return record_is(pass, "state", "running") || record_is(pass, "state", "listing");
}

bool
pass_splits(struct slice pass, uint64_t *n)
{
	struct slice at = record_at(pass, "splits_left");
	struct mp m;

	*n = 0;
	if (!pass_live(pass))
		return true;
	if (!at.p || !mp_head(at.p, at.end, &m) || m.kind != MP_INT)
		return false;
	*n = record_uint(pass, "splits_left");
	return true;
}

bool
pass_of_job(struct slice job, struct slice *pass)
{
	struct record_items it = record_list(job, "iterations");
	struct slice p;
	bool any = false, live = false;

	while (!live && record_next(&it, &p)) {
		live = pass_live(p);
		*pass = p;
		any = true;
	}
	return any;
}
