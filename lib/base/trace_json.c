/* SPDX-License-Identifier: MIT
 *
 * Events as Trace Event JSON has them. Times are whole microseconds: rounded down, spans that lie in each other still
 * do, and any reader has room for them in a double.
 */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
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

/* A text of others: what is not UTF-8 becomes U+FFFD. */
static void
trace_json_text(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		size_t valid = str_utf8_valid(s + i, n - i), k = 0;

		while (k < valid && (unsigned char)s[i + k] >= ' ' && s[i + k] != '"' && s[i + k] != '\\' && s[i + k] != 127)
			k++;
		buf_put(out, s + i, k);
		i += k;
		if (k)
			continue;
		if (!valid)
			buf_str(out, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_printf(out, "\\u%04x", c);
		i++;
	}
}

/* Microseconds of the wall clock. */
static int64_t
trace_json_time(const struct trace_about *a, int64_t mono_ns)
{
	return (mono_ns + a->offset) / 1000;
}

static void
trace_json_head(const struct trace_about *a, char phase, uint32_t tid, struct buf *out)
{
	buf_printf(out, ",\n{\"ph\":\"%c\",\"pid\":%" PRIu32, phase, a->pid);
	if (tid)
		buf_printf(out, ",\"tid\":%" PRIu32, tid + a->shift);
}

void
trace_json_event(const struct trace_about *a, uint32_t tid, const struct trace_event *ev, struct buf *out)
{
	const char *own = trace_kinds[ev->kind].name, *const *names = trace_kinds[ev->kind].number;
	int64_t at = trace_json_time(a, ev->at);
	size_t n = strnlen(ev->text, sizeof ev->text);
	bool task = ev->phase == 'b' || ev->phase == 'e';

	if (ev->phase == 'b' && trace_kinds[ev->kind].begun[0])
		names = trace_kinds[ev->kind].begun;
	trace_json_head(a, (char)ev->phase, tid, out);
	buf_printf(out, ",\"ts\":%" PRId64, at);
	if (ev->phase == 'X')
		buf_printf(out, ",\"dur\":%" PRId64, trace_json_time(a, ev->at + ev->length) - at);
	if (ev->phase == 'i')
		buf_str(out, ",\"s\":\"t\"");
	if (task) /* text: JSON's readers may have no more than 53 bits */
		buf_printf(out, ",\"id\":\"%" PRIx32 ".%" PRIx64 "\"", a->pid, ev->number[TRACE_NUMBERS - 1]);
	buf_printf(out, ",\"cat\":\"%s\",\"name\":\"%s%s", trace_kinds[ev->kind].category,
		own ? own : "", own && n ? " " : "");
	trace_json_text(out, ev->text, n);
	buf_str(out, "\",\"args\":{");
	for (size_t i = 0; i < TRACE_NUMBERS && names[i]; i++)
		buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", names[i], ev->number[i]);
	buf_str(out, "}}");
}

void
trace_json_thread(const struct trace_about *a, uint32_t tid, const char *name, struct buf *out)
{
	trace_json_head(a, 'M', tid, out);
	buf_str(out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
	trace_json_text(out, name, strlen(name));
	buf_str(out, "\"}}");
}

void
trace_json_process(const struct trace_about *a, const char *name, int64_t wall_ns, int64_t mono_ns, struct buf *out)
{
	trace_json_head(a, 'M', 0, out);
	buf_str(out, ",\"name\":\"process_name\",\"args\":{\"name\":\"");
	trace_json_text(out, name, strlen(name));
	buf_str(out, "\"}}");
	trace_json_head(a, 'M', 0, out);
	buf_printf(out, ",\"name\":\"clock_sync\",\"args\":{\"clock\":\"wall\",\"wall_ns\":\"%" PRId64
		"\",\"monotonic_ns\":\"%" PRId64 "\"}}", wall_ns, mono_ns);
}

void
trace_json_gauge(const struct trace_about *a, const char *name, int64_t at_ns, double value, struct buf *out)
{
	trace_json_head(a, 'C', 0, out);
	buf_printf(out, ",\"ts\":%" PRId64 ",\"name\":\"%s\",\"args\":{\"value\":%.15g}}",
		trace_json_time(a, at_ns), name, value);
}
