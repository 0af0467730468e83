/* SPDX-License-Identifier: MIT
 *
 * Jobs, and OPEN: which iteration a reader comes to.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_pending.h"
#include "core/disp/disp_rest.h"
#include "core/disp/disp_resume.h"
#include "core/disp/disp_role.h"

/* Jobs */

struct job *
job_new(struct disp *d, uint64_t number, const struct job_opts *opts, struct dataset *s)
{
	struct job *j = mem_zalloc(sizeof *j);

	*j = (struct job){ .dirty.kind = DIRTY_JOB, .number = number, .opts = *opts, .dataset = s,
		.dataset_number = s->number };
	j->opts.shard = j->opts.consumer = NULL; /* each reader's own matter */
	j->places = 1;
	job_opts_own(&j->opts);
	if (!j->opts.name)
		j->opts.name = mem_strdup("");
	place_job(d, j);
	s->jobs++;
	ring_drop(&s->idle);
	ring_push(&d->job_list, &j->node);
	if (*j->opts.name)
		hash_put_str(&d->jobs, j->opts.name, j);
	j->idle_kind = GC_KINDS;
	j->idle_since = INT64_MAX;
	ring_push(&d->busy, &j->idle);
	d->n_jobs++;
	return j;
}

void
job_free(struct disp *d, struct job *j)
{
	struct dataset *s = j->dataset;

	job_wake(d, j);
	for (size_t i = 0; i < j->n_iters; i++)
		iter_free(d, j->iters[i]);
	if (*j->opts.name)
		events_job_forgotten(d, j);
	gc_busy(d, j);
	ring_drop(&j->idle);
	d->n_jobs--;
	if (*j->opts.name)
		hash_del_str(&d->jobs, j->opts.name);
	ring_drop(&j->node);
	ring_drop(&j->dirty.node);
	disp_delete(d, ROW_JOB, 1, j->number, 0, 0);
	place_job_free(j);
	mem_free(j->iters);
	job_opts_clear(&j->opts);
	mem_free(j->owner);
	mem_free(j);
	s->jobs--;
	dataset_unused(d, s);
}

void
job_used(struct disp *d, struct job *j)
{
	if (j->users++)
		return;
	job_wake(d, j);
	gc_busy(d, j);
}

bool
job_over(const struct job *j)
{
	for (size_t i = 0; i < j->n_iters; i++)
		if (iter_live(j->iters[i]))
			return false;
	return true;
}

void
job_left_since(struct disp *d, struct job *j, int64_t since)
{
	if (--j->users)
		return;
	if (!j->n_iters || (!*j->opts.name && !job_over(j) && !j->keep))
		job_free(d, j);
	else
		gc_idle(d, j, since);
}

