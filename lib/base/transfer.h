/* SPDX-License-Identifier: MIT
 *
 * All the bytes, where read(2) and write(2) may move some of them: these go on after a
 * signal and after a part. For descriptors that block, such as those of files.
 */
#ifndef BASE_TRANSFER_H
#define BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Writes all n bytes. False and errno: some of them may have been written. */
bool transfer_write(int fd, const void *p, size_t n);
bool transfer_write_at(int fd, const void *p, size_t n, uint64_t at);
/* Reads n bytes, fewer only at the end of the file. Gives how many; -1 and errno. */
ssize_t transfer_read_at(int fd, void *p, size_t n, uint64_t at);
/* Appends what is left to read, and stops when `out` holds more than `most` bytes. False
 * and errno: what came before the failure has been appended. */
bool transfer_read_all(int fd, size_t most, struct buf *out);

#endif
