/* SPDX-License-Identifier: MIT */
#include "host/work/plans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/thread.h"
#include "fetch/link.h"
#include "host/work/facts_of_plan.h"
#include "host/work/large.h"
#include "host/work/produce.h"
#include "host/work/trusted.h"
#include "op/facts.h"

struct plan_use {
	char *key; /* the spec, with what was done to the plan */
	struct plan *plan;
	size_t uses;
};

static pthread_mutex_t plans_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hash plans;
static bool plans_no_exec;

void
plans_refuse_exec(void)
{
	pthread_mutex_lock(&plans_lock);
	plans_no_exec = true;
	pthread_mutex_unlock(&plans_lock);
}

static enum status
plans_allowed(const struct plan *p, struct err *e)
{
	if (p->local)
		return err_set(e, ST_DATA, "the pipeline reads standard input, which workers do not have");
	const struct op_node *n = plans_no_exec ? op_needs_exec(p->top) : NULL;
	if (!n)
		return ST_OK;
	err_set(e, ST_PERM, "it may not run programs (operator %u `%.200s`), because it "
		"listens on TCP", n->place, op_text(n));
	err_help(e, "--allow-exec PROGRAM of a worker lets pipelines run this program, --allow-exec any all of them");
	return ST_PERM;
}

/* Besides what the worker allows: whoever gave the spec must be allowed to. */
static enum status
plans_vouched(const struct plan *p, bool programs, struct err *e)
{
	const struct op_node *n = programs ? NULL : op_needs_exec(p->top);

	if (!n)
		return ST_OK;
	err_set(e, ST_PERM, "the key that gave the pipeline may not have programs run (operator %u `%.200s`)", n->place,
		op_text(n));
	err_help(e, "where the dispatcher is, dsvc-allow --add KEY ROLES,exec NAME lets it, or dsvc-invite ROLES,exec");
	return ST_PERM;
}

/* Planning happens with the lock held: threads that start together want the
 * same plan, and would each make it otherwise. */
static enum status
plans_take(const char *spec, bool programs, bool push, struct plan_use **out, struct err *e)
{
	enum status st = ST_OK;
	char *key = mem_printf("%c%s", push ? '+' : ' ', spec);
	pthread_mutex_lock(&plans_lock);
	struct plan_use *u = hash_get_str(&plans, key);
	if (!u) {
		struct spec_src src = { .text = spec, .len = strlen(spec), .base_dir = "/" };
		struct plan *p = NULL;
		st = trusted_check(spec, e);
		if (st == ST_OK)
			st = plan_make(&src, &p, e);
		if (st == ST_OK && (st = plans_allowed(p, e)) != ST_OK)
			plan_free(&p);
		if (st == ST_OK) {
			u = mem_zalloc(sizeof *u);
			if (push)
				op_push_shard(&p->top);
			u->key = mem_strdup(key);
			u->plan = p;
			hash_put_str(&plans, u->key, u);
		}
	}
	if (u) {
		u->uses++;
		st = plans_vouched(u->plan, programs, e);
	}
	pthread_mutex_unlock(&plans_lock);
	mem_free(key);
	if (st != ST_OK)
		plans_release(&u);
	*out = u;
	return st;
}

enum status
plans_get(const char *spec, bool programs, struct plan_use **out, struct err *e)
{
	return plans_take(spec, programs, false, out, e);
}

enum status
plans_get_stream(const struct msg_assign *a, struct plan_use **out, struct err *e)
{
	if (a->sharding != SHARD_DATA)
		return plans_get(a->spec, a->programs, out, e);
	char *whole = mem_printf("%s | shard %u %u", a->spec, a->streams, a->key.stream);
	enum status st = plans_take(whole, a->programs, true, out, e);

	mem_free(whole);
	return st;
}

const struct plan *
plans_plan(const struct plan_use *u)
{
	return u->plan;
}

bool
plans_watched(const struct plan_use *u)
{
	uint64_t period;

	return op_repeat_watched(u->plan->top, &period) != NULL;
}

void
plans_release(struct plan_use **up)
{
	struct plan_use *u = *up;
	*up = NULL;
	if (!u)
		return;
	pthread_mutex_lock(&plans_lock);
	if (--u->uses == 0) {
		hash_del_str(&plans, u->key);
		plan_free(&u->plan);
		mem_free(u->key);
		mem_free(u);
	}
	pthread_mutex_unlock(&plans_lock);
}

enum status
plans_listed(const struct plan *p, uint64_t listed, struct err *e)
{
	struct split_list units = { 0 };
	enum status st = listed ? op_list_splits(p->top, &units, e) : ST_OK;

	if (st == ST_OK && listed && split_list_names(&units) != listed) {
		st = err_set(e, ST_DATA,
			     "files have appeared or gone since the job began, and its shards are parts of what there was");
		err_help(e, "start another job once the files stay, or read with --sharding dynamic or file");
	}
	split_list_clear(&units);
	return st;
}

/* Those who list ask servers of objects elsewhere, and are told to end by this. */
static atomic_bool listing_over;

