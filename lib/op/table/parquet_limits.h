/* SPDX-License-Identifier: MIT
 *
 * What the statistics of row groups say about the conditions of a filter. Least and greatest values are made into
 * values as those of rows are, which keeps their order; where it does not (text of times and decimals), nothing is
 * known.
 */
#ifndef TABLE_PARQUET_LIMITS_H
#define TABLE_PARQUET_LIMITS_H

#include "expr/condition.h"
#include "value/arrow/arrow_rows.h"

struct parquet_limits;

/* For one file. The conditions are lent. Gives. */
struct parquet_limits *parquet_limits_new(const struct conditions *tests, struct arrow_as as);
/* Whether none of a group's rows can pass or fail. */
bool parquet_limits_exclude(struct parquet_limits *l, const struct arrow_plugin *plugin, struct arrow_parquet *file,
			    int64_t group, int64_t rows);
void parquet_limits_free(struct parquet_limits **l);

#endif
