/* SPDX-License-Identifier: MIT
 *
 * Running a fragment, `(| op | op)`: a chain whose source is what its operator
 * feeds it.
 *
 *	fragment_open
 *	  { fragment_feed(run)  { fragment_pull } until ST_AGAIN }
 *	  fragment_end          { fragment_pull } until ST_END
 *	  fragment_rewind       ... and again from the start
 *
 * ST_AGAIN from fragment_pull means that it wants to be fed (or that the whole
 * chain is to stop); ST_END before fragment_end that it wants no more.
 */
#ifndef OP_FRAGMENT_H
#define OP_FRAGMENT_H

#include "op/op.h"

/* The source at the head of every fragment; it is not in the table of operators. */
extern const struct op_desc fragment_head;

struct fragment {
	struct op_inst *tail, *head;
};

enum status fragment_open(struct op_inst *self, const struct op_fragment *f, struct fragment *out,
			  struct err *e);
void fragment_close(struct fragment *f);
/* Feeds the fragment a run, which must stay unchanged until fragment_pull has given ST_AGAIN
 * or ST_END. */
void fragment_feed(struct fragment *f, struct run *run);
void fragment_end(struct fragment *f);
/* Whether everything that the fragment was fed has been taken. */
bool fragment_hungry(const struct fragment *f);
/* Pulls the next run, lent until the next pull. */
enum status fragment_pull(struct fragment *f, struct run **out, struct err *e);
/* Starts the fragment over, as pass number `epoch`. */
enum status fragment_rewind(struct fragment *f, uint32_t epoch, struct err *e);
/* Sets the pass that a chain is in. */
void fragment_set_epoch(struct op_inst *i, uint32_t epoch);
/* Saves the fragment as one value; false: one of its operators cannot be saved. */
bool fragment_save(struct fragment *f, struct buf *out);
enum status fragment_restore(struct fragment *f, const uint8_t *p, size_t n, struct err *e);

#endif
