/* SPDX-License-Identifier: MIT
 *
 * Tests that stand in the comments of a spec file:
 *
 *	# test: --set mark=6 -n 2     begins one; options of the run
 *	# in: 3                       a line of its standard input
 *	# out: {"n":4}                a line it is to print
 *	# fail: 65 unknown operator   it is to end with this code, and to say this
 *
 * One blank after the colon is not part of the line. A block ends at the first
 * line that is no comment. Words of options are split at blanks, outside of
 * quotes and brackets. Without `fail` the run is to end with 0.
 */
#ifndef LANG_TESTBLOCK_H
#define LANG_TESTBLOCK_H

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"

enum { TESTBLOCK_MAX = 1000, TESTBLOCK_WORDS = 64 };

struct testblock {
	unsigned line;       /* line at which it begins */
	char *title;         /* its options as written */
	struct words args;
	struct buf in, out;  /* lines of each, with their newlines */
	int code;            /* expected exit code */
	char *says;          /* text that stderr must contain; NULL: not checked */
};

struct testblocks {
	struct testblock *v;
	size_t n, cap;
};

/* Reads all tests of a text into *out. A mistake is an error with its place (ST_DATA). */
enum status testblocks_read(const char *file, const char *text, size_t len, struct testblocks *out,
			    struct err *e);
void testblocks_clear(struct testblocks *t);

#endif
