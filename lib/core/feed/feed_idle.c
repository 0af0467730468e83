/* SPDX-License-Identifier: MIT
 *
 * Cores that do nothing: named when others wait for them, given up on after core_timeout_ns. A core is at a
 * step, or was told of the end and has not ended yet; when none is, all may be waiting for data.
 *
 * A blind core is at a step while there is something that it has not read. When all is read it may be
 * working on that for ever, so the time that it may take counts on until its process has ended.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "core/feed/feed_inner.h"

enum idle { IDLE_NOT, IDLE_AT_STEP, IDLE_AT_END };
enum { IDLE_NAMES = 4 };

const char *
feed_time(int64_t ns, char *out)
{
	int64_t tenths = (ns + 50000000) / 100000000;

	if (tenths >= 100 || tenths % 10 == 0)
		snprintf(out, FEED_TIME, "%lld s", (long long)((tenths + 5) / 10));
	else
		snprintf(out, FEED_TIME, "%lld.%lld s", (long long)(tenths / 10), (long long)(tenths % 10));
	return out;
}

/* The state in which the core may be waited for. */
static enum idle
idle_where(const struct feed *f, const struct feed_core *k)
{
	if (!k->joined || k->said || f->leave_ns || f->cause_at != INT64_MAX || feed_core_over(f, k) ||
	    (k->leaving && !k->ended) || (k->bye && !f->c.ours))
		return IDLE_NOT;
	if (k->told > k->done || k->taken.more)
		return IDLE_AT_STEP;
	return k->ended ? IDLE_AT_END : IDLE_NOT;
}

/* Whether the core waits for another one that is there. */
static bool
idle_waits(const struct feed *f, const struct feed_core *k, enum idle where)
{
	return k->idle_ns && (where == IDLE_AT_STEP || !k->ended || feed_core_over(f, k));
}

static bool
idle_others(const struct feed *f, uint32_t core, enum idle where, int64_t *since)
{
	*since = INT64_MAX;
	for (uint32_t i = 0; i < f->c.cores; i++)
		if (i != core && idle_waits(f, &f->core[i], where) && f->core[i].idle_ns < *since)
			*since = f->core[i].idle_ns;
	return *since != INT64_MAX;
}

/* When the core is to be named. */
static int64_t
idle_slow_due(const struct feed *f, uint32_t core)
{
	const struct feed_core *k = &f->core[core];
	enum idle where = f->c.slow_ns && !k->slow_said ? idle_where(f, k) : IDLE_NOT;
	int64_t since;

	if (!where || !idle_others(f, core, where, &since))
		return INT64_MAX;
	return (since > k->busy_ns ? since : k->busy_ns) + f->c.slow_ns;
}

/* When it is given up on. A core in memory that has done all may save what it has made, however long that takes. */
static int64_t
idle_timeout_due(const struct feed *f, uint32_t core)
{
	const struct feed_core *k = &f->core[core];
	enum idle where = f->c.core_timeout_ns ? idle_where(f, k) : IDLE_NOT;

	if (!where || (where == IDLE_AT_END && !f->c.blind))
		return INT64_MAX;
	return k->busy_ns + f->c.core_timeout_ns;
}

/* When it is to be said that all wait for data. */
static int64_t
idle_dry_due(const struct feed *f)
{
	int64_t since = 0;

	if (!f->c.slow_ns || f->dry_said || f->leave_ns || f->hold != UINT64_MAX || f->cause_at != INT64_MAX)
		return INT64_MAX;
	for (uint32_t i = 0; i < f->c.cores; i++) {
		const struct feed_core *k = &f->core[i];

		if (!k->idle_ns || k->said || k->told < f->filled || (!k->away && (k->ended || k->gone || k->bye)))
			return INT64_MAX;
		since = k->idle_ns > since ? k->idle_ns : since;
	}
	return since + f->c.slow_ns;
}

int64_t
feed_idle_due(const struct feed *f)
{
	int64_t at = idle_dry_due(f);

	for (uint32_t i = 0; i < f->c.cores; i++) {
		int64_t slow = idle_slow_due(f, i), give_up = idle_timeout_due(f, i);

		at = slow < at ? slow : at;
		at = give_up < at ? give_up : at;
	}
	return at;
}

void
feed_idle_end(struct feed *f, uint32_t core)
{
	struct feed_core *k = &f->core[core];

	k->slow_said = false;
	if (k->told == k->done)
		k->busy_ns = f->now;
	if (!k->idle_ns && feed_core_over(f, k))
		k->idle_ns = f->now;
}

