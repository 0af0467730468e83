/* SPDX-License-Identifier: MIT
 *
 * Yardstick: packs i * i for i in [0, N) with msgpack-c and reads the numbers
 * back, batch by batch in one buffer: what a C programmer would write by hand.
 *
 *	msgpack N        prints the seconds it took, and a sum that must be used
 */
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 4096 };

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
	long long n = argc > 1 ? atoll(argv[1]) : 50000000;
	unsigned long long sum = 0, count = 0;
	msgpack_sbuffer sbuf;
	msgpack_packer pk;
	msgpack_unpacked item;

	msgpack_sbuffer_init(&sbuf);
	msgpack_packer_init(&pk, &sbuf, msgpack_sbuffer_write);
	msgpack_unpacked_init(&item);
	double t0 = now();
	for (long long i = 0; i < n;) {
		msgpack_sbuffer_clear(&sbuf);
		long long end = i + BATCH < n ? i + BATCH : n;
		for (; i < end; i++)
			msgpack_pack_int64(&pk, i * i);
		size_t off = 0;
		while (msgpack_unpack_next(&item, sbuf.data, sbuf.size, &off) ==
		       MSGPACK_UNPACK_SUCCESS) {
			sum += item.data.via.u64;
			count++;
		}
	}
	printf("%.6f %llu %llu\n", now() - t0, count, sum);
	msgpack_unpacked_destroy(&item);
	msgpack_sbuffer_destroy(&sbuf);
	return count == (unsigned long long)n ? 0 : 1;
}
