/* SPDX-License-Identifier: MIT
 *
 * What dsvc-status shows: one record, described in doc/protocol.md.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_facts.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_lately.h"
#include "core/disp/disp_listed.h"
#include "core/disp/disp_rest.h"
#include "core/disp/disp_resume.h"
#include "core/disp/disp_role.h"
#include "core/disp/disp_wanted.h"
#include "value/record_put.h"

enum { REPORT_STREAMS = 1000 }; /* listed per iteration */

/* Ids are shown as they are told: 16 digits. */
static void
report_id(struct buf *b, const char *key, uint64_t v)
{
	char *s = mem_printf("%016llx", (unsigned long long)v);

	record_put_text(b, key, s);
	mem_free(s);
}

static uint64_t
report_ms(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns / 1000000 : 0;
}

/* Not its id, by which it is known on its connection. */
static void
report_peer_name(struct buf *b, const struct disp *d, const struct peer *p)
{
	char *s = mem_printf("%08llx", (unsigned long long)secret_derive(d->o.secret, &p->id, 1).high >> 32);

	record_put_text(b, "peer", s);
	mem_free(s);
}

static void
report_peer(struct buf *b, const struct disp *d, const struct peer *p, uint32_t more)
{
	record_put_head(b, 7 + more);
	report_peer_name(b, d, p);
	record_put_text(b, "name", p->name);
	record_put_text(b, "host", p->host);
	record_put_text(b, "hostname", str_or_empty(p->hostname));
	record_put_uint(b, "pid", p->pid);
	record_put_uint(b, "silent_ms", report_ms(d->now - p->heard));
	record_put_uint(b, "age_ms", report_ms(d->now - p->came));
}

/* The key that a worker's endpoint ends with is not for people. */
static void
report_endpoint(struct buf *b, const char *endpoint)
{
	char *text = mem_strdup(str_or_empty(endpoint));

	text[strcspn(text, " ")] = '\0';
	record_put_text(b, "endpoint", text);
	mem_free(text);
}

static void
report_workers(struct buf *b, const struct disp *d)
{
	record_put_list(b, "workers", d->n_workers);
	for (struct list_node *n = d->workers.next; n != &d->workers; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, workers);

		report_peer(b, d, p, 12);
		report_endpoint(b, p->endpoint);
		record_put_uint(b, "slots", p->slots);
		record_put_uint(b, "streams", p->n_streams);
		record_put_uint(b, "kept_bytes", p->kept_bytes);
		record_put_uint(b, "arena_bytes", p->arena);
		record_put_uint(b, "leased_bytes", p->leased);
		record_put_uint(b, "call_ms", p->call_ns / 1000000);
		record_put_uint(b, "call_job", p->call_ns ? p->call_job : 0);
		record_put_uint(b, "call_operator", p->call_ns ? p->call_place : 0);
		record_put_bool(b, "draining", p->draining);
		record_put_bool(b, "awaited", !p->known);
		record_put_list(b, "tags", p->tags.n);
		for (size_t i = 0; i < p->tags.n; i++)
			record_put_key(b, p->tags.v[i]);
	}
}

/* Its places in the rounds, how many it has had, and how many more than the slowest. */
static void
report_consumer(struct buf *b, const struct peer *p)
{
	const struct iteration *it = p->seat ? p->seat->iter : NULL;
	bool has = it && round_is(it) && it->state == ITER_RUNNING;
	uint64_t round = has ? round_of_view(it, p->seat->view) : 0;
	char *places = has ? round_view_text(it, p->seat->view) : mem_strdup("");

	record_put_text(b, "consumer", places);
	record_put_uint(b, "round", has ? it->base.begin + round : 0);
	record_put_uint(b, "ahead", has ? round - round_slowest(it) : 0);
	mem_free(places);
}

static const struct job *
report_job_of(const struct peer *p)
{
	return p->seat ? p->seat->iter->job : p->waiting ? p->waiting->iter->job : NULL;
}

static const char *
report_group_of(const struct seat *r)
{
	return r && group_shares(r->iter) && r->view < r->iter->groups.n ? r->iter->groups.v[r->view].name : "";
}

