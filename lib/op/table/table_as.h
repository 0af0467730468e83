/* SPDX-License-Identifier: MIT
 *
 * What the sources of tables, Parquet and Arrow, have been asked for.
 */
#ifndef TABLE_TABLE_AS_H
#define TABLE_TABLE_AS_H

#include "base/buf.h"
#include "base/param.h"
#include "expr/condition.h"
#include "value/arrow/arrow_rows.h"
#include "value/json/json.h"

struct file_source;
struct op_inst;

/* The parameters. */
struct table_said {
	struct buf columns;
	int times, decimals;
};
#define TABLE_AS_PARAMS(TYPE, said)                                                                            \
	{ "columns", PARAM_VALUE, offsetof(TYPE, said.columns), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,      \
	  .help = "the columns to read, in this order" },                                                      \
	{ "times", PARAM_CHOICE, offsetof(TYPE, said.times), "seconds", .flags = PARAM_KEY_ONLY,               \
	  .choices = ARROW_TIMES,                                                                              \
	  .help = "timestamps, dates, times and durations as a float, in seconds (since 1970, since midnight); as text, in " \
		  "ISO 8601; or as the int that the file has" },                                               \
	{ "decimals", PARAM_CHOICE, offsetof(TYPE, said.decimals), "float", .flags = PARAM_KEY_ONLY,           \
	  .choices = ARROW_DECIMALS, .help = "decimals as the nearest float, or as text with all their digits" }

/* The part of each file that is read, and the form that its values get. */
struct table_as {
	char **names;               /* the parameter `columns`; NULL: all */
	size_t n_names;
	struct arrow_as as;
	const struct type *want;    /* the records of all files are of this type; NULL: nothing is known; lent */
	const struct json_fields *project; /* the fields that are used; NULL: all; lent */
	const struct conditions *tests;    /* rows of which these let none through need not be read; NULL: all; lent */
};

/* Reads the parameters; names, times and decimals of *as are set. */
enum status table_as_read(const struct table_said *said, struct table_as *as, struct err *e);
/* Likewise for a source that is being opened, with what its node says of the rows that are used. want: the type that
 * all files have; NULL: it is not known. Sets src->counts. */
enum status table_as_open(const struct op_inst *self, const struct table_said *said, const struct type *want,
			  struct file_source *src, struct table_as *as, struct err *e);
void table_as_clear(struct table_as *as);
/* Compares the type of a file's rows with that of the other files. */
enum status table_same(const struct arrow_rows *rows, const struct type *want, struct err *e);
/* Gives the columns of the rows that the pipeline looks at; *n of them, lent by `arena`. */
char **table_as_projected(const struct table_as *as, const struct type *has, size_t *n);

#endif
