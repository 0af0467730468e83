/* SPDX-License-Identifier: MIT
 *
 * The files of folders that are still being saved, one after another as they come to
 * be whole: the walk of load with wait=true. The folder's list gives their order,
 * which so is the same for everybody who reads it, now or later: the files of all folders have
 * numbers, and a walk may be given only some of them.
 */
#ifndef FILE_LOAD_WAIT_H
#define FILE_LOAD_WAIT_H

#include "base/hash.h"
#include "op/kit/seal_list.h"
#include "op/op.h"

/* Zero: nothing read yet. */
struct load_wait {
	size_t dir;              /* index of the folder at hand */
	uint64_t before;         /* files of the folders before it */
	off_t at;                /* place in its list */
	struct seal_files files; /* files of that folder, as far as they were listed */
	size_t next;             /* the first of them that was not given */
	struct hash seen;        /* name -> its number in files, from 1 */
	int64_t pause;           /* ns to the next look */
};

/* Waits for the next file whose number is in [from, until), and gives its path. ST_END: there is no more such;
 * ST_AGAIN: the chain is to stop. */
enum status load_wait_next(const struct op_inst *self, const struct words *dirs, struct load_wait *w, uint64_t from,
			   uint64_t until, char **path, struct err *e);
/* The number of the file behind the one that was given last. After the folders' end: how many there are. */
static inline uint64_t
load_wait_at(const struct load_wait *w)
{
	return w->before + w->next;
}
/* Lends the list entry of the file that was given last. */
const struct seal_file *load_wait_last(const struct load_wait *w);
void load_wait_clear(struct load_wait *w);

#endif
