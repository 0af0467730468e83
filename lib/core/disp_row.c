/* SPDX-License-Identifier: MIT
 *
 * Durable rows: each object as a list of its fields, and back. Rows come in
 * any order, so they are kept until all are there.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp_inner.h"
#include "wire/table.h"

enum { ROW_VERSION = 1, ROW_MANY = 1 << 24 };

struct row_meta { uint32_t version; uint64_t instance, next_id, key, index; };
struct row_dataset { char *id, *spec, *type; bool registered; };
struct row_job {
	char *name, *options;
	uint64_t dataset, seed;
	uint32_t sharding, order, shards;
	bool seeded, keep;
};
struct row_iter {
	uint64_t job, seed, times, next_seat, pass, pass_times, unit, at;
	uint64_t elements, acked, made, again, suppressed, repeated;
	uint32_t epoch, state, code, n_streams, next_fixed;
	char *text, *help;
	bool by_split, fixed, all_known, short_;
};
struct row_units { struct split_list units; };
struct row_held { uint64_t seat; struct ranges got; };
struct row_gone { uint64_t seat; };
struct row_stream {
	uint32_t gen, place;
	bool running, told_end, closed, ended, finished;
	uint64_t length, worker, from, skipped, high, made;
	char *endpoint;
	struct ranges presumed;
	struct { struct row_held *v; size_t n; } held;
	struct { struct row_gone *v; size_t n; } gone;
};
struct row_split { uint32_t unit; uint64_t start, count, times, weight; };
struct row_point { uint64_t split; struct bytes state; bool has_state; };
struct row_ledger { struct ranges acked; };
struct row_reader { uint64_t peer, seq, acked; bool checkpoint, away; };

static const struct field meta_fields[] = {
	U32(row_meta, version, 0, NULL), U64(row_meta, instance, NULL), U64(row_meta, next_id, NULL),
	U64(row_meta, key, NULL), U64(row_meta, index, NULL), { 0 }
};
static const struct field dataset_fields[] = {
	NAME(row_dataset, id, NULL), TEXT(row_dataset, spec, WIRE_SPEC_MAX, NULL),
	TEXT(row_dataset, type, WIRE_SPEC_MAX, NULL), BOOL(row_dataset, registered, NULL), { 0 }
};
static const struct field job_fields[] = {
	NAME(row_job, name, NULL), TEXT(row_job, options, WIRE_TEXT_MAX, NULL),
	U64(row_job, dataset, NULL), U64(row_job, seed, NULL),
	U32(row_job, sharding, WIRE_SHARDINGS - 1, NULL), U32(row_job, order, WIRE_ORDERS - 1, NULL),
	U32(row_job, shards, WIRE_STREAMS_MAX, NULL), BOOL(row_job, seeded, NULL), BOOL(row_job, keep, NULL), { 0 }
};
static const struct field iter_fields[] = {
	U64(row_iter, job, NULL), U64(row_iter, seed, NULL), U64(row_iter, times, NULL),
	U64(row_iter, next_seat, NULL), U64(row_iter, pass, NULL), U64(row_iter, pass_times, NULL),
	U64(row_iter, unit, NULL), U64(row_iter, at, NULL), U64(row_iter, elements, NULL),
	U64(row_iter, acked, NULL), U64(row_iter, made, NULL), U64(row_iter, again, NULL),
	U64(row_iter, suppressed, NULL), U64(row_iter, repeated, NULL),
	U32(row_iter, epoch, 0, NULL), U32(row_iter, state, ITER_FAILED, NULL), U32(row_iter, code, 255, NULL),
	U32(row_iter, n_streams, WIRE_STREAMS_MAX, NULL), U32(row_iter, next_fixed, WIRE_STREAMS_MAX, NULL),
	TEXT(row_iter, text, WIRE_TEXT_MAX, NULL), TEXT(row_iter, help, WIRE_TEXT_MAX, NULL),
	BOOL(row_iter, by_split, NULL), BOOL(row_iter, fixed, NULL), BOOL(row_iter, all_known, NULL),
	BOOL(row_iter, short_, NULL), { 0 }
};
static const struct field units_fields[] = {
	{ "units", FIELD_SPLITS, offsetof(struct row_units, units), WIRE_UNITS_MAX, NULL, NULL, 0 }, { 0 }
};
static const struct field held_fields[] = {
	U64(row_held, seat, NULL), { "got", FIELD_RANGES, offsetof(struct row_held, got), ROW_MANY, NULL, NULL, 0 }, { 0 }
};
static const struct field gone_fields[] = { U64(row_gone, seat, NULL), { 0 } };
static const struct field stream_fields[] = {
	U32(row_stream, gen, 0, NULL), U32(row_stream, place, STREAM_ASSIGNED, NULL),
	BOOL(row_stream, running, NULL), BOOL(row_stream, told_end, NULL), BOOL(row_stream, closed, NULL),
	BOOL(row_stream, ended, NULL), BOOL(row_stream, finished, NULL), U64(row_stream, length, NULL),
	U64(row_stream, worker, NULL), U64(row_stream, from, NULL), U64(row_stream, skipped, NULL),
	U64(row_stream, high, NULL), U64(row_stream, made, NULL), TEXT(row_stream, endpoint, WIRE_TEXT_MAX, NULL),
	{ "presumed", FIELD_RANGES, offsetof(struct row_stream, presumed), ROW_MANY, NULL, NULL, 0 },
	LIST(row_stream, held, WIRE_READERS_MAX, held_fields, struct row_held, NULL),
	LIST(row_stream, gone, ROW_MANY, gone_fields, struct row_gone, NULL), { 0 }
};
static const struct field split_fields[] = {
	U32(row_split, unit, 0, NULL), U64(row_split, start, NULL), U64(row_split, count, NULL),
	U64(row_split, times, NULL), U64(row_split, weight, NULL), { 0 }
};
static const struct field point_fields[] = {
	U64(row_point, split, NULL), BYTES(row_point, state, WIRE_STATE_MAX, NULL),
	BOOL(row_point, has_state, NULL), { 0 }
};
static const struct field ledger_fields[] = {
	{ "acked", FIELD_RANGES, offsetof(struct row_ledger, acked), ROW_MANY, NULL, NULL, 0 }, { 0 }
};
static const struct field reader_fields[] = {
	U64(row_reader, peer, NULL), U64(row_reader, seq, NULL), U64(row_reader, acked, NULL),
	BOOL(row_reader, checkpoint, NULL), BOOL(row_reader, away, NULL), { 0 }
};

/* Writing */

