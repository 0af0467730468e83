/* SPDX-License-Identifier: MIT
 *
 * The user's own key pair, in the file `key` of trust_file.h, and others like it.
 */
#ifndef TRUST_KEY_FILE_H
#define TRUST_KEY_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "net/key.h"

/* Reads a key file; path NULL: the user's own, which is made when there is none, if `make`.
 * name (64 bytes) may be NULL. ST_NOINPUT: there is none; ST_CONFIG: others can read it, or
 * it is damaged. Wipe the pair when it is not needed any more. */
enum status key_file_read(const char *path, bool make, struct key_pair *out, char *name, struct err *e);
/* Makes a key file with a fresh pair; path NULL: the user's own. name NULL: that of the machine.
 * ST_CONFIG: there is a file of that name, which stays. */
enum status key_file_make(const char *path, const char *name, struct key_pair *out, struct err *e);

#endif
