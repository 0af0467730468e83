/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli/progress.h"
#include "cli/wait_workers.h"
#include "host/link.h"
#include "lang/offer.h"
#include "save.h"

static const struct param rows[] = {
	OPT_SERVICE(struct save_options),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct save_options, expression), .flags = PARAM_OPTIONAL, .complete = "spec",
	  .help = "save this pipeline, without registering it first" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct save_options, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE (-: standard input); operands are the values of its parameters" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct save_options, set), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "param",
	  .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct save_options, include), .flags = PARAM_RARE | PARAM_REPEAT, .complete = "dir",
	  .help = "look for included files in DIR" },
	{ .name = "shards", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct save_options, shards),
	  .def = "auto", .flags = PARAM_ALLOW_AUTO | PARAM_ZERO, .min = 1, .max = JOB_SHARDS_MAX,
	  .help = "number of streams, each of which writes files of its own; auto: one per slot of the workers" },
	{ .name = "chunk", .arg = "SIZE", .kind = PARAM_SIZE, .offset = offsetof(struct save_options, chunk),
	  .def = "256M", .min = 1, .max = INT64_MAX,
	  .help = "complete a file at SIZE bytes, before compression" },
	{ .name = "chunk-time", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct save_options, chunk_time), .def = "0", .flags = PARAM_RARE, .max = INT64_MAX,
	  .help = "complete a file after DURATION, with the next elements, though it is smaller; 0: never" },
	{ .name = "compression", .arg = "CODEC", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct save_options, codec), .def = "none", .choices = SAVE_CODECS,
	  .complete = SAVE_CODECS, .help = "compress the files: none, snappy or zstd" },
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT,
	  .offset = offsetof(struct save_options, count), .def = "inf", .flags = PARAM_ALLOW_INF,
	  .min = 1, .max = INT64_MAX, .help = "save the first N elements, which one stream writes" },
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, .offset = offsetof(struct save_options, seed),
	  .given = offsetof(struct save_options, seeded), .def = "auto",
	  .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO,
	  .help = "seed of all random operators; auto: a new one each time" },
	{ .name = "detach", .kind = PARAM_BOOL, .offset = offsetof(struct save_options, detach),
	  .flags = PARAM_BY_HAND, .help = "exit once the save runs; the same command without it waits for its end" },
	{ .name = "overwrite", .kind = PARAM_BOOL, .offset = offsetof(struct save_options, overwrite),
	  .flags = PARAM_BY_HAND, .help = "replace what was saved in DIR before" },
	{ .name = "if-missing", .kind = PARAM_BOOL, .offset = offsetof(struct save_options, if_missing),
	  .help = "exit 0 if DIR is saved already" },
	{ .name = "fail", .kind = PARAM_BOOL, .offset = offsetof(struct save_options, fail), .flags = PARAM_RARE,
	  .help = "fail when the disk is full, instead of waiting for room" },
	OPT_WAIT_WORKERS(offsetof(struct save_options, wait_workers), PARAM_RARE),
	{ .name = "give-up", .arg = "DURATION", .kind = PARAM_DURATION,
	  .offset = offsetof(struct save_options, give_up), .def = "0", .flags = PARAM_RARE, .max = INT64_MAX,
	  .help = "give up on a lost dispatcher after DURATION; for one with state; 0: never" },
	{ .name = "progress", .letter = 'p', .arg = "WHEN", .kind = PARAM_CHOICE,
	  .offset = offsetof(struct save_options, progress), .def = "auto", .choices = PROGRESS_CHOICES,
	  .complete = PROGRESS_CHOICES, .help = "show progress: always, never or auto; auto: on a terminal" },
	OPT_JOIN(struct save_options),
	OPT_LAST(struct save_options),
	{ 0 }
};

const struct program save_program = {
	.name = "dsvc-save",
	.brief = "have the workers of a service save a dataset to files",
	.synopsis = PROGRAM_TEXTS("[OPTION]... DIR DATASET", "[OPTION]... -e SPEC DIR",
				  "[OPTION]... -f FILE DIR [VALUE]..."),
	.doc = PROGRAM_TEXTS(
		"The workers write the elements to files in DIR, which they and dsvc-save must share. "
		"No element passes through dsvc-save: if it is killed, the save goes on, and the "
		"same command follows it again.",
		"Every element is saved exactly once, though workers or the dispatcher may be killed. "
		"At the end DIR has a file SNAPSHOT, and `load DIR` reads it; `load DIR wait=true` reads "
		"files as they are completed."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-save /data/features \"$id\"", "save a registered dataset, and wait for the end" },
		{ "dsvc-save --detach -e 'lines /logs/*.gz' /data/logs", "begin to save a pipeline" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 65, "the pipeline is wrong or without end, an element failed, or DIR is saved already" },
		{ 66, NULL }, { 69, "no dispatcher answered, no worker was ready in time, or none can be reached" },
		{ 74, "a file cannot be written, or DIR is not shared with the workers" },
		{ 75, "another save to DIR runs, or contact was lost" }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL },
		{ -1, NULL } },
	.operand = "dir",
	.operand_name = "dataset",
	.spec_words = offer_words,
	.spec_params = offer_set,
	.versions = link_versions,
};
