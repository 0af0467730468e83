/* SPDX-License-Identifier: MIT
 *
 * Bytes of saved states: MessagePack values one after the other. What is read
 * may come from a peer or a file: a value that is not what was asked for, or
 * past a limit, sets `bad`, after which everything reads as 0; so a reader
 * checks once, at its end. Elements are checked as a whole before they are lent.
 */
#ifndef OP_STATE_H
#define OP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/op.h"

enum { STATE_VERSION = 1 };

struct state_in {
	const uint8_t *p, *end;
	bool bad;
};

void state_put_u64(struct buf *b, uint64_t v);
void state_put_double(struct buf *b, double x);
void state_put_bytes(struct buf *b, const void *p, size_t n);
void state_put_elem(struct buf *b, const struct elem *e); /* puts the value only, not the place */
/* Puts the number of elements, then each element with its pos. */
void state_put_elems(struct buf *b, const struct elem *e, size_t n);

/* Puts the run from element `from` on, with file and line (but without parts). */
void state_put_run(struct buf *b, const struct run *r, uint32_t from);

struct state_in state_begin(const uint8_t *p, size_t n);
uint64_t state_get_u64(struct state_in *in, uint64_t max);
double state_get_double(struct state_in *in);
bool state_get_bytes(struct state_in *in, const uint8_t **p, size_t *n); /* lends */
/* Reads bytes that must be exactly one well-formed value. */
bool state_get_value(struct state_in *in, const uint8_t **p, size_t *n); /* lends */
bool state_get_elem(struct state_in *in, struct elem *e);                /* lends */
/* Reads what state_put_elems wrote, and keeps copies in r. */
bool state_get_elems(struct state_in *in, struct run *r);
bool state_get_run(struct state_in *in, struct run *r);                  /* r must be empty */
/* Whether everything was read and nothing was bad. */
bool state_ended(const struct state_in *in);
/* The error for a state that does not fit; gives its kind. */
enum status state_wrong(const struct op_inst *self, struct err *e);
/* Ends a restore callback: ST_OK, or state_wrong. */
enum status state_finish(const struct op_inst *self, const struct state_in *in, struct err *e);

/* An operator's state, as rows of its descriptor in place of two callbacks:
 *
 *	static const struct state_row take_state[] = {
 *		{ &state_number, offsetof(struct take, left), offsetof(struct take, n) },
 *		{ 0 }
 *	}; */
struct state_kind {
	void (*save)(const void *field, struct buf *out);
	/* max: the limit that the row names; a larger value sets in->bad. */
	void (*restore)(void *field, struct state_in *in, uint64_t max);
};
struct state_row {
	const struct state_kind *kind; /* NULL: end of the rows */
	size_t offset;                 /* offset of the field in the operator's state */
	/* offset of a 64-bit number that the field must not exceed; 0: none */
	size_t limit;
};
extern const struct state_kind state_number; /* uint64_t, or int64_t that is not negative */

void state_rows_save(const struct op_inst *self, struct buf *out);
enum status state_rows_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
