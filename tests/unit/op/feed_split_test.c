/* SPDX-License-Identifier: MIT */
#include "chain_help.h"
#include "op/facts.h"
#include "op/pull.h"

extern const struct op_desc op_take, op_repeat, op_batch, op_concat, op_unbatch, op_zip;

static struct split
part(uint32_t leaf, uint64_t start, uint64_t count, uint64_t times)
{
	return (struct split){ .kind = SPLIT_RANGE, .leaf = leaf, .start = start,
			       .count = count, .times = times };
}

static struct op_node *
pair(const struct op_desc *d, struct op_node *a, struct op_node *b)
{
	struct op_node *n = node_after(node_new(d, ""), a, b);
	struct op_pipes *p = n->params;

	p->v = mem_array(2, sizeof *p->v);
	p->n = n->n_in;
	memcpy(p->v, n->in, n->n_in * sizeof *p->v);
	return n;
}

/* The units as text: kind leaf start+count xtimes. */
static void
assert_units(const struct op_node *n, const char *expected)
{
	struct split_list l = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };

	assert_int_equal(op_list_splits(n, &l, &e), ST_OK);
	for (size_t k = 0; k < l.n; k++)
		buf_printf(&b, "%s%u:%llu+%llux%llu ", l.v[k].kind == SPLIT_ALL ? "all" : "range",
			   l.v[k].leaf, (unsigned long long)l.v[k].start,
			   (unsigned long long)l.v[k].count, (unsigned long long)l.v[k].times);
	assert_string_equal(b.data ? (char *)b.data : "", expected);
	buf_clear(&b);
	split_list_clear(&l);
}

static void
splits_are_read_one_after_the_other(void **state)
{
	struct split v[] = { part(0, 5, 4, 1), part(0, 0, 2, 1), part(0, 20, 0, 1) };
	struct op_node *n = node_new(&op_ticks, "30");
	struct fed f;

	(void)state;
	assert_units(n, "range0:0+30x1 ");
	assert_true(op_can_split(n));
	assert_chain(n, fed_ctx(&f, v, 3), "5 6 7 8 0 1 .");
	assert_chain(n, fed_ctx(&f, v, 0), ".");
	op_node_free(&n);
}

static void
operators_go_on_over_splits(void **state)
{
	struct split v[] = { part(0, 5, 4, 1), part(0, 0, 3, 1) };
	struct op_node *n = node_on(node_new(&op_ticks, "30"), &op_batch, "3");
	struct fed f;

	(void)state;
	assert_chain(n, fed_ctx(&f, v, 2), "[5,6,7] [8,0,1] [2] .");
	n = node_on(n, &op_take, "2");
	assert_chain(n, fed_ctx(&f, v, 2), "[5,6,7] [8,0,1] .");
	op_node_free(&n);
}

static void
a_repeat_of_elements_is_a_repeat_of_splits(void **state)
{
	struct split v[] = { part(0, 5, 2, 3), part(0, 0, 1, 3) };
	struct op_node *n = node_on(node_new(&op_ticks, "30"), &op_repeat, "3");
	struct fed f;

	(void)state;
	assert_int_equal(op_split_times(n), 3);
	assert_units(n, "range0:0+30x3 ");
	ticks_opened = 0;
	assert_chain(n, fed_ctx(&f, v, 2), "5 6 5 6 5 6 0 0 0 .");
	assert_int_equal(ticks_opened, 2); /* the passes are kept */
	n = node_on(n, &op_repeat, "2");
	assert_int_equal(op_split_times(n), 6);
	op_node_free(&n);

	n = node_on(node_on(node_new(&op_ticks, "30"), &op_repeat, "inf"), &op_repeat, "2");
	assert_true(op_split_times(n) == INT64_MAX);
	op_node_free(&n);
	n = node_on(node_on(node_new(&op_ticks, "30"), &op_repeat, "inf"), &op_repeat, "0");
	assert_int_equal(op_split_times(n), 0);
	assert_units(n, "");
	op_node_free(&n);
}

