/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "value/elem.h"
#include "value/mp.h"

static struct elem
big_elem(struct block *b, size_t at, uint32_t len)
{
	return (struct elem){ b->data + at, b, len, 0 };
}

static int released;

static void
release_counted(void *arg, uint8_t *data, size_t cap)
{
	assert_ptr_equal(arg, &released);
	assert_int_equal(cap, 3);
	mem_free(data);
	released++;
}

static void
wrapped_memory_is_released_once(void **state)
{
	struct block *b = block_wrap(mem_dup("abc", 3), 3, release_counted, &released), *c = block_ref(b);

	(void)state;
	released = 0;
	assert_int_equal(b->len, 3);
	block_unref(&b);
	assert_null(b);
	assert_int_equal(released, 0);
	block_unref(&c);
	assert_int_equal(released, 1);
	block_unref(&c);
	assert_null(block_ref(NULL));
}

static void
a_block_is_started_over_only_when_nobody_sees_it(void **state)
{
	struct block *b = NULL, *was, *other;

	(void)state;
	block_recycle(&b, 10);
	assert_true(b->cap >= BLOCK_USUAL);
	assert_int_equal((uintptr_t)b->data % 64, 0);
	b->len = 100;
	was = b;
	block_recycle(&b, 1000);
	assert_ptr_equal(b, was);
	assert_int_equal(b->len, 0);
	other = block_ref(b);
	block_recycle(&b, 1000);
	assert_ptr_not_equal(b, was);
	block_unref(&other);
	was = b;
	block_recycle(&b, 100 * 1024 * 1024);
	assert_true(b->cap >= 100 * 1024 * 1024);
	block_recycle(&b, 1); /* one huge element does not keep its memory */
	assert_true(b->cap < 1024 * 1024);
	block_unref(&b);
}

static void
elements_lie_end_to_end_and_stay(void **state)
{
	struct run r = { 0 };
	struct mp h;

	(void)state;
	for (int64_t i = 0; i < 100000; i++)
		run_done(&r, mp_put_int(run_room(&r, MP_INT_MAX), i * 1000), (uint32_t)i);
	assert_int_equal(r.n, 100000);
	for (int64_t i = 0; i < 100000; i++) {
		assert_ptr_equal(mp_head(r.e[i].p, r.e[i].p + r.e[i].len, &h), r.e[i].p + r.e[i].len);
		assert_int_equal(h.i, i * 1000);
		assert_int_equal(r.e[i].pos, i);
		assert_true(r.e[i].block->data <= r.e[i].p);
	}
	assert_true(run_bytes(&r) > 200000);
	assert_true(r.n_held > 0); /* it grew past one block */
	r.file = "x";
	run_reset(&r);
	assert_int_equal(r.n + r.n_held, 0);
	assert_null(r.file);
	assert_int_equal(r.arena->len, 0);
	run_clear(&r);
	run_clear(&r);
}

static void
the_size_is_estimated_from_a_sample(void **state)
{
	struct run r = { 0 };

	(void)state;
	assert_int_equal(run_bytes_near(&r), 0);
	for (uint32_t i = 0; i < 31; i++)
		run_done(&r, mp_put_int(run_room(&r, MP_INT_MAX), i * 10), i);
	assert_int_equal(run_bytes_near(&r), run_bytes(&r));
	run_reset(&r);
	for (uint32_t i = 0; i < 512; i++)
		run_done(&r, mp_put_int(run_room(&r, MP_INT_MAX), 1), i);
	assert_int_equal(run_bytes_near(&r), 512);
	run_reset(&r);
	for (uint32_t i = 0; i < 512; i++)
		run_done(&r, mp_put_int(run_room(&r, MP_INT_MAX), i % 2 ? INT64_MAX : 1), i);
	assert_in_range(run_bytes_near(&r), run_bytes(&r) * 7 / 8, run_bytes(&r) * 9 / 8);
	run_clear(&r);
}

static void
the_arena_is_used_again_unless_shared(void **state)
{
	struct run r = { 0 };
	struct block *was, *ref;

	(void)state;
	run_done(&r, mp_put_int(run_room(&r, 9), 1), 0);
	was = r.arena;
	run_reset(&r);
	assert_ptr_equal(r.arena, was);
	run_done(&r, mp_put_int(run_room(&r, 9), 7), 0);
	ref = block_ref(r.e[0].block);
	run_reset(&r);
	run_done(&r, mp_put_int(run_room(&r, 9), 2), 0);
	assert_ptr_not_equal(r.arena, ref);
	assert_int_equal(ref->data[0], 7);
	block_unref(&ref);
	run_clear(&r);
}

static void
keep_copies_small_and_shares_large(void **state)
{
	struct run r = { 0 };
	struct block *b = block_new(100000);
	struct elem small = big_elem(b, 0, 100), large = big_elem(b, 100, 50000), own = { 0 };

	(void)state;
	memset(b->data, 'x', 100000);
	run_keep(&r, small);
	run_keep(&r, large);
	run_keep(&r, large);
	own.p = (const uint8_t *)"\x01";
	own.len = 1;
	run_keep(&r, own);
	assert_ptr_not_equal(r.e[0].p, small.p);
	assert_ptr_equal(r.e[1].p, large.p);
	assert_int_equal(r.n_held, 1);
	assert_int_equal(atomic_load(&b->refs), 2);
	memset(b->data, 'y', 100);
	assert_int_equal(r.e[0].p[99], 'x');
	block_unref(&b);
	assert_int_equal(r.e[1].p[49999], 'x');
	assert_int_equal(r.e[3].p[0], 1);
	run_clear(&r);
}

static void
move_takes_everything(void **state)
{
	struct run a = { 0 }, b = { 0 };

	(void)state;
	run_done(&a, mp_put_int(run_room(&a, 9), 5), 0);
	a.line = 9;
	run_done(&b, mp_put_int(run_room(&b, 9), 6), 0);
	run_move(&b, &a);
	assert_int_equal(b.n, 1);
	assert_int_equal(*b.e[0].p, 5);
	assert_int_equal(b.line, 9);
	assert_int_equal(a.n, 0);
	run_done(&a, mp_put_int(run_room(&a, 9), 8), 0);
	assert_int_equal(*b.e[0].p, 5);
	run_clear(&a);
	run_clear(&b);
}

static void
kept_elements_outlive_their_run(void **state)
{
	struct kept k = { 0 };
	struct block *b = block_new(100000);

	(void)state;
	memset(b->data, 'x', 100000);
	kept_set(&k, big_elem(b, 0, 10));
	memset(b->data, 'y', 10);
	assert_int_equal(k.e.p[9], 'x');
	assert_null(k.e.block);
	kept_set(&k, big_elem(b, 10, 60000));
	assert_ptr_equal(k.e.p, b->data + 10);
	kept_set(&k, k.e); /* itself */
	assert_int_equal(atomic_load(&b->refs), 2);
	block_unref(&b);
	assert_int_equal(k.e.p[59999], 'x');
	kept_set(&k, (struct elem){ k.e.p, k.e.block, 20, 0 }); /* out of what it holds */
	assert_int_equal(k.e.p[19], 'x');
	kept_clear(&k);
	kept_clear(&k);
}
