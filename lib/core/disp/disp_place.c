/* SPDX-License-Identifier: MIT
 *
 * Where the streams of a job may be made: on workers with the tags that it asks for
 * (--where), and on the hosts of its readers (--target). Workers with the same tags are
 * in one list, and so are those on one host; a job knows the lists of tags that fit it.
 * A rare tag is thus found as fast as a usual one, however many workers there are.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

enum { PLACE_LOOK = 64 }; /* workers that are looked at to find one that is not busy */

/* Lists of workers */

static void
places_add(struct places *l, struct place *p)
{
	if (l->n == l->cap)
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof(struct place *));
	l->v[l->n++] = p;
}

static void
places_drop(struct places *l, const struct place *p)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == p) {
			l->v[i] = l->v[--l->n];
			return;
		}
}

static struct place *
place_get(struct hash *all, const char *key, bool *is_new)
{
	struct place *p = hash_get_str(all, key);

	*is_new = !p;
	if (p)
		return p;
	p = mem_zalloc(sizeof *p);
	p->key = mem_strdup(key);
	ring_init(&p->workers);
	hash_put_str(all, key, p);
	return p;
}

static struct place *
place_with_tags(struct disp *d, const struct words *tags)
{
	char *key = tags_text(tags);
	bool is_new;
	struct place *p = place_get(&d->tagged, key, &is_new);

	mem_free(key);
	if (!is_new)
		return p;
	for (size_t i = 0; i < tags->n; i++)
		words_add(&p->tags, tags->v[i], strlen(tags->v[i]));
	for (struct list_node *n = d->job_list.next; n != &d->job_list; n = n->next) {
		struct job *j = LIST_OF(n, struct job, node);

		if (!j->rest && where_fits(&j->where, &p->tags))
			places_add(&j->fit, p);
	}
	return p;
}

static void
place_free(struct hash *all, struct place *p)
{
	hash_del_str(all, p->key);
	words_clear(&p->tags);
	mem_free(p->key);
	mem_free(p);
}

void
place_join(struct disp *d, struct peer *w)
{
	bool is_new;

	place_leave(d, w);
	w->tagged = place_with_tags(d, &w->tags);
	w->at = place_get(&d->hosts, str_or_empty(w->host), &is_new);
	ring_push(&w->tagged->workers, &w->by_tags);
	ring_push(&w->at->workers, &w->by_host);
	w->tagged->n++;
	w->at->n++;
	w->tagged->slots += w->slots;
	w->at->slots += w->slots;
}

void
place_leave(struct disp *d, struct peer *w)
{
	struct place *tagged = w->tagged, *at = w->at;

	if (!tagged)
		return;
	w->tagged = w->at = NULL;
	ring_drop(&w->by_tags);
	ring_drop(&w->by_host);
	tagged->slots -= w->slots;
	at->slots -= w->slots;
	if (!--at->n)
		place_free(&d->hosts, at);
	if (--tagged->n)
		return;
	for (struct list_node *n = d->job_list.next; n != &d->job_list; n = n->next)
		places_drop(&LIST_OF(n, struct job, node)->fit, tagged);
	place_free(&d->tagged, tagged);
}

/* Jobs and their readers */

void
place_job(struct disp *d, struct job *j)
{
	where_parse(j->opts.where, &j->where, NULL); /* was checked when it was asked for */
	for (size_t i = 0; i < d->tagged.n; i++) {
		struct place *p = d->tagged.items[i].value;

		if (where_fits(&j->where, &p->tags))
			places_add(&j->fit, p);
	}
}

void
place_job_free(struct job *j)
{
	where_clear(&j->where);
	mem_free(j->fit.v);
	j->where = (struct where){ 0 };
	j->fit = (struct places){ 0 };
}

bool
place_reader(struct iteration *it, const char *host)
{
	struct iter_host *h = hash_get_str(&it->hosts, host);

	if (!h) {
		h = mem_zalloc(sizeof *h);
		h->name = mem_strdup(host);
		hash_put_str(&it->hosts, host, h);
	}
	return !h->users++;
}

bool
place_reader_left(struct iteration *it, const char *host)
{
	struct iter_host *h = hash_get_str(&it->hosts, host);

	if (!h || --h->users)
		return false;
	hash_del_str(&it->hosts, host);
	mem_free(h->name);
	mem_free(h);
	return true;
}

/* Which workers fit */

bool
place_wanted(const struct iteration *it, const struct peer *w)
{
	return where_fits(&it->job->where, &w->tags) &&
		(it->job->opts.target != TARGET_LOCAL || hash_get_str(&it->hosts, str_or_empty(w->host)));
}

bool
place_fits(const struct disp *d, const struct iteration *it, const struct peer *w)
{
	return place_wanted(it, w) && !reach_avoids(d, it, w);
}

/* Whether A would have more streams for its slots than B, with one more. */
static bool
place_busier(const struct peer *a, const struct peer *b)
{
	return ((uint64_t)a->n_streams + 1) * b->slots > ((uint64_t)b->n_streams + 1) * a->slots;
}

/* Some workers that have waited longest for a stream, from several lists in turn. */
static struct peer *
place_pick_any(const struct disp *d, const struct iteration *it)
{
	const struct job *j = it->job;
	size_t lists = j->fit.n < PLACE_LOOK ? j->fit.n : PLACE_LOOK;
	struct peer *best = NULL;

	for (size_t i = 0; i < lists; i++) {
		const struct place *p = j->fit.v[(j->turn + i) % j->fit.n];
		const struct list_node *n = p->workers.next;

		for (size_t k = 0; k < PLACE_LOOK / lists && n != &p->workers; k++, n = n->next) {
			struct peer *w = LIST_OF(n, struct peer, by_tags);

			if ((!best || place_busier(best, w)) && !reach_avoids(d, it, w))
				best = w;
		}
	}
	return best;
}

