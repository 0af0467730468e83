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
	GROUP_LIST,
	GROUP_STDDEV,  /* population; the cell has the sums of numbers and of squares (wide_sum.h) */
	GROUP_QUANTILE /* the cell has the numbers as doubles, until group_squeeze */
};

struct digest;

#define GROUP_MOST (((uint64_t)1 << 61) - 1)

/* Two fill a line of the cache. */
struct group {
	uint64_t n : 61;           /* number of elements so far, GROUP_MOST at most */
	uint64_t is_float : 1;     /* the sum is a float */
	uint64_t pair : 1;         /* GROUP_SUM and GROUP_MEAN of floats: the sum is sum.high + low (two_sum.h); no cell */
	uint64_t squeezed : 1;     /* GROUP_QUANTILE: the numbers are in sum.digest, and none in the cell */
	union {
		int64_t i;        /* GROUP_SUM and GROUP_MEAN; what leaves 64 bits is in the cell, to be added */
		double high;      /* a part of the sum, where `pair` */
		struct digest *digest; /* GROUP_QUANTILE, approximate */
	} sum;
	union {
		uint8_t *cell;    /* the value or, of a list, its items; of a sum, what is not in sum.i (wide_sum.h) */
		double low;       /* the rest of the sum, where `pair` */
	};
	uint32_t len, cap;
};

/* Whether the group keeps values that were added. */
static inline bool
group_keeps(enum group_agg agg)
{
	return agg >= GROUP_MIN && agg <= GROUP_LIST;
}

/* Sets the group's value. *bytes is kept equal to the size of the cells. */
void group_set(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes);
/* NULL, or the reason why group_add would refuse the value. */
const char *group_refuses(enum group_agg agg, const uint8_t *p, size_t len);
/* Adds a value; gives NULL, or the reason why it cannot be added. */
const char *group_add(struct group *g, enum group_agg agg, const uint8_t *p, size_t len,
		      struct slab *cells, size_t *bytes);
/* Parts of what group_add does: adds an int to a GROUP_SUM or GROUP_MEAN; adds a number to a GROUP_QUANTILE, which
 * leaves nan out; and adds a sum that is valid, or two (wide_sum.h). None of them counts. */
void group_add_int(struct group *g, int64_t i, struct slab *cells, size_t *bytes);
const char *group_add_number(struct group *g, double x, struct slab *cells, size_t *bytes);
void group_join_wide(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes);
/* Puts what a sum has beside sum.i, WIDE_MOST bytes at most; gives the end. */
uint8_t *group_put_wide(const struct group *g, uint8_t *p);
/* Makes a large set of numbers approximate, which takes less memory; true: it was one. */
bool group_squeeze(struct group *g, struct slab *cells, size_t *bytes);
/* Gives the cell back, and what else the group has. */
void group_free(struct group *g, struct slab *cells);
/* Frees what slab_clear of its cells would leave, which is to follow: the group is not to be used then. */
void group_release(struct group *g);
/* Upper bound for the bytes of the result, and the result; gives its end. */
size_t group_room(const struct group *g);
uint8_t *group_put(const struct group *g, enum group_agg agg, uint8_t *p);
/* The q-th quantile of a GROUP_QUANTILE; nil without numbers. */
uint8_t *group_put_quantile(const struct group *g, double q, uint8_t *p);
/* NULL, or the reason why there is no result. */
const char *group_wrong(const struct group *g, enum group_agg agg);
uint8_t *group_put_state(const struct group *g, uint8_t *p);
/* false: too large to be saved. */
bool group_save(const struct group *g, struct buf *out);
/* Restores a group; a wrong number of values sets in->bad. */
void group_restore(struct group *g, bool reduce, enum group_agg agg, struct state_in *in,
		   struct slab *cells, size_t *bytes);

#endif
