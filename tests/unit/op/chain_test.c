/* SPDX-License-Identifier: MIT */
#include "chain_help.h"
#include "op/facts.h"
#include "op/pull.h"

extern const struct op_desc op_take, op_skip, op_enumerate, op_repeat, op_batch, op_interleave,
	op_prefetch;

/* Drops everything but multiples of ten. */
static enum status
tens_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	(void)self, (void)e;
	for (uint32_t i = 0; i < in->n; i++)
		if (in->e[i].p[0] % 10 == 0)
			run_push(out, in->e[i]);
	return ST_OK;
}
static const struct op_desc op_tens = {
	.name = "tens", .kind = OP_TRANSFORM, .scope = OP_ELEMENT, .feed = tens_feed
};

/* Fails on the element 4; tries others first when told to. */
static enum status
picky_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = ST_OK;

		if (in->e[i].p[0] == 4) {
			err_set(e, ST_DATA, "four");
			st = op_fault(self, in, i, out, e);
		} else {
			run_push(out, in->e[i]);
		}
		if (st == ST_AGAIN)
			i--;
		else if (st != ST_OK)
			return st;
	}
	return ST_OK;
}
static const struct op_desc op_picky = {
	.name = "picky", .kind = OP_TRANSFORM, .scope = OP_ELEMENT, .feed = picky_feed
};

/* Gives each element three times, two elements a run. */
struct thrice {
	uint32_t given;
};
static enum status
thrice_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct thrice *t = self->state;

	(void)e;
	for (; self->at < in->n; self->at++, t->given = 0)
		for (; t->given < 3; t->given++) {
			if (out->n == 2)
				return ST_AGAIN;
			run_push(out, in->e[self->at]);
		}
	return ST_OK;
}
static void
thrice_save(struct op_inst *self, struct buf *out)
{
	struct thrice *t = self->state;

	state_put_u64(out, t->given);
}
static enum status
thrice_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct thrice *t = self->state;
	struct state_in in = state_begin(p, n);

	t->given = (uint32_t)state_get_u64(&in, 2);
	return state_finish(self, &in, e);
}
static const struct op_desc op_thrice = {
	.name = "thrice", .kind = OP_TRANSFORM, .scope = OP_ELEMENT, .feed = thrice_feed,
	.state_size = sizeof(struct thrice), .save = thrice_save, .restore = thrice_restore
};

static void
the_end_is_told_again_and_again(void **state)
{
	struct fed f;
	struct op_node *n = node_new(&op_ticks, "4");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	assert_reads(i, "0 1 2 3 .");
	assert_int_equal(op_pull(i, &r, &e), ST_END);
	assert_int_equal(op_pull(i, &r, &e), ST_END);
	assert_true(op_ready(i));
	op_close(&i);
	op_node_free(&n);
}

static void
an_empty_run_is_never_given(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "35 2"), &op_tens, "");

	(void)state;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 10 20 30 .");
	op_node_free(&n);
}

static void
what_came_before_an_error_is_given_first(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "9 9"), &op_picky, "");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	assert_reads(i, "0 1 2 3 !");
	for (int k = 0; k < 2; k++) {
		err_clear(&e);
		assert_int_equal(op_pull(i, &r, &e), ST_DATA);
		assert_non_null(strstr(e.text, "`picky `: four"));
		assert_string_equal(e.file, "ticks.txt");
		assert_int_equal(e.line, 5);
	}
	assert_int_equal(f.failures, 1);
	assert_int_equal(f.fatal, 1);
	op_close(&i);
	op_node_free(&n);
}

static void
policies_skip_keep_and_try_again(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "7 4"), &op_picky, "");

	(void)state;
	n->on_error = OP_SKIP;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 3 5 6 .");
	assert_int_equal(f.failures, 1);
	assert_int_equal(f.fatal, 0);
	assert_memory_equal(f.last, "ticks.txt:5", 11);
	n->on_error = OP_KEEP;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 3 4 5 6 .");
	n->on_error = OP_FAIL;
	n->retries = 3;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 3 !");
	assert_int_equal(f.failures, 1);
	op_node_free(&n);
}

