/* SPDX-License-Identifier: MIT
 *
 * The options about the output's format beside -t, for programs that write elements.
 */
#ifndef CLI_FORMAT_ROWS_H
#define CLI_FORMAT_ROWS_H

#include "base/param.h"
#include "value/format/format.h"

/* S has a struct format_opts `form`. */
#define FORMAT_ROWS(S) \
	{ .name = "delim", .arg = "CHAR", .kind = PARAM_WORD, .offset = offsetof(S, form.delim), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL, \
	  .help = "with -t csv: the character between fields, in place of a comma; \\t: a tab" }, \
	{ .name = "unsparsify", .kind = PARAM_BOOL, .offset = offsetof(S, form.unsparsify), .flags = PARAM_RARE, \
	  .help = "with -t csv and tsv: give each field of any record a column; nothing is written before the end" }, \
	{ .name = "no-header", .kind = PARAM_BOOL, .offset = offsetof(S, form.no_header), .flags = PARAM_RARE, \
	  .help = "with -t csv and tsv: write rows without names" }

#endif