void
job_left(struct disp *d, struct job *j)
{
	job_left_since(d, j, d->now);
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

/* Removes all traces of an iteration that could not begin: the next OPEN tries again. */
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

/* The options on which readers of one job must agree, as a text for people. */
static char *
job_describe(const char *dataset, const struct job_opts *o, uint32_t places)
{
	const char *options = str_or_empty(o->options), *where = str_or_empty(o->where);
	char number[32] = "random", consumers[120] = "", window[40] = "";

	if (o->seeded)
		snprintf(number, sizeof number, "%llu", (unsigned long long)o->seed);
	if (o->share_window)
		snprintf(window, sizeof window, " share-window=%lld", (long long)o->share_window);
	if (places > 1)
		snprintf(consumers, sizeof consumers, " consumers=%u tail=%s tail-of=%s checkpoint-rounds=%llu", places,
			 job_tail_word(o->tail), job_tail_of_word(o->tail_of), (unsigned long long)o->checkpoint_rounds);
	return mem_printf("dataset=%s sharding=%s order=%s shards=%llu compression=%s seed=%s target=%s%s%s%s%s%s%s%s%s",
			  dataset, job_sharding_word(o->sharding), job_order_word(o->order), (unsigned long long)o->shards,
			  job_compression_word(o->compression), number, job_target_word(o->target), consumers,
			  o->share ? " share=" : "", o->share ? job_share_word(o->share) : "", window,
			  *where ? " where=" : "", where, *options ? " " : "", options);
}

static bool
job_same(struct disp *d, struct peer *p, const struct job *j, const struct dataset *s, const struct msg *m,
	 uint32_t places)
{
	struct job_opts asked = m->open.job;
	char *has, *wants, *text;
	bool same;

	asked.shards = job_asked_shards(j, m, places);
	has = job_describe(j->dataset->id, &j->opts, j->places);
	wants = job_describe(s->id, &asked, places);
	same = !strcmp(has, wants);
	if (!same) {
		text = mem_printf("job `%s` exists with other settings: it has %s; you asked for %s", j->opts.name, has, wants);
		disp_error(d, p, m->req, ST_USAGE, text, "use the same settings or another job name");
		mem_free(text);
	}
	mem_free(has);
	mem_free(wants);
	return same;
}

/* Its name is for another job: it is kept for audits, if anything was made in it. */
static void
job_retire(struct disp *d, struct job *j)
{
	bool begun = false;

	for (size_t i = 0; i < j->n_iters; i++)
		begun |= j->iters[i]->state != ITER_LISTING;
	if (!begun) {
		job_free(d, j);
		return;
	}
	base_unname(d, j);
}

static struct job *
job_for(struct disp *d, struct peer *p, struct msg *m, struct dataset *s, const struct asked *asked)
{
	struct msg_open *o = &m->open;
	struct job *j = job_named(d, str_or_empty(o->job.name));

	if (j && round_is_void(j, (uint32_t)o->job.epoch)) {
		s->jobs++; /* it may be that job's alone */
		job_retire(d, j);
		s->jobs--;
		j = NULL;
	} else if (j && base_differs(j, m, asked->part.of)) {
		s->jobs++;
		bool replaced = base_replaces(d, p, m, j, asked->part.of);

		s->jobs--;
		if (!replaced)
			return NULL;
		j = NULL;
	}
	if (j && !job_same(d, p, j, s, m, asked->part.of))
		return NULL;
	if (j) {
		job_shards_take(d, j, m);
		return j;
	}
	if (!role_may_have(d, p, m))
		return NULL;
	j = job_new(d, disp_id(d), &o->job, s);
	job_from_position(j, m);
	j->places = asked->part.of;
	j->owner = *str_or_empty(p->user) ? mem_strdup(p->user) : NULL;
	gc_idle(d, j, d->now); /* until its reader is entered */
	disp_dirty(d, &j->dirty, DIRTY_ROW);
	return j;
}

static void
job_wait(struct disp *d, struct peer *p, struct iteration *it, struct msg *m, struct asked *asked)
{
	struct waiting *w = mem_zalloc(sizeof *w);
	bool first_there;

	*w = (struct waiting){ .peer = p, .iter = it, .req = m->req, .min_workers = m->open.job.min_workers,
		.from = m->open.resume ? m->open.seat : 0,
		.checkpoint = m->open.job.checkpoint, .have = m->open.have, .bytes = pending_bytes(&m->open.have),
		.shard = m->open.job.shard, .asked = *asked,
		.wait_ms = m->open.job.wait_ms };
	m->open.have = (struct ranges_list){ 0 };
	w->marks = m->open.marks;
	w->took = m->open.took;
	m->open.took = (struct words){ 0 };
	m->open.marks = (struct marks){ 0 };
	w->group = m->open.job.group;
	w->asked.group = w->group;
	w->from_start = m->open.job.from == FROM_START;
	m->open.job.group = NULL;
	m->open.job.shard = NULL;
	asked->only = (struct job_shards){ 0 };
	w->host = mem_strdup(str_or_empty(p->host));
	first_there = place_reader(it, w->host);
	p->waiting = w;
	ring_push(&it->waiting, &w->node);
	job_used(d, it->job);
	waiting_until(d, w, it->gathered ? d->now + w->wait_ms * 1000000ll : round_gather_until(d, it));
	fault_limit(it, &m->open.job);
	if (!fault_check(d, it)) /* failing answers too */
		return;
	job_used(d, it->job); /* answering may let it go */
	if (first_there)
		iter_readers_moved(d, it);
	job_left(d, it->job);
	waiting_answer(d, it);
}

/* Whether some reader takes some of these elements, or is about to. */
static bool
job_is_taken(const struct iteration *it, const struct asked *asked)
{
	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
		if (seat_meets(LIST_OF(n, struct seat, node), asked))
			return true;
	for (const struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		const struct asked *other = &LIST_OF(n, struct waiting, node)->asked;

		if (job_shards_meet(&other->only, &asked->only) && round_meet(&other->part, &asked->part) &&
		    !strcmp(str_or_empty(other->group), str_or_empty(asked->group)))
			return true;
	}
	return false;
}

/* Whether one more reader may come for these elements; false: an error was answered. */
static bool
job_admits(struct disp *d, struct peer *p, const struct msg *m, struct iteration *it, const struct asked *asked)
{
	if (iter_live(it))
		seat_make_way(d, it, asked);
	if (round_refuses(d, p, m->req, it, asked) || base_refuses(d, p, m, it))
		return false;
	if (it->job->opts.order != ORDER_ANY && iter_live(it) && job_is_taken(it, asked)) {
		seat_taken(d, p, m->req, it, asked);
		return false;
	}
	if (!group_admits(d, p, m, it, asked))
		return false;
	if (it->n_seats >= WIRE_READERS_MAX) {
		disp_error(d, p, m->req, ST_UNAVAIL, "the job has reached its limit of readers", "");
		return false;
	}
	return true;
}

/* Joins the iteration; false: an error was answered. Takes `asked`. */
static bool
job_join(struct disp *d, struct peer *p, struct msg *m, struct iteration *it, struct asked *asked)
{
	bool joins = !job_passed(d, p, m, it, asked) && job_admits(d, p, m, it, asked);

	if (joins)
		job_wait(d, p, it, m, asked);
	return joins;
}

/* Elements behind the position have been delivered already. *again: they can be made once
 * more, in an iteration of their own; else an error was answered. */
static void
job_resumed_late(struct disp *d, struct peer *p, const struct msg *m, const struct job *j, bool *again)
{
	char *text;

	*again = job_is_fixed(&j->opts) && !*str_or_empty(m->open.job.name);
	if (*again)
		return;
	text = mem_printf("a reader%s%s%s has gone on from this position, and elements behind it were delivered",
			  *j->opts.name ? " of job `" : "", j->opts.name, *j->opts.name ? "`" : "");
	disp_error(d, p, m->req, ST_DATA, text, j->opts.order == ORDER_ANY ?
		   "take the position that it saved; with --order stable or source any position can be resumed" :
		   "take the position that it saved, or leave out --job");
	mem_free(text);
}

/* A position of an earlier run: the iteration itself if it is still there, and a use of its job
 * for the caller to give back; else, where streams do not depend on who was there, NULL. */
static struct iteration *
job_resumed(struct disp *d, struct peer *p, struct msg *m, struct dataset *s, const struct asked *asked,
	    bool *answered)
{
	struct iteration *it = iter_find(d, m->open.iteration);
	uint32_t view = 0;
	bool again;

	*answered = false;
	if (it && round_abandoned(it))
		return NULL;
	if (it && group_shares(it) && !group_view(it, str_or_empty(asked->group), &view)) {
		disp_error(d, p, m->req, ST_USAGE, "the pass of this position is not read by that group",
			   "resume it with the same --group");
		*answered = true;
		return NULL;
	}
	if (it && !group_shares(it) && !iter_view_of(it, &asked->part, &view)) {
		disp_error(d, p, m->req, ST_USAGE, "the pass of this position is read by consumers with other places",
			   "resume it with the same --consumer");
		*answered = true;
		return NULL;
	}
	if (it && it->job->dataset == s && it->epoch == m->open.job.epoch &&
	    (!*it->job->opts.name || it->job->opts.order != ORDER_ANY) && job_went_on(it, &m->open.have, asked, view)) {
		job_resumed_late(d, p, m, it->job, &again);
		*answered = !again;
		return NULL;
	}
	if (it && it->job->dataset == s && it->epoch == m->open.job.epoch) {
		/* Its position names the seat it had: whoever is still taken to
		 * sit there is dead or ought to be. */
		job_used(d, it->job);
		/* Elements that it has had are recorded before its old seat is dropped;
		 * otherwise they would be given to others. */
		for (size_t i = 0; i < m->open.have.n && it->state == ITER_RUNNING; i++) {
			struct stream *at = iter_stream(it, m->open.have.v[i].stream);

			if (at)
				hold_resumed(d, at, view, &m->open.have.v[i].ranges);
		}
		for (struct list_node *n = it->seats.next; m->open.seat && n != &it->seats;) {
			struct seat *old = LIST_OF(n, struct seat, node);

			n = n->next;
			/* Nor has one that began with this position got as far as
			 * saving its own. */
			if (old->number != m->open.seat && old->from != m->open.seat)
				continue;
			if (old->peer)
				seat_tell_gone(d, old->peer, 0, it->id, old->number);
			seat_gone(d, old);
		}
		/* Nor has one whose OPEN is not answered yet. */
		for (struct list_node *n = it->waiting.next; m->open.seat && n != &it->waiting;) {
			struct waiting *old = LIST_OF(n, struct waiting, node);

			n = n->next;
			if (old->from == m->open.seat)
				waiting_error(d, old, ST_TEMP, "another reader goes on from the same position", "");
		}
		return it;
	}
	if (!job_is_fixed(&m->open.job) && m->open.have.n) {
		disp_error(d, p, m->req, ST_NOINPUT, "the dispatcher no longer has the iteration of this position",
			   "with --order stable or source a position can be resumed anywhere");
		*answered = true;
	}
	return NULL;
}

/* Puts the tags that it asks for in the form that all of that meaning have; false: an error was
 * answered. */
static bool
job_where(struct disp *d, struct peer *p, struct msg *m)
{
	struct where where;
	struct err e;

	if (where_parse(m->open.job.where, &where, &e) != ST_OK) {
		disp_error(d, p, m->req, ST_USAGE, e.text, e.help);
		return false;
	}
	mem_free(m->open.job.where);
	m->open.job.where = where.has.n || where.lacks.n ? where_text(&where) : NULL;
	where_clear(&where);
	return true;
}

/* Judges an OPEN as far as that needs no source; false: an error was answered. Fills `asked`. */
static bool
job_asked(struct disp *d, struct peer *p, const struct msg *m, struct asked *asked)
{
	struct job_shards *only = &asked->only;
	const struct job_opts *o = &m->open.job;
	const char *policy = job_sharding_word(o->sharding);
	char *text = NULL, *help = NULL;
	uint64_t shards = o->shards;
	struct err e;

	for (size_t i = 0; i < m->open.marks.n; i++)
		shards = m->open.marks.v[i].base.n > shards ? m->open.marks.v[i].base.n : shards;
	*asked = (struct asked){ .part = ROUND_ALL, .group = o->group };
	if (job_opts_check(o, &e) || job_shards_parse(o->shard, only, &e) || round_parse(o->consumer, &asked->part, &e)) {
		text = mem_strdup(e.text);
		help = mem_strdup(e.help);
	} else if (*str_or_empty(o->consumer) && !*str_or_empty(o->name)) {
		text = mem_printf("consumer %s is one of a job without a name, where nobody can join it", o->consumer);
		help = mem_strdup("name the job that all consumers share: --job NAME");
	} else if (asked->part.of > 1 && only->n) {
		text = mem_strdup("a consumer cannot choose its shards: each round is from one of them");
		help = mem_strdup("leave out --shard");
	} else if (shards * asked->part.of > DISP_VIEWS) {
		text = mem_printf("%llu shards for %u consumers are too many", (unsigned long long)shards, asked->part.of);
		help = mem_printf("--shards %u is the most", DISP_VIEWS / asked->part.of);
	} else if (only->n && !job_has_shards(o->sharding)) {
		text = mem_printf("a job with sharding `%s` has no shards to choose from", policy);
		help = mem_strdup("--sharding file, data or hint divides a job into shards");
	} else if (asked->part.of > 1 && o->target == TARGET_LOCAL) {
		text = mem_strdup("target `local` does not go with rounds: each stream is read by consumers on all hosts");
		help = mem_strdup("--target auto prefers workers on the hosts of readers");
	} else if (only->n && o->target == TARGET_LOCAL) { /* a shard may be made on the host of who reads others */
		text = mem_strdup("a reader with target `local` cannot choose its shards");
		help = mem_strdup("--target auto prefers workers on the hosts of readers");
	} else if (only->n && o->shards && only->v[only->n - 1] >= o->shards) {
		text = mem_printf("there is no shard %u: the job has %llu shards", only->v[only->n - 1],
				  (unsigned long long)o->shards);
		help = mem_printf("they are numbered from 0 to %llu", (unsigned long long)o->shards - 1);
	} else if (o->order == ORDER_SOURCE && job_has_shards(o->sharding) && o->sharding != SHARD_DATA && o->shards != 1) {
		text = mem_printf("several shards of sharding `%s` do not come in order `source`", policy);
		help = mem_strdup("--order stable is the same each time; --shards 1 keeps all in order");
	}
	if (text) {
		disp_error(d, p, m->req, ST_USAGE, text, help);
		job_shards_clear(only);
	}
	mem_free(text);
	mem_free(help);
	return !text;
}

/* The dataset that is asked for; NULL: an error was answered. */
static struct dataset *
job_dataset(struct disp *d, struct peer *p, struct msg *m)
{
	struct msg_open *o = &m->open;
	struct dataset *s;
	bool known;

	if (*str_or_empty(o->dataset) && !*str_or_empty(o->spec))
		return dataset_find(d, p, m->req, o->dataset);
	char *id = mem_strdup(""), *spec = str_take(&o->spec), *type = str_take(&o->type);
	s = dataset_of_spec(d, p, m->req, &id, &spec, &type, &known);
	mem_free(id);
	mem_free(spec);
	mem_free(type);
	if (s && *str_or_empty(o->dataset) && strcmp(o->dataset, s->id)) { /* a position of another one */
		char *text = mem_printf("the position belongs to dataset `%s`, this pipeline is dataset `%s`", o->dataset, s->id);

		disp_error(d, p, m->req, ST_DATA, text, "use the same pipeline, or remove the position to start over");
		mem_free(text);
		dataset_unused(d, s);
		return NULL;
	}
	return s;
}

/* A new pass of the job. */
static struct iteration *
job_pass(struct disp *d, const struct msg_open *o, struct job *j)
{
	struct iteration *it = iter_new(d, j, disp_id(d), o->job.epoch);

	it->seed = !j->opts.seeded   ? rng_next(&d->rng) :
		   o->job.epoch == 1 || (o->resume && o->pass_seed) ? j->opts.seed :
				       rng_mix(j->opts.seed, o->job.epoch);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	job_add_iter(j, it);
	group_copy(d, it);
	return it;
}

/* Comes to the iteration of its position, or of its job, which is held until all is answered: whose
 * place it takes may have been the last one there. Takes `asked`. */
static void
job_enter(struct disp *d, struct peer *p, struct msg *m, struct dataset *s, struct asked *asked)
{
	struct iteration *it = NULL;
	bool answered = false, is_new, begun;

	if (m->open.resume)
		it = job_resumed(d, p, m, s, asked, &answered);
	struct job *j = it ? it->job : answered ? NULL : job_for(d, p, m, s, asked);
	if (!j) { /* answered, or the job of that name has another dataset */
		dataset_unused(d, s);
		return;
	}
	if (!it) {
		job_used(d, j);
		it = job_iter(j, m->open.job.epoch);
	}
	is_new = !it;
	if (is_new)
		it = job_pass(d, &m->open, j);
	begun = !is_new && it->gathered;
	if (!job_join(d, p, m, it, asked)) {
		if (is_new)
			job_drop_iter(d, it);
	} else if (!begun) {
		iter_start(d, it);
	}
	job_left(d, j);
}

void
job_open(struct disp *d, struct peer *p, struct msg *m)
{
	struct msg_open *o = &m->open;
	struct asked asked;
	struct dataset *s;

	if (p->waiting) { /* asked again: the answer is still to come */
		p->waiting->req = m->req;
		return;
	}
	if (p->seat) { /* it asks again, or the answer was lost */
		seat_open(d, p->seat, m->req);
		return;
	}
	if (o->seat && !o->resume) {
		struct seat *away = seat_find(d, o->iteration, o->seat);

		if (away && !away->peer && away->peer_id == p->id) {
			seat_back(d, away, p);
			seat_open(d, away, m->req);
			return;
		}
		/* had a seat, and has lost it */
		seat_tell_gone(d, p, m->req, o->iteration, o->seat);
		return;
	}
	if (!pending_room(d, p, m) || !job_where(d, p, m))
		return;
	if (*str_or_empty(o->job.consumer) && o->job.order == ORDER_ANY)
		o->job.order = ORDER_STABLE;
	if (!o->job.epoch)
		o->job.epoch = 1;
	if (!job_asked(d, p, m, &asked))
		return;
	s = job_dataset(d, p, m);
	if (s)
		job_enter(d, p, m, s, &asked);
	job_shards_clear(&asked.only);
}
