/* SPDX-License-Identifier: MIT
 *
 * Durable rows of the dispatcher: what each object is written as.
 */
#ifndef DISP_DISP_ROW_H
#define DISP_DISP_ROW_H

#include "core/disp/disp_inner.h"
#include "wire/field.h"

enum { ROW_VERSION = 3, ROW_MANY = 1 << 24 };

struct row_meta { uint32_t version; uint64_t instance, next_id, key, index; };
struct row_dataset { char *id, *spec, *type; bool registered; };
struct row_job {
	struct job_opts opts;
	uint64_t dataset;
	bool keep;
};
struct row_iter {
	uint64_t job, seed, times, next_seat, pass, pass_times, unit, at;
	uint64_t elements, acked, made, again, suppressed, repeated, failed, max_errors;
	uint32_t epoch, state, code, n_streams, next_fixed;
	char *text, *help;
	bool by_split, fixed, all_known, short_;
};
struct row_units { bool last; struct split_list units; }; /* one part of the list */
struct row_held { uint64_t seat; struct ranges got; };
struct row_gone { uint64_t seat; };
struct row_stream {
	uint32_t gen, place;
	bool running, told_end, closed, ended, finished;
	uint64_t length, worker, from, skipped, high, made, failed, lost_at;
	uint32_t lost, blame;
	char *endpoint;
	struct ranges presumed;
	struct { struct row_held *v; size_t n; } held;
	struct { struct row_gone *v; size_t n; } gone;
};
struct row_split { uint32_t unit; uint64_t start, count, times, weight; };
struct row_point { uint64_t split, failed; struct bytes state; bool has_state; };
struct row_ledger { struct ranges acked; };
struct row_reader { uint64_t peer, seq, acked, from; bool checkpoint, away; };

extern const struct field row_meta_fields[], row_dataset_fields[], row_job_fields[], row_iter_fields[],
	row_units_fields[], row_stream_fields[], row_split_fields[], row_point_fields[], row_ledger_fields[], row_reader_fields[];

/* Rows on their way out. */
struct row_out {
	void (*cb)(void *arg, const struct disp_row *row);
	void *arg;
	struct buf b;
	size_t n;
	uint32_t units_part; /* units in one row; 0: WIRE_UNITS_PART */
};
void row_put(struct row_out *o, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c,
	     const struct field *fields, const void *base);

/* The list of units, one row a part, its number the second key. */
void row_put_units(struct row_out *o, const struct iteration *it);
/* disp_units.c: takes the units of a part; they come in the order of their numbers. */
enum status units_load(struct iteration *it, uint64_t part, struct row_units *r, struct err *e);

#endif
