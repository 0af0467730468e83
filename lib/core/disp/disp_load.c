/* SPDX-License-Identifier: MIT
 *
 * Durable rows, read back. They come in any order, so they are kept until all
 * are there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_past.h"
#include "core/disp/disp_row.h"
#include "core/disp/disp_void.h"
#include "core/disp/disp_wanted.h"

struct row_load { uint64_t key[3]; uint8_t *p; size_t n; };
struct row_kind_loads { struct row_load *v; size_t n, cap; };
struct row_loads { struct row_kind_loads of[ROW_KINDS]; };

void
load_rows_free(struct disp *d)
{
	for (unsigned k = 0; d->loads && k < ROW_KINDS; k++) {
		for (size_t i = 0; i < d->loads->of[k].n; i++)
			mem_free(d->loads->of[k].v[i].p);
		mem_free(d->loads->of[k].v);
	}
	mem_free(d->loads);
	d->loads = NULL;
}

enum status
disp_load(struct disp *d, const struct disp_row *row, struct err *e)
{
	if (row->kind < ROW_META || row->kind >= ROW_KINDS || !row->blob)
		return err_set(e, ST_DATA, "a row of unknown kind %d", (int)row->kind);
	if (!d->loads)
		d->loads = mem_zalloc(sizeof *d->loads);
	struct row_kind_loads *l = &d->loads->of[row->kind];
	if (l->n == l->cap)
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	struct row_load *r = &l->v[l->n++];
	memcpy(r->key, row->key, sizeof r->key);
	r->p = mem_dup(row->blob, row->n);
	r->n = row->n;
	return ST_OK;
}

static enum status
load_orphan(struct err *e, const char *what)
{
	return err_set(e, ST_DATA, "a row of a %s belongs to nothing", what);
}

/* Finds what has been loaded by kind and number, since a damaged row may name a job where
 * a dataset should stand. */
static void *
load_get(struct disp *d, enum disp_row_kind kind, uint64_t number)
{
	uint64_t key[2] = { kind, number };

	return hash_get(d->by_number, key, sizeof key);
}

static void
load_put(struct disp *d, enum disp_row_kind kind, uint64_t number, void *what)
{
	uint64_t key[2] = { kind, number };

	hash_put(d->by_number, key, sizeof key, what);
}

static enum status
load_meta(struct disp *d, const struct row_load *l, struct err *e)
{
	struct disp r = { 0 };

	if (fields_decode("meta row", row_meta_fields, l->p, l->n, &r, e))
		return e->kind;
	if (r.row_version != ROW_VERSION)
		return err_set(e, ST_CONFIG, "the state is of version %u, this program reads %u", r.row_version, ROW_VERSION);
	fields_move(row_meta_fields, d, &r);
	d->meta_dirty = false;
	return ST_OK;
}

static enum status
load_dataset(struct disp *d, const struct row_load *l, struct err *e)
{
	struct dataset r = { 0 };

	if (fields_decode("dataset row", row_dataset_fields, l->p, l->n, &r, e))
		return e->kind;
	r.id = str_take(&r.id);
	r.spec = str_take(&r.spec);
	r.type = str_take(&r.type);
	if (hash_get_str(&d->datasets, r.id)) {
		fields_clear(row_dataset_fields, &r);
		return err_set(e, ST_DATA, "two datasets with one id");
	}
	load_put(d, ROW_DATASET, l->key[0], dataset_new(d, l->key[0], &r));
	return ST_OK;
}

static enum status
load_job(struct disp *d, const struct row_load *l, struct err *e)
{
	struct job r = { 0 };
	struct dataset *s;
	struct job *j;

	if (fields_decode("job row", row_job_fields, l->p, l->n, &r, e))
		return e->kind;
	r.opts.name = str_take(&r.opts.name);
	s = load_get(d, ROW_DATASET, r.dataset_number);
	if (!s || !r.places || hash_get_str(&d->jobs, r.opts.name)) {
		fields_clear(row_job_fields, &r);
		return load_orphan(e, "job");
	}
	j = job_new(d, l->key[0], &r.opts, s);
	fields_move(row_job_fields, j, &r);
	load_put(d, ROW_JOB, l->key[0], j);
	return ST_OK;
}

