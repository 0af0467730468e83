/* SPDX-License-Identifier: MIT
 *
 * Joining records that look like those before them: the names of an element's fields and of a row's, in
 * their order, and which of the row's fields are added to the element's. Where the next ones have the same names,
 * nothing is searched for.
 */
#ifndef WHOLE_JOIN_SHAPE_H
#define WHOLE_JOIN_SHAPE_H

#include "base/buf.h"
#include "expr/val.h"
#include "value/elem.h"

enum { JOIN_SHAPE_MOST = 15 /* fields of each: as many as a head of one byte can say */ };

struct join_shape {
	struct val_key x[JOIN_SHAPE_MOST], row[JOIN_SHAPE_MOST];
	uint32_t n_x, n_row;
	uint32_t adds, n_adds; /* bit k: the row's k-th field is added; how many are */
	struct buf names;      /* which the keys point to */
	bool known;
	uint32_t missed;       /* how often it was not the shape of what came */
};

/* To be called after join_shape_put has given NULL: remembers the names of these two records, unless one has many
 * fields or unusual names; now and then only, since records that all differ would be looked at for nothing. */
void join_shape_learn(struct join_shape *s, const struct elem *x, const uint8_t *row, size_t len);
/* Writes the joined record at w; gives its end. NULL: they do not have those names. There is room for both. */
uint8_t *join_shape_put(const struct join_shape *s, const struct elem *x, const uint8_t *row, uint8_t *w);
void join_shape_clear(struct join_shape *s);

#endif
