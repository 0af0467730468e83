/* SPDX-License-Identifier: MIT */
#include "pass_on.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "op/remote/remote.h"
#include "read.h"

/* The operator's word for an option: `tail_of` for tail-of. */
static void
pass_on_name(const char *option, struct buf *out)
{
	buf_reset(out);
	for (const char *c = option; *c; c++)
		buf_byte(out, *c == '-' ? '_' : (uint8_t)*c);
	buf_byte(out, '\0');
}

/* The value of a scalar row, as users write it. */
static void
pass_on_text(const struct param *row, const void *base, struct buf *out)
{
	const void *field = (const char *)base + row->offset;
	const char *word = row->kind == PARAM_WORD ? *(const char *const *)field : NULL;
	char choice[64] = "";
	bool whole = row->kind == PARAM_INT || row->kind == PARAM_SIZE;
	int64_t n = 0;

	buf_reset(out);
	if (row->kind == PARAM_CHOICE && param_choice(row->choices, *(const int *)field, choice, sizeof choice))
		word = choice;
	if (whole)
		n = *(const int64_t *)field;
	if (row->kind == PARAM_DURATION) {
		n = *(const int64_t *)field;
		if (n == INT64_MAX)
			buf_str(out, "never");
		else
			buf_printf(out, "%" PRId64 "ns", n);
	} else if (whole && param_given(row, base))
		buf_printf(out, "%" PRId64, n);
	else
		buf_str(out, whole ? row->flags & PARAM_ALLOW_AUTO ? "auto" : "inf" : word ? word : "");
	buf_byte(out, '\0');
}

static enum status
pass_on_differs(const struct param *row, const struct op_node *n, const char *from, const char *asked,
		struct err *e)
{
	struct buf has = { 0 };

	pass_on_text(row, n->params, &has);
	err_set(e, ST_USAGE, "%s is %s, but `%s` in the pipeline says %s=%s", from, asked, n->desc->name,
		row->name, (char *)has.data);
	err_help(e, "leave one of them out");
	buf_clear(&has);
	return ST_USAGE;
}

/* Checks a parameter that the operator has itself: it must have the same value. */
static enum status
pass_on_row(const struct param *row, const struct op_node *n, const char *from, const char *text, struct err *e)
{
	size_t bit = (size_t)(row - n->desc->params);
	struct remote asked = { 0 };
	enum status st = param_set(row, &asked, text, strlen(text), e);

	if (st == ST_OK && n->given >> bit & 1 && !param_same(row, &asked, n->params))
		st = pass_on_differs(row, n, from, text, e);
	param_clear(n->desc->params, &asked);
	return st;
}

/* Options that are the job's, though an operator may have a parameter of the name of another. */
static bool
pass_on_may(const struct param *o)
{
	return o->offset >= offsetof(struct read_options, job) &&
	       o->offset < offsetof(struct read_options, job) + sizeof(struct job_opts);
}

enum status
pass_on_check(const struct plan *p, const struct program *program, const void *options,
	      const struct opt *opt, struct err *e)
{
	struct buf text = { 0 }, name = { 0 };
	enum status st = ST_OK;

	for (const struct param *o = program->rows; st == ST_OK && o->kind; o++) {
		const char *from = opt_from(opt, program, o->name);
		pass_on_name(o->name, &name);
		const struct param *row = param_find(p->service->desc->params, (char *)name.data, name.len - 1);

		if (!from || !row || !pass_on_may(o))
			continue;
		if (p->n_service > 1) {
			err_set(e, ST_USAGE, "%s: the pipeline takes elements from the service in %zu places",
				from, p->n_service);
			err_help(e, "write %s=... behind each `%s` that it is meant for", row->name,
				 p->service->desc->name);
			st = ST_USAGE;
			break;
		}
		pass_on_text(o, options, &text);
		st = pass_on_row(row, p->service, from, (char *)text.data, e);
	}
	buf_clear(&text);
	buf_clear(&name);
	return st;
}

void
pass_on_words(const struct program *program, const void *options, const struct opt *opt, struct words *out)
{
	struct buf text = { 0 }, name = { 0 }, word = { 0 };

	for (const struct param *o = program->rows; o->kind; o++) {
		if (!opt_from(opt, program, o->name) || !pass_on_may(o) ||
		    (o->kind != PARAM_WORD && o->kind != PARAM_CHOICE && o->kind != PARAM_INT &&
		     o->kind != PARAM_DURATION))
			continue;
		pass_on_text(o, options, &text);
		buf_reset(&word);
		pass_on_name(o->name, &name);
		buf_printf(&word, "%s=%s", (char *)name.data, (char *)text.data);
		words_add(out, (char *)word.data, word.len);
	}
	buf_clear(&text);
	buf_clear(&name);
	buf_clear(&word);
}
