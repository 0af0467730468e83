/* SPDX-License-Identifier: MIT
 *
 * Telling whoever started a program that it can serve, so that nobody sleeps.
 */
#ifndef CLI_READY_H
#define CLI_READY_H

#include <stdint.h>

#include "base/err.h"

/* Writes endpoint and newline to fd (which is then closed; -1: none) and to
 * file (which appears whole; NULL: none). */
enum status ready_say(int64_t fd, const char *file, const char *endpoint, struct err *e);

/* What OPT_READY_FD and OPT_READY_FILE read. */
struct ready {
	int64_t fd;
	char *file;
};
/* For hosts to call when they can serve: `ready on ENDPOINT` in the log, and
 * ready_say. ready: a struct ready. */
enum status ready_told(void *ready, const char *endpoint, struct err *e);

#endif
