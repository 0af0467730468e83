/* SPDX-License-Identifier: MIT */
#include "chain_help.h"

#include "op/kit/slab.h"
#include "op/facts.h"
#include "op/pull.h"

extern const struct op_desc op_shuffle;

/* One pass over 0 .. n-1 as bytes. */
static void
pass(const char *args, unsigned n, uint64_t seed, uint8_t *out)
{
	struct op_node *node = node_on(node_new(&op_ticks, n == 4 ? "4" : "100"), &op_shuffle, args);
	struct op_inst *i;
	struct fed f;
	struct err e = { 0 };
	struct elem x;
	unsigned count = 0;

	node->place = 2;
	fed_ctx(&f, NULL, 0)->seed = seed;
	assert_int_equal(op_open(node, &f.ctx, &i, &e), ST_OK);
	while (op_next(i, &x, &e) == ST_OK)
		out[count++] = x.p[0];
	assert_int_equal(count, n);
	op_close(&i);
	op_node_free(&node);
}

static void
a_seed_is_an_order(void **state)
{
	uint8_t a[100], b[100], seen[100] = { 0 };

	(void)state;
	pass("20", 100, 1, a);
	pass("20", 100, 1, b);
	assert_memory_equal(a, b, 100);
	pass("20", 100, 2, b);
	assert_memory_not_equal(a, b, 100);
	pass("20 seed=5", 100, 1, a);
	pass("20 seed=5", 100, 2, b);
	assert_memory_equal(a, b, 100);
	for (int k = 0; k < 100; k++) {
		assert_int_equal(seen[a[k]]++, 0);
		assert_true(a[k] < 20 + k); /* nothing comes before it was read */
	}
}

static void
all_orders_come_equally_often(void **state)
{
	unsigned count[256] = { 0 }, orders = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 12000; seed++) {
		uint8_t a[4];

		pass("4", 4, seed, a);
		count[a[0] << 6 | a[1] << 4 | a[2] << 2 | a[3]]++;
	}
	for (int k = 0; k < 256; k++) {
		if (!count[k])
			continue;
		orders++;
		assert_true(count[k] > 400 && count[k] < 600); /* 500 +- 4.5 sigma */
	}
	assert_int_equal(orders, 24);
}

static void
cells_are_used_again_and_do_not_overlap(void **state)
{
	struct slab s = { 0 };
	uint8_t *p[300];
	size_t n[300];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int k = 0; k < 300; k++) {
			n[k] = 1 + (size_t)(k * k * 7 + round) % 40000;
			p[k] = slab_take(&s, n[k]);
			memset(p[k], k, n[k]);
		}
		for (int k = 0; k < 300; k++)
			for (size_t b = 0; b < n[k]; b++)
				assert_int_equal(p[k][b], (uint8_t)k);
		for (int k = 0; k < 300; k++)
			slab_give(&s, p[k], n[k]);
	}
	uint8_t *a = slab_take(&s, 100);
	slab_give(&s, a, 100);
	assert_ptr_equal(slab_take(&s, 97), a); /* 97 bytes are in the same class */
	slab_clear(&s);
}
