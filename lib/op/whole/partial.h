/* SPDX-License-Identifier: MIT
 *
 * Answers about parts, which together make the answer about all:
 *
 *	... | count | -> ... | count partial=make | distribute | count partial=join |
 *
 * On workers `make` gives what each stream comes to; `join` puts that together. The
 * operators that can do this are those with op_desc.combines.
 *
 * A stream may be made again elsewhere from its middle, and what was had of it is then
 * known by its number only. So where the answer about one part ends must follow from the
 * elements alone, never from runs, sizes in memory, or time.
 */
#ifndef WHOLE_PARTIAL_H
#define WHOLE_PARTIAL_H

#include "op/op.h"
#include "op/whole/group.h"

/* A parameter of the struct `type`, with the field `partial` (enum op_partial). */
#define PARTIAL_ROW(type) \
	{ "partial", PARAM_CHOICE, offsetof(type, partial), "none", .flags = PARAM_KEY_ONLY | PARAM_RARE, \
	  .choices = "none|make|join", \
	  .help = "make: give the result for a part of the elements; join: combine such results; dsvc sets these " \
		  "itself around `distribute`" }

/* The scope of an operator with that parameter. */
enum op_scope partial_scope(int partial);

/* When the part of a stream ends. Zero is a part that begins. */
struct partial_end {
	bool giving;      /* the part has ended, and its answers are being given */
	uint64_t taken;   /* elements of this part */
	uint64_t weight;  /* bytes of this part's keys, and of values that are kept */
	uint64_t shorter; /* how many parts are still to be short, since they save nothing */
};
/* How many elements may be taken until partial_over has to be asked again. */
uint32_t partial_room(const struct partial_end *p);
bool partial_over(const struct partial_end *p, uint32_t keys);
/* The part has ended, with that many keys. */
void partial_next(struct partial_end *p, uint32_t keys);
/* How an operator deals with the elements of a part, and at its end. */
struct partial_how {
	/* Takes elements of the run from *i on, at most up to `end`. */
	enum status (*take)(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t end, struct run *out,
			    struct err *e);
	/* Gives answers about the part that has ended; true: that was all, and another part begins. */
	bool (*give)(struct op_inst *self, struct run *out);
	uint32_t (*keys)(const struct op_inst *self);
};
/* The callback `feed` for partial=make. */
enum status partial_feed(struct op_inst *self, const struct partial_how *how, struct partial_end *p,
			 const struct run *in, struct run *out, struct err *e);
void partial_save(const struct partial_end *p, struct buf *out);
void partial_restore(struct partial_end *p, struct state_in *in);

/* A group as a value for group_join_part: an upper bound for its bytes, and the value itself; gives its end. */
size_t group_part_room(const struct group *g);
uint8_t *group_put_part(const struct group *g, enum group_agg agg, uint8_t *p);
/* Adds the value at p: gives its end; NULL: it is malformed, or, if *why is set, cannot be added. */
const uint8_t *group_join_part(struct group *g, enum group_agg agg, const uint8_t *p, const uint8_t *end,
			  struct slab *cells, size_t *bytes, const char **why);

#endif
