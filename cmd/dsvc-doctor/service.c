/* SPDX-License-Identifier: MIT
 *
 * What a dispatcher says of itself, its workers and its readers.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "checkup.h"
#include "core/disp/dispatcher.h"
#include "host/tool.h"

enum {
	SERVICE_BEATS = 3,         /* a program that is not heard for as many BEATs is silent */
	SERVICE_CLOCK_MS = 5000    /* clocks may differ by so much */
};

/* Times in ms that are too long. */
struct service_limits { uint64_t silent, call; };

/* A name, with the number of its process if there is one. */
static char *
service_name(struct slice peer)
{
	struct mp name = record_text(peer, "name");

	return mem_printf("%.*s (pid %" PRIu64 ")", (int)name.n, name.n ? (const char *)name.p : "", record_uint(peer, "pid"));
}

/* Whether something is wrong with it. */
static bool
service_worker(struct checkup *c, struct slice w, const struct service_limits *most)
{
	char *name = service_name(w), *cure = NULL;
	uint64_t silent = record_uint(w, "silent_ms"), call = record_uint(w, "call_ms");
	bool wrong = true;

	if (record_uint(w, "awaited")) {
		check_wrong(c, "worker", "start it again; what it had goes to others when it has been awaited for long enough",
			    "%s has not come back since the dispatcher began anew", name);
	} else if (silent >= most->silent) {
		cure = mem_printf("it is stopped, or its machine is overloaded or away: kill -CONT %" PRIu64
				  ", or kill it, and others take over", record_uint(w, "pid"));
		check_wrong(c, "worker", cure, "%s is silent for %.1f s", name, (double)silent / 1e3);
	} else if (call >= most->call) {
		cure = mem_printf("see what it waits for; kill %" PRIu64 " ends it, and others take over; timeout= of exec, or "
				  "dsvc-run with the pipeline, may show more", record_uint(w, "pid"));
		check_wrong(c, "worker", cure, "%s is in operator %" PRIu64 " of job %" PRIu64 " for %.0f s and gives nothing",
			    name, record_uint(w, "call_operator"), record_uint(w, "call_job"), (double)call / 1e3);
	} else {
		wrong = false;
	}
	mem_free(cure);
	mem_free(name);
	return wrong;
}

static void
service_workers(struct checkup *c, struct slice report, const struct service_limits *most)
{
	struct record_items it = record_list(report, "workers");
	unsigned n = it.left, wrong = 0;
	struct slice w;

	while (record_next(&it, &w))
		wrong += service_worker(c, w, most);
	if (!n)
		check_wrong(c, "workers", "start one: dsvc-work, or dsvc up", "there is none");
	else if (!wrong)
		check_ok(c, "workers", "%u, with %" PRIu64 " slots; all are heard and none is stuck", n,
			 record_uint(report, "slots"));
}

static void
service_readers(struct checkup *c, struct slice report, const struct service_limits *most)
{
	struct record_items it = record_list(report, "readers");
	unsigned n = it.left, wrong = 0;
	struct slice r;

	while (record_next(&it, &r)) {
		uint64_t silent = record_uint(r, "silent_ms");

		if (silent < most->silent)
			continue;
		char *name = service_name(r), *cure = mem_printf("it is stopped, or its machine is overloaded or away: "
			"kill -CONT %" PRIu64, record_uint(r, "pid"));
		check_wrong(c, "reader", cure, "%s is silent for %.1f s", name, (double)silent / 1e3);
		mem_free(name);
		mem_free(cure);
		wrong++;
	}
	if (!wrong)
		check_ok(c, "readers", "%u", n);
}

static void
service_jobs(struct checkup *c, struct slice report)
{
	struct record_items jobs = record_list(report, "jobs"), passes;
	struct slice j, p;
	unsigned n = jobs.left, wrong = 0;

	while (record_next(&jobs, &j))
		for (passes = record_list(j, "iterations"); record_next(&passes, &p);) {
			struct mp waits = record_text(p, "waits_for");
			bool unbalanced = record_is(p, "books", "unbalanced");

			if (unbalanced)
				check_wrong(c, "job", "please report it, with what dsvc-status --audit says",
					    "job %" PRIu64 " lost or repeated elements", record_uint(j, "job"));
			else if (waits.n)
				check_wrong(c, "job", "start that consumer: dsvc-read --consumer I/N",
					    "the consumers of job %" PRIu64 " wait for consumer %.*s", record_uint(j, "job"),
					    (int)waits.n, (const char *)waits.p);
			wrong += unbalanced || waits.n;
		}
	if (!wrong)
		check_ok(c, "jobs", "%u", n);
}

static void
service_clock(struct checkup *c, struct slice report)
{
	int64_t theirs = (int64_t)record_uint(report, "clock_ms"), off = theirs - clock_wall_ns() / 1000000;

	if (theirs && llabs(off) > SERVICE_CLOCK_MS)
		check_wrong(c, "clocks", "set both by one source of time, such as NTP: invitations and keys that end at a date "
			    "depend on them", "the dispatcher's clock is %.0f s %s this machine's", (double)llabs(off) / 1e3,
			    off < 0 ? "behind" : "ahead of");
	else
		check_ok(c, "clocks", "the dispatcher's clock and this machine's agree");
}

void
service_check(struct checkup *c, const struct endpoint *ep, int64_t stuck)
{
	struct tool *t;
	struct msg reply;
	struct err e = { 0 };
	struct msg_status ask = { .what = REPORT_ALL, .recent = 100 };
	enum status st = tool_open(ep->address, ep->from, &t, &e);

	if (st != ST_OK) {
		check_error(c, "dispatcher", &e);
		return;
	}
	st = tool_report(t, &ask, &reply, &e);
	struct service_limits most = { (uint64_t)SERVICE_BEATS * tool_beat_ms(t), (uint64_t)stuck / 1000000 };
	tool_close(&t);
	if (st != ST_OK) {
		check_error(c, "dispatcher", &e);
		return;
	}
	struct slice report = tool_record(&reply);
	check_ok(c, "dispatcher", "%s answers, %s", ep->address,
		 record_uint(report, "durable") ? "and keeps its state" : "and has no --state: jobs end if it dies");
	service_clock(c, report);
	service_workers(c, report, &most);
	service_readers(c, report, &most);
	service_jobs(c, report);
	msg_clear(&reply);
}