static void
report_readers(struct buf *b, const struct disp *d, const char *user)
{
	size_t shown = 0;

	for (struct list_node *n = d->by_heard.next; n != &d->by_heard; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, by_heard);

		shown += p->role == ROLE_READER && listed_shown(report_job_of(p), user);
	}
	record_put_list(b, "readers", shown);
	for (struct list_node *n = d->by_heard.next; n != &d->by_heard; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, by_heard);
		const struct iteration *it = p->seat ? p->seat->iter : p->waiting ? p->waiting->iter : NULL;

		if (p->role != ROLE_READER || !listed_shown(report_job_of(p), user))
			continue;
		report_peer(b, d, p, 13);
		record_put_uint(b, "job", it ? it->job->number : 0);
		record_put_uint(b, "epoch", it ? it->epoch : 0);
		record_put_uint(b, "seat", p->seat ? p->seat->number : 0);
		record_put_uint(b, "acknowledged", p->seat ? p->seat->acked : 0);
		record_put_bool(b, "waiting", p->waiting != NULL);
		report_consumer(b, p);
		record_put_text(b, "group", report_group_of(p->seat));
		record_put_text(b, "transfer", p->shared ? "shm" : "copy");
		record_put_uint(b, "cores", p->cores);
		record_put_uint(b, "step", p->step);
		record_put_uint(b, "last", p->last);
	}
}

static void
report_datasets(struct buf *b, const struct disp *d, const char *user)
{
	size_t shown = user ? 0 : d->datasets.n;

	record_put_list(b, "datasets", shown);
	for (size_t i = 0; i < shown; i++) {
		const struct dataset *s = d->datasets.items[i].value;

		record_put_head(b, 5 + (s->facts.known ? FACTS_PAIRS : 1));
		record_put_text(b, "id", s->id);
		record_put_text(b, "spec", s->spec);
		record_put_text(b, "type", s->type);
		record_put_uint(b, "jobs", s->jobs);
		facts_report(b, &s->facts);
		spent_report(b, &s->spent);
	}
}

static const char *
report_stream_state(const struct stream *s)
{
	if (s->finished)
		return "finished";
	if (s->place == STREAM_HOLDING)
		return "holding";
	if (s->place == STREAM_ORPHAN)
		return s->ended ? "delivering" : "waiting";
	return s->ended ? "delivering" : s->running ? "running" : "assigned";
}

static void
report_stream(struct buf *b, const struct stream *s)
{
	record_put_head(b, 11);
	record_put_uint(b, "stream", s->index);
	record_put_uint(b, "generation", s->gen);
	record_put_text(b, "state", report_stream_state(s));
	record_put_text(b, "worker", s->worker ? s->worker->name : "");
	record_put_uint(b, "shards", job_has_shards(s->iter->sharding) ? s->iter->n_streams : 0);
	record_put_uint(b, "splits", s->n_splits);
	record_put_uint(b, "files", shard_files(s));
	record_put_uint(b, "restart_point", s->n_points ? s->points[s->n_points - 1].offset : 0);
	record_put_uint(b, "length", s->ended ? s->length : 0);
	record_put_bool(b, "ended", s->ended);
	record_put_uint(b, "acknowledged", s->finished ? views_gives(s) : views_count(s));
}

/* A shard of a pass that is over. */
static void
report_shard(struct buf *b, const struct iteration *it, uint32_t index)
{
	const struct shard_sum *s = &it->shards.v[index];

	record_put_head(b, 11);
	record_put_uint(b, "stream", index);
	record_put_uint(b, "generation", 0);
	record_put_text(b, "state", it->state == ITER_FAILED ? "failed" : "finished");
	record_put_text(b, "worker", "");
	record_put_uint(b, "shards", it->shards.n);
	record_put_uint(b, "splits", 0);
	record_put_uint(b, "files", s->files);
	record_put_uint(b, "restart_point", 0);
	record_put_uint(b, "length", it->state == ITER_FAILED ? 0 : s->acked);
	record_put_bool(b, "ended", it->state != ITER_FAILED);
	record_put_uint(b, "acknowledged", s->acked);
}

static void
report_streams(struct buf *b, const struct iteration *it, enum disp_report what)
{
	size_t n = it->n_streams < REPORT_STREAMS ? it->n_streams : REPORT_STREAMS;
	size_t shards = iter_live(it) ? 0 : it->shards.n;

	if (what == REPORT_BRIEF)
		n = shards = 0;
	record_put_list(b, "streams", n + shards);
	for (size_t i = 0; i < n; i++)
		report_stream(b, it->streams[i]);
	for (size_t i = 0; i < shards; i++)
		report_shard(b, it, (uint32_t)i);
}

/* Number of elements that a running iteration has made at least. */
static uint64_t
report_made(const struct iteration *it)
{
	uint64_t made = it->made;

	for (size_t i = 0; i < it->n_streams; i++) {
		const struct stream *s = it->streams[i];
		uint64_t high = views_end(s);

		if (s->finished)
			continue;
		if (s->high > high)
			high = s->high;
		high = s->made > high ? s->made : high;
		made += high > s->base ? high - s->base : 0;
	}
	return made;
}

