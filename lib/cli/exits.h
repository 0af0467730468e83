/* SPDX-License-Identifier: MIT
 *
 * The exit codes, the same for every program: they say whether running it
 * again may help.
 */
#ifndef CLI_EXITS_H
#define CLI_EXITS_H

#include "base/err.h"
#include "cli/program.h"

struct exits_row {
	int code;
	const char *name; /* "USAGE" */
	const char *say;  /* when */
};

/* Ends with a row of code -1. */
extern const struct exits_row exits_table[];

/* 0 for answers that are no errors, 1 for ST_NO, else the kind itself. */
int exits_code(enum status kind);
/* The i-th exit code of a program with its words: 0 and 64, then its own.
 * False at the end. */
bool exits_of(const struct program *p, size_t i, struct exits_row *out);

#endif
