/* SPDX-License-Identifier: MIT
 *
 * Lines of which the operator behind the source says that it drops them: a filter keeps
 * only lines that hold a needle (needle.h), so the window is searched for needles, and
 * the lines between those that hold one are counted and not made.
 */
#ifndef FILE_LINE_SEEK_H
#define FILE_LINE_SEEK_H

#include "op/file/file_source.h"

/* Makes a run of lines that may hold a needle, and takes them and those before and between
 * from the window. Places are those of all lines, and lines that were passed over count as elements in the
 * statistics. A run is never empty: without a hit, the last line of the window is given, so that
 * whoever pulls gets his turn. False: nothing was done, and lines are to be made one by one. */
bool line_seek(struct op_inst *self, struct file_source *s, struct run *out);

#endif
