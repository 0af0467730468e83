/* SPDX-License-Identifier: MIT
 *
 * What is said of an element that a program has worked on: a row of --joblog, in GNU
 * parallel's columns and two more; and the record that `exec log=true` gives.
 *
 *	{number: 3, worker: "w1", start: 1700000000.25, seconds: 0.013, sent: 0, received: 4,
 *	 code: 0, signal: 0, command: "wc -l a.txt", argument: "a.txt", key: "0a1b...",
 *	 answers: ["12 a.txt"]}
 *
 * Such records travel from workers to whoever writes the rows.
 */
#ifndef OP_PROGRAM_ROW_H
#define OP_PROGRAM_ROW_H

#include "op/programs.h"

#define PROGRAM_ROW_HEAD "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\tArgument\tKey"

enum { PROGRAM_KEY = 16, PROGRAM_KEY_HEX = 2 * PROGRAM_KEY }; /* bytes, hex digits */

struct program_text { const char *p; size_t n; };

/* Its texts are lent. */
struct program_row {
	uint64_t number;         /* the element's among those of the operator, from 1 */
	struct program_text worker; /* its name; empty: this process */
	int64_t began, took;     /* ns; began: since 1970 */
	uint64_t sent, received; /* bytes */
	int64_t code, signal;
	struct program_text command, argument; /* each on one line; argument: the beginning of the element */
	struct program_text key; /* PROGRAM_KEY_HEX hex digits */
};

/* The key of an element that is given to the operator number `op` of those that run programs: a hash of
 * both, the same in each run. */
void program_row_key(uint32_t op, const struct elem *x, uint8_t key[PROGRAM_KEY]);
/* Makes the row of a run; its texts are put into *texts, and those of *run are lent. */
void program_row_of(const struct op_program_run *run, uint32_t op, struct buf *texts, struct program_row *row);
/* Appends the columns of PROGRAM_ROW_HEAD, with tabs between them. */
void program_row_print(const struct program_row *row, struct buf *out);

/* Whether it tells of a failure; says so to people. */
static inline bool
program_row_failed(const struct program_row *row)
{
	return row->code || row->signal;
}
void program_row_say(const struct program_row *row);

/* Appends the record with `many` answers, which lie end to end. */
void program_row_put(const struct program_row *row, const uint8_t *answers, size_t n, uint32_t many, struct buf *out);
/* Reads a checked record; its answers are the *many values in [*answers, *end). ST_DATA: it is something else. */
enum status program_row_get(const uint8_t *p, size_t len, struct program_row *row, const uint8_t **answers,
			    const uint8_t **end, uint32_t *many, struct err *e);

/* The type of the records with answers of this type, and back; NULL: the type is not that of such records. */
const struct type *program_row_type(struct types *t, const struct type *answer);
const struct type *program_row_answer(const struct type *record);
/* Appends the type of the elements that come with these answers: `logged`, as such records. */
void program_row_print_type(const struct type *answer, bool logged, struct buf *out);

#endif
