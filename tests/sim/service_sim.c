/* SPDX-License-Identifier: MIT
 *
 * Runs the simulated service with many seeds:
 *
 *	service_sim [-n SEEDS] [-s FIRST] [-g] [-v]     (or SEEDS in the environment)
 *
 * With -g the job is shared by groups in all worlds.
 * Prints each seed that fails and why; `service_sim -s SEED -n 1 -v` runs it
 * again, message by message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

struct sums {
	uint64_t runs, failed, events, crashes[3], strikes, breaks, pauses, resumes, produced, again, yields;
	unsigned poisoned; /* the most in one run */
};

static void
sums_add(struct sums *s, const struct world *w)
{
	s->runs++;
	s->failed += w->failed;
	s->events += w->events;
	for (int i = 0; i < 3; i++)
		s->crashes[i] += w->crashes[i];
	s->strikes += w->strikes;
	s->breaks += w->breaks;
	s->pauses += w->pauses;
	s->resumes += w->resumes;
	s->produced += w->produced;
	s->again += w->disp_made_again;
	s->yields += w->yields;
	if (w->poisoned > s->poisoned)
		s->poisoned = w->poisoned;
}

int
main(int argc, char **argv)
{
	const char *env = getenv("SEEDS");
	uint64_t first = 1, n = env ? strtoull(env, NULL, 10) : 2000;
	bool verbose = false, groups = false;
	struct sums s = { 0 };
	struct world w;
	char why[512];
	int c;

	while ((c = getopt(argc, argv, "gn:s:v")) != -1)
		switch (c) {
		case 'n': n = strtoull(optarg, NULL, 10); break;
		case 's': first = strtoull(optarg, NULL, 10); break;
		case 'g': groups = true; break;
		case 'v': verbose = true; break;
		default: return 64;
		}
	for (uint64_t seed = first; seed < first + n; seed++) {
		bool ok = world_run(seed, verbose, groups, why, sizeof why, &w);

		sums_add(&s, &w);
		if (!ok)
			printf("# seed %llu: %s\n", (unsigned long long)seed, why);
		if (s.failed >= 20)
			break;
	}
	printf("# %llu runs, %llu events; killed: %llu dispatchers, %llu workers, %llu readers; %llu keys struck out, "
	       "%llu connections broken, "
	       "%llu programs stopped for a while, %llu resumed from a checkpoint; %llu streams asked to move; "
	       "%llu elements made, %llu of them again; at most %u workers died of one element\n",
	       (unsigned long long)s.runs, (unsigned long long)s.events, (unsigned long long)s.crashes[0],
	       (unsigned long long)s.crashes[1], (unsigned long long)s.crashes[2],
	       (unsigned long long)s.strikes, (unsigned long long)s.breaks,
	       (unsigned long long)s.pauses, (unsigned long long)s.resumes, (unsigned long long)s.yields,
	       (unsigned long long)s.produced,
	       (unsigned long long)s.again, s.poisoned);
	printf("1..1\n%s 1 - %llu seeds from %llu\n", s.failed ? "not ok" : "ok", (unsigned long long)s.runs,
	       (unsigned long long)first);
	return s.failed ? 1 : 0;
}
