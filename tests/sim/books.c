/* SPDX-License-Identifier: MIT
 *
 * The books of the simulation: what was made, and whether everybody got what
 * was promised.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "world.h"

struct address { uint64_t iteration, stream, offset; };
struct made {
	struct element e;
	unsigned live, dead;    /* deliveries */
	uint8_t group_live[PLACES_MAX], group_dead[PLACES_MAX];
};

struct sim_chunk *
chunk_new(struct world *w, uint64_t offset, const struct element *e, uint32_t n)
{
	struct sim_chunk *c = mem_zalloc(sizeof *c);

	(void)w;
	*c = (struct sim_chunk){ 1, n, mem_dup(e, n * sizeof *e), offset };
	return c;
}

void
chunk_unref(struct sim_chunk *c)
{
	if (!c || --c->refs)
		return;
	mem_free(c->e);
	mem_free(c);
}

uint32_t
set_fan(const struct sim_dataset *s, uint32_t leaf, uint64_t pos)
{
	uint64_t drawn = rng_at(s->key ^ leaf, pos);

	if (s->nothing)
		return 0;
	/* Little comes out of some, as out of a filter or a save. */
	if (s->fan && s->key % 4 == 0)
		return drawn % 32 == 0;
	return s->fan ? (uint32_t)(drawn % 4) : 1;
}

unsigned
set_place(const struct sim_dataset *s, unsigned unit)
{
	return unit < s->second ? unit : unit - s->second;
}

/* Some elements of the source fail, and are let go. */
bool
set_fails(uint32_t leaf, uint64_t pos)
{
	return (leaf + pos) % 5 == 3;
}

bool
set_kills(const struct world *w, uint32_t leaf, uint64_t pos)
{
	return w->poison && leaf == w->poison_leaf && pos == w->poison_pos;
}

/* A stream must come out the same, whoever makes it and from where. */
void
book_made(struct world *w, uint64_t iteration, uint32_t stream, uint64_t offset, const struct element *e)
{
	struct address a = { iteration, stream, offset };
	struct made *m;

	if (!w->made_index)
		w->made_index = mem_zalloc(sizeof *w->made_index);
	w->produced++;
	m = hash_get(w->made_index, &a, sizeof a);
	if (m) {
		if (memcmp(&m->e, e, sizeof *e))
			world_fail(w, "stream %u offset %llu was made again, and differs", stream, (unsigned long long)offset);
		return;
	}
	m = mem_zalloc(sizeof *m);
	m->e = *e;
	hash_put(w->made_index, &a, sizeof a, m);
	if (iteration > w->last_iteration)
		w->last_iteration = iteration;
}

uint32_t
book_streams(const struct world *w)
{
	uint32_t n = 0;

	for (size_t i = 0; w->made_index && i < w->made_index->n; i++) {
		const struct address *a = w->made_index->items[i].key;

		if (a->iteration == w->last_iteration && a->stream >= n)
			n = (uint32_t)a->stream + 1;
	}
	return n;
}

static struct made *
book_find(const struct world *w, uint32_t stream, uint64_t offset)
{
	struct address a = { w->last_iteration, stream, offset };

	return w->made_index ? hash_get(w->made_index, &a, sizeof a) : NULL;
}

const struct element *
book_element(const struct world *w, uint32_t stream, uint64_t offset)
{
	const struct made *m = book_find(w, stream, offset);

	return m ? &m->e : NULL;
}

static void
book_count(struct world *w, const struct consumer *c)
{
	if ((w->anonymous || w->epochs > 1) && c->iteration != w->last_iteration)
		return; /* it had an iteration of its own */
	for (size_t i = 0; i < c->n && !w->failed; i++) {
		const struct got *g = &c->out[i];
		struct made *m = book_find(w, g->stream, g->offset);

		if (!m) {
			if (w->one_iteration)
				world_fail(w, "consumer %u has an element nobody made", c->index);
			continue;
		}
		if (!world_takes(w, c, g->stream))
			world_fail(w, "consumer %u has an element of stream %u, which it did not ask for", c->index, g->stream);
		if (memcmp(&m->e, &g->e, sizeof g->e))
			world_fail(w, "consumer %u has another element at %u:%llu", c->index, g->stream,
				   (unsigned long long)g->offset);
		if (c->finished)
			m->live++;
		else
			m->dead++;
		if (w->groups > 1 && c->finished)
			m->group_live[c->place]++;
		else if (w->groups > 1)
			m->group_dead[c->place]++;
	}
}

