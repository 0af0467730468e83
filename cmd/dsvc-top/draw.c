/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "top.h"

enum { DRAW_WORKERS = 8, DRAW_READERS = 6, DRAW_SAY_LINES = 4, DRAW_CALL_MS = 1000 };

/* Where the lines go. */
struct page { const struct look *look; struct buf *out; unsigned lines; };

/* Bytes of the character at p, at most n: 1 for what is none. */
static size_t
draw_char(const uint8_t *p, size_t n)
{
	size_t len = *p < 0xc0 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

	if (len > n)
		return 1;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 1;
	return len;
}

/* Appends text clipped to a number of characters (0: all). Control characters, among them those of
 * two bytes, become question marks. Gives the number of characters. */
static unsigned
draw_clip(const uint8_t *p, size_t n, unsigned most, struct buf *out)
{
	unsigned count = 0;

	while (n && (!most || count < most)) {
		size_t len = draw_char(p, n);
		bool bad = (len == 1 && (*p < ' ' || *p >= 127)) || (len == 2 && p[0] == 0xc2 && p[1] < 0xa0);

		if (bad)
			buf_byte(out, '?');
		else
			buf_put(out, p, len);
		p += len;
		n -= len;
		count++;
	}
	return count;
}

/* One line of the screen, if there is room. */
static void
draw_line(struct page *p, const struct buf *text, bool marked)
{
	bool reversed = marked && p->look->colour;

	if (p->look->height && p->lines + 1 >= p->look->height)
		return; /* the last line is for the keys */
	p->lines++;
	if (reversed)
		buf_str(p->out, "\033[7m");
	draw_clip(text->data, text->len, p->look->width, p->out);
	if (reversed)
		buf_str(p->out, "\033[0m");
	buf_byte(p->out, '\n');
}

static void
draw_text(struct page *p, const char *text)
{
	struct buf b = { 0 };

	buf_str(&b, text);
	draw_line(p, &b, false);
	buf_clear(&b);
}

/* A number with a letter for its size, in at most 6 characters. */
static void
draw_number(double v, char out[16])
{
	static const char letters[] = "kMGTPE";
	int i = -1;

	for (; v >= 9999.5 && letters[i + 1]; i++)
		v /= 1000;
	if (i < 0)
		snprintf(out, 16, v && v < 10 ? "%.1f" : "%.0f", v);
	else
		snprintf(out, 16, "%.0f%c", v, letters[i]);
}

/* A history as one row of blocks, each by its share of the highest. */
static void
draw_spark(const struct top_rates *r, const struct look *l, struct buf *out)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double most = 0;

	for (unsigned i = 0; i < r->n; i++)
		most = r->v[i] > most ? r->v[i] : most;
	for (unsigned i = r->n; i < TOP_HISTORY; i++)
		buf_byte(out, ' ');
	for (unsigned i = 0; i < r->n; i++) {
		int k = most > 0 ? (int)(r->v[i] / most * 7.99) : 0;

		if (l->plain)
			buf_byte(out, (uint8_t)" .:-=+*#"[k]);
		else
			buf_str(out, blocks[k]);
	}
}

static void
draw_count(struct buf *out, uint64_t n, const char *of, const char *behind)
{
	buf_printf(out, "%" PRIu64 " %s%s%s", n, of, n == 1 ? "" : "s", behind);
}

static void
draw_head(struct page *p, const struct model *m, const char *address)
{
	static const char *const sorts[TOP_SORTS] = { "rate", "name", "readers" };
	struct buf b = { 0 };
	char rate[16];

	draw_number(m->rates.n ? m->rates.v[m->rates.n - 1] : 0, rate);
	draw_count(&b, m->workers, "worker", ", ");
	draw_count(&b, m->slots, "slot", ", ");
	draw_count(&b, m->readers, "reader", ", ");
	buf_printf(&b, "%s/s ", rate);
	draw_spark(&m->rates, p->look, &b);
	if (p->look->keys)
		buf_printf(&b, "  by %s%s", sorts[m->sort], m->paused ? "  PAUSED" : "");
	buf_printf(&b, "  %s", address);
	draw_line(p, &b, false);
	buf_clear(&b);
	draw_text(p, "");
}

/* Text in a column of so many characters. */
static void
draw_column(const char *text, unsigned width, struct buf *out)
{
	for (unsigned n = draw_clip((const uint8_t *)text, strlen(text), width, out); n < width; n++)
		buf_byte(out, ' ');
}

static void
draw_job(struct page *p, const struct model *m, const struct top_job *j)
{
	bool marked = p->look->keys && j->job == m->selected;
	bool live = !strcmp(j->state, "running");
	struct buf b = { 0 };
	char rate[16];

	buf_str(&b, marked ? ">" : " ");
	draw_column(j->name, 12, &b);
	draw_number(live ? j->rates.v[j->rates.n - 1] : 0, rate);
	buf_printf(&b, " %4" PRIu64 " %4" PRIu64 " %7s ", j->epoch, j->readers, rate);
	draw_spark(&j->rates, p->look, &b);
	buf_printf(&b, " %s", live ? j->wait : j->state);
	draw_line(p, &b, marked);
	buf_clear(&b);
}

