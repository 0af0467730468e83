/* SPDX-License-Identifier: MIT
 *
 * --stats: elements and time of each operator, and a sentence that names the one
 * that takes most of it.
 *
 *	dsvc-run: 1000000 elements in 0.071 s (14084507/s)
 *	   operator          elements      time  share
 *	   1 range 1000000    1000000   0.002 s    3 %
 *	   2 map x * x        1000000   0.050 s   71 %
 *	     output           1000000   0.018 s   26 %
 *	operator 2 `map x * x` takes 71 % of the time
 *
 * The time of an operator is its own, without that of those before it; of inner
 * pipelines it is that of the operator they stand in. Threads' times are added up.
 */
#ifndef HOST_RUN_STATS_H
#define HOST_RUN_STATS_H

#include <stdint.h>

#include "base/buf.h"
#include "op/op.h"

struct run_stats_row {
	const struct op_node *node;
	uint64_t elements, failed;
	int64_t ns;
};

/* Zero is empty. */
struct run_stats {
	struct run_stats_row *rows;
	size_t n, cap;
};

/* Adds what a chain counted, to the same operators' rows; `skip` (may be NULL)
 * is left out. */
void run_stats_add(struct run_stats *m, const struct op_inst *chain, const struct op_node *skip);
void run_stats_join(struct run_stats *m, const struct run_stats *from);
/* Takes time away from an operator: it waited for others. */
void run_stats_less(struct run_stats *m, const struct op_node *n, int64_t ns);
/* Appends the table and the sentence. */
void run_stats_print(struct run_stats *m, uint64_t output, int64_t output_ns, struct buf *out);
void run_stats_clear(struct run_stats *m);

#endif
