/* SPDX-License-Identifier: MIT */
#include "op/kit/key_direct.h"

#include "base/mem.h"
#include "expr/val.h"
#include "value/normal.h"

enum { KEY_DIRECT_APART = 4, KEY_DIRECT_LEAST = 1024 }; /* so many places for each key, and as many in any case */

/* The integer at p, unless it is something else or beyond 64 bits with a sign. */
static inline bool
key_direct_int(const uint8_t *p, int64_t *v)
{
	struct val x;

	val_load(p, &x);
	if (x.kind != VAL_INT)
		return false;
	*v = x.i;
	return true;
}

/* The least and the greatest key; false: not all are integers. */
static bool
key_direct_ends(const struct key_table *k, int64_t *least, int64_t *greatest)
{
	*least = INT64_MAX;
	*greatest = INT64_MIN;
	for (uint32_t i = 0; i < k->n; i++) {
		uint32_t len;
		const uint8_t *p = key_table_at(k, i, &len);
		int64_t v;

		if (!key_direct_int(p, &v))
			return false;
		*least = v < *least ? v : *least;
		*greatest = v > *greatest ? v : *greatest;
	}
	return k->n > 0;
}

void
key_direct_make(struct key_direct *d, const struct key_table *k, size_t most)
{
	int64_t least, greatest, v = 0;
	uint32_t len;

	key_direct_clear(d);
	if (!key_direct_ends(k, &least, &greatest))
		return;
	uint64_t span = (uint64_t)greatest - (uint64_t)least;
	if (span >= (uint64_t)k->n * KEY_DIRECT_APART + KEY_DIRECT_LEAST || span >= most / sizeof *d->numbers)
		return;
	d->least = least;
	d->n = (size_t)span + 1;
	d->numbers = mem_array(d->n, sizeof *d->numbers);
	for (size_t i = 0; i < d->n; i++)
		d->numbers[i] = KEY_TABLE_NONE;
	for (uint32_t i = 0; i < k->n; i++) {
		const uint8_t *p = key_table_at(k, i, &len);

		key_direct_int(p, &v);
		d->numbers[(uint64_t)v - (uint64_t)least] = i;
	}
}

uint32_t
key_direct_find(const struct key_direct *d, const uint8_t *p, size_t len, struct buf *normal)
{
	int64_t v;

	if (!key_direct_int(p, &v)) { /* 3.0 is 3 */
		p = normal_key(p, &len, normal);
		if (!key_direct_int(p, &v))
			return KEY_TABLE_NONE;
	}
	uint64_t at = (uint64_t)v - (uint64_t)d->least;
	return at < d->n ? d->numbers[at] : KEY_TABLE_NONE;
}

void
key_direct_clear(struct key_direct *d)
{
	mem_free(d->numbers);
	*d = (struct key_direct){ 0 };
}
