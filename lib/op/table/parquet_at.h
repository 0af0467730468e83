/* SPDX-License-Identifier: MIT
 *
 * Rows of Parquet files by index: those of the first file come first. A row group is decoded as a whole,
 * and kept for the next indices; when those that are kept take more than `hold` bytes, the one that was used
 * longest ago goes.
 */
#ifndef TABLE_PARQUET_AT_H
#define TABLE_PARQUET_AT_H

#include "op/table/parquet_file.h"

struct parquet_at_file;
struct parquet_at_group;

/* Zero is closed. */
struct parquet_at {
	struct words files;
	struct parquet_at_file *v;   /* one for each file, and one behind the last */
	struct run_part *parts;
	const struct table_as *as; /* lent */
	struct parquet_at_group *groups;
	size_t n, cap;               /* row groups that are kept */
	uint64_t count, hold, held, clock, again;
	bool told;
};

enum status parquet_at_open(struct op_inst *self, struct parquet_at *a, const struct words *names,
			    const struct table_as *as, uint64_t hold, struct err *e);
/* Implements op_desc.at. */
enum status parquet_at_give(struct op_inst *self, struct parquet_at *a, const uint64_t *index, uint32_t *k,
			    struct run *out, struct err *e);
void parquet_at_close(struct parquet_at *a);

#endif
