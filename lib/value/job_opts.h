/* SPDX-License-Identifier: MIT
 *
 * What a reader asks of a job. This one struct is filled by the options of
 * dsvc-read and by the parameters of `distribute` and `dataset`, goes whole
 * through the reader, travels in OPEN (wire/table_control.c) and is kept by the
 * dispatcher. HACKING.md says how to add an option.
 */
#ifndef VALUE_JOB_OPTS_H
#define VALUE_JOB_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"

/* Policies and orders, each with its number in messages and its word for users. */
#define JOB_SHARDING_ROWS(X) X(SHARD_OFF, 0, "off") X(SHARD_DYNAMIC, 1, "dynamic") X(SHARD_FILE, 2, "file") \
	X(SHARD_DATA, 3, "data") X(SHARD_FILE_OR_DATA, 4, "file_or_data") X(SHARD_HINT, 5, "hint")
#define JOB_ORDER_ROWS(X) X(ORDER_ANY, 0, "any") X(ORDER_STABLE, 1, "stable") X(ORDER_SOURCE, 2, "source")
#define JOB_TRANSFER_ROWS(X) X(TRANSFER_AUTO, 0, "auto") X(TRANSFER_COPY, 1, "copy") X(TRANSFER_SHM, 2, "shm")
#define JOB_COMPRESSION_ROWS(X) X(PACK_AUTO, 0, "auto") X(PACK_NONE, 1, "none") X(PACK_SNAPPY, 2, "snappy")
#define JOB_TAIL_ROWS(X) X(TAIL_DROP, 0, "drop") X(TAIL_PAD, 1, "pad") X(TAIL_FAIL, 2, "fail") \
	X(TAIL_SPREAD, 3, "spread")
#define JOB_TAIL_OF_ROWS(X) X(TAIL_OF_PASS, 0, "pass") X(TAIL_OF_STREAM, 1, "stream")
#define JOB_TARGET_ROWS(X) X(TARGET_AUTO, 0, "auto") X(TARGET_ANY, 1, "any") X(TARGET_LOCAL, 2, "local")

#define JOB_SHARE_ROWS(X) X(SHARE_NONE, 0, "none") X(SHARE_LOSSLESS, 1, "lossless") \
	X(SHARE_WINDOW, 2, "window")
#define JOB_FROM_ROWS(X) X(FROM_WINDOW, 0, "window") X(FROM_START, 1, "start")

#define JOB_ENUM(id, number, word) id = number,
#define JOB_CHOICE(id, number, word) "|" word
#define JOB_NUMBERED(id, number, word) ", " #number " " word
enum job_sharding { JOB_SHARDING_ROWS(JOB_ENUM) JOB_SHARDINGS };
enum job_order { JOB_ORDER_ROWS(JOB_ENUM) JOB_ORDERS };
enum job_tail { JOB_TAIL_ROWS(JOB_ENUM) JOB_TAILS };
enum job_tail_of { JOB_TAIL_OF_ROWS(JOB_ENUM) JOB_TAIL_OFS };
enum job_target { JOB_TARGET_ROWS(JOB_ENUM) JOB_TARGETS };
enum job_compression { JOB_COMPRESSION_ROWS(JOB_ENUM) JOB_COMPRESSIONS };
enum job_share { JOB_SHARE_ROWS(JOB_ENUM) JOB_SHARES };
enum job_from { JOB_FROM_ROWS(JOB_ENUM) JOB_FROMS };
enum job_transfer { JOB_TRANSFER_ROWS(JOB_ENUM) JOB_TRANSFERS };
#define JOB_SHARDING_WORDS (&JOB_SHARDING_ROWS(JOB_CHOICE)[1]) /* "off|dynamic" */
#define JOB_ORDER_WORDS (&JOB_ORDER_ROWS(JOB_CHOICE)[1])
#define JOB_TRANSFER_WORDS (&JOB_TRANSFER_ROWS(JOB_CHOICE)[1])
#define JOB_COMPRESSION_WORDS (&JOB_COMPRESSION_ROWS(JOB_CHOICE)[1])
#define JOB_TAIL_WORDS (&JOB_TAIL_ROWS(JOB_CHOICE)[1])
#define JOB_TAIL_OF_WORDS (&JOB_TAIL_OF_ROWS(JOB_CHOICE)[1])
#define JOB_TARGET_WORDS (&JOB_TARGET_ROWS(JOB_CHOICE)[1])
#define JOB_SHARE_WORDS (&JOB_SHARE_ROWS(JOB_CHOICE)[1])
#define JOB_FROM_WORDS (&JOB_FROM_ROWS(JOB_CHOICE)[1])
#define JOB_SHARE_NUMBERED (&JOB_SHARE_ROWS(JOB_NUMBERED)[2])
#define JOB_FROM_NUMBERED "0 window, 1 start"
#define JOB_SHARDING_NUMBERED (&JOB_SHARDING_ROWS(JOB_NUMBERED)[2]) /* "0 off, 1 dynamic" */
#define JOB_ORDER_NUMBERED (&JOB_ORDER_ROWS(JOB_NUMBERED)[2])
#define JOB_COMPRESSION_NUMBERED (&JOB_COMPRESSION_ROWS(JOB_NUMBERED)[2])
#define JOB_TAIL_NUMBERED (&JOB_TAIL_ROWS(JOB_NUMBERED)[2])
#define JOB_TAIL_OF_NUMBERED (&JOB_TAIL_OF_ROWS(JOB_NUMBERED)[2])
#define JOB_TARGET_NUMBERED (&JOB_TARGET_ROWS(JOB_NUMBERED)[2])

