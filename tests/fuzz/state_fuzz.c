/* SPDX-License-Identifier: MIT
 * States of operators and splits, as a worker is handed them by others: any bytes are
 * refused, or make a chain that gives well-formed elements, ends, fails with words or
 * can be stopped, and saves a state that is good again. Begun are the examples of all operators of the
 * table, and some specs more.
 *
 *	NAME [K] \n        the operator's example, or the K-th of its other specs
 *	byte n, n bytes    a split to open it by; n 0: it is opened whole
 *	the rest           the state; nothing: it begins at the beginning
 *
 * With FUZZ_SEEDS=DIR, units are written there instead: states after 0, 1, 4, 9... runs. */
#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "../unit/lang/example_spec.h"
#include "value/mp.h"
#include "op/facts.h"
#include "op/pull.h"
#include "op/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { FUZZ_PULLS = 30, FUZZ_ELEMENTS = 5000, FUZZ_NAME = 40, FUZZ_LONG_US = 50000 };

/* Specs for states that an example of few elements does not reach. New ones go at the end. */
static const char *const fuzz_more[] = {
	"range 200 | window 5 shift=2 stride=3", "range 200 | shuffle 50 seed=3 | map x * x",
	"range 200 | shuffle all seed=3", "range 200 | scan 0 s + x | filter x % 2 == 0",
	"range 200 | dedup x // 5 window=3", "range 200 | group_by x % 7 agg=mean of=x",
	"range 200 | group_by x % 7 init=0 reduce=(s + x)", "range 200 | group_by x % 7 agg=list",
	"range 200 | map {a: x % 9} | group_by .a agg=max of=x",
	"range 200 | group_by_window x % 3 5 (| shuffle 2 | batch 2)",
	"range 200 | map range(x % 9) | padded_batch 4 | map len(x)",
	"range 200 | map range(x % 9) | bucket len(x) bounds=[3, 5] sizes=[2, 3, 4]",
	"range 200 | batch 7 | rebatch 4", "range 200 | batch 7 | unbatch",
	"range 200 | map {a: x, t: str(x)} | batch 7 | unbatch", "range 200 | flat_map range(x % 5)",
	"range 20 | interleave (range x | map [xx, x]) cycle=3 block=2",
	"zip a=(range 50) b=(range 70) short=pad", "concat (range 30) (range 20 | map x + 1)",
	"sample (range 100) (range 200) weights=[1, 3] seed=2", "range 200 | sort -x | take 100",
	"range 200 | top 5 x % 13", "range 3000 | stats quantiles=[0.5]", "range 50 | pad_to 80 -1",
	"range 30 | cache | repeat 3", "range 100 | map tensor([x, 1]) | batch 3",
	"range 60 | prefetch 10 | map x + 1", "range 100 | ignore_errors max=50",
	"range 100 | resample x % 2 target=[0.5, 0.5] seed=1",
	"range 20 | repeat 3 | shuffle 7 seed=2 | repeat 2",
	"range 100 | map x parallel=2", "range 100 | flat_map [x, x] parallel=2",
	"range 100 | shuffle 9 seed=3 | map {s: str(x), n: x + 1} | filter .n > 3 | batch 4",
	"elements [\"a b\", \"c\"] | repeat 9 | shuffle 3 | map upper(x) ++ \"!\"",
	"choose a=(range 9) b=(range 9) by=(elements [\"b\", \"a\"] | repeat)",
	"range 50 | unique x % 17 | map x + 1", "range 100 | enumerate | map x[0] + x[1]",
	"lines words.txt | map len(x) | interleave (range x) cycle=2", "csv fruit.csv", "csv cities.csv quote=none",
	"ndjson app.ndjson", "tsv cities.csv", "bytes 5 words.txt", "whole words.txt fruit.csv",
	"tar images.tar", "tar samples.tar group=true", "npy grid.npy | map x + 1", "files *.csv",
	"tfrecord three.tfrecord", "range 9 | reduce 0 s + x", "range 9 | take_while x < 7",
	"range 99 | window 7 | map len(x)", "range 99 | map [x] | ragged_batch 4 | rebatch 3",
	"range 40 | map {id: x % 4} | join (elements [{id: 2, n: \"a\"}, {id: 2, n: \"b\"}]) on=.id",
	"range 40 | map {id: x % 4} | lookup cities.csv key=.id", "random 50 seed=1 max=100 | sort",
	"range 12 | flat_map range(3) | tee (| batch 2 | count)",
	"range 9000 | batch 3 | enumerate | batch 10 | shuffle all | repeat 2",
	"range 100 | assert x < 90", "range 40 | map 10 // (x % 3) on_error=skip",
	"range 900 | map {id: x % 20} | join (range 30 | map {id: x * 10, v: x}) on=.id kind=outer",
	"range 900 | stats x by=x % 7",
	"range 300 | map {id: x, v: range(x)} | unnest v", "range 300 | map {id: x % 9, a: x} | nest a",
	"range 300 | map {id: x // 3, a: x % 3, b: x} | pivot a b",
	"range 300 | map {id: x, a: x % 7 == 0 ? x : null} | fill a | unpivot id a",
};

