/* SPDX-License-Identifier: MIT
 *
 * Between the files of shards.h: shards.c writes, shards_commit.c names what is written,
 * shards_folder.c has the folder to itself.
 */
#ifndef KIT_SHARDS_INNER_H
#define KIT_SHARDS_INNER_H

#include "op/kit/shards.h"

/* Locks the folder, as long as the descriptor is open; -1: it belongs to another pass now, or the
 * stream to another writer. Then a stream of the earlier one may still be running somewhere. */
int shards_lock(struct shards *s, struct err *e);
/* Gives a file that is whole, of that part's name, its own, and adds it to the folder's list, unless
 * others have done so before. The caller has the lock. */
enum status shards_commit(struct shards *s, struct shard *sh, const char *part, const char *name, struct err *e);
/* Writes what the place says of the pass that writes there. */
enum { SHARDS_MARK = 100 };
int shards_mark(const struct shards *s, char out[SHARDS_MARK]);
/* After a call on files failed: notes whether that was for want of room. Gives st. */
enum status shards_io(struct shards *s, enum status st);
/* Has the stream for ourselves, if its files end by time; no other one lists files from now on. */
enum status shards_own(struct shards *s, struct err *e);

#endif
