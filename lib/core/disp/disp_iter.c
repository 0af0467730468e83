/* SPDX-License-Identifier: MIT
 *
 * Iterations: their units, which streams they have and who runs them, their end.
 */
#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_facts.h"
#include "core/disp/disp_lately.h"
#include "core/disp/disp_resume.h"
#include "core/disp/disp_row.h"
#include "core/disp/disp_wanted.h"
#include "core/disp/disp_yield.h"

struct iteration *
iter_new(struct disp *d, struct job *j, uint64_t id, uint32_t epoch)
{
	struct iteration *it = mem_zalloc(sizeof *it);
	struct list_node *rings[] = { &it->orphans, &it->versions, &it->seats, &it->waiting };

	it->dirty.kind = DIRTY_ITER;
	it->clock = mem_zalloc(sizeof *it->clock);
	it->id = it->list_req = id;
	it->job = j;
	it->job_number = j->number;
	it->epoch = epoch;
	it->sharding = j->opts.sharding;
	it->next_seat = 1;
	it->max_errors = UINT64_MAX;
	if (j->places == 1) { /* else the consumers that come make the views */
		it->views = mem_grow(it->views, &it->cap_views, 1, sizeof *it->views);
		it->views[it->n_views++] = ROUND_ALL;
		it->gathered = true;
	}
	it->started = d->now;
	for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
		ring_init(rings[i]);
	hash_put(&d->iters, &id, sizeof id, it);
	ring_push(&d->running, &it->running_node);
	return it;
}

bool
iter_view_of(const struct iteration *it, const struct round_part *part, uint32_t *view)
{
	for (uint32_t i = 0; i < it->n_views; i++)
		if (it->views[i].of == part->of && it->views[i].first == part->first && it->views[i].n == part->n) {
			*view = i;
			return true;
		}
	return false;
}

/* Streams, places in them and units are of no use once it is over. */
static void
iter_drop_streams(struct disp *d, struct iteration *it)
{
	static const enum disp_row_kind kinds[] = { ROW_STREAM, ROW_SPLIT, ROW_POINT, ROW_LEDGER };

	for (size_t i = 0; i < it->n_streams; i++)
		stream_free(d, it->streams[i]);
	mem_free(it->streams);
	it->streams = NULL;
	it->had_streams = it->n_streams > 0 ? it->n_streams : it->had_streams;
	it->n_streams = it->cap_streams = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		disp_delete(d, kinds[i], 1, it->id, 0, 0);
	disp_delete(d, ROW_UNITS, 1, it->id, 0, 0);
	it->dirty.what &= ~(unsigned)DIRTY_UNITS;
	cut_clear(&it->cut);
	wanted_over(it);
	ring_drop(&it->running_node);
	ring_drop(&it->young);
	ring_drop(&it->notify_node);
	ring_drop(&it->rounds_node);
	it->notify = false;
}

void
iter_free(struct disp *d, struct iteration *it)
{
	while (!ring_empty(&it->waiting)) {
		waiting_clear(LIST_OF(it->waiting.next, struct waiting, node));
	}
	while (!ring_empty(&it->seats)) {
		struct seat *r = LIST_OF(it->seats.next, struct seat, node);

		if (r->peer)
			r->peer->seat = NULL;
		ring_drop(&r->away);
		ring_drop(&r->node);
		ring_drop(&r->dirty.node);
		seat_free(d, r);
	}
	iter_drop_streams(d, it);
	disp_delete(d, ROW_ITERATION, 1, it->id, 0, 0);
	disp_delete(d, ROW_READER, 1, it->id, 0, 0);
	iter_release(d, it);
}

void
iter_release(struct disp *d, struct iteration *it)
{
	hash_del(&d->iters, &it->id, sizeof it->id);
	ring_drop(&it->dirty.node);
	units_forget(it);
	fault_clear(it);
	while (it->hosts.n)
		place_reader_left(it, ((struct iter_host *)it->hosts.items[0].value)->name);
	hash_clear(&it->hosts);
	mem_free(it->given_up);
	lately_free(&it->lately);
	fields_clear(row_iter_fields, it);
	mem_free(it);
}