/* Whether its views are those of consumers of the job. */
static bool
load_views(const struct iteration *r, const struct job *j)
{
	uint32_t place = 0;

	if (j->opts.share && j->places == 1 && r->gathered) { /* groups have all elements each */
		for (size_t i = 0; i < r->n_views; i++)
			if (r->views[i].of != 1 || r->views[i].first || r->views[i].n != 1)
				return false;
		return r->n_views == (r->groups.n ? r->groups.n : 1);
	}
	for (size_t i = 0; i < r->n_views; i++) {
		if (!round_ok(&r->views[i]) || r->views[i].of != j->places || r->views[i].first != place)
			return false;
		place += r->views[i].n;
	}
	return r->gathered ? place == j->places : !r->n_views && !r->n_streams && r->state != ITER_RUNNING;
}

static enum status
load_iter(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration r = { 0 }, *it;
	uint32_t n_streams;
	struct job *j;

	if (fields_decode("iteration row", row_iter_fields, l->p, l->n, &r, e))
		return e->kind;
	j = load_get(d, ROW_JOB, r.job_number);
	if (!j || iter_find(d, l->key[0])) {
		fields_clear(row_iter_fields, &r);
		return load_orphan(e, "iteration");
	}
	if (iter_live(&r) && r.next_fixed && r.next_fixed >= r.n_streams) {
		err_set(e, ST_DATA, "the next split is for stream %u of an iteration that has %u", r.next_fixed, r.n_streams);
		fields_clear(row_iter_fields, &r);
		return e->kind;
	}
	if (r.n_streams * (uint64_t)r.n_views > DISP_VIEWS) {
		err_set(e, ST_DATA, "an iteration has %u streams for %u consumers", r.n_streams, j->places);
		fields_clear(row_iter_fields, &r);
		return e->kind;
	}
	if (!load_views(&r, j)) {
		fields_clear(row_iter_fields, &r);
		return err_set(e, ST_DATA, "the consumers of an iteration do not fill its rounds");
	}
	r.code = r.state == ITER_FAILED ? status_code(status_from_code(r.code)) : 0;
	n_streams = r.n_streams;
	r.n_streams = 0; /* none is there yet */
	it = iter_new(d, j, l->key[0], r.epoch);
	fields_move(row_iter_fields, it, &r);
	job_add_iter(j, it);
	group_loaded(d, it);
	if (!iter_live(it)) {
		it->cut.pos = (struct cut_pos){ 0 };
		wanted_over(it);
		ring_drop(&it->running_node);
		return ST_OK;
	}
	while (it->n_streams < n_streams)
		stream_new(d, it)->dirty.what = 0;
	return ST_OK;
}

