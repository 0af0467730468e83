/* SPDX-License-Identifier: MIT
 *
 * The files of folders that are still being saved, one after another as they come to
 * be whole: the walk of load with wait=true. The folder's list gives their order,
 * which so is the same for everybody who reads it, now or later.
 */
#ifndef FILE_LOAD_WAIT_H
#define FILE_LOAD_WAIT_H

#include "base/hash.h"
#include "op/kit/seal_list.h"
#include "op/op.h"

/* Zero: nothing read yet. */
struct load_wait {
	size_t dir;              /* index of the folder at hand */
	off_t at;                /* place in its list */
	struct seal_files files; /* files of that folder, as far as they were listed */
	size_t next;             /* the first of them that was not given */
	struct hash seen;        /* name -> its number in files, from 1 */
	int64_t pause;           /* ns to the next look */
};

/* Waits for the next file and gives its path. ST_END: the folders are complete, and there are no more;
 * ST_AGAIN: the chain is to stop. */
enum status load_wait_next(const struct op_inst *self, const struct words *dirs, struct load_wait *w, char **path,
			   struct err *e);
/* Lends the list entry of the file that was given last. */
const struct seal_file *load_wait_last(const struct load_wait *w);
void load_wait_clear(struct load_wait *w);

#endif
