/* SPDX-License-Identifier: MIT
 *
 * Options of jq, Miller, xargs and GNU parallel that people type by habit, and how the same is
 * said here. For messages only: nothing is parsed by it.
 */
#ifndef CLI_OPT_ELSEWHERE_H
#define CLI_OPT_ELSEWHERE_H

#include "base/param.h"

/* Gives the advice for a program with these rows; NULL: the option is not known, or the program
 * has nothing like it. */
const char *opt_elsewhere(const char *word, const struct param *rows);

#endif