/* Which repeat ends all if nothing comes to it, and how many passes over the splits are one of its own. */
static void
watched(const struct op_node *n, const char *repeat, uint64_t passes)
{
	uint64_t period;
	const struct op_node *found = op_repeat_watched(n, &period);

	assert_int_equal(found != NULL, repeat != NULL);
	if (!found)
		return;
	assert_int_equal(found->desc->times(found), strcmp(repeat, "inf") ? atoi(repeat) : INT64_MAX);
	assert_int_equal(period, passes);
}

static void
the_first_endless_repeat_is_watched(void **state)
{
	struct op_node *n = node_new(&op_ticks, "30");

	(void)state;
	watched(n, NULL, 0);
	n = node_on(n, &op_repeat, "3");
	watched(n, "3", 1);
	n = node_on(n, &op_repeat, "2");
	watched(n, "2", 3);
	n = node_on(n, &op_repeat, "inf");
	watched(n, "inf", 6);
	n = node_on(n, &op_repeat, "4");
	watched(n, "inf", 6);
	op_node_free(&n);
	n = node_on(node_on(node_new(&op_ticks, "30"), &op_batch, "2"), &op_repeat, "inf");
	watched(n, NULL, 0); /* that one sees to it itself */
	op_node_free(&n);
}

/* Elements behind the repeat do not count; one in front of it does. */
static void
the_first_element_that_comes_to_a_repeat_is_told(void **state)
{
	struct split none[] = { part(0, 0, 0, 1) }, one[] = { part(0, 0, 0, 1), part(0, 7, 1, 1) };
	struct op_node *n = node_on(node_new(&op_ticks, "30"), &op_repeat, "inf");
	atomic_bool reached = false;
	struct fed f;

	(void)state;
	n = node_on(n, &op_take, "1");
	fed_ctx(&f, none, 1)->reached = &reached;
	assert_true(op_split_exact(&f.ctx));
	assert_chain(n, &f.ctx, ".");
	assert_false(atomic_load(&reached));
	fed_ctx(&f, one, 2)->reached = &reached;
	assert_chain(n, &f.ctx, "7 .");
	assert_true(atomic_load(&reached));
	assert_false(op_split_exact(&f.ctx));
	op_node_free(&n);
}

/* batch has a memory: its stream's share is repeated as a whole. */
static void
another_repeat_repeats_the_share(void **state)
{
	struct split v[] = { part(0, 5, 2, 1), part(0, 0, 1, 1) };
	struct op_node *n = node_on(node_on(node_new(&op_ticks, "30"), &op_batch, "2"), &op_repeat, "2");
	struct fed f;

	(void)state;
	assert_int_equal(op_split_times(n), 1);
	assert_chain(n, fed_ctx(&f, v, 2), "[5,6] [0] [5,6] [0] .");
	op_node_free(&n);
	n = node_on(node_on(node_new(&op_ticks, "30"), &op_take, "1"), &op_repeat, "3");
	assert_chain(n, fed_ctx(&f, v, 2), "5 5 5 .");
	op_node_free(&n);
}

static void
a_long_pass_is_read_again(void **state)
{
	struct split v[] = { part(0, 0, 2000000, 2) };
	struct op_node *n = node_new(&op_ticks, "2000000 512");
	struct op_inst *i;
	struct fed f;
	struct err e = { 0 };
	struct run *r;
	uint64_t count = 0;

	(void)state;
	ticks_opened = 0;
	assert_int_equal(op_open(n, fed_ctx(&f, v, 1), &i, &e), ST_OK);
	while (op_pull(i, &r, &e) == ST_OK)
		count += r->n;
	assert_int_equal(count, 4000000);
	assert_int_equal(ticks_opened, 2);
	op_close(&i);
	op_node_free(&n);
}

