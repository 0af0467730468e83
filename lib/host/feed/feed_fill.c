/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_even.h"
#include "host/feed/feed_fill_inner.h"
#include "host/feed/feed_npy.h"
#include "value/mp.h"
#include "value/type_zero.h"

enum { FILL_NIL = 0xc0, FILL_SMALL_BYTES = 1 << 20, FILL_SLOTS_MOST = 64 };

enum status
feed_fill_new(const struct feed_fill_conf *c, struct feed *machine, struct feed_source *source,
	      const struct feed_place *begin, uint64_t over, struct feed_fill **out)
{
	struct feed_fill *f = mem_zalloc(sizeof *f);

	f->c = *c;
	f->machine = machine;
	f->source = source;
	f->step = begin->step;
	f->over = over;
	f->rows = f->all = begin->rows;
	f->epoch = begin->epoch ? begin->epoch : 1;
	f->base = feed_base_ref(begin->base);
	f->skip = !source || feed_source_skips(source) ? 0 : begin->skip;
	f->behind = begin->skip - f->skip;
	f->part = begin->base || begin->skip;
	f->pass = f->step;
	f->pass_known = !f->part;
	f->places = 1;
	f->place = mem_array(f->places, sizeof *f->place);
	f->types = types_new();
	feed_set_epoch(machine, f->epoch);
	f->behind += f->skip;
	feed_fill_note(f);
	f->behind -= f->skip;
	*out = f;
	return ST_OK;
}

void
feed_fill_free(struct feed_fill **fp)
{
	struct feed_fill *f = *fp;

	*fp = NULL;
	if (!f)
		return;
	for (uint32_t i = 0; i < f->slots; i++)
		feed_ring_unref(&f->slot[i]);
	for (size_t i = 0; i < f->places; i++)
		feed_base_unref(&f->place[i].base);
	feed_base_unref(&f->base);
	feed_ring_unref(&f->ring);
	types_free(&f->types);
	mem_free(f->slot);
	mem_free(f->place);
	mem_free(f);
}

/* The first element */

static enum status
fill_expect(struct feed_fill *f, const uint8_t *p, size_t len, struct err *e)
{
	if (!f->c.expect)
		return ST_OK;
	return type_expect(f->c.expect, type_of_value(f->types, p, len), "--expect ", e);
}

/* Makes a ring from columns, which it takes. */
static enum status
fill_ring(struct feed_fill *f, struct columns *c, uint64_t rows, size_t least, struct err *e)
{
	if (!columns_lay(c, rows, least, f->c.slot_max)) {
		columns_free(&c);
		err_set(e, ST_DATA, "a step of %llu row%s has more than %zu bytes", (unsigned long long)rows, str_s(rows),
			f->c.slot_max);
		err_help(e, "--slot-max allows more");
		return ST_DATA;
	}
	if (!f->slots) {
		size_t fit = FILL_SMALL_BYTES / c->bytes;

		f->slots = f->c.prefetch + 2;
		if (fit > FILL_SLOTS_MOST)
			fit = FILL_SLOTS_MOST;
		if (f->slots < fit)
			f->slots = (uint32_t)fit;
		f->slot = mem_array(f->slots, sizeof *f->slot);
	}
	struct feed_ring *ring;
	enum status st = feed_ring_new(c, f->slots, f->c.element == FEED_COPIED && f->c.cores > 1, &ring, e);
	if (st != ST_OK)
		return st;
	feed_ring_unref(&f->ring);
	f->ring = ring;
	return ST_OK;
}