enum { JOB_SHARDS_MAX = 100000, JOB_WINDOW_MAX = 65536 };

/* Zero asks for an anonymous job that gives every element on every worker. */
struct job_opts {
	char *name;                   /* NULL or "": anonymous */
	char *options;                /* further options that must be the same for all readers; NULL: none */
	int sharding;                 /* enum job_sharding */
	int order;                    /* enum job_order */
	int target;                   /* enum job_target */
	char *where;                  /* tags that its workers have or lack (value/where.h); NULL: any */
	uint64_t shards;              /* 0: the usual number */
	char *shard;                  /* numbers of the shards that are wanted, "0,3"; NULL or "": all */
	char *consumer;               /* its places in the rounds of the job, "2/4" (value/round.h); NULL or "": no rounds */
	int tail, tail_of;            /* enum job_tail, job_tail_of: elements that do not fill a round */
	int64_t seat_wait;            /* ns that consumers wait for one that is away; 0: the usual time */
	uint64_t checkpoint_rounds;   /* another number of them can go on after multiples of this; 0: cannot */
	int share;                    /* enum job_share: whether each group of readers, or each consumer, gets all elements */
	char *group;                  /* the reader's, if the job is shared */
	int64_t share_window;         /* bytes that a worker keeps for those behind; 0: its memory; in share `window` */
	int from;                     /* enum job_from: where a group begins that comes late */
	uint64_t seed;                /* if seeded; else 0, and the dispatcher draws one */
	uint64_t epoch;               /* which pass of the job, from 1; 0 is taken for 1 */
	uint64_t window;              /* chunks of credit per stream, the reader's own matter; 0: as it likes */
	int compression;              /* enum job_compression: of chunks; auto: as each worker likes */
	int transfer;                 /* enum job_transfer, from workers on this machine; as window */
	uint64_t max_errors;          /* if limited: when more elements fail, the pass ends with 65 */
	uint32_t min_workers, wait_ms;/* wait for this many workers, at most wait_ms */
	bool seeded, limited;
	bool ordered, in_rounds;      /* `order` was said, or one of tail, tail-of and seat-wait; not in messages */
	bool checkpoint;              /* the job is kept for the reader's return */
};

/* The rows that dsvc-read has as options, and `distribute` and `dataset` as parameters; `dash` stands between
 * two words of a name. `type` has a struct job_opts called `field`. */
