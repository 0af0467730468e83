/* SPDX-License-Identifier: MIT
 *
 * Cutting splits from a source's units, sized by what is left: large first,
 * small last, so that the end is balanced over the streams.
 *
 *	size = remaining weight / (4 x streams), at least CUT_MIN_*, at most CUT_MAX_BYTES
 *	(of an order, whose weight is in bytes: as many elements as weigh CUT_MIN_BYTES)
 *
 * That is meant for elements that cost little. The caller, who sees how long a
 * split takes, sets narrower bounds (`min`, `max`) where they cost much.
 *
 * Files that cannot be cut go out as they are, largest first (in source order
 * when `ordered`). A source read several times (`times`) is dealt out pass by
 * pass, or, when a pass is smaller than a split ought to be, in splits that are
 * read `times` times in a row. Endless sources give splits of a fixed size.
 *
 * With `whole` no unit is cut; each counts in the list of its source (cut_place).
 *
 * A unit that grows is cut into splits of one, without end until somebody knows the end
 * (cut_ends).
 *
 * What comes next depends only on the units, the position (four numbers, for
 * the durable state) and the number of streams at that moment.
 */
#ifndef CORE_CUT_H
#define CORE_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "value/split.h"

#define CUT_ENDLESS ((uint64_t)INT64_MAX)
enum {
	CUT_MIN_ELEMENTS = 64 * 1024,
	CUT_MIN_BYTES = 4 << 20,
	CUT_MAX_BYTES = 256 << 20,
	CUT_ENDLESS_ELEMENTS = 1 << 20
};

struct cut_pos {
	uint64_t pass;   /* passes that were dealt out whole */
	uint64_t times;  /* passes that are dealt out together now; 0: not decided */
	uint64_t unit, at; /* next: this unit, from there */
};
struct cut {
	struct split_list units; /* owned; sorted by cut_open unless ordered */
	uint64_t times;
	bool ordered;
	bool whole;              /* no unit is cut */
	uint64_t pass_weight;    /* weight of all units, in one pass */
	uint64_t rest_weight;    /* weight of the units from pos.unit + 1 on */
	struct cut_pos pos;
	uint64_t leaf;           /* the first unit of the source that pos.unit belongs to */
	uint64_t min, max;       /* bounds of the next split's weight; 0: the usual */
	uint64_t dealt;          /* passes that were dealt out whole since cut_open or cut_seek */
	bool small;              /* splits as small as possible are wanted: tests */
};

/* Takes the units (left empty). times 0 or CUT_ENDLESS: without end. */
void cut_open(struct cut *c, struct split_list *units, uint64_t times, bool ordered);
void cut_clear(struct cut *c);
/* Continues from a position that an earlier cut with the same units had. */
void cut_seek(struct cut *c, struct cut_pos pos);
/* The unit of this leaf that grows has so many parts in all, and no more; false: none grows there
 * whose end is not known. */
bool cut_ends(struct cut *c, uint32_t leaf, uint64_t count);
/* Makes each unit that grows one that is read as a whole. */
void cut_uncut(struct split_list *units);
/* The next split, `out` given (split_clear); false: nothing is left. */
bool cut_next(struct cut *c, uint32_t streams, struct split *out);
bool cut_left(const struct cut *c);
/* The weight of all that is left, over all passes; CUT_ENDLESS at most. */
uint64_t cut_rest(const struct cut *c);
/* How many passes were dealt out whole: at least so many, after cut_seek. */
uint64_t cut_passes(const struct cut *c);
/* The number of the next unit in the list of its source, from 0. */
uint64_t cut_place(const struct cut *c);
/* The least number of units of any source that has units; 0: none has. */
uint64_t cut_least(const struct cut *c);
/* How many streams can be given something, at most `most`. */
uint32_t cut_streams(const struct cut *c, uint32_t most);

#endif
