/* SPDX-License-Identifier: MIT */
#include "op/whole/first_form.h"

#include "base/mem.h"

void
first_form_add(struct first_form *s, uint32_t number, const uint8_t *p, size_t len)
{
	s->items = mem_grow(s->items, &s->cap, s->n + 1, sizeof *s->items);
	s->items[s->n++] = (struct first_form_item){ number, (uint32_t)len, s->bytes.len };
	buf_put(&s->bytes, p, len);
}

const uint8_t *
first_form_find(const struct first_form *s, uint32_t number, uint32_t *len)
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
first_form_size(const struct first_form *s)
{
	return s->bytes.len + s->n * sizeof *s->items;
}

void
first_form_reset(struct first_form *s)
{
	s->n = 0;
	buf_reset(&s->bytes);
}

void
first_form_clear(struct first_form *s)
{
	mem_free(s->items);
	buf_clear(&s->bytes);
	*s = (struct first_form){ 0 };
}
