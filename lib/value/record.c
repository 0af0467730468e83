/* SPDX-License-Identifier: MIT */
#include "value/record.h"

#include <string.h>

struct slice
record_at(struct slice r, const char *key)
{
	const uint8_t *p;
	size_t n;
	if (!r.p || !mp_field(r.p, r.end, key, strlen(key), &p, &n))
		return (struct slice){ 0 };
	return (struct slice){ p, p + n };
}

uint64_t
record_uint(struct slice r, const char *key)
{
	struct slice v = record_at(r, key);
	struct mp m;
	if (!v.p || !mp_head(v.p, v.end, &m) || (m.kind != MP_INT && m.kind != MP_BOOL))
		return 0;
	return m.kind == MP_BOOL ? m.b : m.u;
}

bool
record_int(struct slice r, const char *key, int64_t *v)
{
	struct slice at = record_at(r, key);
	struct mp m;
	if (!at.p || !mp_head(at.p, at.end, &m) || m.kind != MP_INT)
		return false;
	*v = m.i;
	return true;
}

double
record_float(struct slice r, const char *key)
{
	struct slice v = record_at(r, key);
	struct mp m;
	if (!v.p || !mp_head(v.p, v.end, &m))
		return 0;
	return m.kind == MP_FLOAT ? m.f : m.kind == MP_INT ? (double)m.u : 0;
}

struct mp
record_text(struct slice r, const char *key)
{
	static const uint8_t nothing;
	struct slice v = record_at(r, key);
	struct mp m;
	if (!v.p || !mp_head(v.p, v.end, &m) || m.kind != MP_TEXT)
		m = (struct mp){ .kind = MP_TEXT, .p = &nothing };
	return m;
}

bool
record_is(struct slice r, const char *key, const char *word)
{
	struct mp m = record_text(r, key);
	return m.n == strlen(word) && memcmp(m.p, word, m.n) == 0;
}

struct record_items
record_list(struct slice r, const char *key)
{
	struct slice v = record_at(r, key);
	struct mp m;
	if (!v.p || !mp_head(v.p, v.end, &m) || m.kind != MP_LIST)
		return (struct record_items){ 0 };
	return (struct record_items){ { m.p, v.end }, m.n };
}

bool
record_next(struct record_items *it, struct slice *item)
{
	if (!it->left)
		return false;
	const uint8_t *end = mp_skip(it->rest.p, it->rest.end);
	if (!end)
		return false;
	*item = (struct slice){ it->rest.p, end };
	it->rest.p = end;
	it->left--;
	return true;
}
