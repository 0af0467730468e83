/* SPDX-License-Identifier: MIT
 *
 * The files of keys and rights, in a folder of the user: ~/.config/dsvc, or
 * $XDG_CONFIG_HOME/dsvc. As ssh does with its own, such a file is used only if it is its
 * user's and closed to others (0600), or root's and open to a group at most (0640), as secrets in containers are;
 * nobody else may write in its folder.
 */
#ifndef TRUST_TRUST_FILE_H
#define TRUST_TRUST_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { TRUST_FILE_MAX = 4 << 20, TRUST_NAME_MAX = 64 };

/* Fills out with the path of a file there. ST_CONFIG: no home is known. */
enum status trust_path(const char *name, struct buf *out, struct err *e);
/* Opens it for reading, if it is as it should be: ST_CONFIG; ST_NOINPUT when there is none. */
enum status trust_open(const char *path, int *fd, struct err *e);
/* Fills out with all of it and a NUL behind. Errors as above. */
enum status trust_read(const char *path, struct buf *out, struct err *e);
/* Writes it anew, whole or not at all, while nobody else does: edit gets what is there ("" when
 * there is none), and fills out. Its error is returned and nothing is written; ST_SKIP: nothing
 * has to be. */
enum status trust_edit(const char *path,
		       enum status (*edit)(void *arg, const char *now, size_t n, struct buf *out, struct err *e),
		       void *arg, struct err *e);

/* Seconds since 1970 as 2026-11-22T04:00Z; out has room for TRUST_TIME bytes. */
enum { TRUST_TIME = 32 };
void trust_time(int64_t s, char out[TRUST_TIME]);
/* A date as above, with seconds, or the day alone, which is its beginning. False: none. */
bool trust_time_parse(const char *text, size_t n, int64_t *out);
/* Whether it can be a name: 1 to TRUST_NAME_MAX printable bytes of ASCII, no blank. */
bool trust_name_ok(const char *name, size_t n);
/* ST_USAGE if a name that somebody typed can be none; NULL: nobody did. */
enum status trust_name_check(const char *name, struct err *e);

/* Words of a line: sets *word and *n to the next one; false: there is none. */
bool trust_word(const char **at, const char *end, const char **word, size_t *n);

#endif