/* Some of those on hosts of readers, likewise. */
static struct peer *
place_pick_local(const struct disp *d, const struct iteration *it)
{
	size_t hosts = it->hosts.n < PLACE_LOOK ? it->hosts.n : PLACE_LOOK;
	struct peer *best = NULL;

	for (size_t i = 0, seen = 0; i < it->hosts.n && (i < hosts || !best); i++) {
		const struct iter_host *h = it->hosts.items[(it->host_turn + i) % it->hosts.n].value;
		const struct place *p = hash_get_str(&d->hosts, h->name);
		const struct list_node *n = p ? p->workers.next : NULL;

		for (seen = 0; p && n != &p->workers && seen < PLACE_LOOK / hosts; n = n->next) {
			struct peer *w = LIST_OF(n, struct peer, by_host);

			if (!where_fits(&it->job->where, &w->tags))
				continue;
			seen++;
			if ((!best || place_busier(best, w)) && !reach_avoids(d, it, w))
				best = w;
		}
	}
	return best;
}

struct peer *
place_pick(struct disp *d, struct iteration *it)
{
	struct job *j = it->job;
	struct peer *w = j->opts.target == TARGET_ANY ? NULL : place_pick_local(d, it);

	/* Copies of the whole are made by everybody; else who is at hand is asked first. */
	if (j->opts.target != TARGET_LOCAL && (!w || w->n_streams >= w->slots || j->opts.sharding == SHARD_OFF)) {
		struct peer *any = place_pick_any(d, it);

		if (!w || (any && place_busier(w, any)))
			w = any;
	}
	if (!w)
		return NULL;
	ring_push(&w->tagged->workers, &w->by_tags);
	ring_push(&w->at->workers, &w->by_host);
	j->turn++;
	it->host_turn++;
	return w;
}

static uint32_t
place_count(const struct disp *d, const struct job *j, const char *host, uint32_t *slots)
{
	const struct place *p = hash_get_str(&d->hosts, host);
	uint32_t n = 0;

	for (const struct list_node *k = p ? p->workers.next : NULL; p && k != &p->workers; k = k->next) {
		const struct peer *w = LIST_OF(k, struct peer, by_host);

		if (where_fits(&j->where, &w->tags)) {
			n++;
			*slots += w->slots;
		}
	}
	return n;
}

static uint32_t
place_all(const struct disp *d, const struct iteration *it, uint32_t *slots)
{
	const struct job *j = it->job;
	uint32_t n = 0;

	*slots = 0;
	for (size_t i = 0; j->opts.target != TARGET_LOCAL && i < j->fit.n; i++) {
		n += j->fit.v[i]->n;
		*slots += j->fit.v[i]->slots;
	}
	for (size_t i = 0; j->opts.target == TARGET_LOCAL && i < it->hosts.n; i++)
		n += place_count(d, j, ((struct iter_host *)it->hosts.items[i].value)->name, slots);
	return n;
}

uint32_t
place_workers(const struct disp *d, const struct iteration *it)
{
	uint32_t slots;

	return place_all(d, it, &slots);
}

uint32_t
place_slots(const struct disp *d, const struct iteration *it)
{
	uint32_t slots;

	place_all(d, it, &slots);
	return slots;
}

/* OPENs that wait for workers */

/* Whether every worker fits, also one that is awaited or about to leave. */
static bool
place_everywhere(const struct job *j)
{
	return j->opts.target != TARGET_LOCAL && !j->where.has.n && !j->where.lacks.n;
}

uint32_t
place_room(const struct disp *d, const struct iteration *it)
{
	return place_everywhere(it->job) ? d->slots : place_slots(d, it);
}

uint32_t
place_ready(const struct disp *d, const struct waiting *w)
{
	const struct iteration *it = w->iter;
	uint32_t slots = 0;

	if (place_everywhere(it->job))
		return d->n_workers;
	return it->job->opts.target == TARGET_LOCAL ? place_count(d, it->job, w->host, &slots) : place_workers(d, it);
}

char *
place_missing(const struct disp *d, const struct waiting *w, char **help)
{
	const struct job *j = w->iter->job;
	uint32_t ready = place_ready(d, w), wanted = w->min_workers ? w->min_workers : 1;
	bool local = j->opts.target == TARGET_LOCAL;
	struct buf b = { 0 };
	char *clause, *text;

	buf_printf(&b, "start dsvc-work %s", local ? "on this host, " : "");
	for (size_t i = 0; i < j->where.has.n; i++)
		buf_printf(&b, "--tag %s ", j->where.has.v[i]);
	buf_printf(&b, "with the same dispatcher, or wait longer with --wait-workers N/DURATION");
	*help = buf_take(&b);
	if (place_everywhere(j))
		return mem_printf("only %u of %u workers ready", ready, wanted);
	clause = where_clause(&j->where);
	text = mem_printf("%u of %u workers %s%s%s", ready, d->n_workers, clause, *clause && local ? " and " : "",
			  local ? "are on the reader's host" : "");
	mem_free(clause);
	if (wanted > 1) {
		clause = mem_printf("%s; %u are wanted", text, wanted);
		mem_free(text);
		text = clause;
	}
	return text;
}
