/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "host/feed/feed_even.h"
#include "host/feed/feed_fill_inner.h"
#include "host/feed/feed_npy.h"
#include "value/mp.h"
#include "value/type_zero.h"

enum { FILL_NIL = 0xc0 };

/* An element of those that were taken. */
struct fill_elem {
	const uint8_t *p;
	size_t len;
	const struct elem *x;    /* one of a plan; NULL: one of the service, at the offset */
	uint64_t offset;
};

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

/* Elements */

/* Puts in front where the element is: in steps, and in what it comes from, as far as that is known. */
static enum status
fill_blame(const struct feed_fill *f, uint64_t row, const struct fill_elem *m, struct err *e)
{
	const char *file = NULL, *name;
	struct buf from = { 0 };
	uint64_t line;

	if (e->kind != ST_DATA)
		return e->kind;
	if (m->x && f->cur.run && run_place(f->cur.run, m->x, &file, &line) && file)
		buf_printf(&from, ", %s", file);
	if (file && line)
		buf_printf(&from, ":%llu", (unsigned long long)line);
	int n = op_member(m->p, m->len, &name);
	if (n)
		buf_printf(&from, ", member %.*s", n, name);
	if (f->cur.worker)
		buf_printf(&from, ", worker %s", f->cur.worker);
	if (!m->x)
		buf_printf(&from, ", stream %u, offset %llu", f->cur.stream, (unsigned long long)m->offset);
	const char *at = from.len ? (const char *)from.data + 2 : "";
	err_wrap(e, "step %llu, row %llu%s%s%s", (unsigned long long)f->step, (unsigned long long)row, *at ? " (" : "", at,
		 *at ? ")" : "");
	buf_clear(&from);
	if (f->cur.worker) {
		char *help = mem_printf("%s%sthe same pipeline with --local names the file, if it reads one", e->help,
					*e->help ? "; " : "");
		err_help(e, "%s", help);
		mem_free(help);
	}
	return e->kind;
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
fill_put(struct feed_fill *f, int64_t now_ns, const struct fill_elem *m, struct err *e)
{
	uint64_t row, rows, room = f->ring->columns->rows;
	uint32_t slot = feed_slot(f->machine, &row);

	if (f->nulls) {
		err_set(e, ST_DATA, "a null was followed by an element, and in steps of several hosts null is padding");
		err_help(e, "make null something else, for example with `map` and `??`");
		return fill_blame(f, row, m, e);
	}
	if (f->small) {
		err_set(e, ST_DATA, "a batch of fewer than %llu row%s was followed by another",
			(unsigned long long)f->each, str_s(f->each));
		err_help(e, "only the last batch may be smaller; or give rows, with --batch N");
		return fill_blame(f, row, m, e);
	}
	if (f->c.element != FEED_ROWS && room - row > f->each)
		room = row + f->each;
	enum status st = feed_fill_into(f, slot, row, room - row, m->p, m->len, &rows, e);
	if (st != ST_OK)
		return fill_blame(f, row, m, e);
	f->small = rows < f->each;
	f->rows += rows;
	if (row + rows == f->ring->columns->rows)
		fill_stepped(f, now_ns);
	feed_put(f->machine, now_ns, rows);
	return ST_OK;
}

/* The next element of what was taken: its bytes, which are checked. False: it is malformed. */
static bool
fill_next(struct feed_fill *f, struct fill_elem *m)
{
	if (!f->cur.p) {
		m->x = f->cur.e++;
		m->p = m->x->p;
		m->len = m->x->len;
		return true;
	}
	const uint8_t *next = mp_check_next(f->cur.p, f->cur.end);
	*m = (struct fill_elem){ f->cur.p, next ? (size_t)(next - f->cur.p) : 0, NULL, f->cur.offset };
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
	err_set(e, ST_DATA, "an earlier run of this host has taken rows of this pass, which would be missing");
	err_help(e, "go on with all hosts, from their positions, in a job of another name");
	return ST_DATA;
}

/* Short steps */

/* Ends the step that is not full, if it is one; *n: its places, 0: it is none. */
static enum status
fill_short(struct feed_fill *f, uint64_t *n, struct err *e)
{
	uint64_t real;
	uint32_t slot = feed_slot(f->machine, &real);
	enum status st = ST_OK;

	*n = 0;
	if (f->nulls && !f->ring && (st = feed_fill_guess(f, e)) != ST_OK)
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
	st = feed_fill_pad(f, slot, real, f->c.tail == FEED_PAD ? *n - real : 0, e);
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
		struct fill_elem m;

		if (f->ring && !f->over && !feed_room(f->machine))
			return ST_AGAIN;
		if (!fill_next(f, &m))
			return err_set(e, ST_PROTO, "a worker sent malformed elements");
		if (f->skip) {
			f->skip--;
			fill_used(f, m.len);
			continue;
		}
		if (f->c.rounds && (st = fill_first(f, e)) != ST_OK)
			return st;
		bool null = f->c.padded && m.len == 1 && *m.p == FILL_NIL;
		if (!null && !f->ring && (st = feed_fill_lay(f, m.p, m.len, e)) != ST_OK)
			return fill_blame(f, 0, &m, e);
		fill_used(f, m.len);
		if (f->over)
			fill_passed_over(f, now_ns);
		else {
			f->in_step += f->c.tails;
			f->nulls += null;
			st = null ? ST_OK : fill_put(f, now_ns, &m, e);
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
