/* SPDX-License-Identifier: MIT
 *
 * A program as a table: what it is called, its options, its examples. Parsing,
 * -h, --help, the generated parts of its manual page and its completion all
 * read this one struct; a main.c fills it and types nothing twice.
 *
 *	static const struct param rows[] = {
 *		OPT_DISPATCHER(struct reader),
 *		{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT,
 *		  .offset = offsetof(struct reader, count), .def = "inf",
 *		  .flags = PARAM_ALLOW_INF, .help = "stop after N elements" },
 *		{ 0 }
 *	};
 *	static const struct program program = {
 *		.name = "dsvc-read",
 *		.brief = "write the elements of a dataset to standard output",
 *		.synopsis = PROGRAM_TEXTS("[OPTION]... DATASET", "[OPTION]... -e SPEC"),
 *		.rows = rows,
 *		...
 *	};
 *
 * Kinds of rows: with `arg` an option takes an argument of its kind. Without, it
 * is a switch: PARAM_BOOL is set by --foo and unset by --no-foo, PARAM_INT counts
 * how often it was given. PARAM_REPEAT (kind PARAM_WORDS) collects. No option is
 * required; without `def` its field stays zero. Every visible row is also the
 * environment variable DSVC_FOO_BAR, and DSVC_READ_FOO_BAR, which is stronger.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/param.h"
#include "version.h"

/* A list of texts that ends with NULL. */
#define PROGRAM_TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum program_flag {
	/* Option parsing ends at the first operand, which begins a spec whose
	 * words may look like options. Not where that operand is all there is to
	 * say (program.whole): then options may follow it. */
	PROGRAM_STOP_AT_OPERAND = 1
};

struct program_example {
	const char *run; /* a command line; NULL ends the list */
	const char *say; /* its purpose in one clause */
};

struct program_exit {
	int code;        /* -1 ends the list */
	const char *say; /* when; NULL: the words of the common table */
};

/* A hidden option --print-NAME that writes something generated to stdout. */
struct program_print {
	const char *name; /* NULL ends the list */
	void (*print)(struct buf *out);
};

struct program {
	const char *name;                        /* "dsvc-read" */
	const char *brief;                       /* one clause, no capital, no full stop */
	/* the arguments after the name, one form per line */
	const char *const *synopsis;
	const char *const *doc;                  /* paragraphs of --help; NULL: none */
	const struct param *rows;
	const struct program_example *examples;  /* the first two are on -h, too; NULL: none */
	const struct program_exit *exits;        /* besides 0 and 64; NULL: none */
	const struct program_print *prints;      /* NULL: none */
	const char *operand;                     /* completion of operands, like param.complete */
	const char *(*operand_word)(size_t i);   /* further words for them; NULL at the end */
	const char *operand_name;                /* further names for them: "job" or "dataset"; NULL: none */
	/* Completes a spec in quotes, the first operand or the argument of a row with
	 * complete = "spec", for the hidden --print-words TEXT (lang/offer.h). NULL: none. */
	void (*spec_words)(const char *text, struct buf *out);
	/* Likewise the parameters of the spec in a whole command line, for --print-params LINE. */
	void (*spec_params)(const char *line, struct buf *out);
	bool (*whole)(const char *operand);      /* PROGRAM_STOP_AT_OPERAND: see there; NULL: never */
	const char *instead;                     /* an option that says what operands else do: with it they
	                                          * are values, and options may follow them; NULL: none */
	void (*versions)(struct buf *out);       /* adds lines to --version; NULL: none */
	unsigned flags;
};

#endif