void
feed_taken(struct feed *f, int64_t now_ns, uint32_t core, const struct feed_taken *t)
{
	struct feed_core *k = &f->core[core];

	f->now = now_ns;
	if (t->bytes > k->taken.bytes || (t->more && !k->taken.more)) {
		k->busy_ns = now_ns;
		k->slow_said = false;
	}
	k->taken = *t;
}

/* `0, 1 and 2 wait for step 118`: those that wait for a step, and not only for the end of the core. */
static void
idle_say_who(const struct feed *f, uint32_t core, enum idle where, char *out, size_t size)
{
	uint32_t n = 0, said = 0;
	uint64_t step = UINT64_MAX;
	size_t at = 0;

	for (uint32_t i = 0; i < f->c.cores; i++)
		n += i != core && f->core[i].idle_ns && !f->core[i].ended && !feed_core_over(f, &f->core[i]);
	uint32_t names = n > IDLE_NAMES + 1 ? IDLE_NAMES : n;
	for (uint32_t i = 0; i < f->c.cores && said < names; i++) {
		const struct feed_core *k = &f->core[i];

		if (i == core || !k->idle_ns || k->ended || feed_core_over(f, k))
			continue;
		step = k->told < step ? k->told : step;
		at += (size_t)snprintf(out + at, size - at, "%s%u", !said ? "" : said + 1 == n ? " and " : ", ", i);
		said++;
	}
	if (n > names)
		at += (size_t)snprintf(out + at, size - at, " and %u others", n - names);
	if (n)
		snprintf(out + at, size - at, " wait%s for step %llu", n == 1 ? "s" : "", (unsigned long long)step);
	else
		snprintf(out, size, "the other%s ha%s %s", str_s(f->c.cores - 1), f->c.cores == 2 ? "s" : "ve",
			 where == IDLE_AT_STEP ? "done all" : "ended");
}

static void
idle_say_slow(struct feed *f, uint32_t core)
{
	struct feed_core *k = &f->core[core];
	enum idle where = idle_where(f, k);
	struct feed_action *a = feed_do(f, FEED_DO_SLOW, core);
	char time[FEED_TIME], who[128];

	k->slow_said = true;
	feed_time(f->now - k->busy_ns, time);
	idle_say_who(f, core, where, who, sizeof who);
	if (where == IDLE_AT_STEP && k->told == k->done)
		snprintf(a->text, sizeof a->text, "core %u has read nothing for %s; %s", core, time, who);
	else if (where == IDLE_AT_STEP)
		snprintf(a->text, sizeof a->text, "core %u has been at %s for %s; %s", core, feed_at(f, k), time, who);
	else
		snprintf(a->text, sizeof a->text, "core %u has not ended, %s after the last step%s; %s", core, time,
			 k->turning ? " of its loop" : "", who);
}

static void
idle_give_up(struct feed *f, uint32_t core)
{
	const struct feed_core *k = &f->core[core];
	enum idle where = idle_where(f, k);
	char time[FEED_TIME];
	struct err e;

	feed_time(f->c.core_timeout_ns, time);
	if (where == IDLE_AT_END)
		err_set(&e, ST_TIMEOUT, "core %u has not ended, %s after it was given all (--core-timeout)", core, time);
	else if (k->told > k->done)
		err_set(&e, ST_TIMEOUT, "core %u has done nothing for %s, at %s (--core-timeout)", core, time, feed_at(f, k));
	else
		err_set(&e, ST_TIMEOUT, "core %u has read nothing for %s, of %llu step%s that it was given (--core-timeout)", core,
			time, (unsigned long long)(k->told - f->c.from), str_s(k->told - f->c.from));
	feed_core_failed(f, f->now, core, FEED_IDLE, &e);
}

void
feed_idle_tick(struct feed *f)
{
	if (idle_dry_due(f) <= f->now) {
		f->dry_said = true;
		snprintf(feed_do(f, FEED_DO_SLOW, FEED_ANY_CORE)->text, sizeof((struct feed_action *)0)->text,
			 f->c.cores == 1 ? "the core waits for data" : "all cores wait for data");
	}
	for (uint32_t i = 0; i < f->c.cores && !f->leave_ns; i++) {
		if (idle_slow_due(f, i) <= f->now)
			idle_say_slow(f, i);
		if (idle_timeout_due(f, i) <= f->now)
			idle_give_up(f, i);
	}
}
