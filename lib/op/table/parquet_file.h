/* SPDX-License-Identifier: MIT
 *
 * One Parquet file, row group by row group:
 *
 *	parquet_file_open --> parquet_file_begin(group, row) --> parquet_file_more, until ST_END
 *	                                                     --> arrow_rows_put(at.rows, at.row) for each row of the batch
 *
 * Between these, table_batch_pass leaves out rows that a filter will not let through. Only the columns that were
 * chosen are read. A row group is decoded batch by batch. Errors name the row group.
 */
#ifndef TABLE_PARQUET_FILE_H
#define TABLE_PARQUET_FILE_H

#include "op/table/table_batch.h"
#include "op/table/table_from.h"

struct parquet_limits;

struct parquet_file {
	struct table_from in;
	const struct arrow_plugin *plugin;
	struct arrow_parquet *file;
	int64_t groups;
	uint64_t *first;            /* number of rows before each group, and of all */
	uint64_t *offset;           /* where each begins in the file, in bytes */
	int64_t *batch;             /* rows to be decoded at once */
	struct parquet_limits *limits; /* NULL: all row groups are wanted */
	/* the group at hand */
	int64_t group;
	struct table_batch at;
	uint64_t left;              /* rows of the group that have not come in batches yet */
};

void parquet_file_init(struct parquet_file *f);
/* Reads what the file says of itself. ST_UNAVAIL: the plugin is missing. */
enum status parquet_file_open(struct parquet_file *f, const char *path, const char *tag, const struct table_as *as,
			      const struct op_ctx *ctx, struct err *e);
/* The type of its records, before any projection; to be called instead of reading. */
enum status parquet_file_type(struct parquet_file *f, const struct table_as *as, struct types *arena,
			      const struct type **type, struct err *e);
/* Whether the statistics of a group say that the tests let no row of it through. */
bool parquet_file_excludes(struct parquet_file *f, int64_t group);
/* Goes to a row of a group, counted from 0. */
enum status parquet_file_begin(struct parquet_file *f, int64_t group, uint64_t row, struct err *e);
/* Makes sure that there is a row; ST_END: the group has no more. */
enum status parquet_file_more(struct parquet_file *f, struct err *e);
void parquet_file_close(struct parquet_file *f);

#endif