struct row_out {
	void (*cb)(void *arg, const struct disp_row *row);
	void *arg;
	struct buf b;
	size_t n;
};

static void
row_put(struct row_out *o, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c,
	const struct field *fields, const void *base)
{
	buf_reset(&o->b);
	fields_encode(fields, base, &o->b);
	struct disp_row row = { kind, 3, { a, b, c }, o->b.data, o->b.len };
	o->cb(o->arg, &row);
	o->n++;
}

static void
row_put_iter(struct row_out *o, struct iteration *it, unsigned what)
{
	const struct cut_pos *c = &it->cut.pos;
	struct row_iter r = { .job = it->job->number, .seed = it->seed, .times = it->times,
		.next_seat = it->next_seat, .pass = c->pass, .pass_times = c->times, .unit = c->unit, .at = c->at,
		.elements = it->elements, .acked = it->acked, .made = it->made, .again = it->again,
		.suppressed = it->suppressed, .repeated = it->repeated, .epoch = it->epoch,
		.state = it->state, .code = it->code, .n_streams = (uint32_t)it->n_streams,
		.next_fixed = it->next_fixed, .text = it->text, .help = it->help, .by_split = it->by_split,
		.fixed = it->fixed, .all_known = it->all_known, .short_ = it->short_ };

	if (what & DIRTY_UNITS) {
		struct row_units u = { it->cut.units };
		row_put(o, ROW_UNITS, it->id, 0, 0, units_fields, &u);
	}
	row_put(o, ROW_ITERATION, it->id, 0, 0, iter_fields, &r);
}

static void
row_put_stream_row(struct row_out *o, struct stream *s)
{
	struct row_stream r = { .gen = s->gen, .place = s->place, .running = s->running,
		.told_end = s->told_end, .closed = s->closed, .ended = s->ended, .finished = s->finished,
		.length = s->length, .worker = s->worker ? s->worker->id : 0, .from = s->from,
		.skipped = s->skipped, .high = s->high, .made = s->made,
		.endpoint = s->worker ? s->worker->endpoint : NULL,
		.presumed = intervals_lend(&s->presumed) };

	r.held.n = s->n_held;
	r.held.v = mem_array(s->n_held, sizeof *r.held.v);
	for (size_t i = 0; i < s->n_held; i++)
		r.held.v[i] = (struct row_held){ s->held[i].seat, intervals_lend(&s->held[i].got) };
	r.gone.n = s->n_gone;
	r.gone.v = mem_array(s->n_gone, sizeof *r.gone.v);
	for (size_t i = 0; i < s->n_gone; i++)
		r.gone.v[i].seat = s->gone[i];
	row_put(o, ROW_STREAM, s->iter->id, s->index, 0, stream_fields, &r);
	mem_free(r.held.v);
	mem_free(r.gone.v);
}