static void
a_source_skips_what_is_bad(void **state)
{
	struct fed f;
	struct op_node *n = node_new(&op_ticks, "5 2 fail_at=0");

	(void)state;
	assert_chain(n, fed_ctx(&f, NULL, 0), "!");
	assert_int_equal(f.fatal, 1);
	op_node_free(&n);
}

static void
stop_ends_a_pull_soon(void **state)
{
	struct fed f;
	struct op_node *n = node_new(&op_ticks, "9");
	struct op_inst *i;
	atomic_bool stop = false;
	struct err e = { 0 };

	(void)state;
	fed_ctx(&f, NULL, 0)->stop = &stop;
	assert_int_equal(op_open(n, &f.ctx, &i, &e), ST_OK);
	struct buf b = { 0 };
	read_some(i, 1, &b);
	atomic_store(&stop, true);
	read_some(i, 9, &b);
	assert_string_equal((char *)b.data, "0 1 2 ?");
	atomic_store(&stop, false);
	assert_reads(i, "3 4 5 6 7 8 .");
	buf_clear(&b);
	op_close(&i);
	op_node_free(&n);
}

static void
a_transform_that_is_done_stops_what_is_before_it(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "1000 3"), &op_take, "4");

	(void)state;
	ticks_asked = 0;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 3 .");
	assert_int_equal(ticks_asked, 2);
	op_node_free(&n);
	n = node_on(node_new(&op_ticks, "1000 3"), &op_take, "0");
	ticks_asked = 0;
	assert_chain(n, fed_ctx(&f, NULL, 0), ".");
	assert_int_equal(ticks_asked, 0);
	op_node_free(&n);
}

static void
a_large_element_is_an_error_where_it_is_made(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "10 10"), &op_batch, "9");

	(void)state;
	fed_ctx(&f, NULL, 0)->element_max = 8;
	assert_chain(n, &f.ctx, "!");
	assert_non_null(strstr(f.last, "limit of 8 bytes"));
	n->on_error = OP_SKIP;
	fed_ctx(&f, NULL, 0)->element_max = 8;
	assert_chain(n, &f.ctx, "[9] .");
	assert_int_equal(f.failures, 1);
	fed_ctx(&f, NULL, 0)->element_max = 10;
	assert_chain(n, &f.ctx, "[0,1,2,3,4,5,6,7,8] [9] .");
	op_node_free(&n);

	/* enumerate's are all small but for the limit */
	n = node_on(node_new(&op_ticks, "3 3"), &op_enumerate, "");
	n->on_error = OP_SKIP;
	fed_ctx(&f, NULL, 0)->element_max = 2;
	assert_chain(n, &f.ctx, ".");
	assert_int_equal(f.failures, 3);
	op_node_free(&n);
}

static void
one_by_one_and_by_runs_mix(void **state)
{
	struct fed f;
	struct op_node *n = node_new(&op_ticks, "8");
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	assert_false(op_ready(i));
	assert_int_equal(op_next(i, &x, &e), ST_OK);
	assert_int_equal(x.p[0], 0);
	assert_true(op_ready(i));
	struct buf b = { 0 };
	read_some(i, 1, &b);
	assert_string_equal((char *)b.data, "1 2 ");
	assert_false(op_ready(i));
	assert_int_equal(op_prime(i, &e), ST_OK);
	assert_true(op_ready(i));
	assert_int_equal(op_next(i, &x, &e), ST_OK);
	assert_int_equal(x.p[0], 3);
	assert_reads(i, "4 5 6 7 .");
	assert_int_equal(op_next(i, &x, &e), ST_END);
	buf_clear(&b);
	op_close(&i);
	op_node_free(&n);
}

static void
a_rewind_starts_over_and_counts(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "5"), &op_skip, "2");
	struct op_inst *i;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	struct buf b = { 0 };
	read_some(i, 1, &b);
	assert_string_equal((char *)b.data, "2 ");
	assert_int_equal(op_rewind(i, &e), ST_OK);
	assert_int_equal(i->epoch, 1);
	assert_int_equal(i->in[0]->epoch, 1);
	assert_reads(i, "2 3 4 .");
	buf_clear(&b);
	op_close(&i);
	op_node_free(&n);
}

