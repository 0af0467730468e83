/* SPDX-License-Identifier: MIT
 *
 * The other programs of dsvc: finding those of a folder, and asking one of them.
 */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

#include <stdbool.h>

#include "base/buf.h"

#define BESIDE_PREFIX "dsvc-"

/* Calls each() for the programs dsvc-VERB of the folder that can be run, in no order. A folder that
 * cannot be read has none. */
void beside_each(const char *dir, void (*each)(void *arg, const char *file, const char *verb), void *arg);
/* Runs argv, which NULL ends, and appends what it writes to standard output; its standard error
 * is dropped with `quiet`. Whether it ended with 0. */
bool beside_ask(const char *const *argv, bool quiet, struct buf *out);

#endif