static void
row_put_stream(struct row_out *o, struct stream *s, unsigned what)
{
	uint64_t it = s->iter->id;

	if (what & DIRTY_ROW)
		row_put_stream_row(o, s);
	if (what & DIRTY_LEDGER) {
		struct row_ledger r = { intervals_lend(&s->acked) };
		row_put(o, ROW_LEDGER, it, s->index, 0, ledger_fields, &r);
	}
	for (; s->saved_splits < s->n_splits; s->saved_splits++) {
		const struct split_place *p = &s->splits[s->saved_splits];
		struct row_split r = { p->unit, p->start, p->count, p->times, p->weight };
		row_put(o, ROW_SPLIT, it, s->index, s->saved_splits, split_fields, &r);
	}
	for (unsigned i = 0; i < s->n_points; i++) {
		struct point *p = &s->points[i];
		struct row_point r = { p->split, p->state, p->has_state };

		if (!p->saved)
			row_put(o, ROW_POINT, it, s->index, p->offset, point_fields, &r);
		p->saved = true;
	}
}

static void
row_put_dirty(struct row_out *o, struct dirty *x, unsigned what)
{
	switch (x->kind) {
	case DIRTY_DATASET: {
		struct dataset *s = LIST_OF(x, struct dataset, dirty);
		struct row_dataset r = { s->id, s->spec, s->type, s->registered };
		row_put(o, ROW_DATASET, s->number, 0, 0, dataset_fields, &r);
		break;
	}
	case DIRTY_JOB: {
		struct job *j = LIST_OF(x, struct job, dirty);
		struct row_job r = { j->name, j->options, j->dataset->number, j->seed, j->sharding,
			j->order, j->shards, j->seeded, j->keep };
		row_put(o, ROW_JOB, j->number, 0, 0, job_fields, &r);
		break;
	}
	case DIRTY_ITER: row_put_iter(o, LIST_OF(x, struct iteration, dirty), what); break;
	case DIRTY_STREAM: row_put_stream(o, LIST_OF(x, struct stream, dirty), what); break;
	case DIRTY_SEAT: {
		struct seat *s = LIST_OF(x, struct seat, dirty);
		struct row_reader r = { s->peer_id, s->seq, s->acked, s->checkpoint, !s->peer };
		row_put(o, ROW_READER, s->iter->id, s->number, 0, reader_fields, &r);
		break;
	}
	}
}

size_t
disp_changes(struct disp *d, void (*cb)(void *arg, const struct disp_row *row), void *arg)
{
	struct row_out o = { cb, arg, { 0 }, d->n_deletes };

	for (size_t i = 0; cb && i < d->n_deletes; i++)
		cb(arg, &d->deletes[i]);
	d->n_deletes = 0;
	if (cb && d->meta_dirty) {
		struct row_meta r = { ROW_VERSION, d->o.instance, d->next_id, d->rng.key, d->rng.index };
		row_put(&o, ROW_META, 0, 0, 0, meta_fields, &r);
	}
	d->meta_dirty = false;
	while (!ring_empty(&d->dirty)) {
		struct dirty *x = LIST_OF(d->dirty.next, struct dirty, node);
		unsigned what = x->what;

		ring_drop(&x->node);
		x->what = 0;
		if (cb)
			row_put_dirty(&o, x, what);
	}
	buf_clear(&o.b);
	return o.n;
}

/* Reading */

struct row_load { uint64_t key[3]; uint8_t *p; size_t n; };
struct row_loads { struct { struct row_load *v; size_t n, cap; } of[ROW_KINDS]; };

void
row_loads_free(struct disp *d)
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
	__typeof__(&d->loads->of[0]) l = &d->loads->of[row->kind];
	if (l->n == l->cap)
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	struct row_load *r = &l->v[l->n++];
	memcpy(r->key, row->key, sizeof r->key);
	r->p = mem_dup(row->blob, row->n);
	r->n = row->n;
	return ST_OK;
}

