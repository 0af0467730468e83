/* SPDX-License-Identifier: MIT
 *
 * Events as Trace Event JSON has them. Times are whole microseconds: rounded down, spans that lie in each other still
 * do, and any reader has room for them in a double.
 */
#include <string.h>

#include "base/json_text.h"
#include "base/trace_inner.h"

/* Category of each kind, its name if the event has no text or is to be told from that, and the names of its numbers. */
static const struct {
	const char *category, *name, *number[TRACE_NUMBERS];
	const char *begun[TRACE_NUMBERS]; /* the numbers at the begin of a task; none: the same */
} trace_kinds[TRACE_KINDS] = {
	[TRACE_OPERATOR] = { "operator", NULL, { "elements", "bytes", "runs", "busy_ns" } },
	[TRACE_INSIDE] = { "pool", NULL, { "elements", "bytes", "runs", "busy_ns" } },
	[TRACE_OUTPUT] = { "output", "write", { "elements", "bytes", "runs", "busy_ns" } },
	[TRACE_STREAM] = { "stream", "stream", { "iteration", "stream", "element" } },
	[TRACE_SPLIT] = { "split", "split", { "element" } },
	[TRACE_NO_SPLIT] = { "wait", "wait for a split", { NULL } },
	[TRACE_HELD] = { "wait", "held back", { NULL } },
	[TRACE_CHUNK] = { "chunk", "chunk", { "elements", "bytes", "stream" } },
	[TRACE_SEND] = { "chunk", "send", { "elements", "bytes", "stream" } },
	[TRACE_RECEIVE] = { "chunk", "receive", { "elements", "bytes", "stream" } },
	[TRACE_NOTHING] = { "wait", "wait for elements", { NULL } },
	[TRACE_RESTART] = { "restart", "restart point", { "element", "bytes" } },
	[TRACE_COMMIT] = { "commit", "commit", { "elements", "bytes" } },
	[TRACE_OPEN] = { "file", "open", { "errno" } },
	[TRACE_REQUEST] = { "request", "request", { "status", "from" } },
	[TRACE_PROGRAM] = { "program", NULL, { "pid", "exit", "signal" }, { "pid", "slot", "element" } },
	[TRACE_LOST] = { "trace", "events are missing here", { "events" } },
};

/* Without printf, which costs several times as much: traces of fast pipelines should not slow them down. */
#define TRACE_PUT(p, text) trace_json_put(p, text, sizeof(text) - 1)

enum { TRACE_JSON_FIXED = 512, TRACE_JSON_NAME = 512 };

