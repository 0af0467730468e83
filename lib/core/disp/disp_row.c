/* SPDX-License-Identifier: MIT
 *
 * Durable rows: each object as a list of its fields.
 */
#include "base/mem.h"
#include "core/disp/disp_row.h"
#include "wire/table.h"

const struct field row_meta_fields[] = {
	U32(row_meta, version, 0, NULL), U64(row_meta, instance, NULL), U64(row_meta, next_id, NULL),
	U64(row_meta, key, NULL), U64(row_meta, index, NULL), { 0 }
};
const struct field row_dataset_fields[] = {
	NAME(row_dataset, id, NULL), TEXT(row_dataset, spec, WIRE_SPEC_MAX, NULL),
	TEXT(row_dataset, type, WIRE_SPEC_MAX, NULL), BOOL(row_dataset, registered, NULL), { 0 }
};
const struct field row_job_fields[] = {
	PART(row_job, "name", TEXT, opts.name, WIRE_NAME_MAX, NULL),
	PART(row_job, "options", TEXT, opts.options, WIRE_TEXT_MAX, NULL),
	U64(row_job, dataset, NULL), PART(row_job, "seed", U64, opts.seed, 0, NULL),
	PART(row_job, "sharding", U32, opts.sharding, JOB_SHARDINGS - 1, NULL),
	PART(row_job, "order", U32, opts.order, JOB_ORDERS - 1, NULL),
	PART(row_job, "shards", U64, opts.shards, WIRE_STREAMS_MAX, NULL),
	PART(row_job, "seeded", BOOL, opts.seeded, 0, NULL), BOOL(row_job, keep, NULL), { 0 }
};
const struct field row_iter_fields[] = {
	U64(row_iter, job, NULL), U64(row_iter, seed, NULL), U64(row_iter, times, NULL),
	U64(row_iter, next_seat, NULL), U64(row_iter, pass, NULL), U64(row_iter, pass_times, NULL),
	U64(row_iter, unit, NULL), U64(row_iter, at, NULL), U64(row_iter, elements, NULL),
	U64(row_iter, acked, NULL), U64(row_iter, made, NULL), U64(row_iter, again, NULL),
	U64(row_iter, suppressed, NULL), U64(row_iter, repeated, NULL),
	U64(row_iter, failed, NULL), U64(row_iter, max_errors, NULL),
	U32(row_iter, epoch, 0, NULL), U32(row_iter, state, ITER_FAILED, NULL), U32(row_iter, code, 255, NULL),
	U32(row_iter, n_streams, WIRE_STREAMS_MAX, NULL), U32(row_iter, next_fixed, WIRE_STREAMS_MAX, NULL),
	TEXT(row_iter, text, WIRE_TEXT_MAX, NULL), TEXT(row_iter, help, WIRE_TEXT_MAX, NULL),
	BOOL(row_iter, by_split, NULL), BOOL(row_iter, fixed, NULL), BOOL(row_iter, all_known, NULL),
	BOOL(row_iter, short_, NULL), { 0 }
};
const struct field row_units_fields[] = {
	BOOL(row_units, last, NULL),
	{ "units", FIELD_SPLITS, offsetof(struct row_units, units), WIRE_UNITS_PART, NULL, NULL, 0 }, { 0 }
};
static const struct field held_fields[] = {
	U64(row_held, seat, NULL), { "got", FIELD_RANGES, offsetof(struct row_held, got), ROW_MANY, NULL, NULL, 0 }, { 0 }
};
static const struct field gone_fields[] = { U64(row_gone, seat, NULL), { 0 } };
const struct field row_stream_fields[] = {
	U32(row_stream, gen, 0, NULL), U32(row_stream, place, STREAM_ASSIGNED, NULL),
	BOOL(row_stream, running, NULL), BOOL(row_stream, told_end, NULL), BOOL(row_stream, closed, NULL),
	BOOL(row_stream, ended, NULL), BOOL(row_stream, finished, NULL), U64(row_stream, length, NULL),
	U64(row_stream, worker, NULL), U64(row_stream, from, NULL), U64(row_stream, skipped, NULL),
	U64(row_stream, high, NULL), U64(row_stream, made, NULL), U64(row_stream, failed, NULL), U64(row_stream, lost_at, NULL),
	U32(row_stream, lost, 0, NULL), U32(row_stream, blame, 0, NULL), TEXT(row_stream, endpoint, WIRE_TEXT_MAX, NULL),
	{ "presumed", FIELD_RANGES, offsetof(struct row_stream, presumed), ROW_MANY, NULL, NULL, 0 },
	LIST(row_stream, held, WIRE_READERS_MAX, held_fields, struct row_held, NULL),
	LIST(row_stream, gone, ROW_MANY, gone_fields, struct row_gone, NULL), { 0 }
};
const struct field row_split_fields[] = {
	U32(row_split, unit, 0, NULL), U64(row_split, start, NULL), U64(row_split, count, NULL),
	U64(row_split, times, NULL), U64(row_split, weight, NULL), { 0 }
};
const struct field row_point_fields[] = {
	U64(row_point, split, NULL), U64(row_point, failed, NULL), BYTES(row_point, state, WIRE_STATE_MAX, NULL),
	BOOL(row_point, has_state, NULL), { 0 }
};
const struct field row_ledger_fields[] = {
	{ "acked", FIELD_RANGES, offsetof(struct row_ledger, acked), ROW_MANY, NULL, NULL, 0 }, { 0 }
};
const struct field row_reader_fields[] = {
	U64(row_reader, peer, NULL), U64(row_reader, seq, NULL), U64(row_reader, acked, NULL),
	U64(row_reader, from, NULL), BOOL(row_reader, checkpoint, NULL), BOOL(row_reader, away, NULL), { 0 }
};