struct fuzz_spec {
	char name[FUZZ_NAME];
	struct plan *plan;
	bool quiet; /* starts programs, or prints: is not made to give elements */
};

static atomic_bool fuzz_stop; /* a split may be read 2^60 times, and a reduce behind it */
static struct fuzz_spec *fuzz_specs;
static size_t fuzz_n, fuzz_cap;

struct fuzz_splits {
	struct split split;
	bool given;
};

static enum status
fuzz_next_split(void *arg, struct split *out, struct err *e)
{
	struct fuzz_splits *s = arg;

	(void)e;
	if (s->given)
		return ST_END;
	s->given = true;
	split_copy(out, &s->split);
	return ST_OK;
}

static void
fuzz_add(const char *name, const char *text)
{
	struct fuzz_spec s = { .quiet = strstr(text, "print") != NULL };
	struct err e = { 0 };

	snprintf(s.name, sizeof s.name, "%s", name);
	if (example_plan(text, &s.plan, &e)) {
		fprintf(stderr, "%s: %s\n", text, e.text);
		abort();
	}
	if (op_needs_exec(s.plan->top))
		s.quiet = true;
	fuzz_specs = mem_grow(fuzz_specs, &fuzz_cap, fuzz_n + 1, sizeof *fuzz_specs);
	fuzz_specs[fuzz_n++] = s;
}

/* All that could run on a worker, without writing files. */
static void
fuzz_fill(void)
{
	char name[FUZZ_NAME];

	for (size_t i = 0; op_at(i); i++) {
		const struct op_desc *d = op_at(i);

		if (!d->example || example_no_state(d))
			continue;
		char *text = example_spec(d, NULL);
		fuzz_add(d->name, text);
		mem_free(text);
	}
	for (size_t i = 0; i < sizeof fuzz_more / sizeof *fuzz_more; i++) {
		snprintf(name, sizeof name, "more %zu", i);
		fuzz_add(name, fuzz_more[i]);
	}
}

static struct fuzz_spec *
fuzz_find(const char *name, size_t n)
{
	if (!fuzz_n)
		fuzz_fill();
	for (size_t i = 0; i < fuzz_n; i++)
		if (strlen(fuzz_specs[i].name) == n && !memcmp(fuzz_specs[i].name, name, n))
			return &fuzz_specs[i];
	return NULL;
}

static void
fuzz_pull(const struct fuzz_spec *s, struct op_inst *inst, int pulls, struct err *e)
{
	struct run *r;
	size_t all = 0;

	for (int i = 0; !s->quiet && i < pulls && all < FUZZ_ELEMENTS; i++) {
		enum status st = op_pull(inst, &r, e);

		if (st != ST_OK) {
			assert(st == ST_END || st == ST_AGAIN || e->text[0]);
			break;
		}
		assert(r->n);
		all += r->n;
		for (uint32_t k = 0; k < r->n; k++)
			assert(mp_check(r->e[k].p, r->e[k].len));
	}
}

static struct op_ctx
fuzz_ctx(struct fuzz_splits *by)
{
	return (struct op_ctx){ .seed = 7, .stop = &fuzz_stop, .element_max = 1 << 20, .repeatable = true, .arg = by,
				.next_split = by ? fuzz_next_split : NULL };
}

/* Checks that another chain of the same kind takes the state that this one saves. */
static void
fuzz_again(const struct fuzz_spec *s, struct op_inst *inst, struct op_ctx *ctx)
{
	struct op_inst *again = NULL;
	struct buf b = { 0 };
	struct err e = { 0 };

	if (op_state_save(inst, &b) && op_open(s->plan->top, ctx, &again, &e) == ST_OK)
		assert(op_state_restore(again, b.data, b.len, &e) == ST_OK);
	op_close(&again);
	buf_clear(&b);
}

