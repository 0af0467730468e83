/* SPDX-License-Identifier: MIT
 *
 * The options about the output's format beside -t, for programs that write elements.
 */
#ifndef CLI_FORMAT_ROWS_H
#define CLI_FORMAT_ROWS_H

#include "base/param.h"
#include "value/format/format.h"

extern const int format_rows_said[]; /* 1, 2, 3: numbers of words from 1 */

/* S has a struct format_opts `form`, and a struct json_rules `json` with what is said. */
#define FORMAT_ROWS(S) \
	{ .name = "delim", .arg = "CHAR", .kind = PARAM_WORD, .offset = offsetof(S, form.delim), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL, \
	  .help = "with -t csv: the character between fields, in place of a comma; \\t: a tab" }, \
	{ .name = "unsparsify", .kind = PARAM_BOOL, .offset = offsetof(S, form.unsparsify), .flags = PARAM_RARE, \
	  .help = "with -t csv and tsv: give each field of any record a column; nothing is written before the end" }, \
	{ .name = "no-header", .kind = PARAM_BOOL, .offset = offsetof(S, form.no_header), .flags = PARAM_RARE, \
	  .help = "with -t csv and tsv: write rows without names" }, \
	{ .name = "nonfinite", .arg = "WORD", .kind = PARAM_CHOICE, .offset = offsetof(S, json.nonfinite), \
	  .flags = PARAM_RARE, .choices = JSON_NONFINITE_CHOICES, .values = format_rows_said, \
	  .help = "what JSON gets for infinity and NaN: null (the default), an error, or \"NaN\" and \"Infinity\"" }, \
	{ .name = "invalid-utf8", .arg = "WORD", .kind = PARAM_CHOICE, .offset = offsetof(S, json.invalid_utf8), \
	  .flags = PARAM_RARE, .choices = JSON_INVALID_CHOICES, .values = format_rows_said, \
	  .help = "what JSON gets for a text that is not UTF-8: an error (the default), or U+FFFD in place of bytes" }

#endif