/* Elements acknowledged in a second: recently or, once it is over, on average. */
static uint64_t
report_rate(const struct disp *d, const struct iteration *it, uint64_t acked)
{
	int64_t late = d->now - it->rate_at;
	int64_t whole = it->ran ? it->finished - it->ran : 0; /* 0: over before a restart */

	if (!iter_live(it))
		return whole > 0 ? (uint64_t)((double)acked * 1e9 / (double)whole) : 0;
	if (late > DISP_RATE_NS || (late > 0 && !it->rate))
		return (uint64_t)((double)it->rate_n * 1e9 / (double)late);
	return it->rate;
}

/* The state of the delivery accounts: whether exactly the elements made were delivered. The
 * accounts of a failed pass stay open, since elements missing from it are not an error in
 * them. */
static const char *
report_books(const struct iteration *it)
{
	for (size_t i = 0; i < it->groups.n; i++)
		if (group_lost(it, &it->groups.v[i]))
			return "unbalanced";
	if (it->repeated || (it->state == ITER_FINISHED && it->elements != it->acked + it->dropped))
		return "unbalanced";
	return it->state == ITER_FINISHED ? "balanced" : it->state == ITER_FAILED ? "failed" : "open";
}

/* Rounds that all consumers have. */
static uint64_t
report_rounds(const struct iteration *it)
{
	if (!round_is(it))
		return 0;
	return it->state == ITER_RUNNING ? round_slowest(it) : round_all(it);
}

/* The consumer that the others wait for, or will: it is away, or has not come. Gives. */
static char *
report_waits(const struct iteration *it)
{
	for (size_t i = 0; i < it->n_views && round_is(it) && it->state == ITER_RUNNING; i++)
		if (!round_view_is_read(it, i))
			return round_view_text(it, i);
	return iter_live(it) && !it->gathered ? round_missing(it) : mem_strdup("");
}

/* Elements of the streams whose end is known. */
static uint64_t
report_known(const struct iteration *it)
{
	uint64_t known = it->elements;

	for (size_t i = 0; i < it->n_streams; i++)
		if (!it->streams[i]->finished && it->streams[i]->ended)
			known += views_gives(it->streams[i]);
	return known;
}

static void
report_ledger(struct buf *b, const struct disp *d, const struct iteration *it)
{
	bool over = it->state == ITER_FINISHED;
	uint64_t known = report_known(it), acked = it->acked, gone;

	for (size_t i = 0; i < it->n_streams; i++)
		if (!it->streams[i]->finished)
			acked += views_count(it->streams[i]);
	gone = acked + it->dropped;
	record_put_uint(b, "made", report_made(it));
	record_put_uint(b, "elements", known);
	record_put_uint(b, "delivered", acked + it->repeated);
	record_put_uint(b, "acknowledged", acked);
	record_put_uint(b, "made_again", it->again);
	record_put_uint(b, "suppressed", it->suppressed);
	record_put_uint(b, "lost", over && known > gone ? known - gone : 0);
	record_put_uint(b, "repeated", it->repeated);
	record_put_uint(b, "failed", it->failed);
	record_put_uint(b, "dropped", it->dropped);
	record_put_uint(b, "rounds", report_rounds(it));
	record_put_uint(b, "fence", it->fence.known ? it->fence.rounds : 0);
	record_put_text(b, "books", report_books(it));
	record_put_bool(b, "balanced", !strcmp(report_books(it), "balanced"));
	record_put_uint(b, "per_second", report_rate(d, it, acked));
}

/* Where time went, and what follows from it for the number of slots. */
static void
report_clock(struct buf *b, const struct disp *d, const struct iteration *it)
{
	const struct wanted_totals *t = it->clock ? &it->clock->now : &it->spent;
	struct wanted_job job;
	bool read = wanted_of(d, it, &job);

	record_put_uint(b, "reader_work_ms", t->read_work / 1000000);
	record_put_uint(b, "reader_wait_ms", t->read_wait / 1000000);
	record_put_uint(b, "slot_work_ms", t->slot_work / 1000000);
	record_put_uint(b, "slot_wait_ms", t->slot_wait / 1000000);
	record_put_uint(b, "raw_bytes", t->raw);
	record_put_uint(b, "wire_bytes", t->wire);
	record_put_float(b, "reader_wait_ratio", wanted_waits(it));
	record_put_float(b, "demand", job.demand);
	record_put_float(b, "slot_rate", job.rate);
	record_put_uint(b, "slots_most", read ? job.most : 0);
}