/* Workers */

/* The suspect that is read first of those that wait for a worker, given that such a worker may be
 * long in coming; NULL: none waits. */
static struct stream *
iter_first_suspect(const struct disp *d, const struct iteration *it)
{
	struct stream *first = NULL;

	for (struct list_node *n = it->orphans.next; n != &it->orphans; n = n->next) {
		struct stream *s = LIST_OF(n, struct stream, orphan);

		if (blame_suspect(d, s) && (!first || s->index < first->index))
			first = s;
	}
	return first;
}

void
iter_place(struct disp *d, struct iteration *it)
{
	struct list_node *n, *next;
	struct stream *s;
	struct peer *w;
	bool suspects = false;

	if (group_shares(it) && !it->groups.n)
		return; /* the first groups begin together */
	for (n = it->orphans.next; n != &it->orphans; n = next) {
		s = LIST_OF(n, struct stream, orphan);
		next = n->next;
		if (blame_suspect(d, s)) {
			suspects = true;
			continue;
		}
		w = place_pick(d, it);
		if (!w)
			return;
		stream_give(d, s, w);
	}
	while (suspects && (w = blame_pick_worker(d, it)) && (s = iter_first_suspect(d, it)))
		stream_give(d, s, w);
}

static void
iter_add_streams(struct disp *d, struct iteration *it, uint64_t n)
{
	if (n)
		disp_dirty(d, &it->dirty, DIRTY_ROW); /* it says how many */
	while (n-- && it->n_streams < WIRE_STREAMS_MAX && (it->n_streams + 1) * it->n_views <= DISP_VIEWS) {
		struct stream *s = stream_new(d, it);

		s->place = STREAM_ORPHAN;
		ring_push(&it->orphans, &s->orphan);
		stream_changed(d, s);
	}
}

/* More streams, for `slots` that have nothing to do. */
static void
iter_grow(struct disp *d, struct iteration *it, uint32_t slots)
{
	if (it->state != ITER_RUNNING || it->all_known)
		return;
	if (it->job->opts.sharding == SHARD_OFF) {
		/* One copy per worker there ever was at one time: who comes in
		 * the place of a lost one takes over, and adds none. */
		uint32_t live = place_workers(d, it);

		if (live > it->n_streams)
			iter_add_streams(d, it, live - it->n_streams);
	} else if (!it->short_) {
		/* A pass that has been running for a while is not small, whatever it weighs. */
		it->cut.min = it->young.next && d->now - it->ran < DISP_WIDEN_NS ? 0 : 1;
		iter_add_streams(d, it, cut_streams(&it->cut, slots));
	}
	iter_place(d, it);
}

void
iter_young(struct disp *d, struct iteration *it)
{
	it->ran = it->rate_at = d->now;
	if (it->by_split && !it->fixed)
		ring_push(&d->young, &it->young);
}

void
iter_widen(struct disp *d, struct iteration *it)
{
	uint64_t live = it->n_streams - it->n_ended, slots;

	if (!it->young.next)
		return;
	ring_drop(&it->young);
	slots = place_slots(d, it);
	if (cut_left(&it->cut) && live < slots)
		iter_grow(d, it, (uint32_t)(slots - live));
}

void
iter_go_on(struct disp *d, struct iteration *it)
{
	if (it->state != ITER_RUNNING || it->all_known || it->short_ || it->fixed || !cut_left(&it->cut))
		return;
	for (uint32_t i = 0; i < it->n_streams; i++)
		if (!it->streams[i]->closed)
			return;
	iter_add_streams(d, it, 1);
	iter_place(d, it);
}

