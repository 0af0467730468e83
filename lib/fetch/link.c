/* SPDX-License-Identifier: MIT */
#include "fetch/link.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"

enum { LINK_BEAT_MS = 100, LINK_KEPT = 32 };

static const int64_t link_first_pause = 200000000; /* doubled at each try */

static pthread_mutex_t link_lock = PTHREAD_MUTEX_INITIALIZER;
static struct link *link_idle;
static int link_n_idle;
static _Thread_local const struct fetch_wait *link_thread;

struct link *
link_take(struct err *e)
{
	const struct fetch_curl_lib *lib = fetch_curl_lib(e);
	struct link *l;

	if (!lib)
		return NULL;
	pthread_mutex_lock(&link_lock);
	l = link_idle;
	if (l) {
		link_idle = l->next;
		link_n_idle--;
	}
	pthread_mutex_unlock(&link_lock);
	if (l)
		return l;
	l = mem_zalloc(sizeof *l);
	l->lib = lib;
	l->multi = lib->curl_multi_init();
	if (l->multi)
		return l;
	mem_free(l);
	err_set(e, ST_IO, "libcurl cannot make a connection");
	return NULL;
}

void
link_give_back(struct link *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&link_lock);
	bool keep = link_n_idle < LINK_KEPT;
	if (keep) {
		l->next = link_idle;
		link_idle = l;
		link_n_idle++;
	}
	pthread_mutex_unlock(&link_lock);
	if (keep)
		return;
	l->lib->curl_multi_cleanup(l->multi);
	mem_free(l);
}

const struct fetch_wait *
fetch_wait_thread(const struct fetch_wait *w)
{
	const struct fetch_wait *before = link_thread;

	link_thread = w;
	return before;
}

static bool
link_stopped(const struct fetch_wait *w)
{
	return w && w->stopped && w->stopped(w->arg);
}

enum status
link_wait(struct link *l, int64_t until, const struct fetch_wait *w)
{
	int64_t left = until - clock_mono_ns();
	int ms = left < 0 ? 0 : left / 1000000 < LINK_BEAT_MS ? (int)(left / 1000000) + 1 : LINK_BEAT_MS;

	if (link_stopped(w) || link_stopped(link_thread))
		return ST_AGAIN;
	pool_wait_begin();
	l->lib->curl_multi_poll(l->multi, NULL, 0, ms, NULL);
	pool_wait_end();
	return ST_OK;
}

int64_t
link_pause_of(int tries, int64_t wait_ns)
{
	int64_t own = link_first_pause << (tries - 1);

	return wait_ns > own ? wait_ns : own;
}

enum status
link_pause(struct link *l, int tries, int64_t wait_ns, const struct fetch_wait *w)
{
	int64_t until = clock_mono_ns() + link_pause_of(tries, wait_ns);
	enum status st = ST_OK;

	while (st == ST_OK && clock_mono_ns() < until)
		st = link_wait(l, until, w);
	return st;
}

static enum status
link_once(struct link *l, struct http *h, const struct fetch_wait *w, CURLcode *rc)
{
	int running = 1, left;
	enum status st = ST_OK;
	CURLMsg *m;

	*rc = CURLE_FAILED_INIT;
	if (l->lib->curl_multi_add_handle(l->multi, h->easy) != CURLM_OK)
		return ST_OK;
	while (st == ST_OK) {
		l->lib->curl_multi_perform(l->multi, &running);
		m = l->lib->curl_multi_info_read(l->multi, &left);
		if (m && m->msg == CURLMSG_DONE) {
			*rc = m->data.result;
			break;
		}
		st = link_wait(l, INT64_MAX, w);
	}
	l->lib->curl_multi_remove_handle(l->multi, h->easy);
	return st;
}

enum status
link_do(struct link *l, struct http *h, struct target *t, const struct http_ask *ask, void (*begin)(void *arg),
	const struct fetch_wait *w, struct err *e)
{
	for (int tries = 1;; tries++) {
		CURLcode rc;

		if (begin)
			begin(ask->arg);
		http_ask(h, t, ask);
		enum status st = link_once(l, h, w, &rc);
		if (st != ST_OK)
			return st;
		enum http_verdict v = http_judge(h, rc, t, e);
		if (v == HTTP_DONE)
			return ST_OK;
		if (v == HTTP_FAILED)
			return e->kind;
		if (v == HTTP_MOVED)
			continue; /* target_move limits how often */
		if (tries >= LINK_TRIES) {
			if (w && w->passes)
				*w->passes = true;
			return err_wrap(e, "after %d tries", tries);
		}
		st = link_pause(l, tries, h->wait_ns, w);
		if (st != ST_OK)
			return st;
	}
}
