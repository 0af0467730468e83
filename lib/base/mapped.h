/* SPDX-License-Identifier: MIT
 *
 * A piece of a file in memory, to be read where the kernel has it. A file may be made
 * shorter while it is read, or its disk may fail; then a read from memory ends a process by SIGBUS.
 * Here it gives zeros from that page on, and mapped_broken tells so: the caller forgets
 * what it read, and reads the file by read(), which says what is the matter.
 */
#ifndef BASE_MAPPED_H
#define BASE_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: there is nothing. */
struct mapped {
	const uint8_t *data; /* NULL: nothing is mapped */
	uint64_t offset;     /* where it begins in the file */
	size_t len;
	size_t place;        /* in the list of all mapped pieces */
};

/* Maps `len` bytes, not 0, from a multiple of MAPPED_STEP on. False: it cannot be, and nothing is mapped. */
enum { MAPPED_STEP = 64 * 1024 };
bool mapped_open(struct mapped *m, int fd, uint64_t offset, size_t len);
/* To be called by each thread before it reads what another one may have mapped. */
void mapped_use(void);
/* Whether some of the bytes read so far were not those of the file. */
bool mapped_broken(const struct mapped *m);
void mapped_close(struct mapped *m);

#endif