static enum status
row_orphan(struct err *e, const char *what)
{
	return err_set(e, ST_DATA, "a row of a %s belongs to nothing", what);
}

static enum status
row_get_meta(struct disp *d, const struct row_load *l, struct err *e)
{
	struct row_meta r = { 0 };

	if (fields_decode("meta row", meta_fields, l->p, l->n, &r, e))
		return e->kind;
	if (r.version != ROW_VERSION)
		return err_set(e, ST_CONFIG, "the state is of version %u, this program reads %u", r.version, ROW_VERSION);
	d->o.instance = r.instance;
	d->next_id = r.next_id;
	d->rng = (struct rng){ r.key, r.index };
	d->meta_dirty = false;
	return ST_OK;
}

static enum status
row_get_dataset(struct disp *d, const struct row_load *l, struct err *e)
{
	struct row_dataset r = { 0 };
	struct dataset *s;

	if (fields_decode("dataset row", dataset_fields, l->p, l->n, &r, e))
		return e->kind;
	if (hash_get_str(&d->datasets, r.id ? r.id : "")) {
		fields_clear(dataset_fields, &r);
		return err_set(e, ST_DATA, "two datasets of one id");
	}
	s = job_dataset_new(d, l->key[0], r.id ? r.id : mem_strdup(""), r.spec ? r.spec : mem_strdup(""),
			    r.type ? r.type : mem_strdup(""));
	s->registered = r.registered;
	hash_put(d->by_number, &l->key[0], sizeof l->key[0], s);
	return ST_OK;
}

static enum status
row_get_job(struct disp *d, const struct row_load *l, struct err *e)
{
	struct row_job r = { 0 };
	struct dataset *s;
	struct job *j;

	if (fields_decode("job row", job_fields, l->p, l->n, &r, e))
		return e->kind;
	s = hash_get(d->by_number, &r.dataset, sizeof r.dataset);
	if (!s || (r.name && hash_get_str(&d->jobs, r.name))) {
		fields_clear(job_fields, &r);
		return row_orphan(e, "job");
	}
	j = job_new(d, l->key[0], r.name ? r.name : mem_strdup(""), s);
	j->options = r.options ? r.options : mem_strdup("");
	j->sharding = r.sharding;
	j->order = r.order;
	j->shards = r.shards;
	j->seeded = r.seeded;
	j->keep = r.keep;
	j->seed = r.seed;
	hash_put(d->by_number, &l->key[0], sizeof l->key[0], j);
	return ST_OK;
}

static void
row_fill_iter(struct iteration *it, struct row_iter *r)
{
	it->seed = r->seed;
	it->state = (enum iter_state)r->state;
	it->code = r->code;
	it->text = r->text;
	it->help = r->help;
	it->times = r->times;
	it->next_seat = r->next_seat;
	it->elements = r->elements;
	it->acked = r->acked;
	it->made = r->made;
	it->again = r->again;
	it->suppressed = r->suppressed;
	it->repeated = r->repeated;
	it->by_split = r->by_split;
	it->fixed = r->fixed;
	it->all_known = r->all_known;
	it->short_ = r->short_;
	it->next_fixed = r->next_fixed;
}

static enum status
row_get_iter(struct disp *d, const struct row_load *l, struct err *e)
{
	struct row_iter r = { 0 };
	struct iteration *it;
	struct job *j;

	if (fields_decode("iteration row", iter_fields, l->p, l->n, &r, e))
		return e->kind;
	j = hash_get(d->by_number, &r.job, sizeof r.job);
	if (!j || iter_find(d, l->key[0])) {
		fields_clear(iter_fields, &r);
		return row_orphan(e, "iteration");
	}
	it = iter_new(d, j, l->key[0], r.epoch);
	row_fill_iter(it, &r);
	job_add_iter(j, it);
	if (!iter_live(it)) {
		ring_drop(&it->running_node);
		return ST_OK;
	}
	it->cut.pos = (struct cut_pos){ r.pass, r.pass_times, r.unit, r.at };
	for (uint32_t i = 0; i < r.n_streams; i++)
		stream_new(d, it)->dirty.what = 0;
	return ST_OK;
}