static enum status
fill_begin(struct feed_fill *f, const uint8_t *p, size_t len, struct err *e)
{
	bool batches = f->c.element != FEED_ROWS;
	struct columns *c;
	uint64_t rows;
	enum status st = fill_expect(f, p, len, e);

	if (st == ST_OK)
		st = columns_record(p, len, f->c.type, batches, &f->c.axes, f->c.mask, &c, &f->each, e);
	if (st != ST_OK)
		return st;
	if (f->c.arrays && (st = feed_npy_check(c, e)) != ST_OK) {
		columns_free(&c);
		return st;
	}
	if (c->whole && f->c.element == FEED_CUT) {
		columns_free(&c);
		err_set(e, ST_DATA, "elements have no common axis along which they could be cut");
		err_help(e, f->c.axes.n ? "--axis FIELD=K: all tensors of that field have an axis K, as long as the others' first" :
			"--element core gives each core whole elements; --batch N makes batches of them");
		return ST_DATA;
	}
	rows = f->c.element == FEED_ROWS ? f->c.batch : f->c.element == FEED_PER_CORE ? f->each * f->c.cores : f->each;
	if (f->c.element == FEED_CUT && (st = feed_even(rows, f->c.parts, e)) != ST_OK) {
		columns_free(&c);
		return st;
	}
	st = fill_ring(f, c, rows, 2 * len / (f->each ? f->each : 1) + 1, e);
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

/* A heap is full: a ring of wider slots, with what this step has so far. */
static enum status
fill_widen(struct feed_fill *f, uint8_t *old, uint64_t rows, uint32_t slot, struct err *e)
{
	struct feed_ring *was = feed_ring_ref(f->ring);
	struct columns *c = columns_copy(was->columns);

	columns_widen(c);
	enum status st = fill_ring(f, c, was->columns->rows, 0, e);
	if (st == ST_OK)
		columns_move(was->columns, old, f->ring->columns, feed_ring_slot(f->ring, slot), rows);
	feed_ring_unref(&was);
	return st;
}

/* Elements */

static enum status
fill_blame(const struct feed_fill *f, uint64_t row, const struct elem *x, struct err *e)
{
	const char *file;
	uint64_t line;

	if (e->kind != ST_DATA)
		return e->kind;
	if (x && f->cur.run && run_place(f->cur.run, x, &file, &line) && file)
		return err_wrap(e, "step %llu, row %llu (%s line %llu)", (unsigned long long)f->step,
				(unsigned long long)row, file, (unsigned long long)line);
	if (!x)
		return err_wrap(e, "step %llu, row %llu (stream %u, offset %llu)", (unsigned long long)f->step,
				(unsigned long long)row, f->cur.stream, (unsigned long long)f->cur.offset);
	return err_wrap(e, "step %llu, row %llu", (unsigned long long)f->step, (unsigned long long)row);
}

static uint64_t
fill_elements_of_step(const struct feed_fill *f)
{
	return f->c.element == FEED_ROWS ? f->c.batch : f->c.element == FEED_PER_CORE ? f->c.cores : 1;
}

/* A step is complete. */
static void
fill_stepped(struct feed_fill *f, int64_t now_ns)
{
	feed_fill_base(f, now_ns);
	f->step++;
	f->in_step = f->nulls = 0;
	f->all += f->ring ? f->ring->columns->rows * f->c.hosts : 0;
	feed_fill_note(f);
}

static void
fill_passed_over(struct feed_fill *f, int64_t now_ns)
{
	if (++f->in_step < fill_elements_of_step(f))
		return;
	f->over--;
	f->rows += f->in_step * f->each;
	fill_stepped(f, now_ns);
}

/* Puts one element, whose bytes are checked. */
static enum status
fill_put(struct feed_fill *f, int64_t now_ns, const uint8_t *p, size_t len, const struct elem *x, struct err *e)
{
	uint64_t row, rows, room = f->ring->columns->rows;
	uint32_t slot = feed_slot(f->machine, &row);
	enum status st;

	if (f->nulls) {
		err_set(e, ST_DATA, "a null was followed by an element, and in steps of several hosts null is padding");
		err_help(e, "make null something else, for example with `map` and `??`");
		return fill_blame(f, row, x, e);
	}
	if (f->small) {
		err_set(e, ST_DATA, "a batch of fewer than %llu row%s was followed by another",
			(unsigned long long)f->each, str_s(f->each));
		err_help(e, "only the last batch may be smaller; or give rows, with --batch N");
		return fill_blame(f, row, x, e);
	}
	if (f->c.element != FEED_ROWS && room - row > f->each)
		room = row + f->each;
	while ((st = columns_put(f->ring->columns, feed_ring_slot(f->ring, slot), row, room - row, p, len, &rows, e)) ==
	       ST_AGAIN) {
		st = fill_widen(f, feed_ring_slot(f->ring, slot), row, slot, e);
		if (st != ST_OK)
			return st;
	}
	if (st != ST_OK)
		return fill_blame(f, row, x, e);
	f->small = rows < f->each;
	f->rows += rows;
	bool full = row + rows == f->ring->columns->rows;
	if (f->slot[slot] != f->ring) {
		feed_ring_unref(&f->slot[slot]);
		f->slot[slot] = feed_ring_ref(f->ring);
	}
	if (full)
		fill_stepped(f, now_ns);
	feed_put(f->machine, now_ns, rows);
	return ST_OK;
}

/* The next element of what was taken: its bytes, which are checked. False: it is malformed. */
static bool
fill_next(struct feed_fill *f, const uint8_t **p, size_t *len, const struct elem **x)
{
	*x = NULL;
	if (!f->cur.p) {
		*x = f->cur.e++;
		*p = (*x)->p;
		*len = (*x)->len;
		return true;
	}
	const uint8_t *next = mp_check_next(f->cur.p, f->cur.end);
	*p = f->cur.p;
	*len = next ? (size_t)(next - f->cur.p) : 0;
	return next != NULL;
}

static void
fill_used(struct feed_fill *f, size_t len)
{
	if (f->cur.p)
		f->cur.p += len;
	f->cur.n--;
	f->cur.offset++;
	f->used++;
	f->count++;
	f->behind++;
	f->part = true;
	if (f->cur.n)
		return;
	feed_source_used(f->source, f->used);
	f->used = 0;
}

/* Without a position it begins where the pass does. An earlier run of this host may have taken elements that
 * no core is known to have got. */
static enum status
fill_first(struct feed_fill *f, struct err *e)
{
	if (f->seen_first)
		return ST_OK;
	f->seen_first = true;
	if (f->base || !feed_source_midway(f->source))
		return ST_OK;
	err_set(e, ST_TEMP, "an earlier run of this host has taken rows of this pass, which would be missing");
	err_help(e, "go on with all hosts, from their positions, in a job of another name");
	return ST_TEMP;
}

/* Short steps */

/* This host has nothing but padding, so far: elements are taken to be what their type says. */
static enum status
fill_guess(struct feed_fill *f, struct err *e)
{
	struct buf b = { 0 };
	enum status st = ST_DATA;

	if (f->c.element == FEED_ROWS && type_zero(f->c.expect ? f->c.expect : f->c.type, &b))
		st = fill_begin(f, b.data, b.len, e);
	else {
		err_set(e, ST_DATA, "all rows of this host are padding, and their structure is not known");
		err_help(e, "a smaller --batch, or fewer hosts");
	}
	buf_clear(&b);
	return st;
}

static void
fill_hold(struct feed_fill *f, uint32_t slot)
{
	if (f->slot[slot] == f->ring)
		return;
	feed_ring_unref(&f->slot[slot]);
	f->slot[slot] = feed_ring_ref(f->ring);
}

static enum status
fill_pad(struct feed_fill *f, uint32_t slot, uint64_t row, uint64_t n, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && !columns_pad(f->ring->columns, feed_ring_slot(f->ring, slot), row, n, f->c.pad_last))
		st = fill_widen(f, feed_ring_slot(f->ring, slot), row, slot, e);
	fill_hold(f, slot);
	return st;
}

