/* SPDX-License-Identifier: MIT
 *
 * Children that hold their answers back: most programs collect output that goes
 * to a pipe, and give nothing until some kilobytes are together. One that has
 * read all it was given, waits for more and has said nothing for a second is
 * named, with the switch that cures it, also while it is given more. If it waits because the window is full,
 * the window grows, so that the work goes on.
 */
#ifndef EXEC_EXEC_HOLD_H
#define EXEC_EXEC_HOLD_H

#include "op/exec/exec_work.h"

/* To be called when nothing has moved. An error when the window can grow no more. */
enum status exec_hold_look(struct exec *x, struct exec_slot *s, struct err *e);
/* To be called at any time: only tells, for input that never rests. */
void exec_hold_steady(struct exec *x, struct exec_slot *s);
/* What cures it, for the program of that name. */
const char *exec_hold_cure(const char *program);

#endif