static bool
listing_stopped(const void *arg)
{
	(void)arg;
	return atomic_load(&listing_over);
}

void
produce_list_stop(void)
{
	atomic_store(&listing_over, true);
}

struct listing {
	struct msg_list list;
	const char *worker; /* its name, lent */
	uint64_t req;
	struct produce_queue *queue;
};

/* How often all of it is read stands once, and not also with each unit. */
static void
listing_times(struct msg_units *u, int64_t times)
{
	u->times = times > 0 ? (uint64_t)times : 1;
	for (size_t i = 0; i < u->units.n; i++) {
		uint64_t each = u->units.v[i].times;
		u->units.v[i].times = times == INT64_MAX || each < u->times ? 1 :
				      each == INT64_MAX ? each : each / u->times;
	}
}

static bool
listing_files(const struct split_list *units)
{
	for (size_t i = 0; i < units->n; i++)
		if (units->v[i].kind != SPLIT_FILE)
			return false;
	return units->n > 0;
}

static enum status
listing_no_files(struct err *e)
{
	err_set(e, ST_DATA,
		"sharding `file` gives each shard files of its own, and what the source reads is not divided into files");
	err_help(e, "--sharding data divides the elements instead, --sharding dynamic whatever there is");
	return ST_DATA;
}

/* Its elements may come out otherwise when they are made again, so the shards would not fit. */
static enum status
listing_varies(struct err *e)
{
	err_set(e, ST_DATA, "sharding `data` needs a pipeline that gives the same each time, and a function in this one, "
		"such as now(), does not");
	err_help(e, "read it with --sharding dynamic, or with --sharding off for all elements from each worker");
	return ST_DATA;
}

/* Whether the pipeline can be divided as the job asks. */
static enum status
listing_policy(const struct msg_list *l, const struct plan *p, struct msg_units *u, struct err *e)
{
	bool empty = op_split_times(p->top) == 0;
	int sharding = (int)l->sharding;

	u->by_one = op_alike(p->top) || large_elements(p, &u->units);
	if (sharding == SHARD_FILE_OR_DATA)
		sharding = u->files ? SHARD_FILE : SHARD_DATA;
	if (sharding == SHARD_FILE && !u->files && !empty)
		return listing_no_files(e);
	if (job_in_parts(sharding) && p->global)
		return plan_refuse_global(p->global, e);
	if (sharding != SHARD_HINT && p->by_share)
		return plan_refuse_by_share(p->by_share, e);
	return sharding == SHARD_DATA && op_timed(p->top) ? listing_varies(e) : ST_OK;
}

static void *
listing_thread(void *arg)
{
	struct listing *l = arg;
	const struct fetch_wait stop = { .stopped = listing_stopped }, *before = fetch_wait_thread(&stop);
	struct msg_units *u = mem_zalloc(sizeof *u);
	struct err *e = mem_zalloc(sizeof *e);
	struct plan_use *use = NULL;
	enum status st = plans_get(l->list.spec, l->list.programs, &use, e);
	if (st == ST_OK && l->list.in_order)
		st = op_in_order(use->plan->top, l->list.seeded || use->plan->options.seed != PARAM_AUTO, NULL, e);
	if (st == ST_OK)
		st = op_list_splits(use->plan->top, &u->units, e);
	if (st == ST_OK) {
		u->files = listing_files(&u->units);
		listing_times(u, op_split_times(use->plan->top));
		facts_of_plan(use->plan, &u->facts);
	}
	if (st == ST_OK && !op_repeat_watched(use->plan->top, &u->period))
		u->period = 0;
	if (st == ST_OK)
		st = listing_policy(&l->list, use->plan, u, e);
	if (st == ST_OK && u->units.n > WIRE_UNITS_MAX)
		st = err_set(e, ST_DATA, "the source has %zu files, more than the %d that a job may have",
			     u->units.n, WIRE_UNITS_MAX);
	/* Another worker may be allowed to: it matters who says so. */
	if (st == ST_PERM)
		err_wrap(e, "worker %s", l->worker);
	if (st != ST_OK) {
		u->code = status_code(st);
		u->text = mem_strdup(e->text);
		u->help = mem_strdup(e->help);
		split_list_clear(&u->units);
	}
	plans_release(&use);
	mem_free(e);
	fetch_wait_thread(before);
	struct produce_event ev = { .kind = PRODUCE_LISTED, .req = l->req, .units = u };
	produce_queue_push(l->queue, &ev);
	mem_free(l->list.spec);
	mem_free(l);
	return NULL;
}

void
produce_list(struct msg_list *list, const char *worker, uint64_t req, struct produce_queue *q)
{
	struct listing *l = mem_zalloc(sizeof *l);
	*l = (struct listing){ *list, worker, req, q };
	list->spec = NULL;
	pthread_t t;
	if (thread_start(&t, listing_thread, l, "a list of units", NULL) == ST_OK)
		pthread_detach(t);
	else
		listing_thread(l); /* better late than never */
}
