/* SPDX-License-Identifier: MIT
 *
 * Texts of a report in columns, and details below a row.
 */
#ifndef DSVC_STATUS_STATUS_CELLS_H
#define DSVC_STATUS_STATUS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/mp.h"
#include "value/record.h"

enum { STATUS_TABLE_ROWS = 40 }; /* rows shown of readers, and of a pass's streams; JSON has all */

/* Items that have no column stand below a row. */
struct status_details {
	struct buf *out;
	bool any;
};

void status_cells_text(struct mp m, struct buf *out);
/* Text in a column of that width; 0: as long as it is. */
void status_cells_put(struct buf *out, struct mp m, unsigned width);
/* A duration in the largest unit of which there are two. */
void status_cells_duration(uint64_t ms, char out[24]);
void status_cells_detail(struct status_details *d, const char *name, struct mp value);
void status_cells_detail_text(struct status_details *d, const char *text);
void status_cells_details_end(struct status_details *d);
/* A number, and of how many unless that is 0. */
void status_cells_of(char *out, size_t room, const char *between, uint64_t n, uint64_t all);
void status_cells_more(uint32_t n, struct buf *out);
/* A job by its name or, without one, by its number: what --audit and dsvc-forget take, too. */
void status_cells_job(struct slice j, unsigned width, struct buf *out);
/* Each line clipped to the width. */
void status_cells_cut(const struct buf *text, unsigned width, struct buf *out);

#endif
