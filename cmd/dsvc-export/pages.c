/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <inttypes.h>
#include <string.h>

#include "core/wanted.h"
#include "host/metrics.h"
#include "host/pass.h"
#include "host/wanted_report.h"
#include "value/format/format.h"
#include "value/mp.h"

enum { FINE = 200, UNAVAILABLE = 503 };

static const char *
page_why(enum status st, const struct err *e)
{
	return st == ST_AGAIN ? "the dispatcher has not answered for 3 seconds" : e->text;
}

/* This process turns; the service may be anywhere. */
static unsigned
page_health(const struct page_want *w, enum status st, struct slice report, const struct err *e, struct buf *out)
{
	(void)w, (void)st, (void)report, (void)e;
	buf_str(out, "ok\n");
	return FINE;
}

static unsigned
page_ready(const struct page_want *w, enum status st, struct slice report, const struct err *e, struct buf *out)
{
	if (st == ST_OK)
		return page_health(w, st, report, e, out);
	buf_printf(out, "%s\n", page_why(st, e));
	return UNAVAILABLE;
}

/* A service that is down is a measurement, too. */
static unsigned
page_metrics(const struct page_want *w, enum status st, struct slice report, const struct err *e, struct buf *out)
{
	struct metrics_conf c = { .workers = w->workers, .open = w->open };

	(void)e;
	if (st == ST_OK)
		metrics_print(report, &c, out);
	else
		metrics_print_down(&c, out);
	return FINE;
}

/* Errors of pages in JSON are JSON. */
static unsigned
page_refuse_json(enum status st, const struct err *e, struct buf *out)
{
	uint8_t record[sizeof e->text + 64], *p = mp_put_record_head(record, 1);
	const char *why = page_why(st, e);

	p = mp_put_text(mp_put_text(p, "error", 5), why, (uint32_t)strlen(why));
	json_print(record, (size_t)(p - record), out);
	buf_byte(out, '\n');
	return UNAVAILABLE;
}

static unsigned
page_status(const struct page_want *w, enum status st, struct slice report, const struct err *e, struct buf *out)
{
	(void)w;
	if (st != ST_OK)
		return page_refuse_json(st, e, out);
	json_print(report.p, (size_t)(report.end - report.p), out);
	buf_byte(out, '\n');
	return FINE;
}

/* The passes of a service that are under way, summed up. */
struct scale {
	double waits, readers;      /* their wait ratio, weighted by readers */
	uint64_t busy, stalled;     /* ms of slots */
	uint64_t usable;            /* slots that can have work */
	uint64_t splits;            /* not given out yet */
	bool unknown;               /* there are more of them, nobody knows how many */
};

static void
scale_add(struct scale *s, struct slice pass)
{
	struct slice lately = record_at(pass, "lately");
	uint64_t splits;

	if (!pass_live(pass))
		return;
	s->waits += record_float(pass, "reader_wait_ratio") * (double)record_uint(pass, "readers");
	s->readers += (double)record_uint(pass, "readers");
	s->busy += record_uint(lately, "slot_work_ms");
	s->stalled += record_uint(lately, "slot_wait_ms");
	s->usable += record_uint(pass, "slots_most");
	s->unknown |= !pass_splits(pass, &splits);
	s->splits += splits;
}

static unsigned
page_scale(const struct page_want *w, enum status st, struct slice report, const struct err *e, struct buf *out)
{
	struct record_items jobs, passes, workers;
	struct scale s = { 0 };
	struct slice j, p, one;
	uint64_t live = 0;

	(void)w;
	if (st != ST_OK)
		return page_refuse_json(st, e, out);
	for (jobs = record_list(report, "jobs"); record_next(&jobs, &j);)
		for (passes = record_list(j, "iterations"); record_next(&passes, &p);)
			scale_add(&s, p);
	for (workers = record_list(report, "workers"); record_next(&workers, &one);)
		live += !record_uint(one, "awaited") && !record_uint(one, "draining");
	double wanted = wanted_report(report, 1), spent = (double)s.busy + (double)s.stalled;

	buf_printf(out, "{\"workers_wanted\":%" PRIu64 ",\"slots_wanted\":%" PRIu64 ",\"workers\":%" PRIu64
		   ",\"slots\":%" PRIu64 ",\"slots_usable\":%" PRIu64,
		   wanted_number(wanted, wanted_per_worker(report)), wanted_number(wanted, 1), live,
		   record_uint(report, "slots"), s.usable);
	buf_printf(out, ",\"reader_wait_ratio\":%.3g,\"slots_busy_ratio\":%.3g", s.readers > 0 ? s.waits / s.readers : 0,
		   spent > 0 ? (double)s.busy / spent : 0);
	if (s.unknown)
		buf_str(out, ",\"splits_left\":null}\n");
	else
		buf_printf(out, ",\"splits_left\":%" PRIu64 "}\n", s.splits);
	return FINE;
}

#define TEXT "text/plain; charset=utf-8"
#define JSON "application/json"

static const struct page pages[] = {
	{ "/healthz", -1, TEXT, NULL, page_health },
	{ "/metrics", ASK_BRIEF, "text/plain; version=0.0.4; charset=utf-8",
	  "application/openmetrics-text; version=1.0.0; charset=utf-8", page_metrics },
	{ "/readyz", ASK_BRIEF, TEXT, NULL, page_ready },
	{ "/v1/scale", ASK_BRIEF, JSON, NULL, page_scale },
	{ "/v1/status", ASK_ALL, JSON, NULL, page_status },
};
enum { PAGES = sizeof pages / sizeof *pages };

const struct page *
page_find(const char *path)
{
	for (size_t i = 0; i < PAGES; i++)
		if (!strcmp(path, pages[i].path))
			return &pages[i];
	return NULL;
}

void
page_list(struct buf *out)
{
	buf_str(out, "/\n");
	for (size_t i = 0; i < PAGES; i++)
		buf_printf(out, "%s\n", pages[i].path);
}
