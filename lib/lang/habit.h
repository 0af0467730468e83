/* SPDX-License-Identifier: MIT
 *
 * Options of sort, head, tail and grep that people give to the operators of those names by habit.
 * For messages only.
 */
#ifndef LANG_HABIT_H
#define LANG_HABIT_H

#include "base/err.h"

/* Replaces the help of an error whose place is such an option, by the way to write it here. */
void habit_help(struct err *e);

#endif
