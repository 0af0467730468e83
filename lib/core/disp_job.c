/* SPDX-License-Identifier: MIT
 *
 * Datasets, jobs, and OPEN: which iteration a reader comes to.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp_inner.h"

static const char *
job_text(const char *s)
{
	return s ? s : "";
}

static char *
job_take(char **s)
{
	char *t = *s ? *s : mem_strdup("");

	*s = NULL;
	return t;
}

/* Datasets */

struct dataset *
job_dataset_new(struct disp *d, uint64_t number, char *id, char *spec, char *type)
{
	struct dataset *s = mem_zalloc(sizeof *s);

	*s = (struct dataset){ .dirty.kind = DIRTY_DATASET, .number = number, .id = id,
		.spec = spec, .type = type };
	hash_put_str(&d->datasets, id, s);
	return s;
}

static void
job_dataset_unused(struct disp *d, struct dataset *s)
{
	if (s->jobs || s->registered)
		return;
	hash_del_str(&d->datasets, s->id);
	ring_drop(&s->dirty.node);
	disp_delete(d, ROW_DATASET, 1, s->number, 0, 0);
	mem_free(s->id);
	mem_free(s->spec);
	mem_free(s->type);
	mem_free(s);
}

/* The dataset with this spec, registered now if it was not. NULL: an error was
 * answered. Takes the texts. */
static struct dataset *
job_dataset(struct disp *d, struct peer *p, uint64_t req, char **id, char **spec, char **type, bool *known)
{
	char own[WIRE_NAME_MAX + 1] = "";
	struct dataset *s;

	if (!**spec) {
		disp_error(d, p, req, ST_USAGE, "a dataset without a spec", "");
		return NULL;
	}
	if (!**id)
		d->o.spec_id(*spec, strlen(*spec), own, sizeof own);
	s = hash_get_str(&d->datasets, **id ? *id : own);
	*known = s != NULL;
	if (s && strcmp(s->spec, *spec)) {
		char *text = mem_printf("dataset `%s` is another pipeline: registered `%s`, asked `%s`",
					s->id, s->spec, *spec);

		disp_error(d, p, req, ST_DATA, text, "choose another id");
		mem_free(text);
		return NULL;
	}
	if (s)
		return s;
	char *name = mem_strdup(**id ? *id : own);
	s = job_dataset_new(d, disp_id(d), name, *spec, *type);
	*spec = *type = NULL;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	return s;
}

static void
job_answer_dataset(struct disp *d, struct peer *p, uint64_t req, const struct dataset *s, bool known)
{
	struct msg *out = disp_send(d, p, MSG_DATASET, req);

	out->dataset.id = mem_strdup(s->id);
	out->dataset.spec = mem_strdup(s->spec);
	out->dataset.type = mem_strdup(s->type);
	out->dataset.known = known;
}

/* An id is one word of a command line, in which no program sees an option or a
 * spec. */
static bool
job_id_fits(const char *id)
{
	for (const char *c = id; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '|')
			return false;
	return *id != '-' && str_utf8_valid(id, strlen(id)) == strlen(id);
}

void
job_register(struct disp *d, struct peer *p, struct msg *m)
{
	if (!job_id_fits(job_text(m->reg.id))) {
		disp_error(d, p, m->req, ST_USAGE, "an id is one word: no blanks, no `|`, and no `-` in front",
			   "for example: --id web-errors");
		return;
	}
	char *id = job_take(&m->reg.id), *spec = job_take(&m->reg.spec), *type = job_take(&m->reg.type);
	bool known;
	struct dataset *s = job_dataset(d, p, m->req, &id, &spec, &type, &known);

	if (s) {
		if (!s->registered) {
			s->registered = true;
			disp_dirty(d, &s->dirty, DIRTY_ROW);
		}
		job_answer_dataset(d, p, m->req, s, known);
	}
	mem_free(id);
	mem_free(spec);
	mem_free(type);
}

/* The datasets whose hash begins with `id`: how many, and one of them. Names that
 * were asked for are no hashes, and are given whole. */
static size_t
job_dataset_begins(struct disp *d, const char *id, struct dataset **one)
{
	size_t n = strlen(id), found = 0;
	char own[WIRE_NAME_MAX + 1];

	if (n < WIRE_PREFIX_MIN || strspn(id, "0123456789abcdef") != n)
		return 0;
	for (size_t i = 0; i < d->datasets.n; i++) {
		struct dataset *s = d->datasets.items[i].value;
		if (strncmp(s->id, id, n))
			continue;
		d->o.spec_id(s->spec, strlen(s->spec), own, sizeof own);
		if (!strcmp(own, s->id)) {
			*one = s;
			found++;
		}
	}
	return found;
}

