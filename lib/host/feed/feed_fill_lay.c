/* SPDX-License-Identifier: MIT
 *
 * The ring of steps: the first element says how rows lie in it, and larger ones widen it.
 */
#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_even.h"
#include "host/feed/feed_fill_inner.h"
#include "host/feed/feed_npy.h"
#include "value/type_zero.h"

enum { LAY_SMALL_BYTES = 1 << 20, LAY_SLOTS_MOST = 64 };

/* The slots that are worth their memory: more of small ones. */
static uint32_t
lay_slots(const struct feed_fill *f, size_t bytes)
{
	size_t fit = LAY_SMALL_BYTES / bytes;
	uint32_t least = f->c.prefetch + 2;

	fit = fit > LAY_SLOTS_MOST ? LAY_SLOTS_MOST : fit;
	return least < fit ? (uint32_t)fit : least;
}

/* Makes a ring from columns, which it takes. */
static enum status
lay_ring(struct feed_fill *f, struct columns *c, uint64_t rows, uint64_t each, struct err *e)
{
	struct feed_ring *ring;

	if (!columns_lay(c, rows, each, f->c.slot_max)) {
		columns_free(&c);
		err_set(e, ST_DATA, "a step of %llu row%s has more than %zu bytes", (unsigned long long)rows, str_s(rows),
			f->c.slot_max);
		err_help(e, "--slot-max allows more");
		return ST_DATA;
	}
	if (!f->slots) {
		f->slots = lay_slots(f, c->bytes);
		f->slot = mem_array(f->slots, sizeof *f->slot);
	}
	enum status st = feed_ring_new(c, f->slots, f->c.element == FEED_COPIED && f->c.cores > 1, &ring, e);
	if (st != ST_OK)
		return st;
	feed_ring_unref(&f->ring);
	f->ring = ring;
	return ST_OK;
}

/* Whether steps of these columns can be what was asked for; rows: of a step. */
static enum status
lay_check(const struct feed_fill *f, const struct columns *c, uint64_t rows, struct err *e)
{
	enum status st = f->c.arrays ? feed_npy_check(c, e) : ST_OK;

	if (st != ST_OK || f->c.element != FEED_CUT)
		return st;
	if (!c->whole)
		return feed_even(rows, f->c.parts, e);
	err_set(e, ST_DATA, "elements have no common axis along which they could be cut");
	err_help(e, f->c.axes.n ? "--axis FIELD=K: all tensors of that field have an axis K, as long as the others' first" :
		"--element core gives each core whole elements; --batch N makes batches of them");
	return ST_DATA;
}

enum status
feed_fill_lay(struct feed_fill *f, const uint8_t *p, size_t len, struct err *e)
{
	struct columns *c;
	enum status st = ST_OK;

	if (f->c.expect)
		st = type_expect(f->c.expect, type_of_value(f->types, p, len), "--expect ", e);
	if (st == ST_OK)
		st = columns_record(p, len, f->c.type, f->c.element != FEED_ROWS, &f->c.axes, f->c.mask, &c, &f->each, e);
	if (st != ST_OK)
		return st;
	uint64_t rows = f->c.element == FEED_ROWS ? f->c.batch : f->c.element == FEED_PER_CORE ? f->each * f->c.cores :
		f->each;
	st = lay_check(f, c, rows, e);
	if (st != ST_OK)
		columns_free(&c);
	else
		st = lay_ring(f, c, rows, f->each ? f->each : 1, e);
	if (st != ST_OK)
		return st;
	struct feed_place first = f->place[0];
	mem_free(f->place);
	f->places = 2 * f->slots + 8;
	f->place = mem_array(f->places, sizeof *f->place);
	f->place[first.step % f->places] = first;
	feed_set_rows(f->machine, rows, f->slots);
	return ST_OK;
}

enum status
feed_fill_guess(struct feed_fill *f, struct err *e)
{
	struct buf b = { 0 };
	enum status st = ST_DATA;

	if (f->c.element == FEED_ROWS && type_zero(f->c.expect ? f->c.expect : f->c.type, &b))
		st = feed_fill_lay(f, b.data, b.len, e);
	else {
		err_set(e, ST_DATA, "all rows of this host are padding, and their structure is not known");
		err_help(e, "a smaller --batch, or fewer hosts");
	}
	buf_clear(&b);
	return st;
}

/* A heap is full: a ring of wider slots, with what this step has so far. */
static enum status
lay_widen(struct feed_fill *f, uint32_t slot, uint64_t rows, struct err *e)
{
	struct feed_ring *was = feed_ring_ref(f->ring);
	struct columns *c = columns_copy(was->columns);

	columns_widen(c, f->c.slot_max);
	enum status st = lay_ring(f, c, was->columns->rows, 0, e);
	if (st == ST_OK)
		columns_move(was->columns, feed_ring_slot(was, slot), f->ring->columns, feed_ring_slot(f->ring, slot), rows);
	feed_ring_unref(&was);
	return st;
}

/* The step of that slot lies in the newest ring. */
static void
lay_hold(struct feed_fill *f, uint32_t slot)
{
	if (f->slot[slot] == f->ring)
		return;
	feed_ring_unref(&f->slot[slot]);
	f->slot[slot] = feed_ring_ref(f->ring);
}

enum status
feed_fill_into(struct feed_fill *f, uint32_t slot, uint64_t row, uint64_t room, const uint8_t *p, size_t len,
	       uint64_t *rows, struct err *e)
{
	enum status st;

	while ((st = columns_put(f->ring->columns, feed_ring_slot(f->ring, slot), row, room, p, len, rows, e)) == ST_AGAIN)
		if ((st = lay_widen(f, slot, row, e)) != ST_OK)
			return st;
	lay_hold(f, slot);
	return st;
}

enum status
feed_fill_pad(struct feed_fill *f, uint32_t slot, uint64_t row, uint64_t n, struct err *e)
{
	enum status st = ST_OK;

	while (n && st == ST_OK && !columns_pad(f->ring->columns, feed_ring_slot(f->ring, slot), row, n, f->c.pad_last))
		st = lay_widen(f, slot, row, e);
	lay_hold(f, slot);
	return st;
}

struct feed_ring *
feed_fill_ring(const struct feed_fill *f, uint32_t slot)
{
	return slot < f->slots ? f->slot[slot] : NULL;
}
