/* SPDX-License-Identifier: MIT
 *
 * Lines of which the operator behind the source says that it drops them: a filter keeps
 * only lines that hold a needle (needle.h), so the window is searched for needles, and
 * the lines between those that hold one are counted and not made. Right before `count`
 * no line is made: an empty text stands for each.
 */
#ifndef FILE_LINE_SEEK_H
#define FILE_LINE_SEEK_H

#include "op/file/file_source.h"

/* Makes a run of the lines in the window that may hold a needle, and takes them and those before
 * and between. Places are those of all lines, and lines that were passed over are among the
 * elements of the statistics. A run is never empty: without a hit, the last line is given, so
 * that whoever pulls gets his turn. False: nothing was done, and lines are to be made one by one. */
bool line_seek(struct op_inst *self, struct file_source *s, struct run *out);

#endif
