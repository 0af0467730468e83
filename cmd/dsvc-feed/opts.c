/* SPDX-License-Identifier: MIT */
#include "opts.h"
#include "axes.h"
#include "hosts.h"
#include "pairs.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "cli/progress.h"
#include "host/link.h"
#include "lang/offer.h"
#include "lang/usage.h"
#include "value/format/format.h"

#define AT(field) .offset = offsetof(struct feed_opts, field)

static const struct param rows[] = {
	OPT_SERVICE(struct feed_opts),
	OPT_TMP_MAX(struct feed_opts),
	{ .name = "expression", .letter = 'e', .arg = "SPEC", .kind = PARAM_WORD, AT(expression), .flags = PARAM_OPTIONAL,
	  .complete = "spec", .help = "feed from this pipeline" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD, AT(file), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .complete = "file", .help = "read the pipeline from FILE" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS, AT(set),
	  .flags = PARAM_RARE | PARAM_REPEAT, .complete = "param", .help = "set a parameter of the pipeline" },
	{ .name = "include-dir", .letter = 'I', .arg = "DIR", .kind = PARAM_WORDS, AT(include),
	  .flags = PARAM_RARE | PARAM_REPEAT, .complete = "dir", .help = "look for included files in DIR" },
	{ .name = "job", .letter = 'J', .arg = "NAME", .kind = PARAM_WORD, AT(job.name),
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_NAME, .complete = "job",
	  .help = "share the elements with all readers of this job, in order any; with --host: with the other hosts" },
	{ .name = "local", .kind = PARAM_BOOL, AT(local), .help = "run the pipeline in this process" },
	{ .name = "jobs", .letter = 'j', .arg = "N", .kind = PARAM_INT, AT(jobs),
	  .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_PROCESSORS, .min = 1, .max = 256,
	  .help = "with --local: source threads (default 1), auto or 0: one per processor; 50%: half as many" },
	{ .name = "cores", .letter = 'n', .arg = "N", .kind = PARAM_INT, AT(cores), .def = "1", .min = 1,
	  .max = FEED_CORES_MAX, .help = "number of consumers, and of copies of CMD" },
	{ .name = "host", .arg = "I/N", .kind = PARAM_WORD, AT(host_text),
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_ONE_WORD,
	  .help = "be host I of N, from 0 on, that feed their cores in step from one --job" },
	{ .name = "seat-wait", .arg = "DURATION", .kind = PARAM_DURATION, AT(job.seat_wait), .def = "5m",
	  .flags = PARAM_RARE | PARAM_ALLOW_NEVER, .min = 1, .max = INT64_MAX, .complete = "never",
	  .help = "exit 75 when the others have waited this long for a host that is away; never: wait" },
	{ .name = "batch", .arg = "N", .kind = PARAM_INT, AT(batch), .def = "0", .flags = PARAM_ZERO,
	  .max = 1 << 30, .help = "elements are rows; a step has N of them over all cores" },
	{ .name = "element", .arg = "WHOSE", .kind = PARAM_CHOICE, AT(element), .def = "core",
	  .said = offsetof(struct feed_opts, element_said),
	  .choices = "core|host|step|copy", .complete = "core|host|step|copy",
	  .help = "elements are batches, one for each core; host, step: to be cut; copy: for all" },
	{ .name = "axis", .arg = "FIELD=K", .kind = PARAM_WORDS, AT(axis_texts), .flags = PARAM_RARE | PARAM_REPEAT,
	  .help = "cut the tensors of FIELD along axis K, from 0 on; K alone: elements that are not records" },
	{ .name = "tail", .arg = "WAY", .kind = PARAM_CHOICE, AT(tail), .def = "auto",
	  .choices = "auto|pad|drop|short|error", .complete = "pad|drop|short|error",
	  .help = "the last rows, too few for a step; short: share them; auto: short for one core, else pad" },
	{ .name = "tail-of", .arg = "WHAT", .kind = PARAM_CHOICE, AT(job.tail_of), .def = "pass", .flags = PARAM_RARE,
	  .choices = JOB_TAIL_OF_WORDS, .complete = JOB_TAIL_OF_WORDS,
	  .help = "with --host: pass: the ends of all streams make steps together; stream: each has a last step of its own" },
	{ .name = "pad", .arg = "WITH", .kind = PARAM_CHOICE, AT(pad), .def = "zero", .flags = PARAM_RARE,
	  .choices = "zero|last", .complete = "zero|last", .help = "what pads: zeros, or the last row again" },
	{ .name = "mask", .arg = "NAME", .kind = PARAM_WORD, AT(mask), .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_NAME,
	  .help = "add a field NAME that is true for real rows and false for padding" },
	{ .name = "expect", .arg = "TYPE", .kind = PARAM_WORD, AT(expect), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .help = "exit 65 before the first step if elements are not of TYPE" },
	{ .name = "order", .arg = "ORDER", .kind = PARAM_CHOICE, AT(job.order), .def = "stable", .flags = PARAM_RARE,
	  .choices = JOB_ORDER_WORDS, .complete = JOB_ORDER_WORDS,
	  .help = "order of the elements; any is faster, but does not come again" },
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, AT(job.seed), .given = offsetof(struct feed_opts, job.seeded),
	  .def = "auto", .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO,
	  .help = "seed of all random operators; auto: a new one each time" },
	{ .name = "shards", .arg = "N", .kind = PARAM_INT, AT(job.shards), .def = "auto",
	  .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, .min = 1, .max = JOB_SHARDS_MAX, .help = "number of streams" },
	{ .name = "window", .arg = "N", .kind = PARAM_INT, AT(job.window), .def = "auto",
	  .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, .min = 1, .max = JOB_WINDOW_MAX,
	  .help = "number of unacknowledged chunks per stream" },
	{ .name = "epoch", .arg = "N", .kind = PARAM_INT, AT(job.epoch), .def = "1", .flags = PARAM_RARE, .min = 1,
	  .max = UINT32_MAX, .help = "begin with the N-th pass" },
	{ .name = "epochs", .arg = "N", .kind = PARAM_INT, AT(epochs), .def = "1", .min = 1, .max = UINT32_MAX,
	  .help = "N passes over the data, one after the other" },
	{ .name = "steps", .arg = "N", .kind = PARAM_INT, AT(steps), .def = "inf", .flags = PARAM_ALLOW_INF, .max = INT64_MAX,
	  .help = "stop after N steps" },
	{ .name = "until", .arg = "STEP", .kind = PARAM_INT, AT(until), .given = offsetof(struct feed_opts, until_given),
	  .def = "inf", .flags = PARAM_RARE | PARAM_ALLOW_INF | PARAM_ZERO, .max = INT64_MAX,
	  .help = "stop when STEP steps are done, earlier runs included" },
	{ .name = "from", .arg = "STEP", .kind = PARAM_INT, AT(from), .given = offsetof(struct feed_opts, from_given),
	  .def = "auto", .flags = PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, .max = INT64_MAX,
	  .help = "begin after STEP steps: at that position in the --checkpoint, or by passing over their rows" },
	{ .name = "loop", .arg = "N|DURATION", .kind = PARAM_WORD, AT(loop_text), .def = "0", .flags = PARAM_RARE,
	  .help = "steps of a loop, or how long it is to take, about: cores stop and positions are saved at its end; "
	  "0: no loops" },
	{ .name = "each-loop", .kind = PARAM_BOOL, AT(each_loop), .flags = PARAM_RARE,
	  .help = "start CMD anew for each loop" },
	{ .name = "prefetch", .arg = "N", .kind = PARAM_INT, AT(prefetch), .def = "2", .flags = PARAM_RARE,
	  .min = 1, .max = 1024,
	  .help = "how many steps a core may be told of before it has done them" },
	{ .name = "as", .arg = "FORMAT", .kind = PARAM_CHOICE, AT(as), .def = "memory", .choices = "memory|ndjson|msgpack|npy",
	  .complete = "memory|ndjson|msgpack|npy", .help = "how CMD gets steps; all but memory: on its stdin" },
	{ .name = "results", .arg = "WHAT", .kind = PARAM_CHOICE, AT(results), .def = "none", .choices = "none|step|rows",
	  .complete = "none|step|rows", .help = "take results: a value a step, or one for each row" },
	{ .name = "to", .letter = 't', .arg = "FORMAT", .kind = PARAM_CHOICE, AT(format), .def = "auto", .flags = PARAM_RARE,
	  .choices = FORMAT_CHOICES, .complete = FORMAT_CHOICES, .help = "format of the results" },
	{ .name = "output", .letter = 'o', .arg = "FILE", .kind = PARAM_WORD, AT(output), .flags = PARAM_OPTIONAL,
	  .complete = "file", .help = "write the results to FILE" },
	{ .name = "checkpoint", .arg = "FILE", .kind = PARAM_WORD, AT(checkpoint), .flags = PARAM_OPTIONAL,
	  .complete = "file", .help = "keep positions in FILE; resume from the newest, or from that of --from" },
	{ .name = "save-every", .arg = "N", .kind = PARAM_INT, AT(save_every), .def = "0", .flags = PARAM_RARE | PARAM_ZERO,
	  .max = INT64_MAX, .help = "keep a position each N steps; 0: at the end of each loop, or, without "
	  "loops, about each second" },
	{ .name = "keep", .arg = "N", .kind = PARAM_INT, AT(keep), .def = "16", .flags = PARAM_RARE, .min = 1, .max = 10000,
	  .help = "how many positions the file holds" },
	{ .name = "listen", .arg = "PATH|fd:N", .kind = PARAM_WORD, AT(listen),
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file",
	  .help = "socket to which consumers come, without CMD by default $XDG_RUNTIME_DIR/dsvc/feed; fd:N: "
	  "a connection to one" },
	{ .name = "ready-fd", .arg = "N", .kind = PARAM_INT, AT(ready.fd), .def = "-1", .min = -1, .max = 1 << 20,
	  .flags = PARAM_RARE, .help = "write the path of the socket and a newline to descriptor N when ready" },
	{ .name = "ready-file", .arg = "FILE", .kind = PARAM_WORD, AT(ready.file), .flags = PARAM_OPTIONAL | PARAM_RARE,
	  .complete = "file", .help = "write it to FILE, which is removed at the start and at the end" },
	{ .name = "wait-workers", .arg = "N[/DURATION]", .kind = PARAM_WORD, AT(wait_workers), .def = "1/10s",
	  .flags = PARAM_RARE, .help = "wait until N workers are ready, at most DURATION; 0: as long as it takes" },
	{ .name = "wait-cores", .arg = "DURATION", .kind = PARAM_DURATION, AT(wait_cores), .def = "10m", .flags = PARAM_RARE,
	  .max = INT64_MAX, .help = "how long to wait for consumers to join" },
	{ .name = "slow", .arg = "DURATION", .kind = PARAM_DURATION, AT(slow), .def = "60s", .flags = PARAM_RARE,
	  .max = INT64_MAX,
	  .help = "name a core that the others have waited for so long; tell when all have waited for data" },
	{ .name = "core-timeout", .arg = "DURATION", .kind = PARAM_DURATION, AT(core_timeout), .def = "0",
	  .flags = PARAM_RARE | PARAM_ZERO, .max = INT64_MAX,
	  .help = "exit 124 if a core takes so long for a step; on pipes without --results: reads nothing or does not "
	  "end for so long; 0: never" },
	{ .name = "grace", .arg = "DURATION", .kind = PARAM_DURATION, AT(grace), .def = "30s", .flags = PARAM_RARE,
	  .max = INT64_MAX, .help = "after a failure, cores that have not ended within DURATION are terminated" },
	{ .name = "slot-max", .arg = "SIZE", .kind = PARAM_SIZE, AT(slot_max), .def = "1G", .flags = PARAM_RARE, .min = 4096,
	  .max = (int64_t)1 << 40, .help = "the largest step, in bytes" },
	{ .name = "max-errors", .arg = "N", .kind = PARAM_INT, .max = INT64_MAX, AT(job.max_errors),
	  .given = offsetof(struct feed_opts, job.limited), .def = "inf", .flags = PARAM_RARE | PARAM_ALLOW_INF | PARAM_ZERO,
	  .help = "exit 65 if more than N elements fail under on_error=skip or keep" },
	{ .name = "errors", .arg = "FILE", .kind = PARAM_WORD, AT(errors), .flags = PARAM_RARE | PARAM_OPTIONAL,
	  .complete = "file", .help = "write JSON records of the elements that failed to FILE" },
	{ .name = "give-up", .arg = "DURATION", .kind = PARAM_DURATION, AT(give_up), .def = "0",
	  .flags = PARAM_RARE | PARAM_ZERO, .max = INT64_MAX,
	  .help = "give up on a lost dispatcher after DURATION; for one with state; 0: never" },
	{ .name = "progress", .letter = 'p', .arg = "WHEN", .kind = PARAM_CHOICE, AT(progress), .def = "auto",
	  .flags = PARAM_RARE, .choices = PROGRESS_CHOICES, .complete = PROGRESS_CHOICES,
	  .help = "show progress: always, never or auto; auto: on a terminal to which no results are written" },
	{ .name = "stats", .kind = PARAM_BOOL, AT(stats), .flags = PARAM_RARE,
	  .help = "print steps, rows and rate at the end" },
	OPT_FAIL_EMPTY(struct feed_opts),
	OPT_JOIN(struct feed_opts),
	OPT_LAST(struct feed_opts),
	{ 0 }
};

