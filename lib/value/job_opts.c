/* SPDX-License-Identifier: MIT */
#include "value/job_opts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "value/crc32c.h"
#include "value/round.h"

#define JOB_WORD(id, number, word) [id] = word,

struct job_asked { struct job_opts opts; };
static const struct param job_rows[] = { JOB_ROWS(struct job_asked, opts), { 0 } };

bool
job_has_shards(int sharding)
{
	return sharding >= SHARD_FILE;
}

bool
job_in_parts(int sharding)
{
	return sharding == SHARD_DYNAMIC || sharding == SHARD_FILE;
}

bool
job_is_fixed(const struct job_opts *o)
{
	return o->order != ORDER_ANY || job_has_shards(o->sharding);
}

const char *
job_sharding_word(int sharding)
{
	static const char *const words[] = { JOB_SHARDING_ROWS(JOB_WORD) };

	return words[sharding];
}

const char *
job_order_word(int order)
{
	static const char *const words[] = { JOB_ORDER_ROWS(JOB_WORD) };

	return words[order];
}

const char *
job_tail_word(int tail)
{
	static const char *const words[] = { JOB_TAIL_ROWS(JOB_WORD) };

	return words[tail];
}

bool
job_tail_fills(int tail)
{
	return tail == TAIL_PAD || tail == TAIL_SPREAD;
}

const char *
job_tail_of_word(int tail_of)
{
	static const char *const words[] = { JOB_TAIL_OF_ROWS(JOB_WORD) };

	return words[tail_of];
}

const char *
job_target_word(int target)
{
	static const char *const words[] = { JOB_TARGET_ROWS(JOB_WORD) };

	return words[target];
}

const char *
job_compression_word(int compression)
{
	static const char *const words[] = { JOB_COMPRESSION_ROWS(JOB_WORD) };

	return words[compression];
}

const char *
job_share_word(int share)
{
	static const char *const words[] = { JOB_SHARE_ROWS(JOB_WORD) };

	return words[share];
}

/* Likewise for consumers that all get the whole of each round. */
static const char *
job_whole_wrong(const struct job_opts *o, const char **help)
{
	struct round_part part;

	*help = "leave one of them out";
	if (o->share != SHARE_LOSSLESS)
		return "rounds go with share `lossless` only";
	if (o->group && *o->group)
		return "a consumer of a job that is shared gets all of it, and is in no group";
	if (o->share_window || o->from)
		return "a window and `from` are for groups, which may come late";
	if (o->tail || o->tail_of || o->checkpoint_rounds)
		return "in a job that is shared each element is a round of its own, for all consumers";
	*help = "write --consumer I/N, for consumer I of N, from 0 on: 0/2";
	if (!round_parse(o->consumer, &part, NULL) && (part.n > 1 || part.of < 2))
		return "consumers that share a job have one place each, of two or more";
	return NULL;
}

/* Words for what does not go together in a job that is shared; NULL: nothing. */
static const char *
job_share_wrong(const struct job_opts *o, const char **help)
{
	bool grouped = o->group && *o->group, consumer = o->consumer && *o->consumer;

	*help = "";
	if (o->share && consumer)
		return job_whole_wrong(o, help);
	if (!o->share)
		*help = "--share lossless shares the job with other groups";
	else if (!grouped)
		*help = "--group NAME names the group; readers of one group divide the elements";
	else
		*help = "leave one of them out";
	if (!o->share && o->share_window)
		return "a window is one of a job that is shared";
	if (!o->share)
		return grouped ? "a group is one of a job that is shared" : o->from ? "`from` is for a job that is shared" : NULL;
	if (!grouped)
		return "a job that is shared has groups, and this reader names none";
	if (!o->name || !*o->name) {
		*help = "--job NAME names the job that the groups share";
		return "a job without a name cannot be shared: nobody else can join it";
	}
	if (o->share_window && o->share != SHARE_WINDOW) {
		*help = "--share window limits it";
		return "with share `lossless` nothing is given up, so there is no window";
	}
	if (o->order != ORDER_ANY && o->share == SHARE_WINDOW) {
		*help = "--share lossless goes together with --order stable";
		return "share `window` gives elements in order `any` only";
	}
	if (o->order == ORDER_SOURCE)
		return "order `source` and share do not go together";
	if (o->shard && *o->shard)
		return "a reader of a job that is shared cannot choose its shards";
	if (o->target == TARGET_LOCAL)
		return "target `local` and share do not go together: each stream is read by all groups";
	return NULL;
}

