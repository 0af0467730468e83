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

#endif
