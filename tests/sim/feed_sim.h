/* SPDX-License-Identifier: MIT
 *
 * A world of made-up cores that are fed in step, and those of them that sit behind pipes.
 */
#ifndef TESTS_SIM_FEED_SIM_H
#define TESTS_SIM_FEED_SIM_H

#include "base/rng.h"
#include "core/feed/feed.h"
#include "core/feed/feed_sent.h"

enum { CORES = 5, STEPS = 400, SLOTS = 12, PIPE = 200 };
#define MS 1000000ll

enum mood { WELL, STOPS, FAILS, DIES, QUITS, SILENT_ANSWER, SLEEPS };
struct sim_core {
	enum mood mood;
	uint64_t at;              /* the step at which its mood shows */
	uint64_t told, done, given, answered;
	int64_t busy;             /* until then */
	bool joined, ended, errored, over;
	uint32_t laziness;
	struct sim_pipe {
		struct feed_sent sent;
		uint64_t end[STEPS];   /* bytes up to the end of each step */
		uint64_t told, wrote, took; /* bytes that are to be written, that were, and that the core has read */
		uint64_t counted;      /* steps that are written whole, and so count as done */
	} pipe;
};
struct sim {
	struct rng r;
	struct feed *f;
	struct feed_conf c;
	struct sim_core core[CORES];
	uint64_t left[4];         /* rows of each epoch */
	uint32_t epoch, epochs;
	bool loop_end[STEPS];     /* whether cores were told that the step is the last of its loop */
	uint64_t loops;           /* ends of loops that are done */
	uint64_t real[STEPS];     /* rows of each step as the first core was told */
	uint64_t results, rows, dropped;
	int64_t now;
	bool over, data_fails, data_failed, stopped;
	bool hosts;               /* other hosts have to agree on a stop */
	bool holds, agreed;       /* one was asked for, up to `hold` steps; and is settled, with `agreed_at` */
	uint64_t hold, agreed_at;
	int64_t agree_ns;
	uint64_t seed;
	char bad[sizeof((struct err *)0)->text]; /* the first thing that is wrong; empty: nothing */
};

/* Keeps the first thing that is wrong. */
void sim_bad(struct sim *s, const char *why);

/* The host looks into the pipe of a core. */
void sim_pipe_look(struct sim *s, uint32_t i);
/* Writes what the pipe takes. */
void sim_pipe_write(struct sim *s, uint32_t i);
/* The core is told of the step, which is of some size and waits to be written. */
void sim_pipe_batch(struct sim *s, uint32_t i, uint64_t step);
/* It is started anew, with another pipe. */
void sim_pipe_again(struct sim_core *k);
/* It has ended. */
void sim_pipe_left(struct sim *s, uint32_t i, int status);
/* The judgement at the end, after so many steps: what is done, and the step that a dead core is said to be at. */
void sim_pipe_judge(struct sim *s, const struct feed_fault *cause, uint64_t last);

#endif
