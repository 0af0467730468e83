/* SPDX-License-Identifier: MIT
 *
 * Seals: they tell a folder that was saved completely from one that was not, also when
 * several streams write to it.
 *
 *	DIR/.dsvc-ended-SSSSS   the stream has ended; and how many there are, if it knew
 *	DIR/SNAPSHOT            all have: {"streams": N, "files": F, "seed": S}
 *
 * A stream that ends leaves its mark, and seals the folder if all other marks are there:
 * so the last stream does it, on whatever machine it runs. As long as no stream knows how
 * many there are, the folder is not sealed. A folder without a seal is incomplete: it is
 * still being written, or its writer was stopped.
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
