/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <stddef.h>

#include "cli/opt.h"
#include "host/link.h"
#include "lang/spec.h"
#include "lang/usage.h"
#include "ops.h"
#include "value/format/format.h"

static const struct param opts_rows[] = {
	{ .name = "to", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct run_opts, format), .def = "auto", .choices = FORMAT_CHOICES,
	  .help = "format of the elements; auto: text for scalars, else ndjson" },
	{ .name = "null", .letter = '0', .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, nul),
	  .help = "end each element by a NUL, as -t nul" },
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .max = INT64_MAX,
	  .offset = offsetof(struct run_opts, count), .def = "inf", .flags = PARAM_ALLOW_INF,
	  .help = "stop after N elements" },
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, output), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "write to FILE, which appears when all is written" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, set), .flags = PARAM_REPEAT,
	  .help = "set a parameter of the pipeline" },
	{ .name = "with", .arg = "NAME=(PIPELINE)", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, with), .flags = PARAM_RARE | PARAM_REPEAT,
	  .help = "take this pipeline, or (| fragment), for the let NAME: for tests" },
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, expression), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .help = "the pipeline" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE; -: standard input; operands are values of its parameters" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct run_opts, include), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "dir",
	  .help = "look here for included files" },
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct run_opts, seed),
	  .def = "auto", .flags = PARAM_RARE | PARAM_ALLOW_AUTO, .help = "seed of all random operators; default: a fresh one" },
	{ .name = "jobs", .letter = 'j', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct run_opts, jobs), .flags = PARAM_ALLOW_AUTO, .min = 1,
	  .max = 256, .help = "threads, usually 1, and as many in the pool for parallel=, usually one per "
	  "processor, as with auto; the order stays the same" },
	{ .name = "max-errors", .arg = "N", .kind = PARAM_INT, .max = INT64_MAX,
	  .offset = offsetof(struct run_opts, max_errors), .def = "inf", .flags = PARAM_RARE | PARAM_ALLOW_INF,
	  .help = "end with 65 when more than N elements failed that on_error lets go" },
	{ .name = "errors", .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct run_opts, errors), .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file",
	  .help = "write a JSON record of each failed element to FILE, one a line" },
	OPT_DISPATCHER(struct run_opts),
	{ .name = "check", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, check),
	  .help = "only check the pipeline" },
	{ .name = "explain", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, explain),
	  .help = "tell types, splits and what sharding gives; do not run it" },
	{ .name = "try", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, try),
	  .help = "show type and elements after each operator; three, or as -n says" },
	{ .name = "test", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, test),
	  .help = "run the tests that stand in the comments of spec files" },
	{ .name = "fmt", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, fmt),
	  .help = "print spec files in the usual layout; with --check: only name those that differ" },
	{ .name = "write", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, write),
	  .help = "with --fmt: write the files instead" },
	{ .name = "print", .arg = "PASS", .flags = PARAM_RARE, .kind = PARAM_CHOICE, .offset = offsetof(struct run_opts, print),
	  .def = "nothing", .choices = "nothing|tokens|tree|plan|canonical",
	  .help = "print what the pipeline is read as, and do not run it" },
	{ .name = "ops", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, ops),
	  .help = "list the operators" },
	{ .name = "help-op", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct run_opts, help_op),
	  .flags = PARAM_OPTIONAL, .complete = "operand", .help = "what an operator or a function does and takes" },
	{ .name = "stats", .kind = PARAM_BOOL, .offset = offsetof(struct run_opts, stats),
	  .help = "tell at the end what each operator took; and which takes most" },
	OPT_FAIL_EMPTY(struct run_opts),
	OPT_TIMEOUT(struct run_opts),
	OPT_QUIET(struct run_opts),
	OPT_VERBOSE(struct run_opts),
	{ 0 }
};

const struct program run_program = {
	.name = "dsvc-run",
	.brief = "run a pipeline in this process and write its elements to standard output",
	.synopsis = PROGRAM_TEXTS("[OPTION]... SPEC", "[OPTION]... -f FILE [VALUE]...",
				  "[OPTION]... OP [ARG]... [then OP [ARG]...]...", "--test FILE...", "--fmt [--write] FILE..."),
	.doc = PROGRAM_TEXTS(
		"A pipeline is a source and operators after it: 'lines a.log | filter x ~ /ERR/ | batch 4'. "
		"Given as several operands, its words are taken as they are, and `then` stands for `|`.",
		"No service is needed unless the pipeline has `distribute` or `dataset` in it."),
	.rows = opts_rows,
	.examples = (const struct program_example[]){
		{ "dsvc-run 'range 10 | map x*x | batch 4'", "squares, four to a line" },
		{ "dsvc-run lines *.log then filter x matches /ERR/", "without quotes" },
		{ "dsvc-run -s n=3 'range @n'", "a parameter" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "--test: a test failed; --fmt --check: a layout differs; --fail-empty: no element came" }, { 65, NULL }, { 66, NULL }, { 69, NULL }, { 74, NULL }, { 75, NULL }, { 124, NULL },
		{ 126, NULL }, { 127, NULL }, { -1, NULL } },
	.prints = (const struct program_print[]){ { "ops-mdoc", ops_mdoc }, { 0 } },
	.operand = "file",
	.operand_word = usage_word,
	.versions = link_versions,
	.instead = "file",
	.flags = PROGRAM_STOP_AT_OPERAND,
	.whole = spec_is_whole,
};
