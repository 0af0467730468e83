/* SPDX-License-Identifier: MIT */
#include "cli/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

void
descriptors_hold(void)
{
	/* The wrong way round: EBADF, which is what a closed one gives. */
	static const int how[] = { O_WRONLY, O_RDONLY, O_WRONLY };

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		/* Those below are open, so that open() takes this number. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how[fd]) != fd)
			return;
}
