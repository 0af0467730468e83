/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <string.h>

#include "cli/quit.h"
#include "fmt.h"
#include "selftest.h"

enum status
files_test(const struct run_opts *o, const struct opt *opt, struct buf *out, struct err *e)
{
	if (o->expression || o->set.n || !(o->file || opt->n)) {
		err_set(e, ST_USAGE, "--test needs spec files, and takes neither -e nor --set");
		err_help(e, "a test has its own: # test: --set NAME=VALUE");
		return ST_USAGE;
	}
	enum status st = o->file ? selftest_run(&o->file, 1, &o->include, out, e) : ST_OK;
	return st || !opt->n ? st : selftest_run(opt->operand, opt->n, &o->include, out, e);
}

enum status
files_fmt(const struct run_opts *o, const struct opt *opt, const struct spec_src *like,
	  struct buf *out, struct err *e)
{
	enum fmt_mode mode = o->check ? FMT_CHECK : o->write ? FMT_WRITE : FMT_PRINT;
	struct spec_src src = *like;
	bool changed = false, input = o->file && !strcmp(o->file, "-");
	enum status st = ST_OK;

	if (!(o->file || o->expression || opt->n))
		return err_set(e, ST_USAGE, "--fmt needs spec files, or a spec with -e");
	if (mode == FMT_WRITE && (o->expression || input))
		return err_set(e, ST_USAGE, "--write needs a file to write to");
	if (o->expression) {
		src.text = o->expression;
		src.len = strlen(o->expression);
		st = fmt_spec(&src, mode, &changed, out, e);
		src.text = NULL;
	}
	if (!st && o->file) {
		src.file = o->file;
		st = fmt_spec(&src, mode, &changed, out, e);
	}
	for (size_t i = 0; !st && i < opt->n; i++) {
		src.file = opt->operand[i];
		st = fmt_spec(&src, mode, &changed, out, e);
	}
	if (!st && mode == FMT_CHECK && changed) {
		/* The names are the answer, and the code says no. */
		st = quit_say(out, e);
		if (!st)
			st = err_set(e, ST_NO, "not in the layout of --fmt");
	}
	return st;
}
