/* SPDX-License-Identifier: MIT
 *
 * --halt WHEN,WHY=N: when a run ends because of how the programs of exec end.
 */
#ifndef RUN_HALT_H
#define RUN_HALT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum halt_why { HALT_NEVER, HALT_FAIL, HALT_SUCCESS, HALT_DONE };

/* Zero: never. */
struct halt {
	enum halt_why why;
	bool now;                /* running programs are ended, too */
	bool percent;
	double most;             /* how many, or how many of a hundred */
};

enum { HALT_LEAST = 3 };         /* a percentage means something from this number on */

/* Reads never, or soon|now,fail|success|done=N or N%; ST_USAGE without the option's name. */
enum status halt_parse(const char *text, struct halt *h, struct err *e);
/* Whether so many runs that failed and succeeded end it. */
bool halt_reached(const struct halt *h, uint64_t failed, uint64_t succeeded);

#endif