/* Little work goes to few streams, so that it stays in order; when it turns out to be
 * slow, every slot gets one. */
void
iter_tick(struct disp *d)
{
	while (!ring_empty(&d->young)) {
		struct iteration *it = LIST_OF(d->young.next, struct iteration, young);

		if (it->ran + DISP_WIDEN_NS > d->now)
			return;
		iter_widen(d, it);
	}
}

int64_t
iter_deadline(const struct disp *d)
{
	if (ring_empty(&d->young))
		return INT64_MAX;
	return LIST_OF(d->young.next, struct iteration, young)->ran + DISP_WIDEN_NS;
}

/* Streams that waited for a worker of their own look again. */
void
iter_trial_tick(struct disp *d)
{
	struct list_node *n, *next;

	if (d->trial_due > d->now)
		return;
	d->trial_due = INT64_MAX;
	for (n = d->running.next; n != &d->running; n = next) {
		next = n->next;
		iter_place(d, LIST_OF(n, struct iteration, running_node));
	}
}

static void
iter_list(struct disp *d, struct iteration *it)
{
	struct peer *w = it->gathered ? place_pick(d, it) : NULL;

	it->lister = w;
	units_forget(it);
	if (w)
		ask_put(d, ASK_LIST, w, (struct stream_key){ it->id, 0, 0 }, 0);
}

void
iter_start(struct disp *d, struct iteration *it)
{
	if (round_gather(d, it))
		iter_list(d, it);
}

void
iter_worker_joined(struct disp *d, struct peer *w)
{
	struct list_node *n, *next;

	for (n = d->running.next; n != &d->running; n = next) {
		struct iteration *it = LIST_OF(n, struct iteration, running_node);

		next = n->next;
		if (!place_fits(d, it, w))
			continue;
		if (it->state == ITER_LISTING) {
			if (!it->lister)
				iter_list(d, it);
			continue;
		}
		/* Streams that wait for a worker come first, then new streams while there are
		 * free slots. */
		iter_place(d, it);
		if (w->n_streams < w->slots || it->job->opts.sharding == SHARD_OFF)
			iter_grow(d, it, w->slots > w->n_streams ? w->slots - w->n_streams : 0);
		waiting_answer(d, it);
	}
}

/* Streams that were made for readers of a host where none is left go to the hosts of others;
 * a host that has got its first reader has workers that may have nothing to do yet. */
void
iter_readers_moved(struct disp *d, struct iteration *it)
{
	if (it->job->opts.target != TARGET_LOCAL || !it->hosts.n)
		return;
	if (it->state == ITER_LISTING && !it->lister)
		iter_list(d, it);
	if (it->state != ITER_RUNNING)
		return;
	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		if (s->worker && s->worker->known && !hash_get_str(&it->hosts, str_or_empty(s->worker->host)))
			service_move(d, s, MOVE_BALANCED);
	}
	iter_place(d, it);
	iter_grow(d, it, place_slots(d, it));
	waiting_answer(d, it);
}

/* The worker that was to list the units is lost. True: it was the last one to try. */
static bool
iter_list_lost(struct disp *d, struct iteration *it, const struct peer *w)
{
	if (w->leaves || w->draining || ++it->list_lost < DISP_LOST)
		return false;
	iter_fail(d, it, ST_DATA, mem_printf("listing the source of dataset %s has cost %u workers; the last one was %s",
					     it->job->dataset->id, it->list_lost, w->name ? w->name : "unknown"),
		  mem_strdup("see what the worker said last"));
	job_drop_iter(d, it);
	return true;
}

/* The worker is lost. Iterations with a stream that has cost too many workers fail; the
 * failure of one may take other streams with it. */
static void
iter_blame(struct disp *d, struct peer *w)
{
	struct stream *s;

	while ((s = blame_worker(d, w)))
		iter_fail(d, s->iter, ST_DATA, blame_words(s, w),
			  mem_strdup("see what the worker said last; run the pipeline over that part with dsvc-run, "
				     "or leave it out"));
}

