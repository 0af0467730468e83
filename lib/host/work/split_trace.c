/* SPDX-License-Identifier: MIT */
#include "host/work/split_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/trace.h"
#include "fetch/url.h"

enum { SPLIT_TRACE_PATH = 32 };

/* The end of a long name, which tells more than its beginning. */
static const char *
split_trace_path(const char *path)
{
	size_t n = strlen(path), from = n > SPLIT_TRACE_PATH ? n - SPLIT_TRACE_PATH : 0;

	while (from && (path[from] & 0xc0) == 0x80) /* not within a character */
		from++;
	return path + from;
}

static void
split_trace_text(const struct split *s, char *out, size_t size)
{
	struct buf shown = { 0 }; /* from an address, without what is secret in it */

	if (s->path && url_is(s->path))
		url_show(s->path, &shown);
	char *whole = s->path ? shown.data ? buf_take(&shown) : mem_strdup(s->path) : mem_strdup("");
	const char *path = split_trace_path(whole), *cut = path > whole ? "..." : "";

	if (s->kind == SPLIT_ALL)
		snprintf(out, size, "source %" PRIu32, s->leaf);
	else if (s->whole)
		snprintf(out, size, "%s%s", cut, path);
	else if (s->kind == SPLIT_FILE)
		snprintf(out, size, "%s%s %" PRIu64 "+%" PRIu64, cut, path, s->start, s->count);
	else if (s->count >= INT64_MAX)
		snprintf(out, size, "%" PRIu64 " and on", s->start);
	else
		snprintf(out, size, "%" PRIu64 "+%" PRIu64, s->start, s->count);
	mem_free(whole);
}

void
split_trace_next(struct split_trace *t, uint64_t id, const struct split *s, uint64_t elements)
{
	if (t->text[0])
		trace_task_over(TRACE_SPLIT, id, t->text, elements, 0, 0);
	t->text[0] = '\0';
	if (!s || !trace_on())
		return;
	split_trace_text(s, t->text, sizeof t->text);
	trace_task(TRACE_SPLIT, id, t->text, elements, 0, 0);
}
