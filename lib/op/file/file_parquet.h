/* SPDX-License-Identifier: MIT
 *
 * One Parquet file, row group by row group:
 *
 *	file_parquet_open --> file_parquet_group: rows of each --> file_parquet_begin(group, row)
 *	                                  --> file_parquet_put, until ST_END, for one row after the other
 *
 * Only the columns that were chosen are read. A row group is decoded batch by batch. Errors name the row group.
 */
#ifndef FILE_FILE_PARQUET_H
#define FILE_FILE_PARQUET_H

#include "op/file/file_random.h"
#include "value/arrow/arrow_rows.h"
#include "value/json/json.h"

/* The part of each file that is read, and the form that its values get. */
struct parquet_as {
	char **names;               /* the parameter `columns`; NULL: all */
	size_t n_names;
	struct arrow_as as;
	const struct type *want;    /* the records of all files are of this type; NULL: nothing is known; lent */
	const struct json_fields *project; /* the fields that are used; NULL: all; lent */
};

struct file_parquet {
	struct file_random in;
	const struct arrow_plugin *plugin;
	struct arrow_parquet *file;
	struct arrow_rows *rows;
	int64_t groups;
	uint64_t *first;            /* number of rows before each group, and of all */
	uint64_t *offset;           /* where each begins in the file, in bytes */
	int64_t *batch;             /* rows to be decoded at once */
	/* the group at hand */
	int64_t group;
	struct ArrowArray array;
	int64_t row, in_batch;      /* in the batch; of it */
	uint64_t left;              /* rows of the group that have not come in batches yet */
};

void file_parquet_init(struct file_parquet *f);
/* Reads what the file says of itself. ST_UNAVAIL: the plugin is missing. */
enum status file_parquet_open(struct file_parquet *f, const char *path, const char *tag, const struct parquet_as *as,
			      const struct op_ctx *ctx, struct err *e);
/* The type of its records, before any projection; to be called instead of reading. */
enum status file_parquet_type(struct file_parquet *f, const struct parquet_as *as, struct types *arena,
			      const struct type **type, struct err *e);
/* Goes to a row of a group, counted from 0. */
enum status file_parquet_begin(struct file_parquet *f, int64_t group, uint64_t row, struct err *e);
/* Makes sure that there is a row; ST_END: the group has no more. */
enum status file_parquet_more(struct file_parquet *f, struct err *e);
void file_parquet_close(struct file_parquet *f);

#endif
