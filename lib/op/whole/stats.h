/* SPDX-License-Identifier: MIT
 *
 * What the parts of stats share: the operator itself (op_stats.c), and what it does on
 * workers and with what comes from there (stats_part.c).
 */
#ifndef WHOLE_STATS_H
#define WHOLE_STATS_H

#include "op/kit/expr_value.h"
#include "op/whole/partial.h"
#include "op/whole/row_keys.h"
#include "op/whole/tally.h"

struct stats {
	struct op_expr of, by;
	struct buf quantiles;
	int partial;          /* enum op_partial */
	int64_t mem;
	struct expr_value value, key;
	struct tally_quantiles *q;
	struct tally *v;      /* one, or that of each key */
	size_t cap;
	size_t bytes;         /* with by=: memory of the sums and numbers */
	struct row_keys keys; /* with by= */
	struct tally_more more; /* fields of all records, once `looked` */
	bool looked;
	uint32_t at;          /* the key to give next, at the end or, with partial=make, at that of a part */
	struct partial_end part;
};

static inline bool
stats_keyed(const struct stats *s)
{
	return s->by.code != NULL;
}

/* How many tallies there are. */
static inline uint32_t
stats_count(const struct stats *s)
{
	return stats_keyed(s) ? row_keys_count(&s->keys) : 1;
}

/* The number of a key, added if it is new. */
uint32_t stats_find(struct stats *s, const uint8_t *p, size_t len);
/* Adds in->e[i]: ST_OK, ST_SKIP: it is left out, or the error. */
enum status stats_one(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e);
/* Forgets everything; without by= an empty tally is left. */
void stats_empty(struct stats *s);
/* ST_OK, or the error when keys and their numbers take more than mem=. */
enum status stats_fits(struct op_inst *self, struct err *e);

/* partial=make: feed and finish. */
enum status stats_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
enum status stats_make_end(struct op_inst *self, struct run *out);
/* partial=join: feed. */
enum status stats_join(struct op_inst *self, const struct run *in, struct run *out, struct err *e);

#endif
