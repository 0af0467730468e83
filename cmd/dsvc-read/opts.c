/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "cli/opt.h"
#include "cli/wait_workers.h"
#include "host/link.h"
#include "lang/offer.h"
#include "lang/usage.h"
#include "op/op.h"
#include "op/table.h"
#include "read.h"
#include "wire/msg.h"

static const struct param rows[] = {
	OPT_SERVICE(struct read_options),
	OPT_TMP_MAX(struct read_options),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, expression), .flags = PARAM_OPTIONAL, .complete = "spec",
	  .help = "read this pipeline, without registering it first" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE (-: standard input); operands are the values of its parameters" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct read_options, set), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "param",
	  .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct read_options, include), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "dir",
	  .help = "look for included files in DIR" },
	JOB_ROWS_NAMED(struct read_options, job, "-"),
	{ .name = "type", .arg = "TYPE", .kind = PARAM_WORD, .offset = offsetof(struct read_options, type),
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_NAME, .complete = "any|int|float|bool|text|bytes",
	  .help = "exit 65 before anything runs if elements may be of another type than TYPE" },
	{ .name = "epochs", .arg = "N", .flags = PARAM_RARE, .kind = PARAM_INT,
	  .offset = offsetof(struct read_options, epochs), .def = "1", .min = 1, .max = UINT32_MAX,
	  .help = "read N passes, one after the other" },
	{ .name = "to", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct read_options, format), .def = "auto", .choices = FORMAT_CHOICES,
	  .complete = FORMAT_CHOICES, .help = "output format; auto: text for scalars, else ndjson" },
	{ .name = "null", .letter = '0', .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct read_options, nul),
	  .help = "end each element with a NUL, like -t nul" },
	FORMAT_ROWS(struct read_options),
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct read_options, count), .def = "inf", .flags = PARAM_ALLOW_INF,
	  .max = INT64_MAX, .help = "stop after N elements" },
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, output), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "write to FILE, which appears when complete" },
	{ .name = "checkpoint", .arg = "FILE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct read_options, checkpoints), .flags = PARAM_REPEAT, .complete = "file",
	  .help = "keep the position in FILE; resume from it if the file exists" },
	{ .name = "checkpoint-rounds", .arg = "N", .flags = PARAM_RARE | PARAM_ZERO, .kind = PARAM_INT, .def = "0", .min = 0,
	  .max = INT64_MAX, .offset = offsetof(struct read_options, job.checkpoint_rounds),
	  .help = "in rounds, with --checkpoint: another number of consumers can go on after every N rounds; "
		  "0: they cannot" },
	{ .name = "ack-fd", .arg = "N", .flags = PARAM_RARE, .kind = PARAM_INT,
	  .offset = offsetof(struct read_options, ack_fd), .def = "-1", .min = -1, .max = 1 << 20,
	  .help = "elements count as finished when a line on descriptor N gives their total number so far" },
	{ .name = "joblog", .arg = "FILE", .flags = PARAM_RARE | PARAM_OPTIONAL, .kind = PARAM_WORD, .complete = "file",
	  .offset = offsetof(struct read_options, joblog),
	  .help = "write a line for each element that exec or sh, as the last operator on the workers, has worked on" },
	{ .name = "halt", .arg = "WHEN", .kind = PARAM_WORD, .offset = offsetof(struct read_options, halt),
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "never|soon,fail=1|now,fail=1|soon,fail=10%|now,success=1",
	  .help = "when failures of programs on workers end the run: never; soon,fail=N or P%; also success=, done=" },
	{ .name = "tag", .flags = PARAM_RARE, .kind = PARAM_BOOL, .offset = offsetof(struct read_options, tag),
	  .help = "begin each line of an answer of exec or sh with the element that it answers, and a tab" },
	{ .name = "max-errors", .arg = "N", .kind = PARAM_INT, .max = INT64_MAX,
	  .offset = offsetof(struct read_options, job.max_errors), .given = offsetof(struct read_options, job.limited),
	  .def = "inf", .flags = PARAM_RARE | PARAM_ALLOW_INF | PARAM_ZERO,
	  .help = "exit 65 if more than N elements fail under on_error=skip or keep" },
	{ .name = "on-missed", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(struct read_options, on_missed),
	  .def = "warn", .flags = PARAM_RARE, .choices = "warn|fail", .complete = "warn|fail",
	  .help = "when the group is not given all elements: say so at the end, or exit 65 at once" },
	{ .name = "errors", .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct read_options, errors), .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file",
	  .help = "at the end, write JSON records of the elements that failed in the pass to FILE, at most 1000" },
	OPT_WAIT_WORKERS(offsetof(struct read_options, wait_workers), 0),
	{ .name = "give-up", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct read_options, give_up), .def = "0", .max = INT64_MAX,
	  .help = "give up on a lost dispatcher after DURATION; for one with state; 0: never" },
	OPT_PROGRESS(struct read_options),
	{ .name = "stats", .kind = PARAM_BOOL, .offset = offsetof(struct read_options, stats),
	  .help = "print totals and rate at the end" },
	OPT_TRACE(struct read_options),
	OPT_FAIL_EMPTY(struct read_options),
	OPT_JOIN(struct read_options),
	OPT_LAST(struct read_options),
	{ 0 }
};

/* A dataset's id, or a whole spec; not the first word of one. */
static bool
opts_whole(const char *operand)
{
	return strcmp(operand, "(") != 0 && !op_find(operand, strlen(operand));
}

const struct program read_program = {
	.name = "dsvc-read",
	.brief = "write the elements of a dataset to standard output",
	.synopsis = PROGRAM_TEXTS("[OPTION]... DATASET", "[OPTION]... -e SPEC",
				  "[OPTION]... -f FILE [VALUE]...", "[OPTION]... WORD... [then WORD...]..."),
	.doc = PROGRAM_TEXTS(
		"The workers of the service make the elements; each comes once, in the order in which "
		"they are ready. Readers that name the same job share its elements. When a worker is "
		"lost, others take over without losing or repeating an element.",
		"A single operand without blanks is the id or name of a registered dataset. Operators "
		"after `distribute` in a pipeline run in this process. If the pipeline has one `distribute` or "
		"`dataset`, options that this operator takes itself, such as --job, are applied to it.",
		"With --checkpoint the reader may be killed and started again, also with other workers: "
		"every element comes exactly once over all its runs. With --output the file is first cut "
		"back to what was saved, so it holds each element once. A position that has reached the "
		"end stays there: remove the file to start over.",
		"Elements that were written count as read. If reading stops early, by a signal or an "
		"error, the output so far is therefore kept as FILE.PID.part."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-read \"$id\" | jq .user | sort | uniq -c", "a registered dataset" },
		{ "dsvc-read -e 'range 10 | map x*x'", "a pipeline, at once" },
		{ "dsvc-read -J train -n 1000 \"$id\"", "a share of what the readers of `train` divide" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "--fail-empty: there was no element" },
		{ 65, "the pipeline is wrong, or an element failed" },
		{ 66, NULL }, { 69, "no dispatcher answered, no worker was ready in time, or none can be reached" }, { 74, NULL },
		{ 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.operand = "file",
	.operand_word = usage_word,
	.operand_name = "dataset",
	.spec_words = offer_words,
	.spec_params = offer_set,
	.versions = link_versions,
	.instead = "file",
	.flags = PROGRAM_STOP_AT_OPERAND,
	.whole = opts_whole,
};
