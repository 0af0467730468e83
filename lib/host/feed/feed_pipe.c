/* SPDX-License-Identifier: MIT
 *
 * Cores on pipes: a step is a line (or a MessagePack value) on their stdin, and a line of JSON on
 * their stdout is its result.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/feed/feed_host_inner.h"
#include "host/feed/feed_npy.h"
#include "value/json/json_print.h"

enum { PIPE_READ = 64 * 1024, PIPE_LINE = 8 * 1024 };

static void
pipe_ready(struct feed_host *h, uint32_t core, uint64_t given)
{
	struct feed_seat *s = &h->seat[core];
	struct feed_ready m = { .given = given, .done = s->done, .wanted = UINT64_MAX };
	struct err e;

	if (feed_ready(h->machine, h->now, core, &m, &e) != ST_OK)
		feed_host_blame(h, core, &e);
}

void
feed_pipe_join(struct feed_host *h, uint32_t core)
{
	feed_join(h->machine, h->now, core, h->seat[core].child.pid);
	pipe_ready(h, core, h->seat[core].done);
}

static uint64_t
pipe_told(const struct feed_seat *s)
{
	return s->n_line ? s->line[s->n_line - 1].step + 1 : s->done;
}

static const struct json_rules *
feed_pipe_rules(const struct feed_host *h)
{
	static const struct json_rules usual;

	return h->c->source.plan ? &h->c->source.plan->options.json : &usual;
}

void
feed_pipe_batch(struct feed_host *h, const struct feed_action *a)
{
	struct feed_seat *s = &h->seat[a->core];
	const struct feed_ring *ring = feed_fill_ring(h->fill, a->batch.slot);
	struct buf value = { 0 };
	struct err e;

	if (s->in < 0)
		return;
	if (h->c->as == FEED_AS_NPY) {
		feed_npy_put(ring->columns, feed_ring_slot(ring, a->batch.slot), a->batch.first, a->batch.rows, &s->text);
	} else if (!columns_take(ring->columns, feed_ring_slot(ring, a->batch.slot), a->batch.first, a->batch.rows, &value)) {
		err_set(&e, ST_DATA, "step %llu is too large for one value", (unsigned long long)a->step);
		feed_host_blame(h, a->core, &e);
	} else if (h->c->as == FEED_AS_NDJSON) {
		if (json_write(value.data, value.len, feed_pipe_rules(h), &s->text, &e) == ST_OK)
			buf_byte(&s->text, '\n');
		else
			feed_host_blame(h, a->core, &e);
	} else {
		buf_put(&s->text, value.data, value.len);
	}
	buf_clear(&value);
	s->line = mem_grow(s->line, &s->cap_line, s->n_line + 1, sizeof *s->line);
	s->line[s->n_line].step = a->step;
	s->line[s->n_line++].end = s->text.len;
	if (s->peek >= 0) {
		if (feed_sent_full(&s->sent))
			feed_pipe_look(h, a->core);
		feed_sent_add(&s->sent, s->wrote + (s->text.len - s->text_at));
	}
	if (h->c->machine.results)
		feed_answer_want(s, &a->batch);
	feed_pipe_write(h, a->core);
	pipe_ready(h, a->core, a->step + 1); /* the slot is not needed any more */
}

/* Steps whose line is written: done, unless an answer is awaited. */
static void
pipe_written(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	size_t n = 0;

	if (h->c->machine.results)
		return;
	while (n < s->n_line && s->line[n].end <= s->text_at)
		n++;
	if (!n)
		return;
	uint64_t given = pipe_told(s);
	s->done = s->line[n - 1].step + 1;
	s->n_line -= n;
	memmove(s->line, s->line + n, s->n_line * sizeof *s->line);
	pipe_ready(h, core, given);
}

static void
pipe_close(int *fd)
{
	close(*fd);
	*fd = -1;
}

void
feed_pipe_look(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	int left = 0;

	if (s->peek < 0 || ioctl(s->peek, FIONREAD, &left) || left < 0)
		return;
	struct feed_taken t = { .bytes = s->wrote - (uint64_t)left, .more = left > 0 };
	feed_sent_taken(&s->sent, t.bytes);
	t.steps = s->sent.read;
	feed_taken(h->machine, h->now, core, &t);
}

