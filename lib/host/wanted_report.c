/* SPDX-License-Identifier: MIT */
#include "host/wanted_report.h"

#include "base/mem.h"
#include "core/wanted.h"

static struct wanted_job
wanted_of(struct slice pass)
{
	return (struct wanted_job){ record_float(pass, "demand"), record_float(pass, "slot_rate"),
		record_uint(pass, "slots_most") };
}

double
wanted_report(struct slice report, double busy)
{
	struct record_items jobs = record_list(report, "jobs");
	struct wanted_job *v = NULL;
	size_t n = 0, cap = 0;
	struct slice j, p;
	double sum;

	while (record_next(&jobs, &j)) {
		struct record_items passes = record_list(j, "iterations");
		while (record_next(&passes, &p)) {
			struct wanted_job one = wanted_of(p);
			if (!one.most)
				continue;
			v = mem_grow(v, &cap, n + 1, sizeof *v);
			v[n++] = one;
		}
	}
	sum = wanted_slots(v, n, record_uint(report, "slots"), busy);
	mem_free(v);
	return sum;
}

double
wanted_pass(struct slice report, struct slice pass)
{
	struct wanted_job one = wanted_of(pass);

	return one.most ? wanted_slots(&one, 1, record_uint(report, "slots"), 1) : 0;
}

double
wanted_per_worker(struct slice report)
{
	struct record_items workers = record_list(report, "workers");
	uint64_t slots = record_uint(report, "slots");

	return workers.left && slots ? (double)slots / workers.left : 1;
}
