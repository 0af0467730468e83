/* SPDX-License-Identifier: MIT */
#include "opts.h"

#include <stddef.h>

#include "cli/opt.h"
#include "host/link.h"
#include "lang/offer.h"
#include "lang/spec.h"
#include "lang/usage.h"

static const struct param opts_rows[] = {
	OPT_SERVICE(struct reg_opts),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD,
	  .offset = offsetof(struct reg_opts, expression), .flags = PARAM_OPTIONAL, .complete = "spec",
	  .help = "the pipeline" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct reg_opts, file), .flags = PARAM_OPTIONAL, .complete = "file",
	  .help = "read the pipeline from FILE (-: standard input); operands are the values of its parameters" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct reg_opts, set), .flags = PARAM_REPEAT, .complete = "param",
	  .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS,
	  .offset = offsetof(struct reg_opts, include), .flags = PARAM_REPEAT, .complete = "dir",
	  .help = "look for included files in DIR" },
	{ .name = "id", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(struct reg_opts, id),
	  .flags = PARAM_OPTIONAL | PARAM_NAME, .help = "register under this name; default: a hash of the pipeline" },
	{ .name = "check", .kind = PARAM_BOOL, .offset = offsetof(struct reg_opts, check),
	  .help = "only check the pipeline; needs no service" },
	{ .name = "hash", .kind = PARAM_BOOL, .offset = offsetof(struct reg_opts, hash), .flags = PARAM_RARE,
	  .help = "print the pipeline's id with all its 256 bits, for --datasets of dsvc-work; needs no service" },
	{ .name = "explain", .kind = PARAM_BOOL, .offset = offsetof(struct reg_opts, explain),
	  .help = "print what the pipeline does and how workers can divide it; needs no service" },
	OPT_JOIN(struct reg_opts),
	OPT_LAST(struct reg_opts),
	{ 0 }
};

const struct program reg_program = {
	.name = "dsvc-register",
	.brief = "check a pipeline, register it as a dataset and print its id",
	.synopsis = PROGRAM_TEXTS("[OPTION]... SPEC", "[OPTION]... -f FILE [VALUE]...",
				  "[OPTION]... WORD... [then WORD...]..."),
	.doc = PROGRAM_TEXTS(
		"The same pipeline always has the same id, whatever its layout; registering it again "
		"prints the same id. File names are made absolute."),
	.rows = opts_rows,
	.examples = (const struct program_example[]){
		{ "id=$(dsvc-register 'range 10 | map x*x')", "register, keep the id" },
		{ "dsvc-register --check -f web.dsvc", "look for mistakes only" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 65, "the pipeline is wrong, or the name belongs to another one" },
		{ 66, "a file of the pipeline does not exist" },
		{ 69, NULL }, { 75, NULL }, { 76, NULL }, EXITS_OF_KEYS, { 124, NULL }, { -1, NULL } },
	.operand = "file",
	.operand_word = usage_word,
	.spec_words = offer_words,
	.spec_params = offer_set,
	.versions = link_versions,
	.instead = "file",
	.flags = PROGRAM_STOP_AT_OPERAND,
	.whole = spec_is_whole,
};