/* Writing */

void
row_put(struct row_out *o, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c,
	const struct field *fields, const void *base)
{
	buf_reset(&o->b);
	fields_encode(fields, base, &o->b);
	struct disp_row row = { kind, 3, { a, b, c }, o->b.data, o->b.len };
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
		struct row_units r = { .units = { all->v + at, n, n } };

		at += n;
		r.last = at == all->n;
		row_put(o, ROW_UNITS, it->id, part++, 0, row_units_fields, &r);
	} while (at < all->n);
}

static void
row_put_iter(struct row_out *o, struct iteration *it, unsigned what)
{
	const struct cut_pos *c = &it->cut.pos;
	struct row_iter r = { .job = it->job->number, .seed = it->seed, .times = it->times,
		.next_seat = it->next_seat, .pass = c->pass, .pass_times = c->times, .unit = c->unit, .at = c->at,
		.elements = it->elements, .acked = it->acked, .made = it->made, .again = it->again,
		.suppressed = it->suppressed, .repeated = it->repeated, .failed = it->failed,
		.max_errors = it->max_errors, .epoch = it->epoch,
		.state = it->state, .code = it->code, .n_streams = (uint32_t)it->n_streams,
		.next_fixed = it->next_fixed, .text = it->text, .help = it->help, .by_split = it->by_split,
		.fixed = it->fixed, .all_known = it->all_known, .short_ = it->short_ };

	if (what & DIRTY_UNITS)
		row_put_units(o, it);
	row_put(o, ROW_ITERATION, it->id, 0, 0, row_iter_fields, &r);
}

static void
row_put_stream_row(struct row_out *o, struct stream *s)
{
	struct row_stream r = { .gen = s->gen, .place = s->place, .running = s->running,
		.told_end = s->told_end, .closed = s->closed, .ended = s->ended, .finished = s->finished,
		.length = s->length, .worker = s->worker ? s->worker->id : 0, .from = s->from,
		.skipped = s->skipped, .high = s->high, .made = s->made, .failed = s->failed,
		.lost = s->lost, .blame = s->blame, .lost_at = s->lost_at,
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
	row_put(o, ROW_STREAM, s->iter->id, s->index, 0, row_stream_fields, &r);
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
		row_put(o, ROW_LEDGER, it, s->index, 0, row_ledger_fields, &r);
	}
	for (; s->saved_splits < s->n_splits; s->saved_splits++) {
		const struct split_place *p = &s->splits[s->saved_splits];
		struct row_split r = { p->unit, p->start, p->count, p->times, p->weight };
		row_put(o, ROW_SPLIT, it, s->index, s->saved_splits, row_split_fields, &r);
	}
	for (unsigned i = 0; i < s->n_points; i++) {
		struct point *p = &s->points[i];
		struct row_point r = { p->split, p->failed, p->state, p->has_state };

		if (!p->saved)
			row_put(o, ROW_POINT, it, s->index, p->offset, row_point_fields, &r);
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
		row_put(o, ROW_DATASET, s->number, 0, 0, row_dataset_fields, &r);
		break;
	}
	case DIRTY_JOB: {
		struct job *j = LIST_OF(x, struct job, dirty);
		struct row_job r = { j->opts, j->dataset->number, j->keep };
		row_put(o, ROW_JOB, j->number, 0, 0, row_job_fields, &r);
		break;
	}
	case DIRTY_ITER: row_put_iter(o, LIST_OF(x, struct iteration, dirty), what); break;
	case DIRTY_STREAM: row_put_stream(o, LIST_OF(x, struct stream, dirty), what); break;
	case DIRTY_SEAT: {
		struct seat *s = LIST_OF(x, struct seat, dirty);
		struct row_reader r = { s->peer_id, s->seq, s->acked, s->from, s->checkpoint, !s->peer };
		row_put(o, ROW_READER, s->iter->id, s->number, 0, row_reader_fields, &r);
		break;
	}
	}
}

size_t
disp_changes(struct disp *d, void (*cb)(void *arg, const struct disp_row *row), void *arg)
{
	struct row_out o = { cb, arg, { 0 }, d->n_deletes, d->o.units_part };

	for (size_t i = 0; cb && i < d->n_deletes; i++)
		cb(arg, &d->deletes[i]);
	d->n_deletes = 0;
	if (cb && d->meta_dirty) {
		struct row_meta r = { ROW_VERSION, d->o.instance, d->next_id, d->rng.key, d->rng.index };
		row_put(&o, ROW_META, 0, 0, 0, row_meta_fields, &r);
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