static struct dataset *
job_dataset_find(struct disp *d, struct peer *p, uint64_t req, const char *id)
{
	struct dataset *s = hash_get_str(&d->datasets, job_text(id));
	char *text;

	if (s)
		return s;
	size_t n = job_dataset_begins(d, job_text(id), &s);
	if (n == 1)
		return s;
	if (n)
		text = mem_printf("%zu datasets begin with `%s`", n, id);
	else
		text = mem_printf("no dataset `%s`", job_text(id));
	disp_error(d, p, req, ST_NOINPUT, text, n ? "write more of the id; dsvc-status shows them" :
		   "dsvc-register registers one and prints its id");
	mem_free(text);
	return NULL;
}

void
job_get(struct disp *d, struct peer *p, struct msg *m)
{
	struct dataset *s = job_dataset_find(d, p, m->req, m->get.id);

	if (s)
		job_answer_dataset(d, p, m->req, s, true);
}

/* Jobs */

struct job *
job_new(struct disp *d, uint64_t number, char *name, struct dataset *s)
{
	struct job *j = mem_zalloc(sizeof *j);

	*j = (struct job){ .dirty.kind = DIRTY_JOB, .number = number, .name = name, .dataset = s };
	s->jobs++;
	ring_push(&d->job_list, &j->node);
	if (*name)
		hash_put_str(&d->jobs, name, j);
	j->idle_since = INT64_MAX;
	return j;
}

void
job_free(struct disp *d, struct job *j)
{
	struct dataset *s = j->dataset;

	for (size_t i = 0; i < j->n_iters; i++)
		iter_free(d, j->iters[i]);
	if (!*j->name && j->idle.next)
		d->n_idle_anonymous--;
	if (*j->name)
		hash_del_str(&d->jobs, j->name);
	ring_drop(&j->node);
	ring_drop(&j->idle);
	ring_drop(&j->dirty.node);
	disp_delete(d, ROW_JOB, 1, j->number, 0, 0);
	mem_free(j->iters);
	mem_free(j->name);
	mem_free(j->options);
	mem_free(j);
	s->jobs--;
	job_dataset_unused(d, s);
}

void
job_used(struct disp *d, struct job *j)
{
	if (j->users++)
		return;
	if (!*j->name && j->idle.next)
		d->n_idle_anonymous--;
	ring_drop(&j->idle);
	j->idle_since = INT64_MAX;
}

/* Nobody reads it: named jobs and those that a reader will come back to wait;
 * of the others what is over is kept for a while, for audits. */
void
job_idle(struct disp *d, struct job *j)
{
	j->idle_since = d->now;
	ring_push(&d->idle_jobs, &j->idle);
	if (*j->name)
		return;
	d->n_idle_anonymous++;
	if (d->n_idle_anonymous <= DISP_ENDED_JOBS)
		return;
	for (struct list_node *n = d->idle_jobs.next; n != &d->idle_jobs; n = n->next) {
		struct job *old = LIST_OF(n, struct job, idle);

		if (!*old->name && !(old->keep && old->n_iters && iter_live(old->iters[old->n_iters - 1]))) {
			job_free(d, old);
			return;
		}
	}
}

void
job_left(struct disp *d, struct job *j)
{
	bool live = false;

	if (--j->users)
		return;
	for (size_t i = 0; i < j->n_iters; i++)
		live |= iter_live(j->iters[i]);
	if (!*j->name && live && !j->keep)
		job_free(d, j);
	else
		job_idle(d, j);
}

void
job_tick(struct disp *d)
{
	while (!ring_empty(&d->idle_jobs)) {
		struct job *j = LIST_OF(d->idle_jobs.next, struct job, idle);

		if (j->idle_since + d->o.job_gc_ns > d->now)
			break;
		job_free(d, j);
	}
}

int64_t
job_deadline(const struct disp *d)
{
	if (ring_empty(&d->idle_jobs))
		return INT64_MAX;
	return LIST_OF(d->idle_jobs.next, struct job, idle)->idle_since + d->o.job_gc_ns;
}

void
job_add_iter(struct job *j, struct iteration *it)
{
	size_t i = j->n_iters;

	if (j->n_iters == j->cap_iters)
		j->iters = mem_grow(j->iters, &j->cap_iters, j->n_iters + 1, sizeof *j->iters);
	for (; i && j->iters[i - 1]->epoch > it->epoch; i--)
		j->iters[i] = j->iters[i - 1];
	j->iters[i] = it;
	j->n_iters++;
}

/* What could not be begun leaves nothing behind: the next OPEN tries again. */
void
job_drop_iter(struct disp *d, struct iteration *it)
{
	struct job *j = it->job;
	size_t i = 0;

	while (j->iters[i] != it)
		i++;
	memmove(j->iters + i, j->iters + i + 1, (--j->n_iters - i) * sizeof(struct iteration *));
	iter_free(d, it);
	if (!j->n_iters && !j->users)
		job_free(d, j);
}

