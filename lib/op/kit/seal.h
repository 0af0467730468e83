/* SPDX-License-Identifier: MIT
 *
 * Whether a folder that several streams write to holds all that was to be saved.
 *
 *	DIR/.dsvc-ended-SSSSS   the stream has ended; and how many there are, if it knew
 *	DIR/SNAPSHOT            all have: {"streams": N, "files": F, "seed": S}
 *
 * A stream that ends puts its mark there, looks whose marks there are, and seals the
 * folder when none is missing: whoever ends last does it, on whatever machine. Until
 * one of them knows how many there are, nobody does. A folder without a seal was
 * broken off, or is still being written.
 */
#ifndef KIT_SEAL_H
#define KIT_SEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define SEAL_NAME "SNAPSHOT"
#define SEAL_DATA "data-" /* prefix of the names of data files */

/* Removes the stream's mark and the folder's seal, because the stream writes (again). */
void seal_break(const char *dir, uint32_t stream);
/* Marks the stream as ended, one of `streams` (0: not known); seals the folder after the last. */
enum status seal_end(const char *dir, uint32_t stream, uint32_t streams, uint64_t seed, struct err *e);
/* Whether the name is that of a mark or a seal. */
bool seal_is(const char *name);
/* ST_NOINPUT unless the folder is sealed and all its files are there. */
enum status seal_check(const char *dir, struct err *e);

#endif