/* Likewise for rounds. */
static const char *
job_round_wrong(const struct job_opts *o, const char **help)
{
	bool consumer = o->consumer && *o->consumer;
	struct round_part part;

	*help = "leave out --order: each consumer gets its elements in order";
	if (consumer && o->order == ORDER_ANY && o->ordered)
		return "order `any` does not go with rounds: they follow each other in the same order for all";
	*help = "leave out --order; --shards 1 makes one stream, whose rounds are in the order of the source";
	if (consumer && o->order == ORDER_SOURCE)
		return "order `source` does not go with rounds: the streams take turns";
	*help = "--consumer I/N makes this reader one of the consumers of a job";
	if (!consumer && (o->in_rounds || o->tail || o->tail_of))
		return "tail, tail-of and seat-wait are for jobs of rounds";
	*help = "--consumer I/N makes this reader one of the consumers of a job; 0-1/2 is one that is alone";
	if (o->checkpoint_rounds && (round_parse(o->consumer, &part, NULL) || part.of < 2))
		return "checkpoint-rounds is for jobs of rounds";
	*help = "--checkpoint FILE says where the position is kept";
	if (o->checkpoint_rounds && !o->checkpoint)
		return "checkpoint-rounds is for a consumer that keeps its position";
	return NULL;
}

enum status
job_opts_check(const struct job_opts *o, struct err *e)
{
	const char *help, *wrong = job_share_wrong(o, &help);

	if (!wrong)
		wrong = job_round_wrong(o, &help);
	if (wrong) {
		err_set(e, ST_USAGE, "%s", wrong);
		err_help(e, "%s", help);
		return ST_USAGE;
	}
	if (o->compression != PACK_SNAPPY || o->transfer != TRANSFER_SHM)
		return ST_OK;
	err_set(e, ST_USAGE,
		"compression `snappy` and transfer `shm` do not go together: memory that is shared is not compressed");
	err_help(e, "leave one of them out");
	return ST_USAGE;
}

void
job_opts_seed_by_name(struct job_opts *o)
{
	const char *name = o->name ? o->name : "";

	if (!o->seeded)
		o->seed = rng_mix(crc32c(name, strlen(name)), strlen(name)) >> 1;
	o->seeded = true;
}

void
job_opts_ask(struct job_opts *to, const struct job_opts *from)
{
	param_copy(job_rows, to, from);
}

void
job_opts_own(struct job_opts *o)
{
	o->options = mem_strdup(o->options);
	for (const struct param *row = job_rows; row->kind; row++) {
		char **text = (char **)(void *)((char *)o + row->offset);

		if (row->kind == PARAM_WORD)
			*text = mem_strdup(*text);
	}
}

void
job_opts_clear(struct job_opts *o)
{
	param_clear(job_rows, o);
	mem_free(o->options);
	*o = (struct job_opts){ 0 };
}

static int
job_shards_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
job_shards_sort(struct job_shards *s)
{
	size_t kept = 0;

	qsort(s->v, s->n, sizeof *s->v, job_shards_compare);
	for (size_t i = 0; i < s->n; i++)
		if (!i || s->v[i] != s->v[i - 1])
			s->v[kept++] = s->v[i];
	s->n = kept;
}

enum status
job_shards_parse(const char *text, struct job_shards *out, struct err *e)
{
	size_t cap = 0, len;

	*out = (struct job_shards){ 0 };
	for (const char *at = text ? text : ""; *at; at += len + (at[len] == ',')) {
		int64_t number;

		len = strcspn(at, ",");
		if (!str_int(at, len, &number) || number < 0 || number >= JOB_SHARDS_MAX || (at[len] && !at[len + 1])) {
			job_shards_clear(out);
			err_set(e, ST_USAGE, "'%s' is not a list of shards", text);
			err_help(e, "write their numbers, from 0 on: 3, or 0,2");
			return ST_USAGE;
		}
		out->v = mem_grow(out->v, &cap, out->n + 1, sizeof *out->v);
		out->v[out->n++] = (uint32_t)number;
	}
	if (out->n)
		job_shards_sort(out);
	return ST_OK;
}

void
job_shards_clear(struct job_shards *s)
{
	mem_free(s->v);
	*s = (struct job_shards){ 0 };
}

bool
job_shards_has(const struct job_shards *s, uint32_t shard)
{
	return !s->n || bsearch(&shard, s->v, s->n, sizeof *s->v, job_shards_compare);
}

bool
job_shards_meet(const struct job_shards *a, const struct job_shards *b)
{
	if (!a->n || !b->n)
		return true;
	for (size_t i = 0; i < a->n; i++)
		if (job_shards_has(b, a->v[i]))
			return true;
	return false;
}
