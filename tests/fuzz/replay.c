/* SPDX-License-Identifier: MIT
 * A main for fuzz programs without libFuzzer: feeds them files, or all files of
 * folders, in the order of their names; with -r SECONDS SEED, changed at random.
 *
 *	replay FILE|FOLDER...                each as it is, and nothing, a single time
 *	replay -r SECONDS SEED FILE|FOLDER...
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { REPLAY_UNIT_MAX = 1 << 20, REPLAY_EDITS = 8, REPLAY_PIECE = 8 };

struct unit {
	char *name;
	uint8_t *data;
	size_t len;
};

static struct unit *units;
static size_t n_units, cap_units;

static int
unit_order(const void *a, const void *b)
{
	return strcmp(((const struct unit *)a)->name, ((const struct unit *)b)->name);
}

static void
unit_add_file(const char *name)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = mem_alloc(REPLAY_UNIT_MAX);

	if (!f) {
		perror(name);
		exit(66);
	}
	units = mem_grow(units, &cap_units, n_units + 1, sizeof *units);
	size_t n = fread(data, 1, REPLAY_UNIT_MAX, f);
	units[n_units++] = (struct unit){ mem_strdup(name), mem_dup(data, n), n };
	mem_free(data);
	fclose(f);
}

static void
unit_add(const char *name)
{
	struct stat st;
	struct dirent *entry;
	DIR *dir;

	if (stat(name, &st) || !S_ISDIR(st.st_mode) || !(dir = opendir(name))) {
		unit_add_file(name);
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		char *path = mem_printf("%s/%s", name, entry->d_name);
		unit_add_file(path);
		mem_free(path);
	}
	closedir(dir);
}

/* One change, within room for REPLAY_PIECE bytes more; gives the new length. */
static size_t
replay_edit(uint8_t *m, size_t n, struct rng *r)
{
	size_t at = n ? rng_below(r, n) : 0, len = 1 + rng_below(r, REPLAY_PIECE);

	if (!n) {
		m[0] = (uint8_t)rng_next(r);
		return 1;
	}
	switch (rng_below(r, 5)) {
	case 0:
		m[at] = (uint8_t)rng_next(r);
		return n;
	case 1:
		m[at] ^= (uint8_t)(1u << rng_below(r, 8));
		return n;
	case 2: /* cut */
		return at;
	case 3: /* take out */
		len = len < n - at ? len : n - at;
		memmove(m + at, m + at + len, n - at - len);
		return n - len;
	default: /* double */
		len = len < n - at ? len : n - at;
		memmove(m + at + len, m + at, n - at);
		return n + len;
	}
}

static void
replay_random(double seconds, uint64_t seed)
{
	int64_t end = clock_mono_ns() + (int64_t)(seconds * 1e9);
	struct rng r = { seed, 0 };
	uint64_t runs = 0;

	for (; n_units && (runs % 64 || clock_mono_ns() < end); runs++) {
		const struct unit *u = &units[rng_below(&r, n_units)];
		uint8_t *m = mem_alloc(u->len + (size_t)REPLAY_EDITS * REPLAY_PIECE + 1);
		size_t n = u->len;

		memcpy(m, u->data, n);
		for (size_t edits = rng_below(&r, REPLAY_EDITS + 1); edits; edits--)
			n = replay_edit(m, n, &r);
		LLVMFuzzerTestOneInput(m, n);
		mem_free(m);
	}
	printf("%llu runs\n", (unsigned long long)runs);
}

int
main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	bool random = argc > 3 && !strcmp(argv[1], "-r");

	for (int i = random ? 4 : 1; i < argc; i++)
		unit_add(argv[i]);
	qsort(units, n_units, sizeof *units, unit_order);
	if (random) {
		replay_random(atof(argv[2]), strtoull(argv[3], NULL, 10));
	} else {
		LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
		for (size_t i = 0; i < n_units; i++)
			LLVMFuzzerTestOneInput(units[i].data, units[i].len);
		printf("%zu units\n", n_units);
	}
	while (n_units) {
		mem_free(units[--n_units].name);
		mem_free(units[n_units].data);
	}
	mem_free(units);
	return 0;
}
