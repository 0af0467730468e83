/* SPDX-License-Identifier: MIT
 *
 * What limits a pass, worked out of a dispatcher's report (doc/protocol.md): of the times of
 * readers, slots and operators in the last seconds, the one that the others wait for.
 *
 *	readers mostly have elements    their output is blocked: OUTPUT; else READER
 *	readers wait, slots held back   NETWORK
 *	readers wait, slots busy        SOURCE, WORKERS (more slots could be used), or OPERATOR
 */
#ifndef HOST_LIMIT_H
#define HOST_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/record.h"

struct plan;

enum limit_kind {
	LIMIT_OVER, LIMIT_FAILED, LIMIT_LISTING,
	LIMIT_NO_WORKERS, LIMIT_NO_READER, LIMIT_CONSUMER,
	LIMIT_UNKNOWN,   /* BEATs have not told enough yet */
	LIMIT_OUTPUT, LIMIT_READER, LIMIT_NETWORK, LIMIT_SOURCE, LIMIT_WORKERS, LIMIT_OPERATOR,
	LIMITS
};

/* An operator that takes time; a plan knows what the report does not. */
struct limit_op {
	uint32_t place;        /* its number in the spec; 0: none is known */
	double share;          /* part of the time of all operators */
	bool source, parallel; /* parallel: it has that parameter */
	const char *text;      /* the user's text; NULL: not known. Lent */
};
struct limit {
	enum limit_kind kind;
	struct limit_op most;  /* the operator that takes most */
	double waits, blocked; /* shares of the time of readers: without elements; output takes nothing */
	double held;           /* share of the time of slots: held back by readers */
	bool served;           /* some slot works for it */
	bool named;            /* readers can join the job */
	uint64_t slots, usable, readers, elements;
	struct mp text;        /* the error, or the consumer that is away; lent from the report */
};

/* plan: the job's, which tells more of an operator; NULL: it is not known, and the first operator is the
 * source. */
void limit_find(struct slice report, struct slice job, struct slice pass, const struct plan *plan, struct limit *out);
/* One clause that says what it is, with figures. */
void limit_say(const struct limit *l, struct buf *out);
/* A clause that says what to change; nothing if there is nothing to change. */
void limit_cure(const struct limit *l, struct buf *out);
/* A word for programs, such as `source`. */
const char *limit_word(enum limit_kind k);

#endif
