/* SPDX-License-Identifier: MIT
 * The example of each operator gives the output that stands beside it: help and
 * manual print the two, and so cannot lie. */
#include "lang_help.h"

#include <stdatomic.h>
#include <unistd.h>

#include "value/format/format.h"
#include "op/pull.h"
#include "op/table.h"

/* Puts the text on standard input. */
static void
example_input(const char *text)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	fputs(text ? text : "", f);
	fflush(f);
	assert_true(dup2(fileno(f), STDIN_FILENO) == STDIN_FILENO);
	lseek(STDIN_FILENO, 0, SEEK_SET);
	fclose(f);
}

static bool
example_run(const struct op_desc *d)
{
	bool ok = false;
	struct spec_src src = { .text = d->example, .len = strlen(d->example) };
	struct op_ctx ctx = { .seed = 1, .element_max = SPEC_ELEMENT_MAX };
	struct buf out = { 0 };
	struct err e = { 0 };
	struct op_inst *chain;
	struct plan *p;
	struct run *r;

	example_input(d->input);
	if (plan_make(&src, &p, &e)) {
		print_error("%s: %s: %s\n", d->name, d->example, e.text);
		return false;
	}
	if (p->options.seed != PARAM_AUTO)
		ctx.seed = (uint64_t)p->options.seed;
	struct format *f = format_new(FORMAT_AUTO, p->type);
	enum status st = op_open(p->top, &ctx, &chain, &e);
	while (!st && !(st = op_pull(chain, &r, &e)))
		st = format_run(f, r, &out, &e);
	if (st == ST_END && format_end(f, &out, &e))
		st = e.kind;
	buf_str(&out, "");
	if (st != ST_END)
		print_error("%s: %s: %s\n", d->name, d->example, e.text);
	else if (strcmp((char *)out.data, d->output))
		print_error("%s: %s gives\n%snot\n%s\n", d->name, d->example, (char *)out.data, d->output);
	else
		ok = true;
	op_close(&chain);
	format_free(&f);
	plan_free(&p);
	buf_clear(&out);
	return ok;
}

static void
every_example_gives_its_output(void **state)
{
	size_t n = 0, good = 0;

	(void)state;
	assert_int_equal(chdir("tests/docs"), 0); /* where the files of examples are */
	for (size_t i = 0; op_at(i); i++)
		if (op_at(i)->example) {
			good += example_run(op_at(i));
			n++;
		}
	assert_int_equal(good, n);
	assert_true(n > 30);
}

static void
every_operator_is_documented(void **state)
{
	(void)state;
	for (size_t i = 0; op_at(i); i++) {
		const struct op_desc *d = op_at(i);
		if (!d->brief || (d->example && !d->output))
			fail_msg("%s lacks its brief, or the output of its example", d->name);
		for (const struct param *r = d->params; r && r->kind; r++)
			if (!r->help)
				fail_msg("%s: %s has no help", d->name, r->name);
	}
}
