/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>

#include "op/file/file_source.h"
#include "value/json/json.h"

/* One parser per thread, instead of one per chain: it has room for the largest document it has
 * seen, and reading by split opens one source after another. */
static _Thread_local struct json *ndjson_parser;
static pthread_key_t ndjson_key; /* frees the parser at the end of its thread */
static pthread_once_t ndjson_once = PTHREAD_ONCE_INIT;

static void
ndjson_forget(void *parser)
{
	struct json *j = parser;

	ndjson_parser = NULL;
	json_free(&j);
}

static void
ndjson_key_new(void)
{
	pthread_key_create(&ndjson_key, ndjson_forget);
}

struct json *
file_json_parser(void)
{
	if (!ndjson_parser) {
		pthread_once(&ndjson_once, ndjson_key_new);
		ndjson_parser = json_new();
		pthread_setspecific(ndjson_key, ndjson_parser);
	}
	return ndjson_parser;
}

/* How many bytes of the window are whole lines that begin in the split; 0: none. */
static size_t
ndjson_ready(struct file_source *s, const uint8_t *p, size_t n)
{
	const uint8_t *stop;

	if (s->end - s->offset <= n) {
		/* The line that holds the split's last byte is the last one. */
		size_t last = (size_t)(s->end - s->offset) - 1;

		if ((stop = memchr(p + last, '\n', n - last)))
			return (size_t)(stop + 1 - p);
	}
	if (s->eof)
		return n;
	stop = memrchr(p + s->searched, '\n', n - s->searched);
	return stop ? (size_t)(stop + 1 - p) : 0;
}

/* Handles a line of `used` bytes that is not JSON. Elements before it are given first; the
 * next call meets the line again at once. */
static enum status
ndjson_bad(struct op_inst *self, struct file_source *s, const uint8_t *p, size_t used,
	   uint32_t lines, struct run *out, struct err *e)
{
	const uint8_t *before = used > 1 ? memrchr(p, '\n', used - 1) : NULL;
	size_t good = before ? (size_t)(before + 1 - p) : 0;

	file_source_take(s, good, lines - 1);
	if (out->n)
		return ST_OK;
	enum status st = file_source_bad(self, s, e);
	if (st == ST_OK)
		file_source_take(s, used - good, 1);
	return st;
}

enum status
file_ndjson(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	const uint8_t *p = s->window->data + s->from;
	size_t n = s->to - s->from, ready = ndjson_ready(s, p, n), used = 0;
	size_t max = file_source_element_max(self);
	uint32_t lines = 0;
	enum status st;

	if (!ready) {
		s->searched = n;
		if (n <= max)
			return ST_END;
		st = file_source_too_large(self, s, "line", e);
		return st == ST_OK ? file_source_drop_line(self, s, e) : st;
	}
	st = json_lines(file_json_parser(), p, ready, self->node->project, RUN_USUAL, 0, out, &used,
			&lines, e);
	if (st == ST_DATA)
		return ndjson_bad(self, s, p, used, lines, out, e);
	if (st != ST_OK)
		return st;
	file_source_take(s, used, lines);
	return ST_OK;
}