int
opts_cut(int argc, char **argv, char ***command)
{
	*command = NULL;
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--")) {
			argv[i] = NULL;
			*command = argv[i + 1] ? &argv[i + 1] : NULL;
			return i;
		}
	return argc;
}

static enum status
opts_positions(const struct feed_opts *o, struct err *e)
{
	if (o->checkpoint && o->output && format_is_framed((enum format_kind)o->format))
		return err_set(e, ST_USAGE, "--checkpoint: the format of the results has a beginning or an "
			"end, and cannot be continued");
	return ST_OK;
}

/* --loop: a number of steps, or a duration. */
static enum status
opts_loop(struct feed_opts *o, struct err *e)
{
	const char *t = o->loop_text;

	if (t && !str_int(t, strlen(t), &o->loop) && !str_duration_ns(t, strlen(t), &o->loop_ns))
		o->loop = -1;
	if (o->loop < 0 || o->loop_ns < 0) {
		err_set(e, ST_USAGE, "--loop: '%s' is neither a number of steps nor a duration", t);
		err_help(e, "write 100, or 5m");
		return ST_USAGE;
	}
	if (!o->each_loop)
		return ST_OK;
	if (o->command && (o->loop || o->loop_ns))
		return ST_OK;
	err_set(e, ST_USAGE, o->command ? "--each-loop starts the command anew for each loop, and there are no loops" :
		"--each-loop starts a command anew, and none was given");
	err_help(e, o->command ? "--loop N" : "dsvc-feed ... --each-loop -- CMD");
	return ST_USAGE;
}

