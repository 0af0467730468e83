/* SPDX-License-Identifier: MIT
 *
 * Durable rows: each object as a list of its fields, and writing them.
 */
#include "core/disp/disp_past.h"
#include "core/disp/disp_row.h"
#include "core/disp/disp_rest.h"
#include "wire/table.h"

/* Lists that grow: a set of offsets, and items of TYPE by their ROWS. */
#define SET(s, f) { #f, FIELD_RANGES, offsetof(struct s, f), ROW_MANY, NULL, NULL, 0, true }
#define ITEMS(s, f, most, rows, type) { #f, FIELD_LIST, offsetof(struct s, f), most, NULL, rows, sizeof(type), true }
/* Checks that these members of a struct stand side by side, as in struct field_list_cap. */
#define SIDE_BY_SIDE(s, items, count, room) \
	_Static_assert(offsetof(struct s, count) == offsetof(struct s, items) + offsetof(struct field_list_cap, n) && \
		       offsetof(struct s, room) == offsetof(struct s, items) + offsetof(struct field_list_cap, cap), #items)

const struct field row_meta_fields[] = {
	PART(disp, "version", U32, row_version, 0, NULL), PART(disp, "instance", U64, o.instance, 0, NULL),
	U64(disp, next_id, NULL), PART(disp, "key", U64, rng.key, 0, NULL), PART(disp, "index", U64, rng.index, 0, NULL),
	PART(disp, "secret_high", U64, o.secret.high, 0, NULL), PART(disp, "secret_low", U64, o.secret.low, 0, NULL), { 0 }
};
const struct field row_dataset_fields[] = {
	NAME(dataset, id, NULL), TEXT(dataset, spec, WIRE_SPEC_MAX, NULL),
	TEXT(dataset, type, WIRE_SPEC_MAX, NULL), BOOL(dataset, registered, NULL),
	NAME(dataset, vouched, NULL), FACTS(dataset, facts),
	PART(dataset, "files", BOOL, facts.files, 0, NULL), { 0 }
};
const struct field row_job_fields[] = {
	PART(job, "name", TEXT, opts.name, WIRE_NAME_MAX, NULL),
	PART(job, "options", TEXT, opts.options, WIRE_TEXT_MAX, NULL),
	PART(job, "dataset", U64, dataset_number, 0, NULL), PART(job, "seed", U64, opts.seed, 0, NULL),
	PART(job, "sharding", U32, opts.sharding, JOB_SHARDINGS - 1, NULL),
	PART(job, "order", U32, opts.order, JOB_ORDERS - 1, NULL),
	PART(job, "shards", U64, opts.shards, WIRE_STREAMS_MAX, NULL),
	PART(job, "seeded", BOOL, opts.seeded, 0, NULL), PART(job, "found", U32, shards, WIRE_STREAMS_MAX, NULL),
	BOOL(job, keep, NULL), PART(job, "target", U32, opts.target, JOB_TARGETS - 1, NULL),
	PART(job, "where", TEXT, opts.where, WIRE_NAME_MAX, NULL),
	PART(job, "compression", U32, opts.compression, JOB_COMPRESSIONS - 1, NULL),
	U32(job, places, ROUND_PLACES_MAX, NULL), PART(job, "tail", U32, opts.tail, JOB_TAILS - 1, NULL),
	PART(job, "tail_of", U32, opts.tail_of, JOB_TAIL_OFS - 1, NULL),
	PART(job, "seat_wait", U64, opts.seat_wait, INT64_MAX, NULL),
	PART(job, "checkpoint_rounds", U64, opts.checkpoint_rounds, INT64_MAX, NULL),
	TEXT(job, owner, WIRE_NAME_MAX, NULL), PART(job, "share", U32, opts.share, JOB_SHARES - 1, NULL),
	PART(job, "share_window", U64, opts.share_window, INT64_MAX, NULL), { 0 }
};
static const struct field part_fields[] = {
	U32(round_part, of, ROUND_PLACES_MAX, NULL), U32(round_part, first, ROUND_PLACES_MAX, NULL),
	U32(round_part, n, ROUND_PLACES_MAX, NULL), { 0 }
};
SIDE_BY_SIDE(iteration, views, n_views, cap_views);
static const struct field number_fields[] = { U64(msg_number, n, NULL), { 0 } };
SIDE_BY_SIDE(base, of, n_of, cap_of);
static const struct field group_fields[] = {
	NAME(group, name, NULL), BOOL(group, ended, NULL), U64(group, acked, NULL), U64(group, missed, NULL),
	TEXT(group, lacks, WIRE_TEXT_MAX, NULL), U64(group, repeated, NULL), BOOL(group, had_all, NULL), { 0 }
};
SIDE_BY_SIDE(groups, v, n, cap);
static const struct field shard_fields[] = { U64(shard_sum, acked, NULL), U64(shard_sum, files, NULL), { 0 } };
SIDE_BY_SIDE(shard_sums, v, n, cap);
const struct field row_iter_fields[] = {
	PART(iteration, "job", U64, job_number, 0, NULL), U64(iteration, seed, NULL), U64(iteration, times, NULL),
	U64(iteration, next_seat, NULL), PART(iteration, "pass", U64, cut.pos.pass, 0, NULL),
	PART(iteration, "pass_times", U64, cut.pos.times, 0, NULL), PART(iteration, "unit", U64, cut.pos.unit, 0, NULL),
	PART(iteration, "at", U64, cut.pos.at, 0, NULL), U64(iteration, elements, NULL),
	U64(iteration, acked, NULL), U64(iteration, made, NULL), U64(iteration, again, NULL),
	U64(iteration, suppressed, NULL), U64(iteration, repeated, NULL),
	U64(iteration, failed, NULL), U64(iteration, max_errors, NULL),
	U32(iteration, epoch, 0, NULL), U32(iteration, state, ITER_FAILED, NULL), U32(iteration, code, 255, NULL),
	U32(iteration, n_streams, WIRE_STREAMS_MAX, NULL), U32(iteration, next_fixed, WIRE_STREAMS_MAX, NULL),
	U32(iteration, sharding, JOB_SHARDINGS - 1, NULL),
	TEXT(iteration, text, WIRE_TEXT_MAX, NULL), TEXT(iteration, help, WIRE_TEXT_MAX, NULL),
	BOOL(iteration, by_split, NULL), BOOL(iteration, fixed, NULL), BOOL(iteration, all_known, NULL),
	BOOL(iteration, short_, NULL), U64(iteration, period, NULL), BOOL(iteration, reached, NULL),
	BOOL(iteration, gathered, NULL), BOOL(iteration, by_one, NULL),
	PART(iteration, "fenced", BOOL, fence.known, 0, NULL),
	PART(iteration, "fence", U64, fence.rounds, 0, NULL), SET(iteration, fence.left), SET(iteration, closed),
	PART(iteration, "begin", U64, base.begin, 0, NULL),
	ITEMS(iteration, base.of, WIRE_STREAMS_MAX, number_fields, struct msg_number), U64(iteration, in_rounds, NULL),
	U64(iteration, dropped, NULL), ITEMS(iteration, views, ROUND_PLACES_MAX, part_fields, struct round_part),
	ITEMS(iteration, groups, DISP_GROUPS, group_fields, struct group),
	ITEMS(iteration, shards, SHARD_SUMS, shard_fields, struct shard_sum),
	PART(iteration, "files", U64, stored.files, 0, NULL), PART(iteration, "stored", U64, stored.elements, 0, NULL),
	PART(iteration, "bytes", U64, stored.bytes, 0, NULL), U32(iteration, had_streams, WIRE_STREAMS_MAX, NULL),
	BOOL(iteration, marked, NULL), { 0 }
};
const struct field row_units_fields[] = {
	BOOL(units_listed, last, NULL),
	{ "units", FIELD_SPLITS, offsetof(struct units_listed, units), WIRE_UNITS_PART, NULL, NULL, 0, false }, { 0 }
};
static const struct field held_fields[] = {
	U64(stream_held, seat, NULL), SET(stream_held, got), U32(stream_held, view, 0, NULL), { 0 }
};
static const struct field gone_fields[] = { U64(stream_gone, seat, NULL), U32(stream_gone, view, 0, NULL), { 0 } };
SIDE_BY_SIDE(intervals, v, n, cap);
SIDE_BY_SIDE(stream, held, n_held, cap_held);
SIDE_BY_SIDE(stream, gone, n_gone, cap_gone);
SIDE_BY_SIDE(stream, owing, n_owing, cap_owing);
const struct field row_stream_fields[] = {
	U32(stream, gen, 0, NULL), U32(stream, place, STREAM_ASSIGNED, NULL),
	BOOL(stream, running, NULL), BOOL(stream, told_end, NULL), BOOL(stream, closed, NULL),
	BOOL(stream, ended, NULL), BOOL(stream, finished, NULL), U64(stream, length, NULL),
	PART(stream, "worker", U64, row_worker.id, 0, NULL), U64(stream, from, NULL), U64(stream, skipped, NULL),
	U64(stream, high, NULL), U64(stream, made, NULL), U64(stream, failed, NULL), U64(stream, lost_at, NULL),
	U32(stream, lost, 0, NULL), U32(stream, blame, 0, NULL),
	PART(stream, "endpoint", TEXT, row_worker.endpoint, WIRE_TEXT_MAX, NULL),
	ITEMS(stream, held, WIRE_READERS_MAX, held_fields, struct stream_held),
	ITEMS(stream, gone, ROW_MANY, gone_fields, struct stream_gone),
	PART(stream, "user", TEXT, row_worker.user, WIRE_NAME_MAX, NULL), U64(stream, renewed, NULL),
	PART(stream, "files", U64, stored.files, 0, NULL), PART(stream, "stored", U64, stored.elements, 0, NULL),
	PART(stream, "bytes", U64, stored.bytes, 0, NULL),
	PART(stream, "name", TEXT, row_worker.name, WIRE_NAME_MAX, NULL), U64(stream, lost_count, NULL),
	U64(stream, mark, NULL), ITEMS(stream, owing, WIRE_READERS_MAX, number_fields, struct msg_number),
	U32(stream, losses, 0, NULL), { 0 }
};
const struct field row_split_fields[] = {
	U32(split_place, unit, 0, NULL), U64(split_place, start, NULL), U64(split_place, count, NULL),
	U64(split_place, times, NULL), U64(split_place, weight, NULL), { 0 }
};
const struct field row_point_fields[] = {
	U64(point, split, NULL), U64(point, failed, NULL), BYTES(point, state, WIRE_STATE_MAX, NULL),
	BOOL(point, has_state, NULL), { 0 }
};
const struct field row_ledger_fields[] = {
	SET(view, acked), SET(view, presumed), SET(view, missed), BOOL(view, fresh, NULL),
	U64(view, missed_more, NULL), BOOL(view, joins, NULL), { 0 }
};
const struct field row_reader_fields[] = {
	PART(seat, "peer", U64, peer_id, 0, NULL), U64(seat, seq, NULL), U64(seat, acked, NULL),
	U64(seat, from, NULL), U64(seat, had, NULL), TEXT(seat, shard, WIRE_TEXT_MAX, NULL),
	BOOL(seat, checkpoint, NULL), PART(seat, "away", BOOL, is_away, 0, NULL), NAME(seat, host, NULL),
	U32(seat, view, 0, NULL), NAME(seat, user, NULL), { 0 }
};

/* Writing */

void
row_put(struct row_out *o, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c,
	const struct field *fields, const void *base)
{
	buf_reset(&o->b);
	fields_encode(fields, base, &o->b);
	struct disp_row row = { .kind = kind, .n_key = 3, .key = { a, b, c }, .blob = o->b.data, .n = o->b.len };
	o->cb(o->arg, &row);
	o->n++;
}

void
row_put_units(struct row_out *o, const struct iteration *it)
{
	const struct split_list *all = &it->cut.units;
	size_t most = o->units_part ? o->units_part : WIRE_UNITS_PART, at = 0, part = 0;

	do {
		size_t n = split_list_part(all, at, most, WIRE_UNITS_BYTES);
		struct units_listed r = { .units = { all->v + at, n, n } };

		at += n;
		r.last = at == all->n;
		row_put(o, ROW_UNITS, it->id, part++, 0, row_units_fields, &r);
	} while (at < all->n);
}

static void
row_put_iter(struct row_out *o, struct iteration *it, unsigned what)
{
	if (what & DIRTY_UNITS)
		row_put_units(o, it);
	row_put(o, ROW_ITERATION, it->id, 0, 0, row_iter_fields, it);
}

static void
row_put_ledgers(struct row_out *o, struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++) {
		if (s->views[i].dirty)
			row_put(o, ROW_LEDGER, s->iter->id, s->index, i, row_ledger_fields, &s->views[i]);
		s->views[i].dirty = false;
	}
}