/* Whether nothing at all comes of the dataset: then its first repetition is the last. */
static bool
book_void(const struct sim_dataset *s)
{
	for (unsigned u = 0; u < s->units; u++)
		for (uint64_t pos = 0; pos < s->size[u]; pos++)
			if (set_fan(s, u, pos))
				return false;
	return true;
}

/* Each element that failed is counted once, however often it was made again. Where nothing comes, those of the
 * first repetition are, and of the others as many as were begun by then. */
void
book_check_faults(struct world *w, const struct reader_action *a)
{
	const struct sim_dataset *s = &w->set;
	uint64_t pass = 0, least, want;

	if (a->code || a->msg.type != MSG_DONE || w->only ||
	    (w->sharding != SHARD_DYNAMIC && (!w->set.files || w->sharding == SHARD_OFF)))
		return;
	for (unsigned u = 0; u < s->units; u++)
		for (uint64_t pos = 0; pos < s->size[u]; pos++)
			pass += !s->nothing && set_fails(u, pos);
	want = s->times * pass;
	least = s->period && book_void(s) ? s->period * pass : want;
	if (a->msg.done.failed < least || a->msg.done.failed > want)
		world_fail(w, "%llu elements failed, %llu were counted", (unsigned long long)want,
			   (unsigned long long)a->msg.done.failed);
	for (size_t i = 0; i < a->msg.done.faults.n; i++)
		for (size_t k = 0; k < i; k++)
			if (a->msg.done.faults.v[i].stream == a->msg.done.faults.v[k].stream &&
			    a->msg.done.faults.v[i].nth == a->msg.done.faults.v[k].nth)
				world_fail(w, "a failed element was told twice");
}

/* Expected: every element of the dataset `times` times in each copy. */
static void
book_check_contents(struct world *w, unsigned copies)
{
	const struct sim_dataset *s = &w->set;
	uint64_t want = 0, sum_want = 0, have = 0, sum_have = 0;

	for (unsigned u = 0; u < s->units; u++)
		for (uint64_t pos = 0; pos < s->size[u]; pos++)
			for (uint32_t f = 0; f < set_fan(s, u, pos); f++) {
				want += s->times;
				sum_want += s->times * rng_mix(rng_mix(u, pos), f);
			}
	for (size_t i = 0; i < w->made_index->n; i++) {
		const struct address *a = w->made_index->items[i].key;
		const struct made *m = w->made_index->items[i].value;

		if (a->iteration != w->last_iteration)
			continue;
		have++;
		sum_have += rng_mix(rng_mix(m->e.leaf, m->e.pos), m->e.sub);
	}
	if (have != want * copies || sum_have != sum_want * copies)
		world_fail(w, "%llu elements were made, there are %llu in %u copies", (unsigned long long)have,
			   (unsigned long long)want * copies, copies);
}

static void
book_check_delivery(struct world *w)
{
	for (size_t i = 0; i < w->made_index->n && !w->failed; i++) {
		const struct address *a = w->made_index->items[i].key;
		const struct made *m = w->made_index->items[i].value;

		if (a->iteration != w->last_iteration)
			continue;
		if (m->live > 1)
			world_fail(w, "%llu:%llu was delivered %u times", (unsigned long long)a->stream,
				   (unsigned long long)a->offset, m->live);
		else if (!m->live && !m->dead)
			world_fail(w, "%llu:%llu is lost", (unsigned long long)a->stream, (unsigned long long)a->offset);
	}
}

/* Each group has each element once, or has missed it and been told so. A consumer that died may
 * have had elements that nobody else has. */
static void
book_check_group(struct world *w, uint32_t group)
{
	uint64_t told = 0, lost = 0, lacks = 0;
	bool finished = false;

	for (unsigned i = 0; i < w->n_consumers; i++) {
		const struct consumer *c = &w->consumers[i];

		if (!c->finished || c->place != group || (w->epochs > 1 && c->iteration != w->last_iteration))
			continue;
		finished = true;
		told = c->missed > told ? c->missed : told;
	}
	for (size_t i = 0; finished && i < w->made_index->n && !w->failed; i++) {
		const struct address *a = w->made_index->items[i].key;
		const struct made *m = w->made_index->items[i].value;

		if (a->iteration != w->last_iteration)
			continue;
		if (m->group_live[group] > 1)
			world_fail(w, "group %u got %llu:%llu %u times", group, (unsigned long long)a->stream,
				   (unsigned long long)a->offset, m->group_live[group]);
		lacks += !m->group_live[group];
		lost += !m->group_live[group] && !m->group_dead[group];
	}
	if (w->share == SHARE_LOSSLESS && w->told_missed)
		world_fail(w, "a worker gave elements up in a job that loses nothing");
	if (finished && (lost > told || told > lacks))
		world_fail(w, "group %u was told that it missed %llu elements; it has not got %llu to %llu", group,
			   (unsigned long long)told, (unsigned long long)lost, (unsigned long long)lacks);
}

