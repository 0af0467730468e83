/* SPDX-License-Identifier: MIT
 *
 * Whether a program has the state, without disturbing it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store.h"

/* Where SQLite locks a file: its format says so. */
enum { STORE_LOCK_AT = 0x40000000, STORE_LOCK_BYTES = 512 };

bool
store_taken(const char *dir)
{
	char *path = mem_printf("%s/state.db", dir);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = STORE_LOCK_AT,
		.l_len = STORE_LOCK_BYTES };
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool taken = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	mem_free(path);
	return taken;
}
