/* SPDX-License-Identifier: MIT
 *
 * Sorted stretches in a file. Once the memory was full, the records have two piles, of half of it each, and one is
 * written by a thread of the pool while the other is filled:
 *
 *	filled:   [ a ][ b ][ c ][ d ]...       a, the first, takes all of the memory, since it may be
 *	written:       [ a ][ b ][ c ]...       all there is; it is written at once
 */
#include <stdlib.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/mem_wide.h"
#include "base/transfer.h"
#include "op/whole/sorter_inner.h"

static const char *
spill_folder(const struct sorter *s)
{
	const char *own = getenv("TMPDIR");

	return s->tmp && *s->tmp ? s->tmp : own && *own ? own : "/tmp";
}

static enum status
spill_file(struct sorter *s, struct err *e)
{
	s->fd = gate_nameless(s->tmp && *s->tmp ? s->tmp : NULL);
	if (s->fd >= 0)
		return ST_OK;
	err_errno(e, "cannot make a temporary file in %s", spill_folder(s));
	if (e->help[0])
		return e->kind;
	err_help(e, "set TMPDIR or tmp= to another folder, or raise mem= to avoid the file");
	return e->kind;
}

static enum status
spill_flush(struct sorter *s, struct err *e)
{
	if (tmp_room_take(&s->room, s->write_len, s->fd, spill_folder(s), e) != ST_OK)
		return e->kind;
	if (!transfer_write_at(s->fd, s->write_buf, s->write_len, s->file_len)) {
		err_errno(e, "cannot write sorted elements to a temporary file in %s", spill_folder(s));
		err_help(e, "set TMPDIR or tmp= to another folder");
		return e->kind;
	}
	s->file_len += s->write_len;
	s->write_len = 0;
	return ST_OK;
}

enum status
sorter_part_write(struct sorter *s, const uint8_t *p, size_t n, struct err *e)
{
	if (s->file_len + s->write_len >= s->mark_next)
		sorter_mark(s, p);
	while (n) {
		size_t some = SORTER_WRITE - s->write_len;

		if (some > n)
			some = n;
		memcpy(s->write_buf + s->write_len, p, some);
		s->write_len += some;
		p += some;
		n -= some;
		if (s->write_len == SORTER_WRITE && spill_flush(s, e) != ST_OK)
			return e->kind;
	}
	return ST_OK;
}

enum status
sorter_part_begin(struct sorter *s, struct err *e)
{
	if (s->fd < 0 && spill_file(s, e) != ST_OK)
		return e->kind;
	if (!s->write_buf)
		s->write_buf = mem_alloc(SORTER_WRITE);
	s->parts = mem_grow(s->parts, &s->cap_parts, s->n_parts + 1, sizeof *s->parts);
	s->parts[s->n_parts].at = s->mark_next = s->file_len;
	return ST_OK;
}

enum status
sorter_part_end(struct sorter *s, struct err *e)
{
	enum status st = spill_flush(s, e);

	s->parts[s->n_parts++].end = s->file_len;
	return st;
}

static enum status
spill_write(struct sorter *s, struct sorter_pile *pile, struct err *e)
{
	enum status st = sorter_part_begin(s, e);
	struct sorter_record r;

	if (st != ST_OK)
		return st;
	sorter_sort(pile);
	for (size_t i = 0; st == ST_OK && i < pile->n; i++) {
		const uint8_t *p = sorter_at(pile, i);

		sorter_read(p, &r);
		st = sorter_part_write(s, p, sorter_record_size(&r), e);
	}
	sorter_ranges_end(&pile->ranges);
	if (st == ST_OK)
		st = sorter_part_end(s, e);
	pile->n = pile->len = 0;
	return st;
}

static void
spill_work(void *arg, size_t piece)
{
	struct sorter *s = arg;

	(void)piece;
	s->write_code = spill_write(s, s->written, &s->write_err);
}

/* The piles have half of the memory each from now on; what one has touched is used again. */
static void
spill_halve(struct sorter *s, size_t len, size_t n)
{
	struct sorter_pile *p = s->pile;

	s->most = s->mem / 2;
	mem_cut_wide(p->arena, &p->cap, len / 2, 1);
	mem_cut_wide(p->entries, &p->cap_entries, n / 2, sizeof *p->entries);
	mem_cut_wide(p->spare, &p->cap_spare, n / 2, sizeof *p->spare);
}

enum status
sorter_spill_end(struct sorter *s, struct err *e)
{
	if (!s->written)
		return ST_OK;
	ahead_need(&s->writer, 0);
	ahead_end(&s->writer);
	s->written = NULL;
	if (s->write_code != ST_OK)
		*e = s->write_err;
	return s->write_code;
}

void
sorter_spill_drop(struct sorter *s)
{
	ahead_end(&s->writer);
	s->written = NULL;
}

enum status
sorter_spill(struct sorter *s, struct err *e)
{
	enum status st = sorter_spill_end(s, e);
	bool shared = pool_size() > 1;

	if (st != ST_OK)
		return st;
	s->spilled = true;
	s->pile->order = s->order;
	if (s->most == s->mem || !shared) {
		size_t len = s->pile->len, n = s->pile->n;

		st = spill_write(s, s->pile, e);
		if (shared)
			spill_halve(s, len, n);
		return st;
	}
	s->written = s->pile;
	s->pile = &s->piles[s->pile == s->piles];
	ahead_give(&s->writer, spill_work, s);
	return ST_OK;
}
