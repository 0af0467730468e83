/* SPDX-License-Identifier: MIT */
#include "chain_help.h"
#include "op/facts.h"
#include "op/pull.h"

#include <pthread.h>

extern const struct op_desc op_take, op_repeat, op_prefetch, op_batch, op_shuffle;

/* A source that gives one element each time a gate is opened. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_news = PTHREAD_COND_INITIALIZER;
static int gate_open;

static void
gate_let(int n)
{
	pthread_mutex_lock(&gate_lock);
	gate_open += n;
	pthread_cond_broadcast(&gate_news);
	pthread_mutex_unlock(&gate_lock);
}

static enum status
gate_next(struct op_inst *self, struct run *out, struct err *e)
{
	bool stop = false;

	(void)e;
	pthread_mutex_lock(&gate_lock);
	while (!gate_open && !stop) {
		struct timespec t;

		stop = self->ctx->stop && atomic_load(self->ctx->stop);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec = t.tv_nsec + 1000000 < 1000000000 ? t.tv_nsec + 1000000 : 999999999;
		pthread_cond_timedwait(&gate_news, &gate_lock, &t);
	}
	gate_open -= !stop;
	pthread_mutex_unlock(&gate_lock);
	if (stop)
		return ST_AGAIN;
	run_done(out, mp_put_uint(run_room(out, MP_INT_MAX), 1), 0);
	return ST_OK;
}
static const struct op_desc op_gate = {
	.name = "gate", .kind = OP_SOURCE, .next = gate_next, .flags = OP_LOCAL
};

static void
it_gives_what_comes_in_order(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "100000 7"), &op_prefetch, "50");
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;
	uint64_t count = 0;
	enum status st;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	for (; (st = op_next(i, &x, &e)) == ST_OK; count++) {
		struct mp m;

		mp_head(x.p, x.p + x.len, &m);
		assert_int_equal(m.i, count);
	}
	assert_int_equal(st, ST_END);
	assert_int_equal(count, 100000);
	op_close(&i);
	op_node_free(&n);
}

static void
an_element_is_given_when_it_is_there(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_gate, ""), &op_prefetch, "auto");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	for (int k = 0; k < 5; k++) {
		gate_let(1);
		assert_int_equal(op_pull(i, &r, &e), ST_OK);
		assert_int_equal(r->n, 1);
	}
	/* the thread waits in the source: closing ends that */
	op_close(&i);
	gate_open = 0;
	op_node_free(&n);
}

static void *
stopper(void *arg)
{
	atomic_store((atomic_bool *)arg, true);
	return NULL;
}

static void
stop_ends_the_wait(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_gate, ""), &op_prefetch, "auto");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;
	atomic_bool stop = false;
	pthread_t t;

	(void)state;
	fed_ctx(&f, NULL, 0)->stop = &stop;
	assert_int_equal(op_open(n, &f.ctx, &i, &e), ST_OK);
	pthread_create(&t, NULL, stopper, &stop);
	assert_int_equal(op_pull(i, &r, &e), ST_AGAIN);
	pthread_join(t, NULL);
	op_close(&i);
	op_node_free(&n);
}

static void
an_input_without_end_does_not_hold_up_the_close(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "9"), &op_repeat, "inf");

	(void)state;
	n = node_on(node_on(n, &op_prefetch, "5"), &op_prefetch, "5");
	n = node_on(n, &op_take, "3");
	for (int k = 0; k < 50; k++)
		assert_chain(n, fed_ctx(&f, NULL, 0), "0 1 2 .");
	op_node_free(&n);
}

static void
errors_come_behind_what_was_before_them(void **state)
{
	struct fed f;
	struct op_node *n = node_on(node_new(&op_ticks, "9 2 fail_at=5"), &op_prefetch, "5");
	struct op_inst *i;
	struct err e = { 0 };
	struct run *r;

	(void)state;
	assert_int_equal(op_open(n, fed_ctx(&f, NULL, 0), &i, &e), ST_OK);
	assert_reads(i, "0 1 2 3 4 !");
	assert_int_equal(op_pull(i, &r, &e), ST_DATA);
	assert_non_null(strstr(e.text, "bad tick"));
	op_close(&i);
	op_node_free(&n);
}

/* By split and under a repeat, saved after each run: the thread is held still. */
static void
it_can_be_saved_while_it_runs(void **state)
{
	struct split v[] = { { .kind = SPLIT_RANGE, .start = 3, .count = 40, .times = 1 } };
	struct op_node *n = node_on(node_new(&op_ticks, "100 3"), &op_batch, "2");
	struct fed f, g;
	struct op_inst *i, *j;
	struct err e = { 0 };
	struct buf whole = { 0 }, head = { 0 }, s = { 0 };

	(void)state;
	n = node_on(node_on(n, &op_prefetch, "9"), &op_shuffle, "4");
	n = node_on(node_on(n, &op_repeat, "2"), &op_prefetch, "6");
	assert_int_equal(op_open(n, fed_ctx(&f, v, 1), &i, &e), ST_OK);
	read_some(i, UINT32_MAX, &whole);
	op_close(&i);
	assert_int_equal(op_open(n, fed_ctx(&f, v, 1), &i, &e), ST_OK);
	while (!i->ended) {
		struct buf rest = { 0 };

		buf_reset(&s);
		assert_true(op_state_save(i, &s));
		fed_ctx(&g, v, 1);
		g.at = f.at;
		assert_int_equal(op_open(n, &g.ctx, &j, &e), ST_OK);
		assert_int_equal(op_state_restore(j, s.data, s.len, &e), ST_OK);
		if (head.len)
			buf_put(&rest, head.data, head.len);
		read_some(j, UINT32_MAX, &rest);
		assert_string_equal((char *)rest.data, (char *)whole.data);
		op_close(&j);
		buf_clear(&rest);
		read_some(i, 1, &head);
	}
	assert_string_equal((char *)head.data, (char *)whole.data);
	op_close(&i);
	buf_clear(&whole);
	buf_clear(&head);
	buf_clear(&s);
	op_node_free(&n);
}
