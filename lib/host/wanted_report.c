/* SPDX-License-Identifier: MIT */
#include "host/wanted_report.h"

#include "base/mem.h"
#include "core/wanted.h"

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
			uint64_t most = record_uint(p, "slots_most");
			if (!most)
				continue;
			v = mem_grow(v, &cap, n + 1, sizeof *v);
			v[n++] = (struct wanted_job){ record_float(p, "demand"), record_float(p, "slot_rate"), most };
		}
	}
	sum = wanted_slots(v, n, record_uint(report, "slots"), busy);
	mem_free(v);
	return sum;
}

double
wanted_per_worker(struct slice report)
{
	struct record_items workers = record_list(report, "workers");
	uint64_t slots = record_uint(report, "slots");

	return workers.left && slots ? (double)slots / workers.left : 1;
}