/* The next element of the dataset, or of what one shard reads of it: in order, pass by pass. */
struct walk { uint64_t t, pos, carry; unsigned unit; uint32_t sub; };
static bool
book_walk(const struct world *w, struct walk *k, uint32_t shard, struct element *e)
{
	const struct sim_dataset *s = &w->set;

	for (;; k->unit++, k->pos = k->sub = 0) {
		if (k->unit == s->units) {
			k->unit = 0;
			k->t++;
		}
		if (k->t >= s->times || !s->units)
			return false;
		if (s->files && set_place(s, k->unit) % w->found != shard)
			continue;
		for (; k->pos < s->size[k->unit]; k->pos++, k->sub = 0) {
			if (!k->sub)
				k->carry = s->stateful ? rng_mix(k->carry, k->pos ^ (uint64_t)k->unit << 32) : 0;
			if (k->sub < set_fan(s, k->unit, k->pos)) {
				*e = (struct element){ k->unit, k->sub++, k->pos, k->carry };
				return true;
			}
		}
	}
}

static bool
book_shard_read(const struct world *w, uint32_t shard)
{
	for (unsigned i = 0; i < w->n_consumers; i++)
		if (w->consumers[i].finished && world_takes(w, &w->consumers[i], shard))
			return true;
	return false;
}

/* The contents of a shard depend on nothing but the dataset and the number of shards: of files,
 * those whose turn it is; of data, each N-th element. Who read it to its end had all of it. */
static void
book_check_shard(struct world *w, uint32_t shard)
{
	struct walk k = { 0 };
	struct element e;
	uint64_t nth = 0, offset = 0;
	struct made *m = NULL;

	for (; !w->failed && book_walk(w, &k, shard, &e); nth++) {
		if (!w->set.files && nth % w->found != shard)
			continue;
		m = book_find(w, shard, offset);
		if (!m && book_shard_read(w, shard))
			world_fail(w, "shard %u was read, and ends before %llu", shard, (unsigned long long)offset);
		else if (m && memcmp(&m->e, &e, sizeof e))
			world_fail(w, "shard %u has another element at %llu than its share", shard, (unsigned long long)offset);
		else if (m && w->groups == 1 && m->live > 1)
			world_fail(w, "%u:%llu was delivered %u times", shard, (unsigned long long)offset, m->live);
		else if (m && w->groups == 1 && !m->live && !m->dead && book_shard_read(w, shard))
			world_fail(w, "%u:%llu is lost", shard, (unsigned long long)offset);
		offset++;
	}
	if (!w->failed && book_find(w, shard, offset))
		world_fail(w, "shard %u has more than its share", shard);
}

/* Whether one before it in its group had the element. */
static bool
book_had_before(const struct world *w, const struct consumer *c, unsigned s, uint64_t offset)
{
	for (const struct consumer *b = w->consumers; b < c; b++)
		for (size_t i = 0; b->place == c->place && i < b->n; i++)
			if (b->out[i].stream == s && b->out[i].offset == offset)
				return true;
	return false;
}

/* The one consumer of an ordered job, has one sequence, whatever happened. */
static void
book_check_stable(struct world *w, const struct consumer *c)
{
	uint64_t pos[64] = { 0 }, left = c->missed;
	size_t at = 0;

	if (c->missed && !c->n)
		return; /* it came behind the end */
	/* A group that came late begins at the same turn in all streams. */
	for (unsigned s = 0; s < w->found && c->missed && c->n; s++)
		for (pos[s] = c->out[0].offset; pos[s] && !book_find(w, s, pos[s] - 1);)
			pos[s]--;

	for (unsigned idle = 0, s = 0; idle < w->found; s = (s + 1) % w->found) {
		uint32_t n = 0;

		for (; n < w->block && world_takes(w, c, s) && book_find(w, s, pos[s]); n++, pos[s]++)
			if (at < c->n && c->out[at].stream == s && c->out[at].offset == pos[s]) {
				at++;
			} else if (!book_had_before(w, c, s, pos[s]) && !left--) { /* one away for long goes on with the others */
				world_fail(w, "stable order: element %zu is %u:%llu and not %u:%llu", at,
					   at < c->n ? c->out[at].stream : 0, at < c->n ? (unsigned long long)c->out[at].offset : 0,
					   s, (unsigned long long)pos[s]);
				return;
			}
		idle = n ? 0 : idle + 1;
	}
	if (at != c->n)
		world_fail(w, "stable order: %zu elements, and %zu were delivered", at, c->n);
}

