/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <stddef.h>

#include "cli/opt.h"
#include "cli/progress.h"
#include "host/link.h"
#include "lang/graph.h"
#include "lang/offer.h"
#include "lang/spec.h"
#include "lang/usage.h"
#include "ops.h"
#include "value/format/format.h"

/* 0: no picture */
static const int opts_graphs[] = { 1 + GRAPH_TEXT, 1 + GRAPH_DOT, 1 + GRAPH_SVG };

static const struct param opts_rows[] = {
	{ .name = "to", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct run_opts, format), .def = "auto", .choices = FORMAT_CHOICES,
	  .help = "output format; auto: text for scalars, else ndjson" },
	{ .name = "null", .letter = '0', .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, nul),
	  .help = "end each element with a NUL, like -t nul" },
	FORMAT_ROWS(struct run_opts),
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .max = INT64_MAX,
	  .offset = offsetof(struct run_opts, count), .def = "inf", .flags = PARAM_ALLOW_INF,
	  .help = "stop after N elements" },
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, output), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "write to FILE, which appears when complete" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, set), .flags = PARAM_REPEAT, .complete = "param",
	  .help = "set a parameter of the pipeline" },
	{ .name = "with", .arg = "NAME=(PIPELINE)", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, with), .flags = PARAM_RARE | PARAM_REPEAT,
	  .help = "use this pipeline, or (| fragment), in place of `let NAME`, for tests" },
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, expression), .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "spec",
	  .help = "the pipeline" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE (-: standard input); operands are the values of its parameters" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, include), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "dir",
	  .help = "look for included files in DIR" },
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct run_opts, seed),
	  .def = "auto", .flags = PARAM_RARE | PARAM_ALLOW_AUTO,
	  .help = "seed of all random operators; auto: a new one each time" },
	{ .name = "jobs", .letter = 'j', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct run_opts, jobs), .flags = PARAM_ALLOW_AUTO | PARAM_PROCESSORS, .min = 1,
	  .max = 256, .help = "source threads (default 1); also the size of the pool that parallel= uses "
	  "(default: one per processor, like auto and 0); 50%, +1 and -1 are of the processors; the order stays the same" },
	{ .name = "max-errors", .arg = "N", .kind = PARAM_INT, .max = INT64_MAX,
	  .offset = offsetof(struct run_opts, max_errors), .def = "inf", .flags = PARAM_RARE | PARAM_ALLOW_INF,
	  .help = "exit 65 if more than N elements fail under on_error=skip or keep" },
	{ .name = "errors", .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, errors), .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file",
	  .help = "write a JSON record of each failed element to FILE, one per line" },
	OPT_SERVICE(struct run_opts),
	OPT_TMP_MAX(struct run_opts),
	{ .name = "check", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, check),
	  .help = "only check the pipeline" },
	{ .name = "explain", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, explain),
	  .help = "print types, splits and the effect of sharding; do not run it" },
	{ .name = "graph", .arg = "text|dot|svg", .kind = PARAM_CHOICE, .offset = offsetof(struct run_opts, graph),
	  .choices = "text|dot|svg", .values = opts_graphs, .complete = "text|dot|svg",
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_BARE,
	  .help = "print the pipeline as a picture: operators, types, and what runs on workers; do not run it" },
	{ .name = "try", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, try),
	  .help = "show type and elements after each operator; the first three, or -n N" },
	{ .name = "joblog", .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, joblog), .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file",
	  .help = "log each element that exec and sh ran a program on, as GNU parallel does" },
	{ .name = "resume", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, resume),
	  .help = "with --joblog: leave out the elements that are in the log" },
	{ .name = "resume-failed", .flags = PARAM_RARE, .kind = PARAM_BOOL,
	  .offset = offsetof(struct run_opts, resume_failed),
	  .help = "the same, but run those again that failed" },
	{ .name = "halt", .arg = "WHEN", .kind = PARAM_WORD, .offset = offsetof(struct run_opts, halt),
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "never|soon,fail=1|now,fail=1|soon,fail=10%|now,success=1",
	  .help = "when failures end the run: never; soon,fail=N or P% (what runs may end); now,fail=N; "
	  "also success=, done=" },
	{ .name = "tag", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, tag),
	  .help = "begin each line of an answer with the element that it answers, and a tab" },
	{ .name = "dry-run", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, dry_run),
	  .help = "print the commands that exec and sh would run, quoted for a shell; run none of them" },
	{ .name = "test", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, test),
	  .help = "run the tests in the comments of spec files" },
	{ .name = "fmt", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, fmt),
	  .help = "print spec files in the usual layout; with --check: only list those that differ" },
	{ .name = "write", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, write),
	  .help = "with --fmt: write the files instead" },
	{ .name = "print", .arg = "PASS", .flags = PARAM_RARE, .kind = PARAM_CHOICE,
	  .offset = offsetof(struct run_opts, print), .def = "nothing", .choices = "nothing|tokens|tree|plan|canonical",
	  .help = "print how the pipeline is understood; do not run it" },
	{ .name = "ops", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, ops),
	  .help = "list the operators" },
	{ .name = "functions", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, functions),
	  .help = "list the functions of expressions" },
	{ .name = "help-op", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct run_opts, help_op),
	  .flags = PARAM_OPTIONAL, .complete = "operand", .help = "show help for an operator or a function" },
	OPT_PROGRESS(struct run_opts),
	{ .name = "stats", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, stats),
	  .help = "print at the end how long each operator took; and which took longest" },
	OPT_TRACE(struct run_opts),
	OPT_FAIL_EMPTY(struct run_opts),
	OPT_LAST(struct run_opts),
	{ 0 }
};

const struct program run_program = {
	.name = "dsvc-run",
	.brief = "run a pipeline in this process and write its elements to standard output",
	.synopsis = PROGRAM_TEXTS("[OPTION]... SPEC", "[OPTION]... -f FILE [VALUE]...",
				  "[OPTION]... OP [ARG]... [then OP [ARG]...]...", "--test FILE...", "--fmt [--write] FILE..."),
	.doc = PROGRAM_TEXTS(
		"A pipeline is a source and operators after it: 'lines a.log | filter x ~ /ERR/ | batch 4'. "
		"Given as several operands, its words are taken literally, and `then` stands for `|`.",
		"No service is needed unless the pipeline has `distribute` or `dataset` in it."),
	.rows = opts_rows,
	.examples = (const struct program_example[]){
		{ "dsvc-run 'range 10 | map x*x | batch 4'", "squares, four to a line" },
		{ "dsvc-run lines *.log then filter x matches /ERR/", "without quotes" },
		{ "dsvc-run -s n=3 'range @n'", "a parameter" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "--test: a test failed; --fmt --check: a layout differs; --fail-empty: there was no element" },
		{ 65, NULL }, { 66, NULL }, { 69, NULL }, { 74, NULL }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS,
		{ 124, NULL },
		{ 126, NULL }, { 127, NULL }, { -1, NULL } },
	.prints = (const struct program_print[]){ { "ops-mdoc", ops_mdoc }, { "names", ops_names }, { 0 } },
	.operand = "file",
	.operand_word = usage_word,
	.spec_words = offer_words,
	.spec_params = offer_set,
	.versions = link_versions,
	.instead = "file",
	.flags = PROGRAM_STOP_AT_OPERAND,
	.whole = spec_is_whole,
};
