/* SPDX-License-Identifier: MIT
 *
 * Files that end when a time has passed. Who writes a stream once more must end them at the
 * same elements, so the folder's list tells where: a file that is listed is cut there, and
 * nobody lists one any more once a writer of a later generation has said in the list that it
 * goes on with the stream. A state that is saved in
 * the middle of a file says in the list how many elements the file has: who goes on from an
 * earlier one must not end it before. All of this is done under the folder's lock; who was
 * stopped while it had that, and lives on, has its lines skipped (seal_list.h).
 */
#ifndef KIT_SHARDS_CUT_H
#define KIT_SHARDS_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "op/kit/seal_list.h"

/* Zero: files do not end by time. */
struct shards_cut {
	int64_t after_ns;       /* how long a file may take; 0: for ever */
	int64_t now_ns;         /* the clock, set once in a while; times of files are compared with it */
	/* by name, when the stream was taken over: the folder's files, and what others will have */
	struct seal_files done, promised;
	struct seal_owner me;   /* the writer, as the list tells it */
	off_t at;               /* the list was looked at up to here, */
	bool lost;              /* and named another writer */
};

/* Takes the stream over. ST_DATA: a later generation has. */
enum status shards_cut_own(struct shards_cut *c, const char *dir, uint32_t stream, const struct seal_owner *me,
			   struct err *e);
/* How many elements the file of this path had when it was complete before; 0: it was not. */
uint64_t shards_cut_of(const struct shards_cut *c, const char *path);
/* How many elements the file must have before it ends. */
uint64_t shards_cut_least(const struct shards_cut *c, const char *path);
/* ST_DATA: another writer has taken the stream over. */
enum status shards_cut_mine(struct shards_cut *c, const char *dir, uint32_t stream, struct err *e);
void shards_cut_clear(struct shards_cut *c);

#endif