/* Where time goes now. */
static void
report_lately(struct buf *b, const struct iteration *it)
{
	static const struct lately none;
	const struct lately *l = it->lately ? it->lately : &none;

	record_put_key(b, "lately");
	record_put_head(b, 6);
	record_put_uint(b, "slot_work_ms", (uint64_t)(l->slot_work / 1e6));
	record_put_uint(b, "slot_wait_ms", (uint64_t)(l->slot_wait / 1e6));
	record_put_uint(b, "reader_work_ms", (uint64_t)(l->read_work / 1e6));
	record_put_uint(b, "reader_wait_ms", (uint64_t)(l->read_wait / 1e6));
	record_put_uint(b, "reader_out_ms", (uint64_t)(l->read_out / 1e6));
	record_put_list(b, "operators", l->n_ops);
	for (size_t i = 0; i < l->n_ops; i++) {
		record_put_head(b, 2);
		record_put_uint(b, "operator", l->ops[i].place);
		record_put_uint(b, "ms", (uint64_t)(l->ops[i].ns / 1e6));
	}
}

/* Tells what is in files, and the first that stands still before a full disk. */
static void
report_stored(struct buf *b, const struct iteration *it)
{
	const struct stream *held = NULL;

	for (size_t i = 0; i < it->n_streams && !held; i++)
		held = it->streams[i]->waits ? it->streams[i] : NULL;
	char *why = held ? mem_printf("stream %u on worker %s: %s", held->index, str_or_empty(held->worker->name),
				      held->waits) : mem_strdup("");
	record_put_uint(b, "chunks", it->stored.files);
	record_put_uint(b, "saved", it->stored.elements);
	record_put_uint(b, "bytes", it->stored.bytes);
	record_put_text(b, "stands_still", why);
	mem_free(why);
}

/* Elements that a group is done with, in the streams that run. */
static void
report_group_sum(const struct iteration *it, size_t view, uint64_t *done, uint64_t *missed)
{
	*done = *missed = 0;
	for (size_t i = 0; i < it->n_streams; i++) {
		const struct stream *s = it->streams[i];

		if (s->finished)
			continue;
		*done += intervals_count(&s->views[view].acked);
		*missed += views_missed(&s->views[view]);
	}
}

static void
report_groups(struct buf *b, const struct iteration *it)
{
	uint64_t most = 0, done, missed, known = report_known(it);

	record_put_list(b, "groups", it->groups.n);
	for (size_t i = 0; i < it->groups.n; i++) {
		report_group_sum(it, i, &done, &missed);
		most = done > most ? done : most;
	}
	for (size_t i = 0; i < it->groups.n; i++) {
		const struct group *g = &it->groups.v[i];

		report_group_sum(it, i, &done, &missed);
		record_put_head(b, 9);
		record_put_text(b, "group", g->name);
		record_put_uint(b, "readers", g->seats);
		record_put_uint(b, "elements", known);
		record_put_uint(b, "acknowledged", g->acked + done - missed);
		record_put_uint(b, "missed", g->missed + missed);
		record_put_uint(b, "lost", group_lost(it, g));
		record_put_uint(b, "repeated", g->repeated);
		record_put_uint(b, "behind", most - done);
		record_put_bool(b, "ended", g->ended);
	}
}

/* A text: programs that read JSON take numbers of 64 bits for floats, and lose digits. */
static void
report_seed(struct buf *b, uint64_t seed)
{
	char *text = mem_printf("%llu", (unsigned long long)seed);

	record_put_text(b, "seed", text);
	mem_free(text);
}

static void
report_iteration(struct buf *b, const struct disp *d, const struct iteration *it, enum disp_report what)
{
	static const char *const states[] = { "listing", "running", "finished", "failed" };
	char *waits = report_waits(it);

	record_put_head(b, 44);
	record_put_uint(b, "epoch", it->epoch);
	record_put_text(b, "state", states[it->state]);
	record_put_text(b, "error", it->text);
	report_id(b, "id", it->id);
	report_seed(b, it->seed);
	record_put_uint(b, "readers", it->n_seats);
	record_put_text(b, "waits_for", waits);
	mem_free(waits);
	record_put_uint(b, "running_ms", it->ran ? report_ms((iter_live(it) ? d->now : it->finished) - it->ran) : 0);
	record_put_uint(b, "streams_known", it->n_streams > it->n_finished ? it->n_streams : it->n_finished);
	record_put_uint(b, "streams_ended", it->n_ended);
	record_put_uint(b, "streams_finished", it->n_finished);
	service_splits(b, it);
	report_ledger(b, d, it); /* 15 */
	report_clock(b, d, it); /* 10 */
	report_stored(b, it); /* 4 */
	report_lately(b, it);
	report_groups(b, it);
	report_streams(b, it, what);
}

