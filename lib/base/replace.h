/* SPDX-License-Identifier: MIT
 *
 * A file that appears under its name whole, or not at all. Its bytes go to a
 * temporary file in the same folder, which takes the name when they are on disk:
 *
 *	replace_open -> write(r.fd) ... -> replace_commit      (or replace_cancel)
 *	                PATH.PID-N.tmp      fsync, close, rename, fsync of the folder
 *
 * After a crash the file is the old one or the new one. A reader who has the old
 * one open keeps it.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Zero is: nothing open. */
struct replace {
	char *path, *temporary; /* owned; NULL: nothing open */
	int fd;                 /* of the temporary file, to be written to */
};

/* Makes the temporary file, with the mode of the umask. On an error, here and below,
 * nothing is left open and the temporary file is gone; the kind is ST_IO, or what
 * err_errno makes of errno. */
enum status replace_open(struct replace *r, const char *path, struct err *e);
/* Gives the file its name. */
enum status replace_commit(struct replace *r, struct err *e);
/* Removes the temporary file. Harmless when nothing is open. */
void replace_cancel(struct replace *r);
/* All of the above for bytes at hand. */
enum status replace_file(const char *path, const void *p, size_t n, struct err *e);

#endif