static void
book_check_source(struct world *w, const struct consumer *c, unsigned copies)
{
	const struct sim_dataset *s = &w->set;
	size_t at = 0;

	for (uint64_t t = 0; t < s->times * copies; t++)
		for (unsigned u = 0; u < s->units; u++)
			for (uint64_t pos = 0; pos < s->size[u]; pos++)
				for (uint32_t f = 0; f < set_fan(s, u, pos); f++, at++)
					if (at >= c->n || c->out[at].e.leaf != u || c->out[at].e.pos != pos || c->out[at].e.sub != f) {
						world_fail(w, "source order: element %zu is not unit %u place %llu", at, u,
							   (unsigned long long)pos);
						return;
					}
}

/* Everybody is told, and few workers have been lost. Some more than three, since a stream
 * may get on between two losses, and a worker may die before it is heard of; with sharding
 * off each copy has the element, and workers that join get one more. Who reads other shards may
 * have got to their end before, and who comes while there is no dispatcher has never heard of it. */
static void
book_check_poison(struct world *w)
{
	for (unsigned i = 0; i < w->n_consumers; i++)
		if (w->consumers[i].finished ? !w->only && !w->fenced : w->consumers[i].code != ST_DATA &&
		    (w->consumers[i].code != ST_UNAVAIL || w->consumers[i].n || !w->crashes[NODE_DISP]))
			world_fail(w, "consumer %u ended with %u where an element kills its workers", i, w->consumers[i].code);
	if (w->poisoned > 25 + 7 * w->set.times && w->sharding == SHARD_DYNAMIC)
		world_fail(w, "%u workers died of one element", w->poisoned);
}

void
book_check(struct world *w)
{
	unsigned finished = 0, others = 0, copies = 0;
	uint64_t of = 0;

	for (unsigned i = 0; i < w->n_consumers; i++)
		finished += w->consumers[i].finished;
	if (w->disp_lost || w->failed)
		return;
	if (w->poison) {
		book_check_poison(w);
		return;
	}
	if (!finished) {
		world_fail(w, "nobody got to the end");
		return;
	}
	if (!w->made_index)
		return; /* an empty dataset */
	for (unsigned i = 0; i < w->n_consumers && (w->anonymous || w->epochs > 1); i++)
		if (w->consumers[i].finished && w->consumers[i].iteration)
			of = w->consumers[i].iteration;
	if (w->anonymous || w->epochs > 1) {
		if (!of)
			return; /* they all came when it was over */
		w->last_iteration = of;
	}
	if (w->round > 1) {
		book_check_rounds(w);
		return;
	}
	for (unsigned i = 0; i < w->n_consumers; i++)
		book_count(w, &w->consumers[i]);
	for (unsigned i = 0; i < w->n_consumers; i++)
		others += i && w->consumers[i].finished;
	if (w->stop_after && !others)
		return;
	copies = w->sharding == SHARD_OFF ? book_streams(w) : 1;
	if (!w->only)
		book_check_contents(w, copies);
	if (!w->only && w->groups == 1)
		book_check_delivery(w);
	for (uint32_t i = 0; w->groups > 1 && i < w->groups; i++)
		book_check_group(w, i);
	for (uint32_t i = 0; job_has_shards((int)w->sharding) && i < w->found; i++)
		book_check_shard(w, i);
	for (unsigned i = 0; i < w->n_consumers && w->order != ORDER_ANY; i++) {
		/* The second consumer of a job without checkpoint begins where the
		 * first one was cut down. */
		if (!w->consumers[i].finished || w->n_consumers > (w->only ? w->readers : w->groups) ||
		    (w->consumers[i].missed && w->order != ORDER_STABLE) ||
		    (w->groups > 1 && w->consumers[i].iteration != w->last_iteration))
			continue;
		if (w->order == ORDER_STABLE)
			book_check_stable(w, &w->consumers[i]);
		else if (!w->only)
			book_check_source(w, &w->consumers[i], copies);
	}
}

void
book_free(struct world *w)
{
	for (size_t i = 0; w->made_index && i < w->made_index->n; i++)
		mem_free(w->made_index->items[i].value);
	if (w->made_index)
		hash_clear(w->made_index);
	mem_free(w->made_index);
	w->made_index = NULL;
}