struct report_packed { struct buf *b; const struct disp *d; enum disp_report what; };

static void
report_packed(void *arg, const struct iteration *it)
{
	const struct report_packed *p = arg;

	report_iteration(p->b, p->d, it, p->what);
}

static void
report_job(struct buf *b, const struct disp *d, struct job *j, enum disp_report what)
{
	uint64_t shards = !job_has_shards(j->opts.sharding) ? 0 : job_shards(j);

	record_put_head(b, 14);
	record_put_uint(b, "consumers", j->places > 1 ? j->places : 0);
	record_put_uint(b, "job", j->number);
	record_put_text(b, "name", j->opts.name);
	record_put_text(b, "dataset", j->dataset->id);
	record_put_text(b, "sharding", job_sharding_word(j->opts.sharding));
	record_put_uint(b, "shards", shards);
	record_put_text(b, "order", job_order_word(j->opts.order));
	record_put_text(b, "target", job_target_word(j->opts.target));
	record_put_text(b, "where", j->opts.where);
	record_put_text(b, "compression", job_compression_word(j->opts.compression));
	record_put_uint(b, "users", j->users);
	record_put_uint(b, "idle_ms", j->idle_since == INT64_MAX ? 0 : report_ms(d->now - j->idle_since));
	if (gc_due(d, j) == INT64_MAX)
		record_put_nil(b, "forgotten_in_ms");
	else
		record_put_uint(b, "forgotten_in_ms", report_ms(gc_due(d, j) - d->now));
	record_put_list(b, "iterations", j->n_iters + rest_passes(j));
	for (size_t i = 0; i < j->n_iters; i++)
		report_iteration(b, d, j->iters[i], what);
	rest_look(j, report_packed, &(struct report_packed){ b, d, what });
}

static void
report_events(struct buf *b, const struct disp *d, const char *user, uint64_t after)
{
	const struct disp_event *ev;
	uint64_t last = after;
	uint32_t n = 0;

	for (; (ev = events_next(d, user, last)); n++)
		last = ev->number;
	record_put_list(b, "events", n);
	for (; n; n--) {
		ev = events_next(d, user, after);
		after = ev->number;
		record_put_head(b, 3);
		record_put_uint(b, "number", ev->number);
		record_put_uint(b, "ago_ms", report_ms(d->now - ev->at));
		record_put_text(b, "text", ev->text);
	}
}

bool
disp_status(struct disp *d, int64_t now_ns, enum disp_report what, const char *job, struct buf *out)
{
	struct msg_status ask = { .what = what, .job = (char *)job };

	return report_for(d, now_ns, NULL, &ask, out);
}

bool
report_for(struct disp *d, int64_t now_ns, const char *user, const struct msg_status *ask, struct buf *out)
{
	enum disp_report what = (enum disp_report)ask->what;
	const char *job = str_or_empty(ask->job);
	struct listed jobs = { 0 };
	size_t more;

	d->now = now_ns;
	if (what == REPORT_EVENTS) {
		record_put_head(out, 4);
		report_id(out, "instance", d->o.instance);
		record_put_bool(out, "durable", d->o.durable);
		record_put_uint(out, "newest", d->events ? d->events->n : 0);
		report_events(out, d, user, ask->recent);
		return true;
	}
	more = listed_fill(d, job, user, ask->recent, &jobs);
	if (*job && !jobs.n)
		return false;
	record_put_head(out, what == REPORT_AUDIT ? 4 : SERVICE_PAIRS + (what == REPORT_BRIEF ? 11 : 12));
	report_id(out, "instance", d->o.instance);
	record_put_bool(out, "durable", d->o.durable);
	if (what != REPORT_AUDIT) {
		double wanted = wanted_all(d), mean = d->n_workers ? (double)d->slots / d->n_workers : 1;

		record_put_uint(out, "clock_ms", (uint64_t)(now_ns + d->wall_ns) / 1000000);
		service_report(out, d);
		record_put_uint(out, "slots", d->slots);
		record_put_float(out, "slots_wanted", wanted);
		record_put_uint(out, "workers_wanted", wanted_number(wanted, mean));
		report_workers(out, d);
		report_readers(out, d, user);
		report_datasets(out, d, user);
		if (what == REPORT_ALL)
			report_events(out, d, user, events_before(d, user, EVENTS_SHOWN));
	}
	record_put_uint(out, "jobs_more", more);
	record_put_list(out, "jobs", jobs.n);
	for (size_t i = 0; i < jobs.n; i++)
		report_job(out, d, jobs.v[i], what);
	mem_free(jobs.v);
	return true;
}