void
iter_worker_left(struct disp *d, struct peer *w)
{
	struct list_node *n, *next;

	iter_blame(d, w);
	while (!ring_empty(&w->streams)) {
		struct stream *s = LIST_OF(w->streams.next, struct stream, by_worker);

		service_move(d, s, w->leaves || w->draining ? MOVE_DRAINED : MOVE_LOST);
		if (s->worker == w) /* finished: nothing to fence */
			stream_detach(d, s);
	}
	for (n = d->running.next; n != &d->running; n = next) {
		struct iteration *it = LIST_OF(n, struct iteration, running_node);

		next = n->next;
		if (it->state == ITER_LISTING && it->lister == w && !iter_list_lost(d, it, w))
			iter_list(d, it);
	}
}

/* Units */

void
iter_open_cut(struct iteration *it, struct split_list *units)
{
	bool by_file = it->sharding == SHARD_FILE, ordered = by_file || it->job->opts.order != ORDER_ANY, whole;

	if (ordered) /* streams that wait for files in their turn would hold back one another */
		cut_uncut(units);
	whole = units->n == 1 && units->v[0].kind == SPLIT_ALL && it->times == 1;
	it->by_split = by_file || (it->sharding == SHARD_DYNAMIC && !whole);
	it->fixed = it->by_split && ordered;
	cut_open(&it->cut, units, it->times, ordered);
	it->cut.whole = by_file;
}

/* The number of shards of a job that has them: the same in all its passes. */
static uint32_t
iter_shards_of(struct disp *d, struct iteration *it)
{
	struct job *j = it->job;
	uint64_t n, files = cut_least(&it->cut);

	if (it->base.n_of)
		return (uint32_t)it->base.n_of;
	if (job_shards(j))
		return job_shards(j);
	n = place_slots(d, it);
	n = n ? n : 1;
	if (it->sharding == SHARD_FILE && files && n > files)
		n = files;
	j->shards = n < WIRE_STREAMS_MAX ? (uint32_t)n : WIRE_STREAMS_MAX;
	disp_dirty(d, &j->dirty, DIRTY_ROW);
	return j->shards;
}

/* How many streams it begins with. */
static uint32_t
iter_streams(struct disp *d, struct iteration *it)
{
	const struct job_opts *o = &it->job->opts;
	uint32_t n;

	if (job_has_shards(o->sharding))
		return it->by_split && !cut_left(&it->cut) ? 0 : iter_shards_of(d, it);
	if (it->fixed)
		return !cut_left(&it->cut) ? 0 : it->base.n_of ? (uint32_t)it->base.n_of :
			job_shards(it->job) ? job_shards(it->job) : DISP_SHARDS;
	if (it->by_split) {
		n = place_slots(d, it);
		return cut_streams(&it->cut, n ? n : 1);
	}
	if (job_shards(it->job) && o->sharding == SHARD_OFF)
		return job_shards(it->job);
	n = o->sharding == SHARD_OFF && o->order == ORDER_ANY ? place_workers(d, it) : 1;
	return n ? n : 1;
}

static void
iter_run(struct disp *d, struct iteration *it)
{
	const struct job_opts *o = &it->job->opts;

	it->state = ITER_RUNNING;
	it->lister = NULL;
	iter_young(d, it);
	events_job_began(d, it);
	round_moved(d, it);
	disp_dirty(d, &it->dirty, DIRTY_ROW | DIRTY_UNITS);
	it->all_known = it->fixed || (!it->by_split && (o->sharding != SHARD_OFF || o->shards || o->order != ORDER_ANY));
	iter_add_streams(d, it, iter_streams(d, it));
	yield_soon(d);
	waiting_answer(d, it);
	iter_place(d, it);
	iter_check(d, it);
}