static char *
trace_json_put(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

static char *
trace_json_word(char *p, const char *s)
{
	return trace_json_put(p, s, strlen(s));
}

static char *
trace_json_text(char *p, const char *s, size_t n)
{
	return json_text(p, p + n * JSON_TEXT_MOST, s, n);
}

static char *
trace_json_hex(char *p, uint64_t v)
{
	int shift = 60;

	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[v >> shift & 15];
	return p;
}

/* Lends room for an event with a text of n bytes. */
static char *
trace_json_room(struct buf *out, size_t n)
{
	return (char *)buf_room(out, TRACE_JSON_FIXED + n * JSON_TEXT_MOST);
}

static void
trace_json_over(struct buf *out, const char *end)
{
	out->len = (size_t)((const uint8_t *)end - out->data);
	out->data[out->len] = '\0';
}

/* Microseconds of the wall clock. */
static int64_t
trace_json_time(const struct trace_about *a, int64_t mono_ns)
{
	return (mono_ns + a->offset) / 1000;
}

static char *
trace_json_head(const struct trace_about *a, char phase, uint32_t tid, char *p)
{
	p = TRACE_PUT(p, ",\n{\"ph\":\"");
	*p++ = phase;
	p = TRACE_PUT(p, "\",\"pid\":");
	p = json_uint(p, a->pid);
	if (!tid)
		return p;
	p = TRACE_PUT(p, ",\"tid\":");
	return json_uint(p, tid + a->shift);
}

/* The numbers of an event, by name. */
static char *
trace_json_numbers(const struct trace_event *ev, char *p)
{
	const char *const *names = trace_kinds[ev->kind].number;

	if (ev->phase == 'b' && trace_kinds[ev->kind].begun[0])
		names = trace_kinds[ev->kind].begun;
	for (size_t i = 0; i < TRACE_NUMBERS && names[i]; i++) {
		if (i)
			*p++ = ',';
		*p++ = '"';
		p = trace_json_word(p, names[i]);
		p = TRACE_PUT(p, "\":");
		p = json_uint(p, ev->number[i]);
	}
	return p;
}

void
trace_json_event(const struct trace_about *a, uint32_t tid, const struct trace_event *ev, struct buf *out)
{
	const char *own = trace_kinds[ev->kind].name;
	int64_t at = trace_json_time(a, ev->at);
	size_t n = strnlen(ev->text, sizeof ev->text);
	char *p = trace_json_head(a, (char)ev->phase, tid, trace_json_room(out, n));

	p = TRACE_PUT(p, ",\"ts\":");
	p = json_int(p, at);
	if (ev->phase == 'X') {
		p = TRACE_PUT(p, ",\"dur\":");
		p = json_int(p, trace_json_time(a, ev->at + ev->length) - at);
	} else if (ev->phase == 'i') {
		p = TRACE_PUT(p, ",\"s\":\"t\"");
	} else if (ev->phase == 'b' || ev->phase == 'e') { /* text: JSON's readers may have no more than 53 bits */
		p = TRACE_PUT(p, ",\"id\":\"");
		p = trace_json_hex(p, a->pid);
		*p++ = '.';
		p = trace_json_hex(p, ev->number[TRACE_NUMBERS - 1]);
		*p++ = '"';
	}
	p = TRACE_PUT(p, ",\"cat\":\"");
	p = trace_json_word(p, trace_kinds[ev->kind].category);
	p = TRACE_PUT(p, "\",\"name\":\"");
	if (own)
		p = trace_json_word(p, own);
	if (own && n)
		*p++ = ' ';
	p = trace_json_text(p, ev->text, n);
	p = TRACE_PUT(p, "\",\"args\":{");
	p = trace_json_numbers(ev, p);
	trace_json_over(out, TRACE_PUT(p, "}}"));
}

static void
trace_json_named(const struct trace_about *a, uint32_t tid, const char *what, const char *name, struct buf *out)
{
	size_t n = strnlen(name, TRACE_JSON_NAME);
	char *p = trace_json_head(a, 'M', tid, trace_json_room(out, n));

	p = TRACE_PUT(p, ",\"name\":\"");
	p = trace_json_word(p, what);
	p = TRACE_PUT(p, "\",\"args\":{\"name\":\"");
	p = trace_json_text(p, name, n);
	trace_json_over(out, TRACE_PUT(p, "\"}}"));
}

void
trace_json_thread(const struct trace_about *a, uint32_t tid, const char *name, struct buf *out)
{
	trace_json_named(a, tid, "thread_name", name, out);
}

void
trace_json_process(const struct trace_about *a, const char *name, int64_t wall_ns, int64_t mono_ns, struct buf *out)
{
	trace_json_named(a, 0, "process_name", name, out);
	char *p = trace_json_head(a, 'M', 0, trace_json_room(out, 0));
	p = TRACE_PUT(p, ",\"name\":\"clock_sync\",\"args\":{\"clock\":\"wall\",\"wall_ns\":\"");
	p = json_int(p, wall_ns);
	p = TRACE_PUT(p, "\",\"monotonic_ns\":\"");
	p = json_int(p, mono_ns);
	trace_json_over(out, TRACE_PUT(p, "\"}}"));
}

void
trace_json_gauge(const struct trace_about *a, const char *name, int64_t at_ns, int64_t value, struct buf *out)
{
	char *p = trace_json_head(a, 'C', 0, trace_json_room(out, 0));

	p = TRACE_PUT(p, ",\"ts\":");
	p = json_int(p, trace_json_time(a, at_ns));
	p = TRACE_PUT(p, ",\"name\":\"");
	p = trace_json_word(p, name);
	p = TRACE_PUT(p, "\",\"args\":{\"value\":");
	p = json_int(p, value);
	trace_json_over(out, TRACE_PUT(p, "}}"));
}
