/* SPDX-License-Identifier: MIT */
#include "op/whole/join_shape.h"

enum { JOIN_SHAPE_EVERY = 8 };

/* Copies the names of a record's fields, one after the other; false: it has none that are short texts alone. */
static bool
join_shape_names(struct join_shape *s, const uint8_t *p, uint32_t *n)
{
	if ((*p & 0xf0) != 0x80)
		return false;
	*n = *p++ & 15u;
	for (uint32_t k = 0; k < *n; k++) {
		const uint8_t *value = mp_past(p);

		if ((*p & 0xe0) != 0xa0)
			return false;
		buf_put(&s->names, p, (size_t)(value - p));
		p = mp_past(value);
	}
	return true;
}

static const uint8_t *
join_shape_keys(const uint8_t *p, struct val_key *keys, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		uint32_t len = 1 + (*p & 31u);

		val_key_init(&keys[k], p, len);
		p += len;
	}
	return p;
}

void
join_shape_learn(struct join_shape *s, const struct elem *x, const uint8_t *row, size_t len)
{
	if (s->missed++ % JOIN_SHAPE_EVERY)
		return;
	buf_reset(&s->names);
	s->known = len && join_shape_names(s, x->p, &s->n_x) && join_shape_names(s, row, &s->n_row);
	if (!s->known)
		return;
	join_shape_keys(join_shape_keys(s->names.data, s->x, s->n_x), s->row, s->n_row);
	s->adds = s->n_adds = 0;
	for (uint32_t k = 0; k < s->n_row; k++) {
		bool had = false;

		for (uint32_t i = 0; i < s->n_x; i++)
			had |= s->x[i].len == s->row[k].len && !memcmp(s->x[i].enc, s->row[k].enc, s->row[k].len);
		s->adds |= (uint32_t)!had << k;
		s->n_adds += !had;
	}
}

/* The end of the pair at p; NULL: it has another name, or one in another form. */
static inline const uint8_t *
join_shape_pair(const struct val_key *key, const uint8_t *p)
{
	return *p == *key->enc && val_key_is(key, p) ? mp_past(p + key->len) : NULL;
}

uint8_t *
join_shape_put(const struct join_shape *s, const struct elem *x, const uint8_t *row, uint8_t *w)
{
	const uint8_t *p = x->p + 1;

	if (!s->known || *x->p != (0x80 | s->n_x) || *row != (0x80 | s->n_row))
		return NULL;
	for (uint32_t k = 0; k < s->n_x; k++)
		if (!(p = join_shape_pair(&s->x[k], p)))
			return NULL;
	w = mp_put_record_head(w, s->n_x + s->n_adds);
	memcpy(w, x->p + 1, x->len - 1);
	w += x->len - 1;
	/* pairs that lie together are copied together */
	const uint8_t *from = p = row + 1;
	for (uint32_t k = 0; k < s->n_row; k++) {
		const uint8_t *next = join_shape_pair(&s->row[k], p);

		if (!next)
			return NULL;
		if (!(s->adds >> k & 1)) {
			memcpy(w, from, (size_t)(p - from));
			w += p - from;
			from = next;
		}
		p = next;
	}
	memcpy(w, from, (size_t)(p - from));
	return w + (p - from);
}

void
join_shape_clear(struct join_shape *s)
{
	buf_clear(&s->names);
	*s = (struct join_shape){ .known = false };
}
