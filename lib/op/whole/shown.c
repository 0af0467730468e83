/* SPDX-License-Identifier: MIT */
#include "op/whole/shown.h"

#include "base/mem.h"

void
shown_add(struct shown *s, uint32_t number, const uint8_t *p, size_t len)
{
	s->items = mem_grow(s->items, &s->cap, s->n + 1, sizeof *s->items);
	s->items[s->n++] = (struct shown_item){ number, (uint32_t)len, s->bytes.len };
	buf_put(&s->bytes, p, len);
}

const uint8_t *
shown_find(const struct shown *s, uint32_t number, uint32_t *len)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->items[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == s->n || s->items[low].number != number)
		return NULL;
	*len = s->items[low].len;
	return s->bytes.data + s->items[low].at;
}

size_t
shown_size(const struct shown *s)
{
	return s->bytes.len + s->n * sizeof *s->items;
}

void
shown_reset(struct shown *s)
{
	s->n = 0;
	buf_reset(&s->bytes);
}

void
shown_clear(struct shown *s)
{
	mem_free(s->items);
	buf_clear(&s->bytes);
	*s = (struct shown){ 0 };
}