/* Ends the step that is not full, if it is one; *n: its places, 0: it is none. */
static enum status
fill_short(struct feed_fill *f, uint64_t *n, struct err *e)
{
	uint64_t real;
	uint32_t slot = feed_slot(f->machine, &real);
	enum status st = ST_OK;

	*n = 0;
	if (f->nulls && !f->ring && (st = fill_guess(f, e)) != ST_OK)
		return st;
	if (!real && !f->nulls)
		return ST_OK;
	if (f->nulls) {
		slot = feed_slot(f->machine, &real);
		feed_hollow(f->machine);
	}
	*n = f->ring->columns->rows;
	if (f->c.tail == FEED_TAIL_ERROR) {
		err_set(e, ST_DATA, "the last step has %llu of %llu rows", (unsigned long long)real, (unsigned long long)*n);
		err_help(e, "--tail pad, drop or short gives something to do with them");
		return ST_DATA;
	}
	f->tail = real;
	f->tail_of = *n;
	if (f->c.tail == FEED_DROP) {
		f->dropped += real;
		f->rows -= real;
		*n = 0;
		return ST_OK;
	}
	fill_hold(f, slot);
	st = f->c.tail == FEED_PAD ? fill_pad(f, slot, real, *n - real, e) : ST_OK;
	f->nulls = 0;
	return st;
}

