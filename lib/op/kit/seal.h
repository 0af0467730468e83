/* SPDX-License-Identifier: MIT
 *
 * Seals: they tell a folder that was saved completely from one that was not, also when
 * several streams write to it.
 *
 *	DIR/.dsvc-ended-SSSSS   the stream has ended; how many there are, if it knew, and its files
 *	DIR/SNAPSHOT            all have: {"streams": N, "files": F, "seed": S, "chunks": [...], ...};
 *	                        seal_about.h has the rest
 *	DIR/SNAPSHOT.failed     one of them failed: why
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
#include "op/kit/seal_about.h"
#include "op/kit/seal_list.h"

/* Removes the stream's mark and files, the folder's seal and its failure, because the stream
 * writes (again), from its beginning. */
enum status seal_break(const char *dir, uint32_t stream, struct err *e);
/* A stream that has ended: one of `streams` (0: not known), with so many files, and so many
 * elements in them. */
struct seal_stream { uint32_t stream, streams; uint64_t files, elements; };
/* Marks the stream as ended; seals the folder after the last, and says there what `about` knows,
 * with the sums of all files. ST_IO: the folder's list does not have all files, or other elements. */
enum status seal_end(const char *dir, const struct seal_stream *s, uint64_t seed, struct seal_about *about,
		     struct err *e);
/* Whether the stream has ended, as whoever wrote it said. */
bool seal_ended(const char *dir, uint32_t stream);
/* Writes why the save has failed. */
void seal_fail(const char *dir, const struct err *why);
/* Whether the name is that of a mark, a seal or a list. */
bool seal_is(const char *name);
/* ST_DATA, in its words, if the folder's save has failed. */
enum status seal_failed(const char *dir, struct err *e);
/* Whether the folder is sealed. */
bool seal_there(const char *dir);
/* ST_NOINPUT unless the folder is sealed and all its files are there; ST_DATA if its save
 * has failed. */
enum status seal_check(const char *dir, struct err *e);

#endif
