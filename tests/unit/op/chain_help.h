/* SPDX-License-Identifier: MIT
 *
 * Chains made by hand, and a source that follows a script: what the tests of
 * the framework share.
 */
#ifndef TESTS_CHAIN_HELP_H
#define TESTS_CHAIN_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/op.h"
#include "op/pull.h"
#include "op/state.h"
#include "value/format/format.h"
#include "value/mp.h"

/* A source of the integers 0 .. n-1, `run` of them at a time; it counts how
 * often it was opened and asked. Splits are ranges. */
struct ticks {
	int64_t n, run;
	int64_t fail_at;  /* an error in place of this one; -1: never */
	uint64_t at, end;
};

static unsigned ticks_opened, ticks_asked;

static inline enum status
ticks_open(struct op_inst *self, struct err *e)
{
	struct ticks *t = self->state;

	(void)e;
	ticks_opened++;
	t->at = self->split ? self->split->start : 0;
	t->end = self->split ? self->split->start + self->split->count : (uint64_t)t->n;
	return ST_OK;
}

static inline enum status
ticks_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct ticks *t = self->state;

	ticks_asked++;
	if (t->at >= t->end)
		return ST_END;
	out->file = "ticks.txt";
	out->line = t->at + 1;
	for (uint32_t k = 0; k < t->run && t->at < t->end; k++, t->at++) {
		if ((int64_t)t->at == t->fail_at) {
			err_set(e, ST_DATA, "bad tick");
			return op_source_fault(self, out->file, t->at + 1, e);
		}
		run_done(out, mp_put_uint(run_room(out, MP_INT_MAX), t->at), k);
	}
	return ST_OK;
}

static inline enum status
ticks_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct ticks *t = n->params;
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = (uint64_t)t->n };

	(void)e;
	split_list_add(out, &s);
	return ST_OK;
}

static const struct param ticks_params[] = {
	{ "n", PARAM_INT, offsetof(struct ticks, n), .help = "how many" },
	{ "run", PARAM_INT, offsetof(struct ticks, run), "3", .help = "at a time" },
	{ "fail_at", PARAM_INT, offsetof(struct ticks, fail_at), "-1", .help = "where it fails" },
	{ 0 }
};

static const struct op_desc op_ticks = {
	.name = "ticks", .kind = OP_SOURCE, .params = ticks_params,
	.state_size = sizeof(struct ticks), .list = ticks_list, .open = ticks_open,
	.next = ticks_next
};

/* args: positional values and name=value, divided by blanks. */
static inline struct op_node *
node_new(const struct op_desc *d, const char *args)
{
	static uint32_t place;
	struct op_node *n = mem_zalloc(sizeof *n);
	char *copy = mem_strdup(args), *save = NULL;
	const struct param *row = d->params;

	n->desc = d;
	n->place = ++place;
	n->text = mem_printf("%s %s", d->name, args);
	n->params = mem_zalloc(d->state_size + 1);
	if (d->params)
		param_defaults(d->params, n->params);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		const struct param *r = value ? param_find(d->params, w, (size_t)(value - w)) : row++;

		value = value ? value + 1 : w;
		assert_int_equal(param_set(r, n->params, value, strlen(value), NULL), ST_OK);
	}
	mem_free(copy);
	return n;
}

/* Puts a node behind others; takes them. */
static inline struct op_node *
node_after(struct op_node *n, struct op_node *a, struct op_node *b)
{
	n->n_in = (size_t)(a != NULL) + (b != NULL);
	n->in = mem_array(2, sizeof *n->in);
	n->in[0] = a;
	n->in[1] = b;
	return n;
}

static inline struct op_node *
node_on(struct op_node *up, const struct op_desc *d, const char *args)
{
	return node_after(node_new(d, args), up, NULL);
}

/* The splits that a chain is fed with. */
struct fed {
	const struct split *v;
	size_t n, at;
	unsigned failures, fatal;
	char last[4096];
	struct op_ctx ctx;
};

static inline enum status
fed_next(void *arg, struct split *out, struct err *e)
{
	struct fed *f = arg;

	(void)e;
	if (f->at == f->n)
		return ST_END;
	split_copy(out, &f->v[f->at++]);
	return ST_OK;
}

static inline void
fed_failed(void *arg, const struct op_failure *failure)
{
	struct fed *f = arg;

	f->failures++;
	f->fatal += failure->fatal;
	snprintf(f->last, sizeof f->last, "%s:%llu %s", failure->file ? failure->file : "-",
		 (unsigned long long)failure->line, failure->e->text);
}

static inline struct op_ctx *
fed_ctx(struct fed *f, const struct split *v, size_t n)
{
	memset(f, 0, sizeof *f);
	f->v = v;
	f->n = n;
	f->ctx.seed = 7;
	f->ctx.arg = f;
	f->ctx.failure = fed_failed;
	f->ctx.next_split = v ? fed_next : NULL;
	return &f->ctx;
}

/* Elements from now on as text, divided by blanks; at most max runs. The end is
 * written as `.`, an error as `!`, a stop as `?`. */
static inline void
read_some(struct op_inst *i, unsigned max, struct buf *out)
{
	struct run *r;
	struct err e = { 0 };
	enum status st = ST_OK;

	while (max-- && (st = op_pull(i, &r, &e)) == ST_OK) {
		assert_true(r->n > 0);
		for (uint32_t k = 0; k < r->n; k++) {
			text_print(r->e[k].p, r->e[k].len, out);
			buf_byte(out, ' ');
		}
	}
	if (st != ST_OK)
		buf_str(out, st == ST_END ? "." : st == ST_AGAIN ? "?" : "!");
}

static inline void
assert_reads(struct op_inst *i, const char *expected)
{
	struct buf b = { 0 };

	read_some(i, UINT32_MAX, &b);
	assert_string_equal((char *)b.data, expected);
	buf_clear(&b);
}

static inline void
assert_chain(const struct op_node *n, struct op_ctx *ctx, const char *expected)
{
	struct op_inst *i;
	struct err e = { 0 };

	assert_int_equal(op_open(n, ctx, &i, &e), ST_OK);
	assert_reads(i, expected);
	op_close(&i);
}

#endif
