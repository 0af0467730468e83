/* SPDX-License-Identifier: MIT */
#include "host/limit.h"

#include "host/job_plan.h"

#define LIMIT_BUSY 0.25     /* readers that wait less than this share of their time are not waiting for workers */
#define LIMIT_MANY 0.5      /* more than this share of something is most of it */
enum { LIMIT_ENOUGH_MS = 800 }; /* told by BEATs, before anything is said of them */

static const char *const limit_words[LIMITS] = {
	[LIMIT_OVER] = "finished", [LIMIT_FAILED] = "failed", [LIMIT_LISTING] = "listing",
	[LIMIT_NO_WORKERS] = "no workers", [LIMIT_NO_READER] = "no reader", [LIMIT_CONSUMER] = "consumer",
	[LIMIT_UNKNOWN] = "unknown", [LIMIT_OUTPUT] = "output", [LIMIT_READER] = "reader",
	[LIMIT_NETWORK] = "network", [LIMIT_SOURCE] = "source", [LIMIT_WORKERS] = "workers",
	[LIMIT_OPERATOR] = "operator",
};

const char *
limit_word(enum limit_kind k)
{
	return limit_words[k];
}

/* Number of workers that take streams. */
static uint64_t
limit_workers(struct slice report)
{
	struct record_items it = record_list(report, "workers");
	struct slice w;
	uint64_t n = 0;

	while (record_next(&it, &w))
		n += !record_uint(w, "draining") && !record_uint(w, "awaited");
	return n;
}

static double
limit_share(uint64_t part, uint64_t rest)
{
	return part + rest ? (double)part / (double)(part + rest) : 0;
}

static void
limit_operator(struct slice lately, const struct plan *plan, struct limit_op *most)
{
	struct record_items it = record_list(lately, "operators");
	struct job_plan_op about;
	struct slice op;
	uint64_t sum = 0, best = 0;

	while (record_next(&it, &op)) {
		uint64_t ms = record_uint(op, "ms");

		sum += ms;
		if (ms <= best)
			continue;
		best = ms;
		*most = (struct limit_op){ .place = (uint32_t)record_uint(op, "operator") };
	}
	if (!best)
		return;
	most->share = (double)best / (double)sum;
	most->source = most->place == 1;
	if (!job_plan_about(plan, most->place, &about))
		return;
	most->text = about.text;
	most->source = about.source;
	most->parallel = about.parallel;
}

/* Readers wait, so it is the workers or what lies between. */
static enum limit_kind
limit_behind(const struct limit *l)
{
	if (!l->served)
		return LIMIT_WORKERS;
	if (l->held > LIMIT_MANY)
		return LIMIT_NETWORK;
	if (l->most.place && l->most.source && l->most.share > LIMIT_MANY)
		return LIMIT_SOURCE;
	return l->usable > l->slots || !l->most.place ? LIMIT_WORKERS : LIMIT_OPERATOR;
}

static enum limit_kind
limit_running(struct slice report, struct slice pass, const struct limit *l)
{
	struct slice now = record_at(pass, "lately");
	uint64_t read = record_uint(now, "reader_work_ms") + record_uint(now, "reader_wait_ms");
	uint64_t slot = record_uint(now, "slot_work_ms") + record_uint(now, "slot_wait_ms");

	if (l->text.n)
		return LIMIT_CONSUMER;
	if (!l->readers)
		return LIMIT_NO_READER;
	if (!limit_workers(report))
		return LIMIT_NO_WORKERS;
	if (read < LIMIT_ENOUGH_MS || (slot < LIMIT_ENOUGH_MS && record_uint(pass, "running_ms") < 4 * LIMIT_ENOUGH_MS))
		return LIMIT_UNKNOWN;
	if (l->waits >= LIMIT_BUSY)
		return limit_behind(l);
	return l->blocked > LIMIT_MANY ? LIMIT_OUTPUT : LIMIT_READER;
}

void
limit_find(struct slice report, struct slice job, struct slice pass, const struct plan *plan, struct limit *out)
{
	struct slice now = record_at(pass, "lately");
	uint64_t waits = record_uint(now, "reader_wait_ms"), work = record_uint(now, "reader_work_ms");
	uint64_t held = record_uint(now, "slot_wait_ms"), made = record_uint(now, "slot_work_ms");

	*out = (struct limit){ .slots = record_uint(report, "slots"), .usable = record_uint(pass, "slots_most"),
		.readers = record_uint(pass, "readers"), .elements = record_uint(pass, "acknowledged"),
		.named = record_text(job, "name").n > 0, .served = held + made > 0,
		.waits = limit_share(waits, work), .held = limit_share(held, made) };
	out->blocked = waits + work ? (double)record_uint(now, "reader_out_ms") / (double)(waits + work) : 0;
	out->blocked = out->blocked < 1 ? out->blocked : 1;
	limit_operator(now, plan, &out->most);
	if (record_is(pass, "state", "failed")) {
		out->kind = LIMIT_FAILED;
		out->text = record_text(pass, "error");
	} else if (record_is(pass, "state", "finished")) {
		out->kind = LIMIT_OVER;
	} else if (record_is(pass, "state", "listing")) {
		out->kind = limit_workers(report) ? LIMIT_LISTING : LIMIT_NO_WORKERS;
	} else {
		out->text = record_text(pass, "waits_for");
		out->kind = limit_running(report, pass, out);
	}
}