/* Whether there are files enough for the shards; otherwise it has failed. */
static bool
iter_files(struct disp *d, struct iteration *it)
{
	uint64_t files = cut_least(&it->cut), shards = iter_shards_of(d, it);

	if (it->sharding != SHARD_FILE || !files || files >= shards)
		return true;
	iter_fail(d, it, ST_DATA, mem_printf("%llu file%s for %llu shards: some would have none", (unsigned long long)files,
					     files == 1 ? "" : "s", (unsigned long long)shards),
		  mem_printf("--shards %llu gives each a file; --sharding data divides the elements instead",
			     (unsigned long long)files));
	job_drop_iter(d, it);
	return false;
}

void
iter_units(struct disp *d, struct peer *p, struct msg *m)
{
	struct iteration *it = iter_find(d, m->req);
	uint32_t code = m->type == MSG_ERROR ? m->error.code : m->units.code;
	char **text = m->type == MSG_ERROR ? &m->error.text : &m->units.text;
	char **help = m->type == MSG_ERROR ? &m->error.help : &m->units.help;

	if (!it || it->state != ITER_LISTING || it->lister != p)
		return;
	if (m->type == MSG_UNITS && !units_add(it, &m->units))
		return;
	ask_drop(d, ASK_LIST, p, (struct stream_key){ it->id, 0, 0 }, 0);
	if (m->type == MSG_UNITS)
		facts_found(d, it->job->dataset, &m->units);
	if (code || m->type == MSG_ERROR) {
		iter_fail(d, it, status_code(status_from_code(code)), *text, *help);
		*text = *help = NULL;
		job_drop_iter(d, it);
		return;
	}
	it->times = m->units.times ? m->units.times : CUT_ENDLESS;
	it->by_one = m->units.by_one;
	it->period = m->units.period;
	if (it->sharding == SHARD_FILE_OR_DATA)
		it->sharding = m->units.files ? SHARD_FILE : SHARD_DATA;
	iter_open_cut(it, &it->listed.units);
	it->cut.small = d->o.small_splits;
	if (!job_has_shards(it->sharding) || iter_files(d, it))
		iter_run(d, it);
}

/* The end */

static void
iter_over(struct disp *d, struct iteration *it)
{
	it->finished = d->now;
	events_job_over(d, it);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	job_used(d, it->job);
	shards_keep(it);
	iter_drop_streams(d, it);
	/* A reader that is away keeps its seat: it is told when it comes back. */
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer)
			ask_put(d, ASK_DONE, r->peer, (struct stream_key){ it->id, 0, 0 }, 0);
		else
			gc_away(d, r); /* the job may be kept for another time now */
	}
	waiting_answer(d, it);
	job_left(d, it->job);
}

void
iter_fail(struct disp *d, struct iteration *it, uint32_t code, char *text, char *help)
{
	it->state = ITER_FAILED;
	it->code = code;
	for (size_t i = 0; i < it->n_streams; i++)
		stream_give_up(it->streams[i]);
	mem_free(it->text);
	mem_free(it->help);
	it->text = text ? text : mem_strdup("failed");
	it->help = help;
	iter_over(d, it);
}

bool
iter_dealt(const struct iteration *it)
{
	return !it->by_split || it->fixed || it->short_ || !cut_left(&it->cut);
}

void
iter_check(struct disp *d, struct iteration *it)
{
	if (it->state != ITER_RUNNING || (group_shares(it) ? it->n_ended : it->n_finished) < it->n_streams)
		return;
	/* All streams are over, but streams of workers that left in order may
	 * have ended before everything was dealt out. No group waits with that for another. */
	if (!iter_dealt(it)) {
		iter_grow(d, it, place_slots(d, it));
		return;
	}
	if (it->n_finished < it->n_streams)
		return;
	if (it->job->opts.sharding == SHARD_OFF && !it->n_streams)
		return;
	it->state = ITER_FINISHED;
	it->all_known = true;
	iter_over(d, it);
}