/* With `tails`: the round that is a step is over, and the step is not full, so a stream has ended. */
static enum status
fill_round(struct feed_fill *f, int64_t now_ns, struct err *e)
{
	uint64_t n;
	enum status st = fill_short(f, &n, e);

	if (st != ST_OK)
		return st;
	f->small = false;
	fill_stepped(f, now_ns);
	feed_short(f->machine, now_ns);
	return ST_OK;
}

/* Handles the elements that were taken, up to the end of the room. */
static enum status
fill_some(struct feed_fill *f, int64_t now_ns, struct err *e)
{
	enum status st = ST_OK;

	while (f->cur.n && st == ST_OK) {
		const struct elem *x;
		const uint8_t *p;
		size_t len;

		if (f->ring && !f->over && !feed_room(f->machine))
			return ST_AGAIN;
		if (!fill_next(f, &p, &len, &x))
			return err_set(e, ST_PROTO, "a worker sent malformed elements");
		if (f->skip) {
			f->skip--;
			fill_used(f, len);
			continue;
		}
		if (f->c.rounds && (st = fill_first(f, e)) != ST_OK)
			return st;
		bool null = f->c.padded && len == 1 && *p == FILL_NIL;
		if (!null && !f->ring && (st = fill_begin(f, p, len, e)) != ST_OK)
			return fill_blame(f, 0, x, e);
		fill_used(f, len);
		if (f->over)
			fill_passed_over(f, now_ns);
		else {
			f->in_step += f->c.tails;
			f->nulls += null;
			st = null ? ST_OK : fill_put(f, now_ns, p, len, x, e);
			if (st == ST_OK && f->c.tails && f->in_step == fill_elements_of_step(f))
				st = fill_round(f, now_ns, e);
		}
	}
	return st;
}

/* The end of a pass */

static enum status
fill_tail(struct feed_fill *f, struct err *e)
{
	uint64_t n;
	enum status st;

	f->small = f->part = false;
	f->behind = 0;
	feed_base_unref(&f->base);
	if (f->in_step && f->over) { /* a short step, passed over */
		f->in_step = 0;
		if (f->c.tail != FEED_DROP)
			f->over--, f->step++;
		return ST_OK;
	}
	st = fill_short(f, &n, e);
	if (st != ST_OK || !n)
		return st;
	f->step++;
	f->all += n * f->c.hosts;
	return ST_OK;
}

/* The reader has given all of the pass, which is not over before that is acknowledged: behind a position after
 * its last step, which is complete now. That position is the begin of the next pass. */
static enum status
fill_ended(struct feed_fill *f, int64_t now_ns, struct err *e)
{
	enum status st = fill_tail(f, e);

	if (st != ST_OK)
		return st;
	f->in_step = f->nulls = 0;
	f->ended = true;
	f->epoch++;
	feed_fill_note(f);
	f->epoch--;
	feed_tail_end(f->machine, now_ns);
	return ST_AGAIN;
}

