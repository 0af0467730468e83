/* SPDX-License-Identifier: MIT */
#include "op/kit/keys_ahead.h"

#include "value/normal.h"

void
keys_ahead_add(struct keys_ahead *a, const struct key_table *k, const struct elem *x, uint32_t i,
	       const uint8_t *p, size_t len)
{
	struct keys_ahead_key *key = &a->v[a->n++];
	bool inside = p >= x->p && p < x->p + x->len;
	const uint8_t *normal = normal_key(p, &len, &a->normal);

	inside = inside && normal == p;
	key->p = inside ? p : NULL;
	key->at = a->bytes.len;
	key->len = len;
	key->i = i;
	if (!inside)
		buf_put(&a->bytes, normal, len);
	key->code = key_table_code(normal, len);
	key_table_want(k, key->code);
}

void
keys_ahead_fetch(struct keys_ahead *a, const struct key_table *k)
{
	for (uint32_t i = 0; i < a->n; i++)
		a->v[i].number = k->n ? key_table_want_item(k, a->v[i].code) : KEY_TABLE_NONE;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i].number != KEY_TABLE_NONE)
			key_table_want_key(k, a->v[i].number);
}

void
keys_ahead_clear(struct keys_ahead *a)
{
	buf_clear(&a->bytes);
	buf_clear(&a->normal);
	a->n = a->next = 0;
}
