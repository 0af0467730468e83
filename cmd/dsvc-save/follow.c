/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "save.h"
#include "value/mp.h"

enum { FOLLOW_FULL_MS = 500 };

struct follow {
	const struct save_options *o;
	struct folder *f;
	struct reader_host *reader;
	bool saved, full;
	struct progress progress;
};

static void
follow_show(struct follow *w)
{
	struct reader_stats s;
	char line[LOG_STATUS];

	if (!progress_due(&w->progress))
		return;
	reader_host_stats(w->reader, &s);
	snprintf(line, sizeof line, "%llu chunks  %llu elements  %.1f MiB  %u of %u streams done%s",
		 (unsigned long long)w->f->sum.chunks, (unsigned long long)w->f->sum.elements,
		 (double)w->f->sum.bytes / (1 << 20), s.streams_ended, s.streams,
		 w->full ? w->f->far ? "  no answer from the store, waiting" : "  no room, waiting" :
		 s.dispatcher_lost ? "  dispatcher lost, waiting" : s.waiting_for_worker ? "  waiting for a worker" : "");
	progress_say(&w->progress, line);
}

/* The number behind this key of a record {file, elements, bytes}. */
static uint64_t
follow_number(const uint8_t *p, const uint8_t *end, const char *key)
{
	struct mp m, k;

	p = mp_head(p, end, &m);
	if (!p || m.kind != MP_RECORD)
		return 0;
	for (uint32_t i = 0; i < m.n && p; i++) {
		const uint8_t *value = mp_head(p, end, &k);

		if (!value)
			return 0;
		if (k.kind == MP_TEXT && k.n == strlen(key) && !memcmp(k.p, key, k.n))
			return mp_head(value, end, &m) && m.kind == MP_INT ? m.u : 0;
		p = mp_check_next(value, end);
	}
	return 0;
}

/* Says it once, whenever there is no room any more. */
static void
follow_full(struct follow *w, bool full)
{
	if (full && !w->full && !w->o->quiet)
		log_say(LOG_WARN, w->f->far ? "%s does not answer: the save waits for it%s" :
			"there is no room in %s: the save waits for it%s", w->f->path, w->o->fail ? ", or fails" : "");
	w->full = full;
}

/* Saves the position behind the records that were counted, and has them acknowledged. While the disk
 * is full, nothing is. */
static enum status
follow_keep(struct follow *w, struct err *e)
{
	enum status st;

	reader_host_position(w->reader, &w->f->position);
	while ((st = folder_keep(w->f, e)) == ST_AGAIN && !w->o->fail && !stop_signal()) {
		struct pollfd f = { stop_fd(), POLLIN, 0 };

		follow_full(w, true);
		follow_show(w);
		if (poll(&f, 1, FOLLOW_FULL_MS) > 0)
			return ST_AGAIN;
	}
	if (st == ST_AGAIN && !stop_signal())
		st = e->kind;
	if (st == ST_OK)
		reader_host_saved(w->reader);
	w->saved |= st == ST_OK;
	return st;
}

static enum status
follow_piece(struct follow *w, const struct reader_host_piece *piece, struct err *e)
{
	const uint8_t *p = piece->p, *end = p + piece->len;

	for (uint64_t i = 0; i < piece->count; i++) {
		const uint8_t *next = mp_check_next(p, end);

		if (!next)
			return err_set(e, ST_PROTO, "a worker sent malformed elements");
		w->f->sum.chunks++;
		w->f->sum.elements += follow_number(p, next, "elements");
		w->f->sum.bytes += follow_number(p, next, "bytes");
		p = next;
	}
	reader_host_written(w->reader, piece->count);
	return follow_keep(w, e);
}

/* Nothing has come: the first position is saved as soon as the job is known, and
 * nothing comes before that. */
static enum status
follow_wait(struct follow *w, struct err *e)
{
	struct pollfd f[3] = { { reader_host_fd(w->reader), POLLIN, 0 }, { stop_fd(), POLLIN, 0 },
			       { progress_fd(), POLLIN, 0 } };
	bool first = !w->saved && reader_host_opened(w->reader);
	enum status st = first ? follow_keep(w, e) : ST_OK;

	if (st != ST_OK || (w->saved && w->o->detach))
		return st;
	if (!poll(f, 3, progress_wait(&w->progress, FOLLOW_FULL_MS)) || w->full)
		follow_full(w, folder_full(w->f));
	return f[1].revents ? ST_AGAIN : ST_OK;
}

enum status
follow(const struct save_options *o, struct reader_host_conf *c, struct folder *f, bool *over, struct err *e)
{
	struct follow w = { .o = o, .f = f, .saved = f->begun };
	struct reader_host_piece piece;
	enum status st = reader_host_open(c, &w.reader, e);

	*over = false;
	if (st != ST_OK)
		return st;
	progress_begin(&w.progress, "dsvc-save", o->progress, o->quiet, false);
	while (st == ST_OK && !(o->detach && w.saved && reader_host_opened(w.reader))) {
		follow_show(&w);
		st = reader_host_take(w.reader, &piece, e);
		if (st == ST_OK)
			st = follow_piece(&w, &piece, e);
		else if (st == ST_AGAIN)
			st = follow_wait(&w, e);
	}
	progress_end(&w.progress);
	f->begun |= reader_host_opened(w.reader);
	*over = st == ST_END;
	if (st != ST_END)
		reader_host_close(w.reader, true, SAVE_CLOSE_MS);
	reader_host_free(&w.reader);
	return st == ST_END ? ST_OK : st;
}
