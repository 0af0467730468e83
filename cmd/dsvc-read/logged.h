/* SPDX-License-Identifier: MIT
 *
 * --joblog and --halt: elements of the stream are records of programs' runs (op/program_row.h). Their answers
 * go to the output; a row is written once that has its answers, and before the record is acknowledged.
 *
 *	stream     [row, a a] [row] [row, a]     records
 *	output      a a             a            elements
 */
#ifndef DSVC_READ_LOGGED_H
#define DSVC_READ_LOGGED_H

#include "cli/output.h"
#include "host/reader_host.h"
#include "save.h"

struct logged;

struct logged_conf {
	const char *path, *halt;  /* NULL: none; with neither of them there is no struct logged */
	bool strict;              /* a failed element is told, and makes the run fail */
};

/* elements, bytes: added to the output. taken: records of this run. records: those whose rows are written; told: so
 * many of the elements are theirs. before: records of earlier runs. */
struct logged_sum { uint64_t elements, bytes, taken, records, told, before; };

/* An earlier run's log goes on at `from`, and what it has behind that is cut off; else the file is emptied. Gives. */
enum status logged_open(const struct logged_conf *c, struct logged_at from, struct logged **out, struct err *e);
/* The type of the answers of a job whose elements have this type (NULL: unknown, as what is given may be); ST_USAGE:
 * they are no records. */
enum status logged_type(const struct type **type, struct err *e);
/* Adds the first of `most` answers of the piece to the output. whole: a record's answers are not parted, so it may be
 * a few more. ST_END: --halt ends the run here. */
enum status logged_take(struct logged *l, struct output *out, const struct reader_host_piece *piece, uint64_t most,
			bool whole, struct err *e);
struct logged_sum logged_sum(const struct logged *l);
/* Writes the rows of records whose answers are among the first `good` elements of the output. */
enum status logged_tell(struct logged *l, uint64_t good, struct err *e);
/* Puts the log down to the disk, and gives its end. */
enum status logged_sync(struct logged *l, struct logged_at *at, struct err *e);
/* The status of a run that ended with st, after failures under --halt. Takes a null one, like the next. */
enum status logged_result(const struct logged *l, enum status st, struct err *e);
/* Frees and nulls. */
enum status logged_close(struct logged **l, struct err *e);

#endif
