/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "host/arena.h"

enum { ARENA = 1 << 20 };

/* Nobody else may write there, and it cannot shrink. */
static void
the_memory_is_sealed(void **state)
{
	struct arena_info a;
	struct err e;

	(void)state;
	struct arenas *as = arenas_new(ARENA);
	assert_int_equal(arenas_open(as, &e), ST_OK);
	assert_true(arenas_now(as, &a));
	assert_ptr_equal(mmap(NULL, a.size, PROT_READ | PROT_WRITE, MAP_SHARED, a.fd, 0), MAP_FAILED);
	assert_int_equal(ftruncate(a.fd, 0), -1);
	assert_int_equal(ftruncate(a.fd, 2 * ARENA), -1);
	assert_int_equal(write(a.fd, "x", 1), -1);
	arenas_free(&as);
}

/* Threads that make elements, and threads that read them. */
struct taker { struct arenas *as; uint64_t seed; uint64_t wrong, got; };

static void *
taker_run(void *arg)
{
	struct taker *t = arg;
	struct rng rng = { t->seed, 0 };
	struct block *b[8] = { 0 };
	uint64_t is[8];

	for (int i = 0; i < 20000; i++) {
		size_t k = (size_t)rng_below(&rng, 8);
		if (b[k]) {
			uint64_t first, last;
			memcpy(&first, b[k]->data, 8);
			memcpy(&last, b[k]->data + b[k]->cap - 8, 8);
			t->wrong += first != is[k] || last != is[k];
			block_unref(&b[k]);
		} else if ((b[k] = arenas_block(t->as, 16 + (size_t)rng_below(&rng, 50000)))) {
			is[k] = t->seed << 32 | (uint64_t)i;
			memcpy(b[k]->data + b[k]->cap - 8, &is[k], 8);
			memcpy(b[k]->data, &is[k], 8);
			t->got++;
		}
	}
	for (int k = 0; k < 8; k++)
		block_unref(&b[k]);
	return NULL;
}

static void
threads_share_an_arena(void **state)
{
	struct taker t[4];
	pthread_t id[4];
	struct err e;

	(void)state;
	struct arenas *as = arenas_new(ARENA);
	assert_int_equal(arenas_open(as, &e), ST_OK);
	arenas_use(as, true);
	for (uint64_t i = 0; i < 4; i++) {
		t[i] = (struct taker){ as, i + 1, 0, 0 };
		assert_int_equal(pthread_create(&id[i], NULL, taker_run, &t[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(id[i], NULL);
		assert_int_equal(t[i].wrong, 0);
		assert_true(t[i].got > 1000);
	}
	struct block *all = arenas_block(as, ARENA);
	assert_non_null(all);
	block_unref(&all);
	arenas_free(&as);
}

static void
blocks_are_lent_up_to_a_fourth_of_an_arena(void **state)
{
	enum { LENT = ARENA_LENT_LEAST };
	struct block *b[9];
	struct arena_place at;
	struct err e;

	(void)state;
	struct arenas *as = arenas_new(32 * LENT);
	assert_int_equal(arenas_open(as, &e), ST_OK);
	assert_null(arenas_lend(as, LENT)); /* nobody maps it */
	arenas_use(as, true);
	assert_null(arenas_lend(as, LENT - 1));
	for (int i = 0; i < 8; i++)
		assert_non_null(b[i] = arenas_lend(as, LENT));
	assert_null(arenas_lend(as, LENT));
	assert_false(arena_place(b[0], b[0]->data, &at));
	assert_true(arena_adopt(b[0]));
	assert_true(arena_place(b[0], b[0]->data, &at));
	assert_true(arena_adopt(b[0])); /* by a second chunk: counted once */
	assert_non_null(b[8] = arenas_lend(as, LENT));
	assert_null(arenas_lend(as, LENT));
	block_unref(&b[1]); /* nobody wanted it */
	assert_non_null(b[1] = arenas_lend(as, LENT));
	for (int i = 0; i < 9; i++)
		block_unref(&b[i]);
	assert_non_null(b[0] = arenas_block(as, 32 * LENT));
	block_unref(&b[0]);
	b[0] = block_new(LENT);
	assert_false(arena_adopt(b[0]));
	block_unref(&b[0]);
	arenas_free(&as);
}