static struct iteration *
job_iter(const struct job *j, uint32_t epoch)
{
	for (size_t i = j->n_iters; i-- > 0;)
		if (j->iters[i]->epoch == epoch)
			return j->iters[i];
	return NULL;
}

/* What readers of one job must say alike, as a text for people. */
static char *
job_describe(const char *dataset, uint32_t sharding, uint32_t order, uint32_t shards, bool seeded,
	     uint64_t seed, const char *options)
{
	static const char *const shardings[] = { "off", "dynamic" }, *const orders[] = { "any", "stable", "source" };
	char number[32] = "random";

	if (seeded)
		snprintf(number, sizeof number, "%llu", (unsigned long long)seed);
	return mem_printf("dataset=%s sharding=%s order=%s shards=%u seed=%s%s%s", dataset,
			  shardings[sharding], orders[order], shards, number,
			  *options ? " " : "", options);
}

static bool
job_same(struct disp *d, struct peer *p, const struct job *j, const struct dataset *s, const struct msg *m)
{
	const struct msg_open *o = &m->open;
	char *has, *wants, *text;
	bool same;

	has = job_describe(j->dataset->id, j->sharding, j->order, j->shards, j->seeded, j->seed, j->options);
	wants = job_describe(s->id, o->sharding, o->order, o->shards, o->seeded, o->seed, job_text(o->options));
	same = !strcmp(has, wants);
	if (!same) {
		text = mem_printf("job `%s` was opened otherwise: it has %s, asked was %s", j->name, has, wants);
		disp_error(d, p, m->req, ST_USAGE, text, "open it alike, or choose another name");
		mem_free(text);
	}
	mem_free(has);
	mem_free(wants);
	return same;
}

static struct job *
job_for(struct disp *d, struct peer *p, struct msg *m, struct dataset *s)
{
	struct msg_open *o = &m->open;
	struct job *j = *job_text(o->job) ? hash_get_str(&d->jobs, o->job) : NULL;

	if (j)
		return job_same(d, p, j, s, m) ? j : NULL;
	j = job_new(d, disp_id(d), job_take(&o->job), s);
	j->sharding = o->sharding;
	j->order = o->order;
	j->shards = o->shards;
	j->seeded = o->seeded;
	j->seed = o->seed;
	j->options = job_take(&o->options);
	job_idle(d, j); /* until its reader is entered */
	disp_dirty(d, &j->dirty, DIRTY_ROW);
	return j;
}

static void
job_wait(struct disp *d, struct peer *p, struct iteration *it, struct msg *m)
{
	struct waiting *w = mem_zalloc(sizeof *w);
	struct list_node *n;

	*w = (struct waiting){ .peer = p, .iter = it, .req = m->req, .min_workers = m->open.min_workers,
		.from = m->open.resume ? m->open.seat : 0,
		.checkpoint = m->open.checkpoint, .have = m->open.have,
		.until = d->now + m->open.wait_ms * 1000000ll };
	m->open.have = (struct ranges_list){ 0 };
	p->waiting = w;
	ring_push(&it->waiting, &w->node);
	job_used(d, it->job);
	/* in the order of their times */
	for (n = d->waiting.prev; n != &d->waiting && LIST_OF(n, struct waiting, by_until)->until > w->until;)
		n = n->prev;
	ring_push(n->next, &w->by_until);
	fault_limit(it, &m->open);
	if (fault_check(d, it)) /* failing answers too */
		iter_answer(d, it);
}

static void
job_refuse_reader(struct disp *d, struct peer *p, uint64_t req, uint64_t iteration, uint64_t seat)
{
	struct msg *out = disp_send(d, p, MSG_GONE, req);

	out->gone.iteration = iteration;
	out->gone.seat = seat;
	out->gone.text = mem_strdup("the dispatcher took this reader for lost; its elements go to others");
}

/* Joins (or makes) the iteration; false: an error was answered. */
static bool
job_join(struct disp *d, struct peer *p, struct msg *m, struct iteration *it)
{
	char *text;

	/* An ordered job has one reader. One that is away has its position and
	 * comes with it; who comes without begins anew. */
	for (struct list_node *n = it->seats.next; it->job->order != ORDER_ANY && n != &it->seats;) {
		struct seat *r = LIST_OF(n, struct seat, node);

		n = n->next;
		if (r->peer)
			continue;
		job_used(d, it->job);
		seat_gone(d, r);
		it->job->users--;
	}
	if (it->job->order != ORDER_ANY && iter_live(it) && (it->n_seats || !ring_empty(&it->waiting))) {
		text = mem_printf("job `%s` keeps an order and has a reader already", it->job->name);
		disp_error(d, p, m->req, ST_TEMP, text, "an ordered job has one reader at a time; use --order any to share it");
		mem_free(text);
		return false;
	}
	if (it->n_seats >= WIRE_READERS_MAX) {
		disp_error(d, p, m->req, ST_UNAVAIL, "the job has as many readers as it may", "");
		return false;
	}
	job_wait(d, p, it, m);
	return true;
}

