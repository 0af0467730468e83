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
void state_put_bytes(struct buf *b, const void *p, size_t n);
void state_put_elem(struct buf *b, const struct elem *e); /* its value only */
/* Count, then each with its pos. */
void state_put_elems(struct buf *b, const struct elem *e, size_t n);

/* A run from its element `from` on, with file and line (not its parts). */
void state_put_run(struct buf *b, const struct run *r, uint32_t from);

struct state_in state_begin(const uint8_t *p, size_t n);
uint64_t state_get_u64(struct state_in *in, uint64_t max);
bool state_get_bytes(struct state_in *in, const uint8_t **p, size_t *n); /* lends */
/* Bytes that are one well-formed value. */
bool state_get_value(struct state_in *in, const uint8_t **p, size_t *n); /* lends */
bool state_get_elem(struct state_in *in, struct elem *e);                /* lends */
/* Reads what state_put_elems wrote and keeps it in r. */
bool state_get_elems(struct state_in *in, struct run *r);
bool state_get_run(struct state_in *in, struct run *r);                  /* into an empty run */
/* All was read and nothing was bad. */
bool state_ended(const struct state_in *in);
/* The error for a state that does not fit. */
enum status state_wrong(const struct op_inst *self, struct err *e);
/* The end of a restore callback: ST_OK, or state_wrong. */
enum status state_finish(const struct op_inst *self, const struct state_in *in, struct err *e);

/* What an operator remembers, as rows of its descriptor in place of two callbacks:
 *
 *	static const struct state_row take_state[] = {
 *		{ &state_number, offsetof(struct take, left), offsetof(struct take, n) },
 *		{ 0 }
 *	};
 */
struct state_kind {
	void (*save)(const void *field, struct buf *out);
	/* max: what the row's limit says; sets in->bad beyond it. */
	void (*restore)(void *field, struct state_in *in, uint64_t max);
};
struct state_row {
	const struct state_kind *kind; /* NULL: ends the rows */
	size_t offset;                 /* of the field in the operator's state */
	size_t limit;                  /* of a 64-bit number that it may not exceed; 0: none */
};
extern const struct state_kind state_number; /* uint64_t, or int64_t that is not negative */

void state_rows_save(const struct op_inst *self, struct buf *out);
enum status state_rows_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
