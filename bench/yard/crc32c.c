/* SPDX-License-Identifier: MIT
 * The floor of reading TFRecord: a file read in blocks and its bytes summed, with the
 * library that dsvc uses too. Prints seconds and the sum.
 * usage: crc32c FILE */
#include <fcntl.h>
#include <isa-l/crc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	unsigned char *p = malloc(BLOCK);
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	double start = now();
	unsigned sum = ~0u;
	ssize_t n;

	if (fd < 0 || !p) {
		perror(argc == 2 ? argv[1] : "usage: crc32c FILE");
		return 1;
	}
	while ((n = read(fd, p, BLOCK)) > 0)
		sum = crc32_iscsi(p, (int)n, sum);
	printf("%.6f %08x\n", now() - start, ~sum);
	return n < 0;
}