/* A position of an earlier run: the iteration itself if it is still there;
 * else, where streams do not depend on who was there, one like it. */
static struct iteration *
job_resumed(struct disp *d, struct peer *p, struct msg *m, struct dataset *s, bool *answered)
{
	struct iteration *it = iter_find(d, m->open.iteration);

	*answered = false;
	if (it && it->job->dataset == s && it->epoch == m->open.epoch) {
		/* Its position names the seat it had: whoever is still taken to
		 * sit there is dead or ought to be. */
		job_used(d, it->job);
		/* What it has had is recorded before its old self is dropped, or
		 * that would be given to others. */
		for (size_t i = 0; i < m->open.have.n && it->state == ITER_RUNNING; i++) {
			struct stream *at = iter_stream(it, m->open.have.v[i].stream);

			if (at)
				stream_acked(d, at, &m->open.have.v[i].ranges, NULL);
		}
		for (struct list_node *n = it->seats.next; m->open.seat && n != &it->seats;) {
			struct seat *old = LIST_OF(n, struct seat, node);

			n = n->next;
			/* Nor has one that began with this position got as far as
			 * saving its own. */
			if (old->number != m->open.seat && old->from != m->open.seat)
				continue;
			if (old->peer)
				job_refuse_reader(d, old->peer, 0, it->id, old->number);
			seat_gone(d, old);
		}
		it->job->users--; /* the waiting OPEN comes in its place */
		return it;
	}
	if (m->open.order == ORDER_ANY && m->open.have.n) {
		disp_error(d, p, m->req, ST_NOINPUT, "the dispatcher does not have the iteration of this position any more",
			   "with --order stable or source a position can be resumed anywhere");
		*answered = true;
	}
	return NULL;
}

void
job_open(struct disp *d, struct peer *p, struct msg *m)
{
	struct msg_open *o = &m->open;
	struct dataset *s;
	struct iteration *it = NULL;
	bool known, answered, by_id = false;

	if (p->waiting) { /* asked again: the answer is still to come */
		p->waiting->req = m->req;
		return;
	}
	if (p->seat) { /* the same, or the answer was lost */
		seat_open(d, p->seat, m->req);
		return;
	}
	if (o->seat && !o->resume) {
		it = iter_find(d, o->iteration);
		struct seat *away = it ? seat_find(it, o->seat) : NULL;

		if (away && !away->peer && away->peer_id == p->id) {
			seat_back(d, away, p);
			seat_open(d, away, m->req);
			return;
		}
		/* had a seat, and has lost it */
		job_refuse_reader(d, p, m->req, o->iteration, o->seat);
		return;
	}
	if (!o->epoch)
		o->epoch = 1;
	if (*job_text(o->dataset) && !*job_text(o->spec)) {
		s = job_dataset_find(d, p, m->req, o->dataset);
		by_id = true;
	} else {
		char *id = mem_strdup(""), *spec = job_take(&o->spec), *type = job_take(&o->type);

		s = job_dataset(d, p, m->req, &id, &spec, &type, &known);
		mem_free(id);
		mem_free(spec);
		mem_free(type);
	}
	if (!s)
		return;
	if (!by_id && *job_text(o->dataset) && strcmp(o->dataset, s->id)) { /* a position of another one */
		char *text = mem_printf("the position is one in dataset `%s`, the pipeline is dataset `%s`", o->dataset, s->id);

		disp_error(d, p, m->req, ST_DATA, text, "resume with the same pipeline, or begin a new position");
		mem_free(text);
		job_dataset_unused(d, s);
		return;
	}
	if (o->resume) {
		it = job_resumed(d, p, m, s, &answered);
		if (answered) {
			job_dataset_unused(d, s);
			return;
		}
	}
	if (!it) {
		struct job *j = job_for(d, p, m, s);

		if (!j)
			return; /* a job of that name is there, so the dataset is used */
		it = job_iter(j, o->epoch);
		if (!it) {
			it = iter_new(d, j, disp_id(d), o->epoch);
			it->seed = !j->seeded ? rng_next(&d->rng) : o->epoch == 1 ? j->seed : rng_mix(j->seed, o->epoch);
			disp_dirty(d, &it->dirty, DIRTY_ROW);
			job_add_iter(j, it);
			if (job_join(d, p, m, it))
				iter_start(d, it);
			return;
		}
	}
	job_join(d, p, m, it);
}
