/* SPDX-License-Identifier: MIT
 *
 * Objects that have changed since their rows were written, and rows that are to go.
 */
#ifndef DISP_DISP_DIRTY_H
#define DISP_DISP_DIRTY_H

#include "core/disp/dispatcher.h"
#include "core/disp/ring.h"

/* An object that has changed since the rows were written. */
enum dirty_kind { DIRTY_DATASET = 1, DIRTY_JOB, DIRTY_ITER, DIRTY_STREAM, DIRTY_SEAT };
struct dirty { struct list_node node; enum dirty_kind kind; unsigned what; };
enum { DIRTY_ROW = 1, DIRTY_LEDGER = 2, DIRTY_POINTS = 4, DIRTY_SPLITS = 8, DIRTY_UNITS = 16, DIRTY_REST = 32 };

void disp_dirty(struct disp *d, struct dirty *x, unsigned what);
void disp_delete(struct disp *d, enum disp_row_kind kind, unsigned n, uint64_t a, uint64_t b, uint64_t c);
/* The rows whose first two keys are these and whose third is less than c. */
void disp_delete_below(struct disp *d, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c);
uint64_t disp_id(struct disp *d); /* id for a new dataset, job or iteration */

#endif
