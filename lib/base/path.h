/* SPDX-License-Identifier: MIT
 *
 * Names of files, and folders of this program and this user.
 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends s as an absolute name: a relative name is put after the current folder, in which
 * characters of `special` get a backslash; leading "./" are left out. */
void path_absolute(const char *s, const char *special, struct buf *out);
/* Appends the folder in which the file of the running program is. False: it cannot be known. */
bool path_own_folder(struct buf *out);
/* Appends the folder for what programs of this user leave behind, like logs, and where it is named: a
 * constant. NULL: nothing names it. */
const char *path_state_folder(struct buf *out);
/* Makes the folders above a file, for this user alone, as mkdir -p does; for the folder itself give a
 * slash at the end. */
enum status path_make_folders(const char *path, struct err *e);
/* Likewise with that mode, and with gate_mkdir or the like in place of mkdir. */
enum status path_make_folders_by(int (*make)(const char *path, mode_t mode), mode_t mode, const char *path,
				 struct err *e);

#endif
