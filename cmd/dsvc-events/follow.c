/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/quit.h"
#include "cli/stop.h"
#include "core/disp/dispatcher.h"
#include "host/tool.h"
#include "value/format/format.h"
#include "value/record.h"

enum { FOLLOW_MS = 300 }; /* between two looks */

struct following {
	uint32_t after;  /* number of the last event that was printed */
	bool first;
};

/* Wall-clock time of something that happened so long ago. */
static void
follow_when(uint64_t ago_ms, const char *form, char *out, size_t room)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	time_t at = now.tv_sec - (time_t)(ago_ms / 1000) - (ago_ms % 1000 * 1000000 > (uint64_t)now.tv_nsec);
	localtime_r(&at, &tm);
	strftime(out, room, form, &tm);
}

static void
follow_put(const struct follow *o, struct slice event, struct buf *out)
{
	struct mp text = record_text(event, "text");
	uint64_t ago = record_uint(event, "ago_ms");
	char when[64];

	if (!o->json) {
		follow_when(ago, "%Y-%m-%d %H:%M:%S  ", when, sizeof when);
		buf_str(out, when);
		buf_plain(out, text.p, text.n, '?');
		buf_byte(out, '\n');
		return;
	}
	follow_when(ago, "%Y-%m-%dT%H:%M:%S%z", when, sizeof when);
	struct buf record = { 0 };
	uint8_t *p = buf_room(&record, 4 * MP_HEAD_MAX + 64 + sizeof when + text.n + MP_INT_MAX);
	p = mp_put_record_head(p, 3);
	p = mp_put_uint(mp_put_text(p, "number", 6), record_uint(event, "number"));
	p = mp_put_text(mp_put_text(p, "time", 4), when, (uint32_t)strlen(when));
	p = mp_put_text(mp_put_text(p, "text", 4), (const char *)text.p, text.n);
	json_print(record.data, (size_t)(p - record.data), out);
	buf_byte(out, '\n');
	buf_clear(&record);
}

/* Prints what is new in a report. */
static enum status
follow_report(const struct follow *o, struct slice report, struct following *f, struct err *e)
{
	struct record_items it = record_list(report, "events");
	uint64_t skip = f->first && it.left > (uint64_t)o->last ? it.left - (uint64_t)o->last : 0;
	struct slice event;
	struct buf out = { 0 };

	/* A dispatcher that began anew counts from 1 again. */
	if (record_uint(report, "newest") < f->after)
		f->after = 0;
	for (; record_next(&it, &event); skip -= skip > 0) {
		f->after = (uint32_t)record_uint(event, "number");
		if (!skip)
			follow_put(o, event, &out);
	}
	f->first = false;
	enum status st = out.len ? quit_say(&out, e) : ST_OK;
	buf_clear(&out);
	return st;
}

enum status
follow_run(const struct follow *o, const struct endpoint *ep, struct err *e)
{
	struct following f = { .first = true };
	struct tool *t;
	struct msg reply;
	enum status st = tool_open(ep->address, ep->from, &t, e);

	if (st != ST_OK)
		return st == ST_AGAIN ? ST_OK : st;
	if (o->on)
		tool_stop_on(t, stop_fd());
	do {
		st = tool_report(t, &(struct msg_status){ .what = REPORT_EVENTS, .recent = f.after }, &reply, e);
		if (st != ST_OK)
			break;
		st = follow_report(o, tool_record(&reply), &f, e);
		msg_clear(&reply);
	} while (st == ST_OK && o->on && poll(&(struct pollfd){ stop_fd(), POLLIN, 0 }, 1, FOLLOW_MS) <= 0);
	tool_close(&t);
	return st == ST_AGAIN ? ST_OK : st; /* told to stop */
}