static void
row_put_stream(struct row_out *o, struct stream *s, unsigned what)
{
	uint64_t it = s->iter->id;

	if (what & DIRTY_ROW) {
		if (s->worker)
			s->row_worker = (struct stream_worker){ s->worker->id, s->worker->endpoint, s->worker->user,
				s->worker->name };
		row_put(o, ROW_STREAM, it, s->index, 0, row_stream_fields, s);
		s->row_worker = (struct stream_worker){ 0 };
	}
	if (what & DIRTY_LEDGER)
		row_put_ledgers(o, s);
	for (; s->saved_splits < s->n_splits; s->saved_splits++)
		row_put(o, ROW_SPLIT, it, s->index, s->saved_splits, row_split_fields,
			past_split(s, s->saved_splits));
	for (unsigned i = 0; i < s->n_points; i++) {
		struct point *p = &s->points[i];

		if (!p->saved)
			row_put(o, ROW_POINT, it, s->index, p->offset, row_point_fields, p);
		p->saved = true;
		past_saved(o->d, p);
	}
}

static void
row_put_dirty(struct row_out *o, struct dirty *x, unsigned what)
{
	switch (x->kind) {
	case DIRTY_DATASET: {
		struct dataset *s = LIST_OF(x, struct dataset, dirty);
		row_put(o, ROW_DATASET, s->number, 0, 0, row_dataset_fields, s);
		break;
	}
	case DIRTY_JOB: {
		struct job *j = LIST_OF(x, struct job, dirty);
		if (what & DIRTY_ROW)
			row_put(o, ROW_JOB, j->number, 0, 0, row_job_fields, j);
		break;
	}
	case DIRTY_ITER: row_put_iter(o, LIST_OF(x, struct iteration, dirty), what); break;
	case DIRTY_STREAM: row_put_stream(o, LIST_OF(x, struct stream, dirty), what); break;
	case DIRTY_SEAT: {
		struct seat *s = LIST_OF(x, struct seat, dirty);
		s->is_away = !s->peer;
		row_put(o, ROW_READER, s->iter->id, s->number, 0, row_reader_fields, s);
		break;
	}
	}
}

size_t
disp_changes(struct disp *d, void (*cb)(void *arg, const struct disp_row *row), void *arg)
{
	struct row_out o = { cb, arg, { 0 }, d->n_deletes, d->o.units_part, d };

	for (size_t i = 0; cb && i < d->n_deletes; i++)
		cb(arg, &d->deletes[i]);
	d->n_deletes = 0;
	if (cb && d->meta_dirty) {
		d->row_version = ROW_VERSION;
		row_put(&o, ROW_META, 0, 0, 0, row_meta_fields, d);
	}
	d->meta_dirty = false;
	while (!ring_empty(&d->dirty)) {
		struct dirty *x = LIST_OF(d->dirty.next, struct dirty, node);
		unsigned what = x->what;

		ring_drop(&x->node);
		x->what = 0;
		if (cb)
			row_put_dirty(&o, x, what);
		if (what & DIRTY_REST)
			job_rest(d, LIST_OF(x, struct job, dirty));
	}
	buf_clear(&o.b);
	return o.n;
}
