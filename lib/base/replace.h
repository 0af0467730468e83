/* SPDX-License-Identifier: MIT
 *
 * A file that appears under its name whole, or not at all. Its bytes go to a
 * temporary file in the same folder, which takes the name when they are on disk:
 *
 *	replace_open -> replace_write ... -> replace_commit      (or replace_cancel)
 *	                PATH.PID-N.tmp       replace_name, close
 *
 * After a crash the file is the old one or the new one. A reader who has the old
 * one open keeps it.
 */
#ifndef BASE_REPLACE_H
#define BASE_REPLACE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* The temporary file of a replacement. Zero: nothing is open. */
struct replace {
	char *path, *temporary; /* owned; NULL: nothing open */
	/* descriptor of the temporary file, for anything else that is to be done with it */
	int fd;
};

/* Makes the temporary file, with the mode of the umask. On an error, here and below, nothing
 * is left open, and the temporary file is removed; the kind is ST_IO, or what err_errno makes
 * of errno. */
enum status replace_open(struct replace *r, const char *path, struct err *e);
enum status replace_write(struct replace *r, const void *p, size_t n, struct err *e);
/* Gives the file its name. */
enum status replace_commit(struct replace *r, struct err *e);
/* Removes the temporary file. Harmless when nothing is open. */
void replace_cancel(struct replace *r);
/* Does all of the above for n bytes. */
enum status replace_file(const char *path, const void *p, size_t n, struct err *e);
/* For what a user asked to keep: every failure is ST_IO and says "cannot save WHAT". */
enum status replace_save(const char *path, const char *what, const void *p, size_t n, struct err *e);
/* With a mode, which the file has before there is a byte in it. */
enum status replace_file_mode(const char *path, mode_t mode, const void *p, size_t n, struct err *e);

/* Does only the last step, for a temporary file that its owner has made and named: syncs its
 * bytes (fsync), gives it the name, and syncs the name (fsync of the folder). temporary NULL:
 * the file has no name yet (O_TMPFILE); then an existing file of that name stays. The
 * descriptor stays open. On an error, whose kind is ST_IO, the temporary file stays where it
 * is. */
enum status replace_name(int fd, const char *temporary, const char *path, struct err *e);

#endif
