/* SPDX-License-Identifier: MIT
 *
 * One source, made by hand and run by the chain: what the tests of sources share.
 */
#ifndef TESTS_SOURCE_HELP_H
#define TESTS_SOURCE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/op.h"
#include "op/pull.h"
#include "value/format/format.h"

struct src {
	struct op_node node;
	struct op_ctx ctx;
	struct op_inst *inst;
	struct split split;      /* where has_split is set */
	bool has_split, given;
	unsigned failures;
	char failure[ERR_TEXT];  /* words of the last one */
	char failure_file[256];
	uint64_t failure_line;
	struct err e;
};

static inline void
src_failed(void *arg, const struct op_failure *f)
{
	struct src *s = arg;

	s->failures++;
	snprintf(s->failure, sizeof s->failure, "%s", f->e->text);
	snprintf(s->failure_file, sizeof s->failure_file, "%s", f->file ? f->file : "");
	s->failure_line = f->line;
}

static inline enum status
src_split(void *arg, struct split *out, struct err *e)
{
	struct src *s = arg;

	(void)e;
	if (s->given)
		return ST_END;
	s->given = true;
	split_copy(out, &s->split);
	return ST_OK;
}

/* args: positional values and name=value, in one text divided by blanks. */
static inline void
src_init(struct src *s, const struct op_desc *d, const char *args)
{
	char *copy = mem_strdup(args), *save = NULL;
	const struct param *row = d->params;

	memset(s, 0, sizeof *s);
	s->node.desc = d;
	s->node.place = 1;
	s->node.params = mem_zalloc(d->state_size);
	s->ctx.element_max = 1 << 20;
	s->ctx.failure = src_failed;
	s->ctx.arg = s;
	param_defaults(d->params, s->node.params);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		const struct param *r = value ? param_find(d->params, w, (size_t)(value - w)) : NULL;

		value = r ? value + 1 : w;
		if (!r)
			r = row;
		if (r->kind == PARAM_WORDS)
			words_add((struct words *)((char *)s->node.params + r->offset), value, strlen(value));
		else if (r->kind == PARAM_VALUE) /* true */
			buf_byte((struct buf *)((char *)s->node.params + r->offset), 0xc3);
		else
			assert_int_equal(param_set(r, s->node.params, value, strlen(value), NULL), ST_OK);
		if (r == row && !(r->flags & PARAM_REST))
			row++;
	}
	mem_free(copy);
}

static inline void
src_clear(struct src *s)
{
	op_close(&s->inst);
	for (const struct param *r = s->node.desc->params; r->kind != PARAM_NONE; r++)
		if (r->kind == PARAM_VALUE)
			buf_clear((struct buf *)((char *)s->node.params + r->offset));
	param_clear(s->node.desc->params, s->node.params);
	mem_free(s->node.params);
	split_clear(&s->split);
}

static inline enum status
src_open(struct src *s)
{
	if (s->has_split)
		s->ctx.next_split = src_split;
	return op_open(&s->node, &s->ctx, &s->inst, &s->e);
}

/* Up to max elements more, each as a line of text. */
static inline enum status
src_read(struct src *s, struct buf *out, uint64_t max)
{
	struct elem e;
	enum status st = ST_OK;

	while (max-- && (st = op_next(s->inst, &e, &s->e)) == ST_OK) {
		text_print(e.p, e.len, out);
		buf_byte(out, '\n');
	}
	return st;
}

static inline enum status
src_all(struct src *s, struct buf *out)
{
	enum status st = src_open(s);

	buf_str(out, "");
	return st == ST_OK ? src_read(s, out, UINT64_MAX) : st;
}

/* The whole of a source that must end well. */
static inline void
src_expect(const struct op_desc *d, const char *args, const char *want)
{
	struct src s;
	struct buf got = { 0 };

	src_init(&s, d, args);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, want);
	src_clear(&s);
	buf_clear(&got);
}

/* It gives `want`, and then fails so. */
static inline void
src_expect_fault(const struct op_desc *d, const char *args, const char *want, enum status kind,
		 const char *words)
{
	struct src s;
	struct buf got = { 0 };

	src_init(&s, d, args);
	assert_int_equal(src_all(&s, &got), kind);
	assert_string_equal((char *)got.data, want);
	if (!strstr(s.e.text, words))
		assert_string_equal(s.e.text, words);
	src_clear(&s);
	buf_clear(&got);
}

/* Stops after some number of elements (every number, when they are few), saves, goes
 * on in another chain: the two parts together are the whole. */
static inline void
src_expect_resumes(const struct op_desc *d, const char *args, const struct split *split)
{
	struct buf whole = { 0 };
	uint64_t n = 0;
	struct src s;

	for (uint64_t stop = 0; stop == 0 || stop <= n; stop += n / 100 + 1) {
		struct buf both = { 0 }, saved = { 0 };

		src_init(&s, d, args);
		if (split) {
			s.has_split = true;
			split_copy(&s.split, split);
		}
		if (stop == 0) {
			assert_int_equal(src_all(&s, &whole), ST_END);
			for (size_t k = 0; k < whole.len; k++)
				n += whole.data[k] == '\n';
			assert_true(n < 5000);
		}
		if (stop) {
			assert_int_equal(src_open(&s), ST_OK);
			buf_str(&both, "");
			assert_int_equal(src_read(&s, &both, stop), ST_OK);
			assert_true(op_state_save(s.inst, &saved));
			op_close(&s.inst);
			assert_int_equal(src_open(&s), ST_OK);
			assert_int_equal(op_state_restore(s.inst, saved.data, saved.len, &s.e), ST_OK);
			assert_int_equal(src_read(&s, &both, UINT64_MAX), ST_END);
			assert_string_equal((char *)both.data, (char *)whole.data);
		}
		src_clear(&s);
		buf_clear(&both);
		buf_clear(&saved);
	}
	buf_clear(&whole);
}

#endif
