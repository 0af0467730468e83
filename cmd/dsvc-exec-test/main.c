/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli/opt.h"
#include "cli/program.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "checks.h"
#include "value/format/frame.h"

static const struct param rows[] = {
	{ .name = "proto", .letter = 'P', .arg = "PROTO", .kind = PARAM_CHOICE, .def = "line",
	  .offset = offsetof(struct test_options, proto), .choices = FRAME_CHOICES,
	  .help = "protocol that the program speaks, see dsvc-exec(7)" },
	{ .name = "input", .letter = 'i', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct test_options, input), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "input lines for the program, JSON values for ndjson and msgpack; default: some short texts" },
	{ .name = "limit", .arg = "DURATION", .kind = PARAM_DURATION, .def = "10s", .min = 1,
	  .offset = offsetof(struct test_options, limit), .max = INT64_MAX / 4,
	  .help = "time limit of each check" },
	{ 0 }
};

static const struct program program = {
	.name = "dsvc-exec-test",
	.brief = "check that a program works as an operator",
	.synopsis = PROGRAM_TEXTS("[OPTION]... [--] PROGRAM [ARG]..."),
	.doc = PROGRAM_TEXTS(
		"Runs the program as `exec` would, under the conditions that it will meet, and reports "
		"for each whether it copes: an answer for each element, answers at once, many elements "
		"ahead of the answers, a large element, the end of its input, several copies."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-exec-test -- sed -u s/a/b/", "a filter of lines" },
		{ "dsvc-exec-test -P msgpack -i samples.ndjson -- ./score.py", "a program that scores records" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "a check failed" }, { 126, "the program cannot be run" },
		{ 127, "there is no such program" }, { -1, NULL } },
	.flags = PROGRAM_STOP_AT_OPERAND,
};

int
main(int argc, char **argv)
{
	struct test_options o = { 0 };
	struct test t = { .o = &o };
	struct opt opt;
	struct err e = { 0 };
	enum status st;
	int code;

	if (!opt_start(&program, argc, argv, &o, LOG_WARN, &opt, &e, &code))
		return code;
	t.command = opt.operand;
	t.words = opt.n;
	if (opt.n == 0) {
		st = err_set(&e, ST_USAGE, "no program to try");
		err_help(&e, "dsvc-exec-test -- sed -u s/a/b/");
	} else {
		st = test_all(&t, &e);
	}
	if (t.out.len && quit_write(&t.out, &e) != ST_OK)
		st = e.kind;
	if (st == ST_OK)
		st = quit_flush(&e);
	buf_clear(&t.out);
	opt_clear(&program, &o, &opt);
	return st != ST_OK ? report(program.name, &e) : t.failed > 0;
}
