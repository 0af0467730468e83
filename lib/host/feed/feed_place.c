/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_place.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/job_opts.h"
#include "value/mp.h"
#include "value/round.h"
#include "wire/table.h"

struct place_row {
	char *name, *dataset;
	uint32_t version, order, epoch, places;
	bool local;
	uint64_t step, rows, seed, skip;
	struct bytes base;
};
static const struct field place_fields[] = {
	NAME(place_row, name, NULL), U32(place_row, version, 0, NULL),
	U64(place_row, step, NULL), U64(place_row, rows, NULL), U32(place_row, epoch, 0, NULL),
	NAME(place_row, dataset, NULL), U64(place_row, seed, NULL), U32(place_row, order, JOB_ORDERS - 1, NULL),
	BOOL(place_row, local, NULL), U32(place_row, places, ROUND_PLACES_MAX, NULL), U64(place_row, skip, NULL),
	BYTES(place_row, base, FEED_POSITION_MAX, NULL), { 0 }
};

void
feed_place_encode(const struct feed_place *p, const struct feed_what *w, struct buf *out)
{
	struct place_row r = { .name = (char *)"dsvc-feed", .version = FEED_PLACE_VERSION, .step = p->step, .rows = p->rows,
		.epoch = p->epoch, .dataset = (char *)(uintptr_t)w->dataset, .seed = w->seed, .order = w->order,
		.local = w->local, .places = w->places, .skip = p->skip / w->unit };

	if (p->base)
		r.base = (struct bytes){ p->base->position.data, p->base->position.len };
	fields_encode(place_fields, &r, out);
}

static enum status
place_fits(const struct place_row *r, const struct feed_what *w, struct err *e)
{
	if (strcmp(str_or_empty(r->name), "dsvc-feed"))
		return err_set(e, ST_DATA, "this is not a position of dsvc-feed");
	if (r->version != FEED_PLACE_VERSION)
		return err_set(e, ST_PROTO, "the position is of version %u, this program reads %d", r->version,
			       FEED_PLACE_VERSION);
	if (w->dataset && strcmp(str_or_empty(r->dataset), w->dataset)) {
		err_set(e, ST_DATA, "the position belongs to dataset `%s`, not to `%s`", str_or_empty(r->dataset), w->dataset);
		err_help(e, "name the pipeline that it was made with, or begin without a position");
		return ST_DATA;
	}
	if (r->order != w->order)
		return err_set(e, ST_USAGE, "the position belongs to order %s, not to order %s",
			       job_order_word((int)r->order), job_order_word((int)w->order));
	if (r->places != w->places) {
		if (r->places && w->places)
			err_set(e, ST_DATA, "the position belongs to steps of %u place%s, not of %u", r->places,
				str_s(r->places), w->places);
		else
			err_set(e, ST_DATA, "the position was made %s --host", r->places ? "with" : "without");
		err_help(e, "on several hosts, also on one with --host, steps stay as large as they were");
		return ST_DATA;
	}
	if (r->local != w->local)
		return err_set(e, ST_USAGE, "the position was made %s --local", r->local ? "with" : "without");
	return ST_OK;
}

enum status
feed_place_decode(const uint8_t *p, size_t n, struct feed_place *place, struct feed_what *w, struct err *e)
{
	struct place_row r = { 0 };

	if (!mp_check(p, n) || fields_decode("position", place_fields, p, n, &r, e))
		return err_set(e, ST_DATA, "this is not a position of dsvc-feed");
	enum status st = place_fits(&r, w, e);
	if (st == ST_OK && r.skip > UINT64_MAX / 2 / w->unit)
		st = err_set(e, ST_DATA, "this is not a position of dsvc-feed");
	if (st == ST_OK) {
		w->seed = r.seed;
		*place = (struct feed_place){ .step = r.step, .rows = r.rows, .epoch = r.epoch,
			.skip = r.skip * w->unit };
		if (r.base.n) {
			place->base = mem_zalloc(sizeof *place->base);
			place->base->refs = 1;
			buf_put(&place->base->position, r.base.p, r.base.n);
		}
	}
	fields_clear(place_fields, &r);
	return st;
}

void
feed_base_unref(struct feed_base **bp)
{
	struct feed_base *b = *bp;

	*bp = NULL;
	if (!b || --b->refs)
		return;
	buf_clear(&b->position);
	mem_free(b);
}

void
feed_place_clear(struct feed_place *p)
{
	feed_base_unref(&p->base);
	*p = (struct feed_place){ 0 };
}