static enum status
fill_pass(struct feed_fill *f, int64_t now_ns, struct err *e)
{
	bool last = f->epoch >= f->c.epochs;
	enum status st = fill_tail(f, e);

	if (st != ST_OK)
		return st;
	f->epoch++;
	f->in_step = f->nulls = 0;
	f->seen_first = f->ended = false;
	f->pass = f->step;
	f->pass_known = true;
	feed_fill_note(f);
	f->over_all = last;
	if (!f->over)
		feed_epoch_end(f->machine, now_ns, last);
	else if (last)
		return err_set(e, ST_NOINPUT, "--from is beyond the last step: %llu", (unsigned long long)f->step);
	else
		feed_set_epoch(f->machine, f->epoch);
	f->count = 0;
	return last ? ST_END : feed_source_pass(f->source, e);
}

/* It began in the middle of a pass, whose rounds the reader counts: those of the elements that were taken, of which
 * cur.n are left, and some of these lie before the step. */
static void
fill_pass_begin(struct feed_fill *f)
{
	struct reader_host *r = f->c.rounds ? feed_source_reader(f->source) : NULL;
	int64_t unit = (int64_t)fill_elements_of_step(f), ahead = (int64_t)f->cur.n - (int64_t)f->skip;
	int64_t rounds = ahead >= 0 ? (ahead + unit - 1) / unit : -(-ahead / unit);

	if (r)
		f->pass = f->step - (uint64_t)((int64_t)reader_host_rounds(r) - rounds);
	f->pass_known = true;
}

enum status
feed_fill_run(struct feed_fill *f, int64_t now_ns, bool *dry, struct err *e)
{
	*dry = false;
	if (f->over_all)
		return ST_END;
	if (f->epoch > f->c.epochs) { /* a position behind the last pass */
		f->over_all = true;
		feed_epoch_end(f->machine, now_ns, true);
		return ST_END;
	}
	for (;;) {
		if (feed_full(f->machine)) {
			if (f->source)
				feed_source_used(f->source, f->used);
			f->used = 0;
			return ST_END;
		}
		enum status st = fill_some(f, now_ns, e);
		if (st != ST_OK)
			return st;
		if (f->ring && !f->over && !feed_room(f->machine) && !f->looks)
			return ST_AGAIN;
		st = feed_source_take(f->source, &f->cur, e);
		if (st == ST_AGAIN)
			*dry = true;
		if (st == ST_AGAIN && f->c.lag && !f->ended && reader_host_at_end(feed_source_reader(f->source)))
			st = fill_ended(f, now_ns, e);
		if (st == ST_OK && !f->pass_known)
			fill_pass_begin(f);
		if (st == ST_END)
			st = fill_pass(f, now_ns, e);
		if (st != ST_OK)
			return st;
	}
}

void
feed_fill_look(struct feed_fill *f)
{
	f->looks = true;
}

bool
feed_fill_pass(const struct feed_fill *f, uint32_t *epoch, uint64_t *before)
{
	*epoch = f->epoch;
	*before = f->pass;
	return f->pass_known && !f->over_all;
}

struct feed_ring *
feed_fill_ring(const struct feed_fill *f, uint32_t slot)
{
	return slot < f->slots ? f->slot[slot] : NULL;
}

bool
feed_fill_ended(const struct feed_fill *f)
{
	return f->ended;
}

uint64_t
feed_fill_step(const struct feed_fill *f)
{
	return f->step;
}

uint64_t
feed_fill_rows(const struct feed_fill *f)
{
	return f->rows;
}

uint64_t
feed_fill_tail(const struct feed_fill *f, uint64_t *of)
{
	*of = f->tail_of;
	return f->tail;
}

uint64_t
feed_fill_dropped(const struct feed_fill *f)
{
	return f->dropped;
}