static void
draw_jobs(struct page *p, const struct model *m)
{
	if (!m->n) {
		draw_text(p, "no jobs");
		return;
	}
	draw_text(p, " JOB          PASS READ   PER S LAST                 WAITS FOR");
	for (size_t i = 0; i < m->n; i++)
		draw_job(p, m, &m->jobs[i]);
}

/* A sentence over several lines, broken at blanks. */
static void
draw_sentence(struct page *p, const char *text)
{
	unsigned width = p->look->width ? p->look->width : 80;
	struct buf line = { 0 };

	for (int i = 0; *text && i < DRAW_SAY_LINES; i++) {
		size_t n = strlen(text), cut = n;

		if (n > width) {
			for (cut = width; cut && text[cut] != ' '; cut--)
				;
			cut = cut ? cut : width;
		}
		buf_reset(&line);
		buf_put(&line, text, cut);
		draw_line(p, &line, false);
		text += cut;
		text += strspn(text, " ");
	}
	buf_clear(&line);
}

/* The readers of the job that is selected. */
static void
draw_readers(struct page *p, const struct model *m, const struct top_job *j)
{
	struct record_items it = record_list(tool_record(&m->report), "readers");
	struct slice r;
	struct buf b = { 0 };

	for (int i = 0; record_next(&it, &r) && i < DRAW_READERS;) {
		if (record_uint(r, "job") != j->job)
			continue;
		struct mp name = record_text(r, "name");
		buf_reset(&b);
		buf_printf(&b, "  reader %.*s: %" PRIu64 " acknowledged%s", (int)name.n, name.n ? (const char *)name.p : "",
			   record_uint(r, "acknowledged"), record_uint(r, "waiting") ? ", waits for a seat" : "");
		draw_line(p, &b, false);
		i++;
	}
	buf_clear(&b);
}

static void
draw_selected(struct page *p, const struct model *m)
{
	const struct top_job *j = model_selected(m);
	struct buf b = { 0 };

	if (!j)
		return;
	draw_text(p, "");
	buf_printf(&b, "%s, pass %" PRIu64 ", %" PRIu64 " acknowledged, %" PRIu64 " of %" PRIu64 " streams finished: %s",
		   j->name, j->epoch, j->acknowledged, j->finished, j->streams, j->say);
	buf_byte(&b, '\0');
	draw_sentence(p, (char *)b.data);
	buf_clear(&b);
	draw_readers(p, m, j);
}

static void
draw_workers(struct page *p, const struct model *m)
{
	struct record_items it = record_list(tool_record(&m->report), "workers");
	struct slice w;
	struct buf b = { 0 };

	draw_text(p, "");
	draw_text(p, it.left ? " WORKER               PID SLOTS STREAMS    KEPT IN" : "no workers");
	for (int i = 0; i < DRAW_WORKERS && record_next(&it, &w); i++) {
		struct mp name = record_text(w, "name");
		uint64_t call = record_uint(w, "call_ms");
		char label[TOP_NAME], kept[16];

		snprintf(label, sizeof label, "%.*s", (int)name.n, name.n ? (const char *)name.p : "");
		buf_reset(&b);
		buf_byte(&b, ' ');
		draw_column(label, 16, &b);
		draw_number((double)record_uint(w, "kept_bytes"), kept);
		buf_printf(&b, " %7" PRIu64 " %5" PRIu64 " %7" PRIu64 " %7s ", record_uint(w, "pid"), record_uint(w, "slots"),
			   record_uint(w, "streams"), kept);
		if (record_uint(w, "awaited"))
			buf_str(&b, "awaited");
		else if (record_uint(w, "draining"))
			buf_str(&b, "draining");
		else if (call >= DRAW_CALL_MS)
			buf_printf(&b, "operator %" PRIu64 " for %.0f s", record_uint(w, "call_operator"), (double)call / 1e3);
		draw_line(p, &b, false);
	}
	buf_clear(&b);
}

void
draw(const struct model *m, const struct look *l, const char *address, struct buf *out)
{
	struct page p = { l, out, 0 };

	draw_head(&p, m, address);
	draw_jobs(&p, m);
	draw_selected(&p, m);
	draw_workers(&p, m);
	if (!l->keys)
		return;
	const char *keys = m->help ? "q quit  j/k, arrows: select  s: by rate, name, readers  p: pause  h less" :
		"q quit  j/k select  s sort  p pause  h help";
	draw_clip((const uint8_t *)keys, strlen(keys), l->width, out);
}