static enum status
row_get_units(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration *it = iter_find(d, l->key[0]);
	struct row_units r = { 0 };

	if (fields_decode("units row", units_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!it || it->state != ITER_RUNNING) {
		fields_clear(units_fields, &r);
		return row_orphan(e, "list of units");
	}
	struct cut_pos pos = it->cut.pos;
	it->units_loaded = true;
	iter_open_cut(it, &r.units);
	it->cut.small = d->o.small_splits;
	if (pos.unit > it->cut.units.n || (it->cut.units.n && pos.unit == it->cut.units.n))
		return err_set(e, ST_DATA, "a position behind the units");
	cut_seek(&it->cut, pos);
	return ST_OK;
}

static void
row_fill_held(struct stream *s, const struct row_stream *r)
{
	intervals_add_ranges(&s->presumed, &r->presumed);
	for (size_t i = 0; i < r->held.n; i++) {
		if (s->n_held == s->cap_held)
			s->held = mem_grow(s->held, &s->cap_held, s->n_held + 1, sizeof *s->held);
		s->held[s->n_held] = (struct stream_held){ .seat = r->held.v[i].seat };
		intervals_add_ranges(&s->held[s->n_held++].got, &r->held.v[i].got);
	}
	for (size_t i = 0; i < r->gone.n; i++) {
		if (s->n_gone == s->cap_gone)
			s->gone = mem_grow(s->gone, &s->cap_gone, s->n_gone + 1, sizeof *s->gone);
		s->gone[s->n_gone++] = r->gone.v[i].seat;
	}
}

static enum status
row_get_stream(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration *it = iter_find(d, l->key[0]);
	struct stream *s = it && l->key[1] <= UINT32_MAX ? iter_stream(it, (uint32_t)l->key[1]) : NULL;
	struct row_stream r = { 0 };

	if (fields_decode("stream row", stream_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || (r.place == STREAM_ASSIGNED && !r.worker)) {
		fields_clear(stream_fields, &r);
		return row_orphan(e, "stream");
	}
	s->gen = r.gen;
	s->place = (enum stream_place)r.place;
	s->running = r.running;
	s->told_end = r.told_end;
	s->closed = r.closed;
	s->ended = r.ended;
	s->finished = r.finished;
	s->length = r.length;
	s->from = r.from;
	s->skipped = r.skipped;
	s->high = r.high;
	s->made = r.made;
	it->n_ended += s->ended;
	it->n_finished += s->finished;
	row_fill_held(s, &r);
	if (r.place == STREAM_ASSIGNED) {
		s->worker = disp_peer_await(d, r.worker, ROLE_WORKER);
		ring_push(&s->worker->streams, &s->by_worker);
		s->worker->n_streams++;
		if (!s->worker->endpoint) {
			s->worker->endpoint = r.endpoint;
			r.endpoint = NULL;
		}
	}
	s->loaded = true;
	fields_clear(stream_fields, &r);
	return ST_OK;
}

static struct stream *
row_stream_of(struct disp *d, const struct row_load *l)
{
	struct iteration *it = iter_find(d, l->key[0]);

	return it && l->key[1] <= UINT32_MAX ? iter_stream(it, (uint32_t)l->key[1]) : NULL;
}

static enum status
row_get_split(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = row_stream_of(d, l);
	struct row_split r = { 0 };

	if (fields_decode("split row", split_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || r.unit >= s->iter->cut.units.n || l->key[2] >= ROW_MANY)
		return row_orphan(e, "split");
	while (s->n_splits <= l->key[2]) { /* in any order; holes are found at the end */
		if (s->n_splits == s->cap_splits)
			s->splits = mem_grow(s->splits, &s->cap_splits, s->n_splits + 1, sizeof *s->splits);
		s->splits[s->n_splits++] = (struct split_place){ 0 };
	}
	s->splits[l->key[2]] = (struct split_place){ r.unit, r.start, r.count, r.times, r.weight };
	s->saved_splits = s->n_splits;
	return ST_OK;
}

static enum status
row_get_point(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = row_stream_of(d, l);
	struct row_point r = { 0 };
	unsigned i;

	if (fields_decode("restart point row", point_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!s || s->n_points == DISP_POINTS) {
		fields_clear(point_fields, &r);
		return row_orphan(e, "restart point");
	}
	for (i = s->n_points++; i && s->points[i - 1].offset > l->key[2]; i--)
		s->points[i] = s->points[i - 1];
	s->points[i] = (struct point){ l->key[2], r.split, r.state, r.has_state, true };
	return ST_OK;
}

static enum status
row_get_ledger(struct disp *d, const struct row_load *l, struct err *e)
{
	struct stream *s = row_stream_of(d, l);
	struct row_ledger r = { 0 };

	if (fields_decode("ledger row", ledger_fields, l->p, l->n, &r, e))
		return e->kind;
	if (s)
		intervals_add_ranges(&s->acked, &r.acked);
	fields_clear(ledger_fields, &r);
	return s ? ST_OK : row_orphan(e, "ledger");
}

static enum status
row_get_reader(struct disp *d, const struct row_load *l, struct err *e)
{
	struct iteration *it = iter_find(d, l->key[0]);
	struct row_reader r = { 0 };
	struct peer *p;
	struct seat *s;

	if (fields_decode("reader row", reader_fields, l->p, l->n, &r, e))
		return e->kind;
	if (!it || (!r.away && disp_peer(d, r.peer)))
		return row_orphan(e, "reader");
	p = r.away ? NULL : disp_peer_await(d, r.peer, ROLE_READER);
	s = seat_new(d, it, p, l->key[1]);
	s->peer_id = r.peer;
	if (r.away) {
		s->away_since = d->now;
		ring_push(&d->away, &s->away);
	}
	s->seq = r.seq;
	s->acked = r.acked;
	s->checkpoint = r.checkpoint;
	return ST_OK;
}

/* What was under way goes on. */
static enum status
row_go_on(struct disp *d, struct iteration *it, struct err *e)
{
	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		if (!s->loaded)
			return err_set(e, ST_DATA, "stream %u of an iteration has no row", s->index);
		for (size_t k = 0; k < s->n_splits; k++)
			if (!s->splits[k].times)
				return err_set(e, ST_DATA, "split %zu of stream %u has no row", k, s->index);
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
		for (size_t k = 0; s->place == STREAM_ASSIGNED && k < s->n_gone; k++)
			ask_put(d, ASK_GONE, s->worker, stream_key_of(s), s->gone[k]);
	}
	if (it->state == ITER_RUNNING && !it->units_loaded)
		return err_set(e, ST_DATA, "the units of an iteration have no row");
	if (!iter_live(it))
		for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
			if (LIST_OF(n, struct seat, node)->peer)
				ask_put(d, ASK_DONE, LIST_OF(n, struct seat, node)->peer, (struct stream_key){ it->id, 0, 0 }, 0);
	iter_check(d, it);
	return ST_OK;
}

static enum status
row_jobs_go_on(struct disp *d, struct err *e)
{
	struct list_node *n, *next;

	for (n = d->job_list.next; n != &d->job_list; n = next) {
		struct job *j = LIST_OF(n, struct job, node);
		bool live = false;

		next = n->next;
		for (size_t i = 0; i < j->n_iters; i++) {
			if (row_go_on(d, j->iters[i], e))
				return e->kind;
			live |= iter_live(j->iters[i]);
		}
		if (j->users)
			continue;
		/* Its reader never got an answer, and will open it anew. */
		if (!*j->name && live && !j->keep)
			job_free(d, j);
		else
			job_idle(d, j);
	}
	return ST_OK;
}

enum status
disp_loaded(struct disp *d, int64_t now_ns, struct err *e)
{
	static enum status (*const get[ROW_KINDS])(struct disp *, const struct row_load *, struct err *) = {
		[ROW_META] = row_get_meta, [ROW_DATASET] = row_get_dataset, [ROW_JOB] = row_get_job,
		[ROW_ITERATION] = row_get_iter, [ROW_UNITS] = row_get_units, [ROW_STREAM] = row_get_stream,
		[ROW_SPLIT] = row_get_split, [ROW_POINT] = row_get_point, [ROW_LEDGER] = row_get_ledger,
		[ROW_READER] = row_get_reader,
	};
	struct hash by_number = { 0 };
	enum status st = ST_OK;

	/* The peers of before have as long again as usual to come back. */
	d->now = now_ns + d->o.loss_ms * 1000000ll;
	d->by_number = &by_number;
	for (unsigned k = 1; d->loads && k < ROW_KINDS && !st; k++)
		for (size_t i = 0; i < d->loads->of[k].n && !st; i++)
			st = get[k](d, &d->loads->of[k].v[i], e);
	d->now = now_ns;
	if (!st)
		st = row_jobs_go_on(d, e);
	d->by_number = NULL;
	hash_clear(&by_number);
	row_loads_free(d);
	return st ? err_wrap(e, "the dispatcher's state is damaged") : ST_OK;
}