void
feed_pipe_write(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];

	while (s->in >= 0 && s->text_at < s->text.len) {
		ssize_t n = write(s->in, s->text.data + s->text_at, s->text.len - s->text_at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			pipe_close(&s->in);
		if (n < 0)
			break;
		s->text_at += (size_t)n;
		s->wrote += (uint64_t)n;
	}
	pipe_written(h, core);
	if (h->c->machine.core_timeout_ns)
		feed_pipe_look(h, core);
	if (s->text_at < s->text.len)
		return;
	buf_reset(&s->text);
	s->text_at = 0;
	for (size_t i = 0; i < s->n_line; i++)
		s->line[i].end = 0;
	if (s->closing && s->in >= 0)
		pipe_close(&s->in);
}

void
feed_pipe_close(struct feed_host *h, uint32_t core)
{
	h->seat[core].closing = true;
	feed_pipe_write(h, core);
}

/* One line of a core's stdout: the result of the next step. */
static void
pipe_line(struct feed_host *h, uint32_t core, const uint8_t *p, size_t n)
{
	struct feed_seat *s = &h->seat[core];
	struct buf value = { 0 };
	struct err e, why;

	if (!s->n_line) {
		err_set(&e, ST_DATA, "%s wrote a line, and no step is waiting for its result", feed_name(h->machine, core));
		err_help(&e, "--results takes one line for each step from its standard output; other output goes to standard error");
		feed_host_blame(h, core, &e);
		return;
	}
	uint64_t step = s->line[0].step;
	enum status st = json_value(h->json, p, n, &value, &why);
	if (st != ST_OK)
		err_set(&e, ST_DATA, "%s: the result of step %llu is not JSON: %.200s", feed_name(h->machine, core),
			(unsigned long long)step, why.text);
	else
		st = feed_answer_take(h, core, step, value.data, value.len, &e);
	buf_clear(&value);
	if (st == ST_OK)
		st = feed_result(h->machine, h->now, core, step, &e);
	if (st != ST_OK) {
		feed_host_blame(h, core, &e);
		return;
	}
	uint64_t given = pipe_told(s);
	s->done = step + 1;
	memmove(s->line, s->line + 1, --s->n_line * sizeof *s->line);
	pipe_ready(h, core, given);
}

void
feed_pipe_read(struct feed_host *h, uint32_t core)
{
	struct feed_seat *s = &h->seat[core];
	size_t from = s->said.len;
	ssize_t n;

	if (s->out < 0)
		return;
	do {
		n = read(s->out, buf_room(&s->said, PIPE_READ), PIPE_READ);
		if (n > 0)
			s->said.len += (size_t)n;
	} while (n > 0 && s->said.len - from < 16 * PIPE_READ);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		pipe_close(&s->out);
	size_t at = 0;
	for (const uint8_t *end; from < s->said.len && (end = memchr(s->said.data + from, '\n', s->said.len - from));) {
		size_t line = (size_t)(end - s->said.data);

		pipe_line(h, core, s->said.data + at, line - at);
		from = at = line + 1;
	}
	if (at)
		memmove(s->said.data, s->said.data + at, s->said.len - at);
	s->said.len -= at;
	if (s->out < 0 && s->said.len) {
		pipe_line(h, core, s->said.data, s->said.len);
		buf_reset(&s->said);
	}
	struct err e;
	if (s->said.len > FEED_RESULT_MAX) {
		err_set(&e, ST_DATA, "core %u wrote a line of more than %d bytes", core, FEED_RESULT_MAX);
		feed_host_blame(h, core, &e);
		pipe_close(&s->out);
	}
}

void
feed_pipe_hear(struct feed_host *h, uint32_t core, bool all)
{
	struct feed_seat *s = &h->seat[core];
	ssize_t n;

	do {
		n = read(s->err, buf_room(&s->told, PIPE_LINE), PIPE_LINE);
		if (n > 0)
			s->told.len += (size_t)n;
	} while (n > 0 && all && s->told.len < 16 * PIPE_LINE);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		pipe_close(&s->err);
		all = true;
	}
	size_t at = 0;
	for (const uint8_t *end; at < s->told.len && (end = memchr(s->told.data + at, '\n', s->told.len - at));) {
		size_t line = (size_t)(end - s->told.data) + 1;

		h->c->heard(h->c->arg, core, (const char *)s->told.data + at, line - at);
		at = line;
	}
	if (at < s->told.len && (all || s->told.len - at > PIPE_LINE)) {
		buf_byte(&s->told, '\n');
		h->c->heard(h->c->arg, core, (const char *)s->told.data + at, s->told.len - at);
		at = s->told.len;
	}
	if (at)
		memmove(s->told.data, s->told.data + at, s->told.len - at);
	s->told.len -= at;
}
