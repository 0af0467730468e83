/* SPDX-License-Identifier: MIT
 *
 * The second wall: the kernel itself refuses files to this process, its threads
 * and its children, whatever code they run (Landlock, Linux 5.13 and later).
 *
 *	landlock_open -> landlock_allow ... -> landlock_enforce
 */
#ifndef HOST_LANDLOCK_H
#define HOST_LANDLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum landlock_may {
	LANDLOCK_MAY_READ = 1,
	LANDLOCK_MAY_RUN = 2,
	LANDLOCK_MAY_WRITE = 4, /* make, change and remove files and folders */
	LANDLOCK_MAY_USE = 8    /* write to what is there: devices */
};

struct landlock {
	int fd;        /* -1: there is none */
	uint64_t all;  /* the rights that this kernel knows */
};

/* false: the kernel has no Landlock, or it is switched off. */
bool landlock_open(struct landlock *l);
/* Allows what lies at and below path; a path that does not exist is passed over. */
void landlock_allow(struct landlock *l, const char *path, unsigned may);
/* Confines the calling thread and all threads and processes that it starts from now on. Closes. */
bool landlock_enforce(struct landlock *l);

#endif
