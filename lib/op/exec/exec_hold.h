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

/* To be called when nothing has moved. Grows the window of a child that seems to hold its
 * answers back; gives an error when the window cannot grow any more. */
enum status exec_hold_look(struct exec *x, struct exec_slot *s, struct err *e);
/* To be called at any time: warns only, for input that never pauses. */
void exec_hold_steady(struct exec *x, struct exec_slot *s);
/* A help text: how to make the program of that name give each answer at once. */
const char *exec_hold_cure(const char *program);

#endif
