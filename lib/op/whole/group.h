/* SPDX-License-Identifier: MIT
 *
 * What the elements of one key come to, as group_by works it out: a number, or
 * one encoded value in a cell of a slab.
 */
#ifndef WHOLE_GROUP_H
#define WHOLE_GROUP_H

#include "op/kit/slab.h"
#include "op/state.h"

enum group_agg {
	GROUP_COUNT, GROUP_SUM, GROUP_MEAN, GROUP_MIN, GROUP_MAX, GROUP_FIRST, GROUP_LAST,
	GROUP_LIST
};

struct group {
	uint64_t n;       /* elements so far */
	union {
		int64_t i;
		double f;
	} sum;
	uint8_t *cell;    /* a value; of a list, its items */
	uint32_t len, cap;
	bool is_float;    /* the sum is */
};

/* *bytes follows what the cells take. */
void group_set(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes);
/* Adds a value; NULL, or why it cannot be. */
const char *group_add(struct group *g, enum group_agg agg, const uint8_t *p, size_t len,
		      struct slab *cells, size_t *bytes);
/* Room for the result, and the result: gives its end. */
size_t group_room(const struct group *g);
uint8_t *group_put(const struct group *g, enum group_agg agg, uint8_t *p);
uint8_t *group_put_state(const struct group *g, uint8_t *p);
void group_save(const struct group *g, struct buf *out);
/* What is not as many values as there must be makes the state bad. */
void group_restore(struct group *g, bool reduce, enum group_agg agg, struct state_in *in,
		   struct slab *cells, size_t *bytes);

#endif
