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
	int64_t left = 0;
	bool known = !pass_live(pass) || record_int(pass, "splits_left", &left);

	*n = (uint64_t)left;
	return known;
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