#define JOB_ROWS(type, field) JOB_ROWS_NAMED(type, field, "_")
#define JOB_ROWS_NAMED(type, field, dash) \
	{ .name = "job", .letter = 'J', .arg = "NAME", .kind = PARAM_WORD, \
	  .offset = offsetof(type, field.name), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_NAME, .complete = "job", \
	  .help = "share the elements with all readers of this job" }, \
	{ .name = "sharding", .arg = "POLICY", .kind = PARAM_CHOICE, \
	  .offset = offsetof(type, field.sharding), .def = "dynamic", .flags = PARAM_KEY_ONLY, \
	  .choices = (&JOB_SHARDING_ROWS(JOB_CHOICE) "|parallel_epochs|distributed_epoch"[1]), \
	  .values = (const int[]){ SHARD_OFF, SHARD_DYNAMIC, SHARD_FILE, SHARD_DATA, SHARD_FILE_OR_DATA, SHARD_HINT, \
	                         SHARD_OFF, SHARD_DYNAMIC }, \
	  .complete = JOB_SHARDING_WORDS, \
	  .help = "divide the elements (dynamic; file, data, hint: into shards) or repeat them (off); " \
	          "dynamic: each element once in all; off: all from every worker; file: file f goes to shard f mod N; " \
	          "data: element e goes to shard e mod N; " \
	          "file_or_data: file if the source reads files; hint: `shard auto auto` in the pipeline says where" }, \
	{ .name = "order", .arg = "ORDER", .kind = PARAM_CHOICE, .offset = offsetof(type, field.order), \
	  .said = offsetof(type, field.ordered), \
	  .def = "any", .flags = PARAM_KEY_ONLY, .choices = JOB_ORDER_WORDS, .complete = JOB_ORDER_WORDS, \
	  .help = "order of the elements; any: as they come; stable: always the same; source: as " \
		  "dsvc-run gives them" }, \
	{ .name = "target", .arg = "TARGET", .kind = PARAM_CHOICE, .offset = offsetof(type, field.target), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_TARGET_WORDS, .complete = JOB_TARGET_WORDS, \
	  .help = "workers by their host; auto: those on a reader's host first; any: all alike; local: only those, " \
	  "and each reader takes from its own host" }, \
	{ .name = "where", .arg = "TAGS", .kind = PARAM_WORD, .offset = offsetof(type, field.where), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_OPTIONAL | PARAM_ONE_WORD | PARAM_NAME, \
	  .help = "only workers with all of these tags, joined by commas; !TAG: without it" }, \
	{ .name = "shards", .arg = "N", .kind = PARAM_INT, .offset = offsetof(type, field.shards), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, \
	  .min = 1, .max = JOB_SHARDS_MAX, \
	  .help = "number of streams, for orders other than any and for policies with shards" }, \
	{ .name = "shard", .arg = "I[,I]...", .kind = PARAM_WORD, .offset = offsetof(type, field.shard), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_OPTIONAL, \
	  .help = "read only these shards, numbered from 0; for policies that divide a job into shards" }, \
	{ .name = "consumer", .arg = "I/N", .kind = PARAM_WORD, .offset = offsetof(type, field.consumer), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_OPTIONAL | PARAM_ONE_WORD, \
	  .help = "be consumer I of N, from 0 on, in a job of rounds: element K of all consumers is from round K, " \
	  "and each element goes to one of them; A-B/N: have several places in a round" }, \
	{ .name = "tail", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(type, field.tail), .def = "drop", \
	  .said = offsetof(type, field.in_rounds), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_TAIL_WORDS, .complete = JOB_TAIL_WORDS, \
	  .help = "elements at the end that do not fill a round; drop: nobody gets them; " \
	  "pad: null goes where one is missing; spread: the same, each consumer getting as many; fail: exit 65" }, \
	{ .name = "tail" dash "of", .arg = "WHAT", .kind = PARAM_CHOICE, .offset = offsetof(type, field.tail_of), \
	  .said = offsetof(type, field.in_rounds), \
	  .def = "pass", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_TAIL_OF_WORDS, .complete = JOB_TAIL_OF_WORDS, \
	  .help = "pass: the ends of all streams make rounds together; stream: each has a last round of its own" }, \
	{ .name = "seat" dash "wait", .arg = "DURATION", .kind = PARAM_DURATION, .offset = offsetof(type, field.seat_wait), \
	  .said = offsetof(type, field.in_rounds), \
	  .def = "5m", .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_ALLOW_NEVER, .min = 1, .max = INT64_MAX, \
	  .complete = "never", \
	  .help = "exit 75 when the others have waited this long for a consumer that is away; never: as long as the " \
		  "job is kept" }, \
	{ .name = "share", .arg = "HOW", .kind = PARAM_CHOICE, .offset = offsetof(type, field.share), \
	  .def = "none", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_SHARE_WORDS, .complete = JOB_SHARE_WORDS, \
	  .help = "what is made once goes to each group of readers; lossless: all of it, at the speed of the slowest; " \
		  "window: a group that falls far behind misses elements; lossless with consumer: each consumer gets all" }, \
	{ .name = "group", .arg = "NAME", .kind = PARAM_WORD, .offset = offsetof(type, field.group), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_OPTIONAL | PARAM_NAME, \
	  .help = "with share: the group of this reader, whose readers divide the elements" }, \
	{ .name = "share" dash "window", .arg = "SIZE", .kind = PARAM_SIZE, .offset = offsetof(type, field.share_window), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, .min = 1, .max = INT64_MAX, \
	  .help = "with share window: memory of each worker for elements that groups have still to get; auto: all it has" }, \
	{ .name = "from", .arg = "PLACE", .kind = PARAM_CHOICE, .offset = offsetof(type, field.from), \
	  .def = "window", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_FROM_WORDS, .complete = JOB_FROM_WORDS, \
	  .help = "where a group begins that comes late; window: with what others still wait for; start: at the start, " \
		  "or exit 66" }, \
	{ .name = "seed", .arg = "N", .kind = PARAM_INT, .offset = offsetof(type, field.seed), \
	  .given = offsetof(type, field.seeded), .def = "auto", \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, \
	  .help = "seed of all random operators; auto: a new one each time" }, \
	{ .name = "window", .arg = "N", .kind = PARAM_INT, .offset = offsetof(type, field.window), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_ALLOW_AUTO | PARAM_ZERO, \
	  .min = 1, .max = JOB_WINDOW_MAX, .help = "number of unacknowledged chunks per stream" }, \
	{ .name = "transfer", .arg = "WAY", .kind = PARAM_CHOICE, .offset = offsetof(type, field.transfer), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_TRANSFER_WORDS, \
	  .complete = JOB_TRANSFER_WORDS, \
	  .help = "how elements reach the reader; shm: in memory shared with workers on this machine; " \
		  "auto: shm where possible, else copy" }, \
	{ .name = "compression", .arg = "WHEN", .kind = PARAM_CHOICE, .offset = offsetof(type, field.compression), \
	  .def = "auto", .flags = PARAM_KEY_ONLY | PARAM_RARE, .choices = JOB_COMPRESSION_WORDS, \
	  .complete = JOB_COMPRESSION_WORDS, \
	  .help = "whether elements are compressed on their way; auto: as each worker's --compression says; " \
		  "none: never; snappy: always, and not in shared memory" }, \
	{ .name = "epoch", .arg = "N", .kind = PARAM_INT, .offset = offsetof(type, field.epoch), \
	  .def = "1", .flags = PARAM_KEY_ONLY | PARAM_RARE, .min = 1, .max = UINT32_MAX, \
	  .help = "read the N-th pass of the job" }