static void
feed_may_go_on_with_the_same_run(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_on(node_new(&op_ticks, "3"), &op_thrice, ""), &op_take, "8");
	struct op_inst *i, *j;
	struct err e = { 0 };
	struct buf b = { 0 }, s = { 0 };

	(void)state;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 0 0 1 1 1 2 2 .");
	/* and between two of its calls it can be saved */
	assert_int_equal(op_open(n, &f.ctx, &i, &e), ST_OK);
	read_some(i, 2, &b);
	assert_string_equal((char *)b.data, "0 0 0 1 ");
	assert_true(op_state_save(i, &s));
	assert_int_equal(op_open(n, &f.ctx, &j, &e), ST_OK);
	assert_int_equal(op_state_restore(j, s.data, s.len, &e), ST_OK);
	assert_reads(j, "1 1 2 2 .");
	assert_reads(i, "1 1 2 2 .");
	op_close(&i);
	op_close(&j);
	buf_clear(&b);
	buf_clear(&s);
	op_node_free(&n);
}

static void
a_repeat_keeps_a_short_pass(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "3 2"), &op_repeat, "3");

	(void)state;
	ticks_opened = 0;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 0 1 2 0 1 2 .");
	assert_int_equal(ticks_opened, 1);
	op_node_free(&n);
	n = node_on(node_new(&op_ticks, "0"), &op_repeat, "inf");
	assert_chain(n, fed_ctx(&f, NULL, 0), ".");
	op_node_free(&n);
	n = node_on(node_new(&op_ticks, "3"), &op_repeat, "0");
	assert_chain(n, fed_ctx(&f, NULL, 0), ".");
	op_node_free(&n);
	n = node_on(node_on(node_new(&op_ticks, "3 9"), &op_repeat, "inf"), &op_take, "1000");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;
	uint64_t count = 0;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	while (op_pull(i, &r, &e) == ST_OK)
		for (uint32_t k = 0; k < r->n; k++, count++)
			assert_int_equal(r->e[k].p[0], count % 3);
	assert_int_equal(count, 1000);
	assert_true(i->stats.runs < 6); /* laid out several times over */
	op_close(&i);
	op_node_free(&n);
}

static void
a_state_of_something_else_is_refused(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "9"), &op_skip, "2");
	struct op_node *m = node_on(node_new(&op_ticks, "9"), &op_take, "2");
	struct op_inst *i;
	struct err e = { 0 };
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	assert_true(op_state_save(i, &b));
	op_close(&i);
	assert_int_equal(op_open(m, &f.ctx, &i, &e), ST_OK);
	assert_int_equal(op_state_restore(i, b.data, b.len, &e), ST_PROTO);
	op_close(&i);
	/* cut short anywhere, or with any byte changed: an answer, not a crash */
	for (size_t k = 0; k < b.len; k++) {
		assert_int_equal(op_open(n, &f.ctx, &i, &e), ST_OK);
		assert_int_equal(op_state_restore(i, b.data, k, &e), ST_PROTO);
		op_close(&i);
		for (unsigned v = 0; v < 256; v += 5) {
			uint8_t was = b.data[k];

			b.data[k] = (uint8_t)v;
			assert_int_equal(op_open(n, &f.ctx, &i, &e), ST_OK);
			op_state_restore(i, b.data, b.len, &e);
			op_close(&i);
			b.data[k] = was;
		}
	}
	buf_clear(&b);
	op_node_free(&n);
	op_node_free(&m);
}

/* Elements of several inner pipelines share a run, and still know their line. */
static void
provenance_passes_through_an_interleave(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "2"), &op_interleave, "cycle=2");

	(void)state;
	*(struct op_node **)n->params = node_new(&op_ticks, "7 3");
	n = node_on(node_on(n, &op_prefetch, ""), &op_picky, "");
	n->on_error = OP_SKIP;
	assert_chain(n, fed_ctx(&f, NULL, 0), "0 0 1 1 2 2 3 3 5 5 6 6 .");
	assert_int_equal(f.failures, 2);
	assert_memory_equal(f.last, "ticks.txt:5 ", 12);
	op_node_free(&n);
}