static void
concat_joins_the_splits_of_its_inputs(void **state)
{
	struct op_node *a = node_on(node_new(&op_ticks, "10"), &op_repeat, "2");
	struct op_node *b = node_on(node_new(&op_ticks, "7"), &op_batch, "4");
	struct op_node *c = node_new(&op_ticks, "4");
	struct op_node *n = pair(&op_concat, a, pair(&op_concat, b, c));
	struct split all = { .kind = SPLIT_ALL, .leaf = 1, .times = 1 };
	struct split v[] = { part(2, 1, 2, 1), all, part(0, 8, 2, 2), part(3, 0, 1, 1) };
	struct fed f;

	(void)state;
	assert_true(op_can_split(n));
	assert_units(n, "range0:0+10x2 all1:0+0x1 range2:0+4x1 ");
	assert_chain(n, fed_ctx(&f, v, 3), "1 2 [0,1,2,3] [4,5,6] 8 9 8 9 .");
	assert_chain(n, fed_ctx(&f, v, 4), "1 2 [0,1,2,3] [4,5,6] 8 9 8 9 !"); /* no leaf 3 */
	n = node_on(n, &op_repeat, "5");
	assert_units(n, "range0:0+10x10 all1:0+0x5 range2:0+4x5 ");
	op_node_free(&n);
}

static void
what_cannot_be_cut_is_one_unit(void **state)
{
	struct op_node *n = pair(&op_zip, node_new(&op_ticks, "2"), node_new(&op_ticks, "3"));
	struct split v[] = { { .kind = SPLIT_ALL, .times = 2 } };
	struct fed f;

	(void)state;
	n = node_on(n, &op_repeat, "2");
	assert_false(op_can_split(n));
	assert_units(n, "all0:0+0x2 ");
	assert_chain(n, fed_ctx(&f, v, 1), "[0,0] [1,1] [0,0] [1,1] .");
	op_node_free(&n);
}

/* Saves between all runs and goes on from there in another chain. */
static void
a_fed_chain_goes_on_where_it_was(void **state)
{
	struct split v[] = { part(0, 5, 4, 1), part(0, 0, 7, 3), part(0, 20, 5, 1) };
	struct op_node *chains[] = {
		node_new(&op_ticks, "30 2"),
		node_on(node_new(&op_ticks, "30 2"), &op_batch, "3"),
		node_on(node_on(node_new(&op_ticks, "30 2"), &op_batch, "2"), &op_repeat, "2"),
		node_on(pair(&op_concat, node_new(&op_ticks, "30 2"), node_new(&op_ticks, "3")),
			&op_repeat, "3"),
	};

	(void)state;
	for (size_t c = 0; c < 4; c++) {
		struct fed f, g;
		struct op_inst *i, *j;
		struct err e = { 0 };
		struct buf whole = { 0 }, head = { 0 }, s = { 0 };

		assert_int_equal(op_open(chains[c], fed_ctx(&f, v, 3), &i, &e), ST_OK);
		read_some(i, UINT32_MAX, &whole);
		op_close(&i);
		assert_int_equal(op_open(chains[c], fed_ctx(&f, v, 3), &i, &e), ST_OK);
		for (unsigned runs = 0; !i->ended; runs++) {
			struct buf rest = { 0 };

			buf_reset(&s);
			assert_true(op_state_save(i, &s));
			fed_ctx(&g, v, 3);
			g.at = f.at; /* the dispatcher knows which were given out */
			assert_int_equal(op_open(chains[c], &g.ctx, &j, &e), ST_OK);
			assert_int_equal(op_state_restore(j, s.data, s.len, &e), ST_OK);
			if (head.len)
				buf_put(&rest, head.data, head.len);
			read_some(j, UINT32_MAX, &rest);
			assert_string_equal((char *)rest.data, (char *)whole.data);
			op_close(&j);
			buf_clear(&rest);
			read_some(i, 1, &head);
		}
		op_close(&i);
		buf_clear(&whole);
		buf_clear(&head);
		buf_clear(&s);
		op_node_free(&chains[c]);
	}
}
