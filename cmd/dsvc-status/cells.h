/* SPDX-License-Identifier: MIT
 *
 * Cells and lines of the table: texts of others, cut and filled up, without control characters.
 */
#ifndef DSVC_STATUS_CELLS_H
#define DSVC_STATUS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/mp.h"

void cells_text(struct mp m, struct buf *out);
/* At most that many characters of a text; if it has more, a mark is the last one. Gives their number. */
unsigned cells_clip(const uint8_t *p, size_t len, unsigned width, struct buf *out);
/* Text in a column of that width; 0: as long as it is. */
void cells_put(struct buf *out, struct mp m, unsigned width);

/* Items that have no column stand below a row. */
struct cells_details {
	struct buf *out;
	bool any;
};

void cells_detail(struct cells_details *d, const char *name, struct mp value); /* nothing for an empty value */
void cells_detail_text(struct cells_details *d, const char *text);
void cells_details_end(struct cells_details *d);

#endif
