/* SPDX-License-Identifier: MIT
 *
 * --halt WHEN,WHY=N: when a run ends because of how the programs of exec end.
 */
#ifndef CLI_HALT_H
#define CLI_HALT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum halt_why { HALT_NEVER, HALT_FAIL, HALT_SUCCESS, HALT_DONE };

/* Zero: never. */
struct halt {
	const char *text;        /* the option's value; lent; NULL: it is not given */
	enum halt_why why;
	bool now;                /* running programs are ended, too */
	bool percent;
	double most;             /* how many, or how many of a hundred */
	/* while it runs: elements that failed, and that did not; the run is to end */
	uint64_t failed, succeeded;
	bool reached;
};

enum { HALT_LEAST = 3 };         /* a percentage means something from this number on */

/* Reads never, or soon|now,fail|success|done=N or N%; ST_USAGE. text NULL: never. */
enum status halt_parse(const char *text, struct halt *h, struct err *e);
/* Counts an element. True, once: the run is to end. */
bool halt_count(struct halt *h, bool good);
/* The status of a run that ended with st. strict: it was to go on in spite of failures, and fails now if
 * there were any. */
enum status halt_result(const struct halt *h, bool strict, enum status st, struct err *e);

#endif