static enum status
opts_where(const struct feed_opts *o, struct err *e)
{
	if (o->jobs && !o->local) {
		err_set(e, ST_USAGE, "--jobs is for --local: the workers of the service have slots");
		err_help(e, "--shards N makes N streams, for as many slots");
		return ST_USAGE;
	}
	return ST_OK;
}

enum status
opts_check(struct feed_opts *o, struct err *e)
{
	enum status st = opts_loop(o, e);

	if (st == ST_OK)
		st = pairs_check(o, e);
	/* Each row once. Batches of several streams would end with a smaller one each. */
	o->job.sharding = o->batched || o->job.shards || o->job.name ? SHARD_DYNAMIC : SHARD_OFF;
	if (!o->batched && !o->job.shards && o->host_text)
		o->job.shards = 1;
	if (st == ST_OK)
		st = opts_where(o, e);
	if (st == ST_OK)
		st = hosts_check(o, e);
	if (st == ST_OK)
		st = axes_parse(o, e);
	if (st != ST_OK)
		return st;
	if (o->batched && o->batch % o->cores) {
		err_set(e, ST_USAGE, "--batch: %lld rows cannot be shared evenly by %lld cores", (long long)o->batch,
			(long long)o->cores);
		err_help(e, "--batch %lld or %lld", (long long)(o->batch < o->cores ? o->cores : o->batch / o->cores * o->cores),
			 (long long)((o->batch / o->cores + 1) * o->cores));
		return ST_USAGE;
	}
	if (o->as != FEED_AS_MEMORY && !o->command) {
		err_set(e, ST_USAGE, "--as is for a command, and none was given");
		err_help(e, "dsvc-feed ... --as ndjson -- CMD");
		return ST_USAGE;
	}
	if (!o->results && (o->output || o->format)) {
		err_set(e, ST_USAGE, "%s is for results, and none are taken", o->output ? "--output" : "--to");
		err_help(e, "--results step, or --results rows");
		return ST_USAGE;
	}
	return opts_positions(o, e);
}

