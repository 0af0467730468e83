/* SPDX-License-Identifier: MIT */
#include "op/whole/sorter.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/mem_wide.h"
#include "op/whole/sorter_inner.h"

struct sorter *
sorter_new(size_t mem, bool reverse, const char *tmp)
{
	struct sorter *s = mem_zalloc(sizeof *s);

	s->mem = s->most = mem;
	s->order = (struct sorter_order){
		.reverse = reverse, .flip = reverse ? UINT64_MAX : 0, .texts = true, .ints = true
	};
	s->only_ints = true;
	s->pile = s->piles;
	s->tmp = mem_strdup(tmp);
	s->fd = -1;
	return s;
}

static void
sorter_drop_file(struct sorter *s)
{
	sorter_merge_clear(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->n_parts = s->next = 0;
	s->spilled = false;
	tmp_room_give_back(&s->room);
}

static void
sorter_pile_clear(struct sorter_pile *s)
{
	sorter_ranges_end(&s->ranges);
	mem_free_wide(s->arena, s->cap, 1);
	mem_free_wide(s->entries, s->cap_entries, sizeof *s->entries);
	mem_free_wide(s->spare, s->cap_spare, sizeof *s->spare);
	*s = (struct sorter_pile){ 0 };
}

static void
sorter_free_memory(struct sorter *s)
{
	sorter_ranges_end(&s->int_ranges);
	sorter_ints_clear(s);
	sorter_pile_clear(&s->piles[0]);
	sorter_pile_clear(&s->piles[1]);
}

void
sorter_free(struct sorter **sp)
{
	struct sorter *s = *sp;

	*sp = NULL;
	if (!s)
		return;
	sorter_spill_drop(s);
	sorter_drop_file(s);
	mem_free(s->first);
	sorter_free_memory(s);
	mem_free(s->tmp);
	mem_free(s->write_buf);
	mem_free(s->parts);
	mem_free(s->marks);
	buf_clear(&s->mark_keys);
	mem_free(s);
}

/* Whether it is an integer that fits 64 bits with a sign. */
static bool
sorter_is_int(const uint8_t *key)
{
	if (*key < 0x80 || *key >= 0xe0)
		return true;
	return *key >= 0xcc && *key <= 0xd3 && (*key != 0xcf || key[1] < 0x80);
}

/* Notes what is true of all keys so far: of which kind they are, and how texts begin. */
static void
sorter_learn(struct sorter *s, const uint8_t *key)
{
	uint32_t n;

	s->order.ints = s->order.ints && sorter_is_int(key);

	if (!s->order.texts)
		return;
	if ((*key & 0xe0) != 0xa0 && (*key < 0xd9 || *key > 0xdb)) {
		s->order.texts = false;
		return;
	}
	const uint8_t *p = sorter_text(key, &n);
	if (!s->first) {
		s->first = mem_alloc((size_t)n + 1);
		memcpy(s->first, p, n);
		s->first_len = s->order.skip = n;
		return;
	}
	size_t skip = s->order.skip < n ? s->order.skip : n;
	if (memcmp(s->first, p, skip)) {
		size_t k = 0;

		while (s->first[k] == p[k])
			k++;
		skip = k;
	}
	s->order.skip = skip;
}

enum status
sorter_add(struct sorter *s, const uint8_t *key, size_t key_len, const uint8_t *p, size_t len,
	   struct err *e)
{
	size_t need = SORTER_HEAD + key_len + len;
	uint32_t lens[2] = { (uint32_t)key_len, (uint32_t)len };
	uint64_t v;

	if (s->only_ints) {
		if (!key && sorter_ints_read(s, p, len, &v))
			return sorter_ints_add(s, v, e);
		if (sorter_ints_end(s, e) != ST_OK)
			return e->kind;
	}
	struct sorter_pile *pile = s->pile;
	/* Two entries per element, one of which is for sorting, and a byte for dealing. */
	if (pile->n && pile->len + need + (pile->n + 1) * (2 * sizeof *pile->entries + 1) > s->most) {
		if (sorter_spill(s, e) != ST_OK)
			return e->kind;
		pile = s->pile;
	}
	sorter_learn(s, key ? key : p);
	pile->arena = mem_grow_wide(pile->arena, &pile->cap, pile->len + need, 1);
	uint8_t *to = pile->arena + pile->len;
	memcpy(to, lens, SORTER_HEAD);
	if (key_len)
		memcpy(to + SORTER_HEAD, key, key_len);
	memcpy(to + SORTER_HEAD + key_len, p, len);
	pile->entries = mem_grow_wide(pile->entries, &pile->cap_entries, pile->n + 1, sizeof *pile->entries);
	pile->entries[pile->n++].at = pile->len;
	pile->len += need;
	return ST_OK;
}

enum status
sorter_end(struct sorter *s, struct err *e)
{
	enum status st = ST_OK;

	s->ended = true;
	s->next = 0;
	if (!s->spilled) {
		s->pile->order = s->order;
		if (s->pile->n)
			sorter_sort(s->pile);
		else if (s->n_ints)
			sorter_ints_sort(s);
		return ST_OK;
	}
	if (s->n_ints)
		st = sorter_ints_spill(s, e);
	else if (s->pile->n)
		st = sorter_spill(s, e);
	if (st == ST_OK)
		st = sorter_spill_end(s, e);
	if (st != ST_OK)
		return st;
	/* The merge needs the memory for its buffers. */
	sorter_free_memory(s);
	return sorter_merge_begin(s, e);
}

enum status
sorter_take(struct sorter *s, struct run *out, struct err *e)
{
	struct sorter_pile *pile = s->pile;
	struct sorter_record r;
	size_t bytes = 0;

	if (s->spilled) {
		enum status st = sorter_merge_take(s, out, e);

		if (st == ST_END) /* others may need the room before this one is freed */
			sorter_drop_file(s);
		return st;
	}
	if (s->only_ints)
		return sorter_ints_take(s, out) ? ST_OK : ST_END;
	while (s->next < pile->n && out->n < RUN_USUAL && bytes < RUN_BYTES) {
		sorter_read(sorter_at(pile, s->next++), &r);
		uint8_t *p = run_room(out, r.len);
		memcpy(p, r.elem, r.len);
		run_done(out, p + r.len, 0);
		bytes += r.len;
	}
	return s->next < pile->n ? ST_OK : ST_END;
}

enum status
sorter_give(struct sorter *s, struct run *out, struct err *e)
{
	enum status st = s->ended ? ST_OK : sorter_end(s, e);

	return st == ST_OK ? sorter_take(s, out, e) : st;
}

bool
sorter_ended(const struct sorter *s)
{
	return s->ended;
}

bool
sorter_can_save(const struct sorter *s)
{
	return !s->spilled && s->pile->len + s->n_ints * MP_INT_MAX <= SORTER_SAVED_MAX;
}

void
sorter_save(struct sorter *s, bool keys, struct buf *out)
{
	struct sorter_pile *pile = s->pile;
	struct sorter_record r;

	if (s->ended && s->n_ints)
		sorter_need(&s->int_ranges, s->n_ints - 1);
	if (s->ended && pile->n)
		sorter_need(&pile->ranges, pile->n - 1);
	sorter_ints_save(s, out);
	for (size_t i = s->next; i < pile->n; i++) {
		sorter_read(pile->arena + pile->entries[i].at, &r);
		if (keys)
			buf_put(out, r.key, r.key_len);
		buf_put(out, r.elem, r.len);
	}
}
