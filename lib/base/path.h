/* SPDX-License-Identifier: MIT
 *
 * Names of files.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/buf.h"

/* Appends s as an absolute name: a relative name is put after the current folder, in which
 * characters of `special` get a backslash; leading "./" are left out. */
void path_absolute(const char *s, const char *special, struct buf *out);

#endif
