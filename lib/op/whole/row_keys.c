/* SPDX-License-Identifier: MIT */
#include "op/whole/row_keys.h"

#include "value/normal.h"

uint32_t
row_keys_add(struct row_keys *r, const uint8_t *p, size_t len, bool *fresh)
{
	size_t n = len;
	const uint8_t *normal = normal_key(p, &n, &r->normal);
	uint32_t at = key_table_add(&r->keys, normal, n, fresh);

	if (*fresh && normal != p)
		first_form_add(&r->shown, at, p, len);
	return at;
}

const uint8_t *
row_keys_at(const struct row_keys *r, uint32_t i, uint32_t *len)
{
	const uint8_t *p = first_form_find(&r->shown, i, len);

	return p ? p : key_table_at(&r->keys, i, len);
}

size_t
row_keys_size(const struct row_keys *r)
{
	return key_table_size(&r->keys) + first_form_size(&r->shown);
}

void
row_keys_clear(struct row_keys *r)
{
	key_table_clear(&r->keys);
	first_form_clear(&r->shown);
	buf_clear(&r->normal);
}
