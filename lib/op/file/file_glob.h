/* SPDX-License-Identifier: MIT
 *
 * Names of files from what users write: *, ?, [a-z], {a,b} and **, sorted by
 * bytes, so that the order is the same on every machine.
 *
 *	*    not a leading dot, as in a shell; nor does ** enter hidden folders
 *	**   as a whole component: folders of any depth, symbolic links not followed;
 *	     at the end: all files below
 *
 * A pattern gives files only, never folders. As in a shell, one that matches nothing
 * is a name: `x[1].txt` is that file where no x1.txt is. Backslash takes a sign's
 * meaning away. `-` is standard input. Addresses of objects elsewhere: file_far.h.
 */
#ifndef FILE_FILE_GLOB_H
#define FILE_FILE_GLOB_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

/* Appends the names to out. ST_NOINPUT: a plain name that does not exist or is a folder, or a
 * pattern that matches nothing; ST_PERM: a folder that may not be listed. literal: the names
 * are data, and not patterns. */
enum status file_glob(const struct words *patterns, bool literal, struct words *out, struct err *e);
struct file_far;
/* Like file_glob; far, unless NULL, also gets what the lists of objects elsewhere say about them. */
enum status file_glob_about(const struct words *patterns, bool literal, struct words *out, struct file_far *far,
			    struct err *e);
/* Whether there is something to read: like file_glob, but stops at the first file of each
 * pattern instead of listing all. */
enum status file_glob_any(const struct words *patterns, struct err *e);

#endif