static enum status
load_units(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration *it = iter_find(d, l->key[0]);
	struct units_listed r = { 0 };

	if (fields_decode("units row", row_units_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!it || it->state != ITER_RUNNING || it->units_loaded) {
		fields_clear(row_units_fields, &r);
		return load_orphan(e, "list of units");
	}
	if (units_load(it, l->key[1], &r, e)) {
		fields_clear(row_units_fields, &r);
		return e->kind;
	}
	if (!it->units_loaded)
		return ST_OK;
	struct cut_pos pos = it->cut.pos;
	iter_open_cut(it, &it->listed.units);
	it->cut.small = d->o.small_splits;
	if (pos.unit > it->cut.units.n || (it->cut.units.n && pos.unit == it->cut.units.n))
		return err_set(e, ST_DATA, "a position beyond the units");
	cut_seek(&it->cut, pos);
	return ST_OK;
}

/* Notes the key of a peer that is awaited. */
static void
load_user(struct peer *p, const char *user)
{
	if (!p->user && *str_or_empty(user))
		p->user = mem_strdup(user);
}

/* The worker is awaited; takes its endpoint unless it is known. */
static void
load_worker(struct disp *d, struct stream *s, struct stream_worker *w)
{
	s->worker = disp_peer_await(d, w->id, ROLE_WORKER);
	ring_push(&s->worker->streams, &s->by_worker);
	s->worker->n_streams++;
	load_user(s->worker, w->user);
	if (!s->worker->name && *str_or_empty(w->name))
		s->worker->name = mem_strdup(w->name);
	if (!s->worker->endpoint) {
		s->worker->endpoint = w->endpoint;
		w->endpoint = NULL;
	}
}

static struct stream *
load_stream_of(struct disp *d, const struct row_load *l)
{
	struct iteration *it = iter_find(d, l->key[0]);

	return it && l->key[1] <= UINT32_MAX ? iter_stream(it, (uint32_t)l->key[1]) : NULL;
}

/* Whether its lists name only views that there are. */
static bool
load_views_fit(const struct iteration *it, const struct stream *r)
{
	for (size_t i = 0; i < r->n_held; i++)
		if (r->held[i].view >= it->n_views)
			return false;
	for (size_t i = 0; i < r->n_gone; i++)
		if (r->gone[i].view >= it->n_views)
			return false;
	return true;
}

static enum status
load_stream(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = load_stream_of(d, l), r = { 0 };

	if (fields_decode("stream row", row_stream_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || s->loaded || (r.place == STREAM_ASSIGNED && !r.row_worker.id) || !load_views_fit(s->iter, &r)) {
		fields_clear(row_stream_fields, &r);
		return load_orphan(e, "stream");
	}
	if (r.place == STREAM_ASSIGNED)
		load_worker(d, s, &r.row_worker);
	mem_free(r.row_worker.endpoint);
	mem_free(r.row_worker.user);
	mem_free(r.row_worker.name);
	r.row_worker = (struct stream_worker){ 0 };
	fields_move(row_stream_fields, s, &r);
	s->given = d->now;
	s->began = s->running && !s->iter->by_split;
	s->iter->n_ended += s->ended;
	s->iter->n_finished += s->finished;
	s->loaded = true;
	return ST_OK;
}

static enum status
load_split(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = load_stream_of(d, l);
	struct split_place r = { 0 };

	if (fields_decode("split row", row_split_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || r.unit >= s->iter->cut.units.n || !r.times)
		return load_orphan(e, "split");
	return past_load_split(s, l->key[2], &r, e);
}

static enum status
load_point(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = load_stream_of(d, l);
	struct point r = { .offset = l->key[2], .saved = true };
	unsigned i;

	if (fields_decode("restart point row", row_point_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || s->n_points == DISP_POINTS) {
		fields_clear(row_point_fields, &r);
		return load_orphan(e, "restart point");
	}
	past_saved(d, &r);
	for (i = s->n_points++; i && s->points[i - 1].offset > r.offset; i--)
		s->points[i] = s->points[i - 1];
	s->points[i] = r;
	return ST_OK;
}

static enum status
load_ledger(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = load_stream_of(d, l);
	struct view r = { 0 };

	if (fields_decode("ledger row", row_ledger_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || l->key[2] >= s->iter->n_views) {
		fields_clear(row_ledger_fields, &r);
		return load_orphan(e, "ledger");
	}
	fields_move(row_ledger_fields, &s->views[l->key[2]], &r);
	return ST_OK;
}

static enum status
load_reader(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration *it = iter_find(d, l->key[0]);
	struct seat r = { 0 }, *s;

	if (fields_decode("reader row", row_reader_fields, l->p, l->n, &r, e))
		return e->kind;
	r.host = str_take(&r.host);
	if (!it || r.view >= it->n_views || (!r.is_away && disp_peer(d, r.peer_id)) || job_shards_parse(r.shard, &r.only, e)) {
		fields_clear(row_reader_fields, &r);
		return load_orphan(e, "reader");
	}
	s = seat_new(d, it, r.is_away ? NULL : disp_peer_await(d, r.peer_id, ROLE_READER), l->key[1], r.host);
	fields_move(row_reader_fields, s, &r);
	s->only = r.only;
	if (s->peer)
		load_user(s->peer, s->user);
	if (group_shares(it) && r.view >= it->groups.n)
		return load_orphan(e, "reader");
	group_add_seat(s);
	if (s->is_away) {
		s->away_since = d->now;
		gc_away(d, s);
	}
	return ST_OK;
}

/* Continues what was under way in the iteration. */
static enum status
load_go_on(struct disp *d, struct iteration *it, struct err *e)
{
	for (size_t i = 0; i < it->n_streams && iter_live(it); i++)
		if (it->streams[i]->ended)
			round_stream_ended(d, it->streams[i]);
	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		if (!s->loaded)
			return err_set(e, ST_DATA, "stream %u of an iteration has no row", s->index);
		if (past_loaded(d, s, e))
			return e->kind;
		void_sent(s, s->n_splits); /* perhaps; nobody knows */
		ring_drop(&s->dirty.node);
		stream_changed(d, s);
		if (s->finished)
			continue;
		if (s->place == STREAM_ORPHAN)
			stream_orphan(d, s);
		else if (s->place == STREAM_HOLDING)
			stream_hold(d, s);
		else if (!s->running)
			ask_put(d, ASK_ASSIGN, s->worker, stream_key_of(s), 0);
		hold_loaded(d, s);
		group_joins_again(d, s);
		for (size_t k = 0; s->place == STREAM_ASSIGNED && k < s->n_gone; k++)
			ask_put(d, ASK_GONE, s->worker, stream_key_of(s), s->gone[k].seat);
	}
	if (it->state == ITER_RUNNING && !it->units_loaded)
		return err_set(e, ST_DATA, "the units of an iteration have no row");
	if (it->state == ITER_RUNNING)
		iter_young(d, it);
	round_moved(d, it);
	if (!iter_live(it))
		for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
			if (LIST_OF(n, struct seat, node)->peer)
				ask_put(d, ASK_DONE, LIST_OF(n, struct seat, node)->peer, (struct stream_key){ it->id, 0, 0 }, 0);
	iter_check(d, it);
	return ST_OK;
}

static enum status
load_jobs_go_on(struct disp *d, struct err *e)
{
	struct list_node *n, *next;

	for (n = d->job_list.next; n != &d->job_list; n = next) {
		struct job *j = LIST_OF(n, struct job, node);
		next = n->next;
		for (size_t i = 0; i < j->n_iters; i++)
			if (load_go_on(d, j->iters[i], e))
				return e->kind;
		if (j->users)
			continue;
		/* Its reader never got an answer, and will open it anew. */
		if (!*j->opts.name && !job_over(j) && !j->keep)
			job_free(d, j);
		else
			gc_idle(d, j, d->now);
	}
	dataset_loaded(d);
	return ST_OK;
}

/* Parts of a list are put together in the order of their numbers, and so are splits. */
static int
load_compare(const void *a, const void *b)
{
	const struct row_load *x = a, *y = b;
	size_t k = 0;

	while (k < 2 && x->key[k] == y->key[k])
		k++;
	return x->key[k] < y->key[k] ? -1 : x->key[k] > y->key[k];
}

static void
load_sort(struct row_kind_loads *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, load_compare);
}

enum status
disp_loaded(struct disp *d, int64_t now_ns, struct err *e)
{
	static enum status (*const get[ROW_KINDS])(struct disp *, const struct row_load *, struct err *) = {
		[ROW_META] = load_meta, [ROW_DATASET] = load_dataset, [ROW_JOB] = load_job,
		[ROW_ITERATION] = load_iter, [ROW_UNITS] = load_units, [ROW_STREAM] = load_stream,
		[ROW_SPLIT] = load_split, [ROW_POINT] = load_point, [ROW_LEDGER] = load_ledger,
		[ROW_READER] = load_reader,
	};
	struct hash by_number = { 0 };
	enum status st = ST_OK;

	/* The peers of before have as long again as usual to come back. */
	d->now = now_ns + d->o.loss_ms * 1000000ll;
	d->by_number = &by_number;
	if (d->loads) {
		load_sort(&d->loads->of[ROW_UNITS]);
		load_sort(&d->loads->of[ROW_SPLIT]);
	}
	for (unsigned k = 1; d->loads && k < ROW_KINDS && !st; k++)
		for (size_t i = 0; i < d->loads->of[k].n && !st; i++)
			st = get[k](d, &d->loads->of[k].v[i], e);
	d->now = d->group_due = now_ns;
	if (!st)
		st = load_jobs_go_on(d, e);
	d->by_number = NULL;
	hash_clear(&by_number);
	load_rows_free(d);
	return st ? err_wrap(e, "the dispatcher's state is damaged") : ST_OK;
}
