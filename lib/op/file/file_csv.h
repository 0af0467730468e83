/* SPDX-License-Identifier: MIT
 *
 * What csv and tsv share: both are value/csv/csv.h over files. A file that is read from its
 * middle (a byte range, a position) has its header looked up first.
 */
#ifndef FILE_FILE_CSV_H
#define FILE_FILE_CSV_H

#include "op/file/file_source.h"
#include "value/csv/csv.h"

enum file_csv_types { FILE_CSV_AUTO, FILE_CSV_TEXT };

struct file_csv {
	struct file_source src;
	/* parameters */
	char *delim, *quote; /* NULL: TSV */
	struct buf columns;  /* a list of texts, or empty */
	bool header;
	int types;
	bool ragged;
	char *comment; /* NULL: there are no comments */
	/* state while running */
	char **names;        /* the parameter `columns` as texts */
	size_t n_names;
	struct csv *csv;
};

#define FILE_CSV_ROWS(TYPE)                                                                    \
	{ "header", PARAM_BOOL, offsetof(TYPE, header), "true", .flags = PARAM_KEY_ONLY,        \
	  .help = "the first row of each file has the names of the columns; without names rows " \
		  "become lists" }, \
	{ "columns", PARAM_VALUE, offsetof(TYPE, columns),                                      \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,                                             \
	  .help = "with a header, the columns to keep, in this order; otherwise the names of " \
		  "all columns" },  \
	{ "types", PARAM_CHOICE, offsetof(TYPE, types), "auto", .flags = PARAM_KEY_ONLY,        \
	  .choices = "auto|text",                                                               \
	  .help = "auto: recognise numbers, true and false, and read empty fields as null; text: " \
		  "leave all fields as text" }, \
	{ "ragged", PARAM_BOOL, offsetof(TYPE, ragged), "false", .flags = PARAM_KEY_ONLY,       \
	  .help = "allow rows with fewer fields than there are columns, whose last columns are then " \
		  "like empty fields, and with more, which are called by their number" },     \
	{ "comment", PARAM_WORD, offsetof(TYPE, comment),                                       \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,                                             \
	  .help = "pass over lines that begin with this text, such as \"#\"; not inside quotes" }, \
	FILE_SOURCE_NAMED(TYPE)

enum status file_csv_typing(struct op_node *n, struct op_typing *t, const struct type **type,
			    struct err *e);
enum status file_csv_check(const struct op_node *n, struct err *e);
enum status file_csv_list(const struct op_node *n, struct split_list *out, struct err *e);
enum status file_csv_open(struct op_inst *self, struct err *e);
enum status file_csv_next(struct op_inst *self, struct run *out, struct err *e);
void file_csv_close(struct op_inst *self);

#endif