static void
fuzz_alarm(int sig)
{
	(void)sig;
	atomic_store(&fuzz_stop, true);
}

/* From now on so long; 0: no more. */
static void
fuzz_time(int us)
{
	struct itimerval t = { .it_value.tv_usec = us };

	signal(SIGALRM, fuzz_alarm);
	setitimer(ITIMER_REAL, &t, NULL);
	atomic_store(&fuzz_stop, false);
}

static void
fuzz_state(const struct fuzz_spec *s, struct fuzz_splits *by, const uint8_t *p, size_t n)
{
	struct op_ctx ctx = fuzz_ctx(by);
	struct op_inst *inst = NULL;
	struct err e = { 0 };

	fuzz_time(FUZZ_LONG_US);
	enum status st = op_open(s->plan->top, &ctx, &inst, &e);
	if (st == ST_OK && n)
		st = op_state_restore(inst, p, n, &e);
	if (st == ST_OK) {
		fuzz_pull(s, inst, 3, &e);
		if (!by)
			fuzz_again(s, inst, &ctx);
		fuzz_pull(s, inst, FUZZ_PULLS, &e);
	} else {
		assert(st >= ST_USAGE && e.text[0]);
	}
	op_close(&inst);
	fuzz_time(0);
}

static void
fuzz_write(const char *dir, size_t k, const char *what, const struct split *split, const struct buf *state)
{
	char *name = mem_printf("%s/%zu-%s", dir, k, what);
	struct buf b = { 0 };
	FILE *f = fopen(name, "w");

	if (!f)
		abort();
	if (split)
		split_encode(split, &b);
	fprintf(f, "%s\n%c", fuzz_specs[k].name, (int)b.len);
	fwrite(b.data, 1, b.len, f);
	if (state)
		fwrite(state->data, 1, state->len, f);
	fclose(f);
	buf_clear(&b);
	mem_free(name);
}

static void
fuzz_seed(const char *dir, size_t k)
{
	const struct fuzz_spec *s = &fuzz_specs[k];
	struct split_list units = { 0 };
	struct err e = { 0 };

	for (int pulls = 0; pulls < 6; pulls++) {
		struct op_ctx ctx = fuzz_ctx(NULL);
		struct op_inst *inst = NULL;
		struct buf state = { 0 };
		char what[16];

		if (op_open(s->plan->top, &ctx, &inst, &e) != ST_OK)
			abort();
		fuzz_pull(s, inst, pulls * pulls, &e);
		snprintf(what, sizeof what, "%d", pulls);
		if (op_state_save(inst, &state))
			fuzz_write(dir, k, what, NULL, &state);
		op_close(&inst);
		buf_clear(&state);
	}
	if (op_can_split(s->plan->top) && op_list_splits(s->plan->top, &units, &e) == ST_OK && units.n) {
		struct fuzz_splits by = { .split = units.v[0] };
		struct op_ctx ctx = fuzz_ctx(&by);
		struct op_inst *inst = NULL;
		struct buf state = { 0 };

		if (by.split.times > 3)
			by.split.times = 3;
		fuzz_write(dir, k, "split", &by.split, NULL);
		if (op_open(s->plan->top, &ctx, &inst, &e) != ST_OK)
			abort();
		fuzz_pull(s, inst, 1, &e);
		if (op_state_save(inst, &state))
			fuzz_write(dir, k, "splitted", &by.split, &state);
		op_close(&inst);
		buf_clear(&state);
	}
	split_list_clear(&units);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *dir = getenv("FUZZ_SEEDS");

	(void)argc, (void)argv;
	if (!dir)
		return 0;
	fuzz_fill();
	for (size_t k = 0; k < fuzz_n; k++)
		fuzz_seed(dir, k);
	exit(0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size), *end = data + size;
	const struct fuzz_spec *s = line ? fuzz_find((const char *)data, (size_t)(line - data)) : NULL;
	struct fuzz_splits by = { 0 };
	struct err e;

	if (!s || ++line == end || *line > end - line - 1)
		return 0;
	size_t n = *line++;
	if (n && split_decode(line, n, &by.split, &e) != ST_OK)
		return 0;
	line += n;
	/* A copy without a byte to spare behind it. */
	uint8_t *p = mem_dup(line, (size_t)(end - line));
	fuzz_state(s, n ? &by : NULL, p, (size_t)(end - line));
	mem_free(p);
	split_clear(&by.split);
	return 0;
}