/* Whether it divides a job into a fixed number of shards; whether streams see parts of the
 * source (file_or_data: that is known once the units are). */
bool job_has_shards(int sharding);
bool job_in_parts(int sharding);
/* Whether the streams and what is in them follow from the source and the seed alone. */
bool job_is_fixed(const struct job_opts *o);
/* Some of a job's shards. None at all stands for all of them. */
struct job_shards { uint32_t *v; size_t n; }; /* ascending */

/* Reads "0,3,1" (NULL or "": all); ST_USAGE. Fills; job_shards_clear. */
enum status job_shards_parse(const char *text, struct job_shards *out, struct err *e);
void job_shards_clear(struct job_shards *s);
bool job_shards_has(const struct job_shards *s, uint32_t shard);
bool job_shards_meet(const struct job_shards *a, const struct job_shards *b); /* whether both have one */

/* The words of --sharding, --order, --target and --compression. */
const char *job_sharding_word(int sharding);
const char *job_order_word(int order);
const char *job_target_word(int target);
const char *job_tail_word(int tail);
bool job_tail_fills(int tail); /* null stands where an element is missing */
const char *job_tail_of_word(int tail_of);
const char *job_compression_word(int compression);
const char *job_share_word(int share);
/* Whether what it asks for goes together, as far as the reader alone can tell; ST_USAGE. */
enum status job_opts_check(const struct job_opts *o, struct err *e);
/* A seed that follows from the job's name, if none was given: who names the same job means the same elements. */
void job_opts_seed_by_name(struct job_opts *o);
/* Sets what JOB_ROWS can say, and leaves the rest. Texts are lent. */
void job_opts_ask(struct job_opts *to, const struct job_opts *from);
/* Makes copies of its texts, so that it owns them. */
void job_opts_own(struct job_opts *o);
void job_opts_clear(struct job_opts *o);

#endif
