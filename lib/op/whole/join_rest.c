/* SPDX-License-Identifier: MIT */
#include "op/whole/join_rest.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

enum { JOIN_REST_SAVED = 1 << 20 }; /* most bytes of bits in a saved state: eight million rows */

void
join_rest_clear(struct join_rest *r)
{
	buf_clear(&r->matched);
	buf_clear(&r->names);
	buf_clear(&r->made);
	*r = (struct join_rest){ 0 };
}

void
join_rest_typed(struct join_rest *r, const struct type *x)
{
	uint8_t head[MP_HEAD_MAX], nil[1];

	if (x->kind != TYPE_RECORD || x->open)
		return;
	mp_put_nil(nil);
	buf_reset(&r->names);
	buf_put(&r->names, head, (size_t)(mp_put_record_head(head, (uint32_t)x->n_fields) - head));
	for (size_t i = 0; i < x->n_fields; i++) {
		size_t len = strlen(x->fields[i].name);

		buf_put(&r->names, head, (size_t)(mp_put_text_head(head, (uint32_t)len) - head));
		buf_put(&r->names, x->fields[i].name, len);
		buf_put(&r->names, nil, 1);
	}
}

void
join_rest_first(struct join_rest *r, const struct elem *x)
{
	const uint8_t *end = x->p + x->len, *p, *value;
	uint8_t head[MP_HEAD_MAX], nil[1];
	struct mp m;

	if (r->names.len)
		return;
	mp_put_nil(nil);
	mp_head(x->p, end, &m);
	buf_put(&r->names, head, (size_t)(mp_put_record_head(head, m.n) - head));
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		value = mp_skip(p, end);
		buf_put(&r->names, p, (size_t)(value - p));
		buf_put(&r->names, nil, 1);
		p = mp_skip(value, end);
	}
}

enum status
join_rest_begin(struct join_rest *r, const struct op_node *n, uint32_t rows, struct err *e)
{
	if (r->restored && r->rows != rows) {
		err_set(e, ST_DATA, "there are %u rows to be joined now, and there were %u when the position was saved",
			rows, r->rows);
		err_help(e, "begin again without the saved position");
		return op_blame(n, e);
	}
	if (!r->restored) {
		r->rows = rows;
		buf_reset(&r->matched);
		size_t n_bytes = (size_t)rows / 8 + 1;
		memset(buf_room(&r->matched, n_bytes), 0, n_bytes);
		r->matched.len = n_bytes;
	}
	return ST_OK;
}

/* Makes the element that a row alone is joined with: the names, with the row's values where it has them, else null. */
static struct elem
join_rest_stand_in(struct join_rest *r, const uint8_t *row, size_t row_len, bool by_name)
{
	const uint8_t *end = buf_end(&r->names), *p, *value, *v;
	struct mp m, key;
	size_t len;

	buf_reset(&r->made);
	uint8_t *to = buf_room(&r->made, MP_HEAD_MAX + r->names.len + row_len), *w = to;
	mp_head(r->names.data, end, &m);
	p = m.p;
	w = mp_put_record_head(w, m.n);
	for (uint32_t k = 0; k < m.n; k++) {
		mp_head(p, end, &key);
		value = mp_skip(p, end);
		memcpy(w, p, (size_t)(value - p));
		w += value - p;
		p = mp_skip(value, end);
		if (by_name && key.kind == MP_TEXT
		    && mp_field(row, row + row_len, (const char *)key.p, key.n, &v, &len)) {
			memcpy(w, v, len);
			w += len;
		} else {
			w = mp_put_nil(w);
		}
	}
	return (struct elem){ .p = to, .len = (uint32_t)(w - to) };
}

static void
join_rest_put(struct join_rest *r, struct join_table *t, uint32_t row, const char *as, struct run *out)
{
	const uint8_t *p = t->rows.data + t->items[row].at;
	size_t len = t->items[row].len;
	struct mp m;

	mp_head(p, p + len, &m);
	struct elem x = join_rest_stand_in(r, p, len, m.kind == MP_RECORD && !as);
	join_table_put(t, &x, row, as, out);
}

enum status
join_rest_give(struct join_rest *r, struct join_table *t, const char *as, struct run *out)
{
	static const uint8_t none[] = { 0x80 };

	if (!r->names.len)
		buf_put(&r->names, none, sizeof none);
	for (; r->at < t->n && out->n < RUN_USUAL && !run_full(out); r->at++)
		if (!(r->matched.data[r->at / 8] >> r->at % 8 & 1))
			join_rest_put(r, t, r->at, as, out);
	return r->at == t->n ? ST_END : ST_OK;
}

bool
join_rest_save(const struct join_rest *r, struct buf *out)
{
	state_put_u64(out, r->at);
	state_put_u64(out, r->rows);
	state_put_bytes(out, r->matched.data, r->matched.len);
	state_put_bytes(out, r->names.data, r->names.len);
	return r->matched.len <= JOIN_REST_SAVED;
}

void
join_rest_restore(struct join_rest *r, struct state_in *in)
{
	const uint8_t *p, *names;
	size_t len, n_names;
	struct mp m;

	join_rest_clear(r);
	uint64_t at = state_get_u64(in, UINT32_MAX), rows = state_get_u64(in, UINT32_MAX);
	if (!state_get_bytes(in, &p, &len) || !state_get_bytes(in, &names, &n_names))
		return;
	if (n_names) {
		/* The names come from outside: one well-formed record. */
		if (mp_check_next(names, names + n_names) != names + n_names) {
			in->bad = true;
			return;
		}
		mp_head(names, names + n_names, &m);
		in->bad |= m.kind != MP_RECORD;
	}
	in->bad |= at > rows || len != (len || rows ? rows / 8 + 1 : 0);
	if (in->bad)
		return;
	if (n_names)
		buf_put(&r->names, names, n_names);
	if (len)
		buf_put(&r->matched, p, len);
	r->restored = len > 0;
	r->rows = (uint32_t)rows;
	r->at = (uint32_t)at;
}

const struct type *
join_rest_type(struct op_typing *t, const struct type *x, const struct type *row, const char *as, bool both)
{
	const struct type *joined = join_table_type(t, x, row, as, !both);
	bool by_name = !as && row->kind == TYPE_RECORD;
	struct type_field *v = mem_array(joined->n_fields + 1, sizeof *v);
	size_t n_x = x->kind == TYPE_RECORD ? x->n_fields : 0;

	for (size_t k = 0; k < joined->n_fields; k++) {
		struct type_field f = joined->fields[k];
		const struct type *of = NULL;

		if (k < n_x && !as)
			of = by_name ? type_field_get(row, f.name, strlen(f.name)) : type_scalar(TYPE_ANY);
		if (k < n_x)
			f.type = of ? type_join(t->arena, f.type, of) : type_nullable(t->arena, f.type);
		v[k] = f;
	}
	joined = type_record(t->arena, v, joined->n_fields, joined->open);
	mem_free(v);
	return joined;
}
