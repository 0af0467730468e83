/* SPDX-License-Identifier: MIT
 *
 * Durable rows of the dispatcher: which fields of each object are written. A row is
 * encoded from the object itself; it is decoded into a zeroed object, which is checked
 * before its fields are moved to the one that is kept.
 */
#ifndef DISP_DISP_ROW_H
#define DISP_DISP_ROW_H

#include "core/disp/disp_inner.h"
#include "wire/field.h"

/* A state with rows of another version is refused. */
enum { ROW_VERSION = 3, ROW_MANY = 1 << 24 };

extern const struct field
	row_meta_fields[],    /* struct disp */
	row_dataset_fields[], /* struct dataset */
	row_job_fields[],     /* struct job */
	row_iter_fields[],    /* struct iteration */
	row_units_fields[],   /* struct units_listed: one part of the list */
	row_stream_fields[],  /* struct stream */
	row_split_fields[],   /* struct split_place */
	row_point_fields[],   /* struct point */
	row_ledger_fields[],  /* struct view: what is acknowledged of a stream */
	row_reader_fields[];  /* struct seat */

/* Rows on their way out. */
struct row_out {
	void (*cb)(void *arg, const struct disp_row *row);
	void *arg;
	struct buf b;
	size_t n;
	uint32_t units_part; /* units in one row; 0: WIRE_UNITS_PART */
	const struct disp *d; /* NULL: whatever is written also stays in memory */
};
void row_put(struct row_out *o, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c,
	     const struct field *fields, const void *base);

/* The list of units, one row a part, its number the second key. */
void row_put_units(struct row_out *o, const struct iteration *it);
/* disp_load.c: forgets what is needed until all rows are read. */
void load_rows_free(struct disp *d);
/* disp_units.c: takes the units of a part; they come in the order of their numbers. */
enum status units_load(struct iteration *it, uint64_t part, struct units_listed *r, struct err *e);

#endif
