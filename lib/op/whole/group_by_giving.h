/* SPDX-License-Identifier: MIT
 *
 * The end of group_by: one record for each key, in the order in which the keys came first.
 *
 *	tables:  keys, groups --> [run 0][run 1][run 2]...    run 0 is given while threads of the pool make others
 *
 * Runs are made ahead where there are many keys and what they have is small; else one after the other, since there is
 * to be room for one large record only.
 */
#ifndef WHOLE_GROUP_BY_GIVING_H
#define WHOLE_GROUP_BY_GIVING_H

#include "op/whole/group_by.h"

/* A table, and the key in it that is given next. */
struct group_by_from {
	const struct group_by *table;
	const uint64_t *firsts; /* ascending: where each key came first among those of all tables; NULL: it is the only one */
	uint32_t at;
};

struct group_by_giving;

/* The n tables, at least one, do not change until the end. */
struct group_by_giving *group_by_giving_begin(const struct op_inst *self, const struct group_by_from *from, uint32_t n);
/* The callback finish: gives the next records. */
enum status group_by_giving_take(struct group_by_giving *v, struct run *out, struct err *e);
void group_by_giving_end(struct group_by_giving **v); /* accepts NULL in *v */

#endif
