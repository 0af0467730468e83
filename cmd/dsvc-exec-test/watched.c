/* SPDX-License-Identifier: MIT */
#include "watched.h"

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"
#include "lang/spec.h"
#include "op/pull.h"

struct watched_watch {
	struct watched *trial;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool ended;
	atomic_bool stop;
};

void
watched_word(struct watched *t, const char *word)
{
	words_add(&t->words, word, strlen(word));
}

void
watched_clear(struct watched *t)
{
	words_clear(&t->words);
	*t = (struct watched){ 0 };
}

static void
watched_note(void *arg, const struct op_node *n, const struct err *e)
{
	struct watched_watch *w = arg;

	(void)n;
	pthread_mutex_lock(&w->lock);
	if (w->trial->note.kind == ST_OK)
		w->trial->note = *e;
	pthread_mutex_unlock(&w->lock);
}

/* Stops the run when its time is over. */
static void *
watched_watch(void *arg)
{
	struct watched_watch *w = arg;
	int64_t until = clock_mono_ns() + w->trial->limit_ns;

	pthread_mutex_lock(&w->lock);
	while (!w->ended && thread_cond_wait(&w->over, &w->lock, until))
		;
	if (!w->ended) {
		w->trial->late = true;
		atomic_store(&w->stop, true);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void
watched_read(struct watched *t, struct op_inst *chain)
{
	int64_t from = clock_mono_ns();
	struct elem x;
	enum status st;

	while ((st = op_next(chain, &x, &t->e)) == ST_OK) {
		if (t->elements++ == 0)
			t->first_ns = clock_mono_ns() - from;
		for (uint32_t i = 0; i < x.len; i++)
			t->digest = rng_mix(t->digest, x.p[i]);
	}
	t->all_ns = clock_mono_ns() - from;
	if (st == ST_END || st == ST_AGAIN)
		t->e.kind = ST_OK;
}

enum status
watched_run(struct watched *t, struct err *e)
{
	struct watched_watch w = { .trial = t };
	struct spec_src src = { .argv = t->words.v, .argc = t->words.n };
	struct op_ctx ctx = { .seed = 1, .stop = &w.stop, .note = watched_note, .arg = &w };
	struct op_inst *chain;
	struct plan *p = NULL;
	pthread_t thread;
	enum status st = plan_make(&src, &p, e);

	if (st != ST_OK)
		return st;
	ctx.json = p->options.json;
	ctx.element_max = (uint32_t)p->options.element_max;
	pthread_mutex_init(&w.lock, NULL);
	thread_cond_init(&w.over);
	st = thread_start(&thread, watched_watch, &w, "the limit of time", e);
	bool watched = st == ST_OK;
	if (watched && (st = op_open(p->top, &ctx, &chain, e)) == ST_OK) {
		watched_read(t, chain);
		op_close(&chain);
	}
	pthread_mutex_lock(&w.lock);
	w.ended = true;
	pthread_cond_signal(&w.over);
	pthread_mutex_unlock(&w.lock);
	if (watched)
		pthread_join(thread, NULL);
	pthread_cond_destroy(&w.over);
	pthread_mutex_destroy(&w.lock);
	plan_free(&p);
	return st;
}
