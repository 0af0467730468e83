/* SPDX-License-Identifier: MIT
 *
 * Names of files.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"

/* Appends s, from the root: in front of a relative name stands the current folder, whose
 * characters out of `special` have a backslash in front; leading "./" are left out. */
void path_absolute(const char *s, const char *special, struct buf *out);

#endif
