/* SPDX-License-Identifier: MIT
 *
 * The elements of a pass, kept to be given again: in memory, or in a file as
 * MessagePack values end to end.
 *
 *	spool_open  { spool_add }  spool_end  { spool_next until ST_END, spool_seek }  spool_clear
 *
 * A named file gets its name only when it is complete: until then it has none, or a
 * temporary one if the file system cannot do that. A file without a name is gone as
 * soon as it is closed or its writer is killed.
 */
#ifndef KEEP_SPOOL_H
#define KEEP_SPOOL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/tmp_room.h"
#include "value/elem.h"

/* Zero is a valid empty spool in memory. */
struct spool {
	char *path, *part;    /* file: its final name, and its name while being written, if any */
	bool unnamed;         /* file without a name, until it gets its own */
	int fd;               /* descriptor, when there is a file */
	bool file, whole;
	struct tmp_room room; /* account of a file that never gets a name */
	const char *dir;      /* its folder; lent */
	uint64_t bytes;       /* size of everything */
	struct block **v;     /* memory: blocks of elements; file: v[0] is the window */
	size_t n, cap;
	size_t at, from;      /* memory: block and place in it; file: from in the window */
	uint64_t base;        /* number of bytes before the current block or window */
};

/* Opens a spool in a file of the folder, which is made if needed and must outlive s; name NULL: a file without a
 * name. A complete file of this name is opened for reading: s->whole is then set. */
enum status spool_open(struct spool *s, const char *dir, const char *name, struct err *e);
enum status spool_add(struct spool *s, const struct run *r, struct err *e);
/* Ends writing: from now on the spool can be read, from its beginning. */
enum status spool_end(struct spool *s, struct err *e);
/* Fills out with elements that lie in the spool's blocks; ST_END at the end. */
enum status spool_next(struct spool *s, struct run *out, struct err *e);
uint64_t spool_tell(const struct spool *s);
/* Goes to a place that spool_tell gave. */
enum status spool_seek(struct spool *s, uint64_t at, struct err *e);
void spool_clear(struct spool *s);

#endif