const struct program feed_program = {
	.name = "dsvc-feed",
	.brief = "feed the processes of a training loop from a dataset, in step",
	.synopsis = PROGRAM_TEXTS("[OPTION]... DATASET [-- CMD [ARG]...]", "[OPTION]... -e SPEC [-- CMD [ARG]...]",
				  "[OPTION]... -f FILE [VALUE]... [-- CMD [ARG]...]"),
	.doc = PROGRAM_TEXTS(
		"Gives each of N consumers (\"cores\") its part of every step, in shared memory or on its stdin, and takes results "
		"back in order. All cores get the same number of steps. With CMD it starts N copies of it and ends with them; "
		"without, processes join at the socket of --listen, which DSVC_FEED names for them.",
		"DATASET is the id or name of a registered dataset, or a pipeline in quotes; a single - "
			"reads MessagePack elements from "
		"standard input. The elements of a pipeline are made by the workers of the service, or here with --local.",
		"A core that fails ends the others: what failed first is reported, with the core, and its exit code is "
		"passed on, as timeout(1) and env(1) do.",
		"With --checkpoint the position belongs to a step, not to a process: a run that is begun again goes on after "
		"that step, also with another number of cores and workers, and each row comes once."),
	.rows = rows,
	.examples = (const struct program_example[]){
		{ "dsvc-feed -n 4 --batch 64 \"$id\" -- python train.py", "four processes of a trainer" },
		{ "dsvc-feed --local --batch 2 --as ndjson -e 'range 6' -- cat", "steps for a filter" },
		{ "dsvc-feed -n 2 --batch 64 --results rows -o labels --as ndjson \"$id\" -- ./predict",
			"predictions, in the order of the rows" },
		{ 0 } },
	.exits = (const struct program_exit[]){
		{ 1, "--fail-empty: there was no row; or the own status of a core" },
		{ 65, "the pipeline or a result is wrong, an element failed or has another structure, or an earlier "
			"run has had rows of this pass" },
		{ 66, "no such file, dataset or position" },
		{ 69, "no dispatcher or worker was ready, or cores did not come" }, { 74, NULL },
		{ 75, "contact was lost, or a core ended early" }, { 76, NULL }, EXITS_OF_KEYS,
		{ 124, NULL }, { -1, NULL } },
	.operand = "file",
	.operand_word = usage_word,
	.operand_name = "dataset",
	.spec_words = offer_words,
	.spec_params = offer_set,
	.versions = link_versions,
	.instead = "file",
};

enum feed_tail
opts_tail(const struct feed_opts *o)
{
	if (o->tail)
		return (enum feed_tail)(o->tail - 1);
	return o->cores * o->hosts == 1 && !o->padded ? FEED_SHORT : FEED_PAD;
}
