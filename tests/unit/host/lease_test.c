/* SPDX-License-Identifier: MIT
 *
 * Shared memory as a model: a worker that makes, sends and forgets chunks, readers that
 * take, keep and release them, connections that break, readers that stand still or die, in
 * an order that a seed decides. Each block is stamped, and who refers to it looks again and
 * again whether the stamp is still there.
 */
#include "lease_kit.h"

#include <pthread.h>

enum { STEPS = 6000 };

static void
reader_step(struct model *m, struct reader_model *r)
{
	switch (below(m, 16)) {
	case 0: case 1: case 2: case 3: send_one(m, r); break;
	case 4: case 5: case 6: case 7: case 8: take(r); break;
	case 9: case 10: case 11: case 12:
		if (r->n_held)
			release(r, below(m, r->n_held));
		break;
	case 13: borrower_flush(r->b); break;
	case 14:
		if (below(m, 10) == 0)
			session(m, r);
		break;
	default:
		if (below(m, 60) == 0)
			dies(m, r);
	}
}

static void
model_step(struct model *m)
{
	struct reader_model *r = &m->r[below(m, READERS)];

	switch (below(m, 8)) {
	case 0: case 1: make(m); break;
	case 2: forget(m); break;
	case 3: step(m); break;
	default:
		if (!r->still)
			reader_step(m, r);
		else if (below(m, 10) == 0)
			send_one(m, r); /* it takes nothing, and the worker does not know */
	}
}

/* All of an arena can be had again. */
static void
all_is_back(struct model *m)
{
	struct block *b[ARENA / ARENA_PAGE];
	struct lender_stats s;

	lender_stats(m->lender, &s);
	assert_int_equal(s.leased, 0);
	assert_int_equal(arenas_size(m->as), ARENA);
	arenas_use(m->as, true);
	for (size_t i = 0; i < ARENA / ARENA_PAGE; i++) {
		b[i] = arenas_block(m->as, ARENA_PAGE);
		assert_non_null(b[i]);
	}
	assert_null(arenas_block(m->as, 1));
	for (size_t i = 0; i < ARENA / ARENA_PAGE; i++)
		block_unref(&b[i]);
}

static void
a_block_is_given_out_again_when_nobody_refers_to_it(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct model m;
		model_open(&m, seed);
		for (int i = 0; i < STEPS; i++) {
			model_step(&m);
			if (i % 64 == 0)
				look(&m);
		}
		look(&m);
		assert_true(m.lent > 100);
		assert_true(m.copies > 0);
		/* a reader that is gone gives back what it had, and what was under way to it */
		for (size_t i = 0; i < READERS; i++)
			dies(&m, &m.r[i]);
		while (m.n_made)
			forget(&m);
		step(&m);
		step(&m);
		all_is_back(&m);
		for (size_t i = 0; i < READERS; i++)
			borrower_drop(&m.r[i].b);
		model_close(&m);
	}
}

static void
a_reader_that_stands_still_keeps_what_it_has(void **state)
{
	struct model m;
	struct lender_stats s;

	(void)state;
	model_open(&m, 1);
	struct reader_model *r = &m.r[0];
	for (size_t i = 0; i < READERS; i++)
		attached(&m, &m.r[i]);
	lend_all(&m, r, ARENA / 32 * 20);
	while (r->n)
		take(r);
	/* the dispatcher takes it for lost: its elements go to others, who acknowledge them */
	while (m.n_made)
		forget(&m);
	lender_lost(m.lender, 1, r->seat);
	lender_stats(m.lender, &s);
	assert_int_equal(s.arena, 2 * ARENA);
	m.r[1].mapped = false;
	attached(&m, &m.r[1]);
	lend_all(&m, &m.r[1], ARENA);
	look(&m); /* also at the one that stands still */
	/* again it is lost: what it has is not of the arena that is used now */
	lender_lost(m.lender, 1, r->seat);
	lender_stats(m.lender, &s);
	assert_int_equal(s.arena, 2 * ARENA);
	/* it wakes, writes and ends */
	while (r->n_held)
		release(r, 0);
	dies(&m, r);
	step(&m);
	lender_stats(m.lender, &s);
	assert_int_equal(s.arena, ARENA);
	while (m.n_made)
		forget(&m);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}

static void
what_a_reader_has_outlives_the_worker(void **state)
{
	struct model m;

	(void)state;
	model_open(&m, 1);
	struct reader_model *r = &m.r[0];
	attached(&m, r);
	lend_all(&m, r, ARENA / 2);
	while (r->n)
		take(r);
	while (m.n_made)
		forget(&m);
	for (size_t i = 1; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	lender_free(&m.lender);
	arenas_free(&m.as);
	step(&m);
	look(&m);
	borrower_drop(&r->b);
	look(&m);
	while (r->n_held)
		release(r, 0);
	net_free(&m.net);
}

/* Blocks are dropped by the thread that writes, while the other one takes and releases. */
static pthread_mutex_t handed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct taken handed[64];
static size_t n_handed;
static bool handed_over;

static void *
writer_run(void *arg)
{
	for (;;) {
		struct taken t = { 0 };
		pthread_mutex_lock(&handed_lock);
		if (n_handed)
			t = handed[--n_handed];
		bool over = handed_over && !t.block;
		pthread_mutex_unlock(&handed_lock);
		if (t.block)
			stamped(t.block->data, t.block->len, t.stamp);
		block_unref(&t.block);
		if (over)
			return arg;
	}
}

static void
another_thread_releases(void **state)
{
	struct model m;
	pthread_t id;

	(void)state;
	model_open(&m, 1);
	struct reader_model *r = &m.r[0];
	attached(&m, r);
	assert_int_equal(pthread_create(&id, NULL, writer_run, NULL), 0);
	for (int i = 0; i < 3000; i++) {
		make(&m);
		send_one(&m, r);
		while (r->n)
			take(r);
		forget(&m);
		pthread_mutex_lock(&handed_lock);
		while (r->n_held && n_handed < 64)
			handed[n_handed++] = r->held[--r->n_held];
		pthread_mutex_unlock(&handed_lock);
		borrower_flush(r->b);
		step(&m);
	}
	pthread_mutex_lock(&handed_lock);
	handed_over = true;
	pthread_mutex_unlock(&handed_lock);
	pthread_join(id, NULL);
	while (r->n_held)
		release(r, 0);
	while (m.n_made)
		forget(&m);
	for (size_t i = 0; i < READERS; i++)
		dies(&m, &m.r[i]);
	step(&m);
	all_is_back(&m);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}
