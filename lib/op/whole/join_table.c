/* SPDX-License-Identifier: MIT */
#include "op/whole/join_table.h"
#include "op/pull.h"

#include <string.h>

#include "base/mem.h"
#include "base/mem_wide.h"
#include "value/mp.h"
#include "value/normal.h"

enum { JOIN_TABLE_CACHED = 512 * 1024 /* bytes that the processor's own cache holds */ };

void
join_table_clear(struct join_table *j)
{
	key_table_clear(&j->keys);
	key_direct_clear(&j->direct);
	mem_free_wide(j->first, j->cap_first, sizeof *j->first);
	mem_free_wide(j->last, j->cap_last, sizeof *j->last);
	mem_free_wide(j->items, j->cap_items, sizeof *j->items);
	buf_clear(&j->rows);
	buf_clear(&j->normal);
	join_shape_clear(&j->shape);
	*j = (struct join_table){ .keyless = j->keyless };
}

static uint32_t
join_table_keep(struct join_table *j, const struct elem *row)
{
	j->items = mem_grow_wide(j->items, &j->cap_items, (size_t)j->n + 1, sizeof *j->items);
	j->items[j->n] = (struct join_table_item){ j->rows.len, row->len, JOIN_TABLE_NONE };
	buf_put(&j->rows, row->p, row->len);
	return j->n++;
}

static void
join_table_add(struct join_table *j, const uint8_t *key, size_t key_len, const struct elem *row)
{
	bool fresh;

	key = normal_key(key, &key_len, &j->normal);
	uint32_t at = key_table_add(&j->keys, key, key_len, &fresh), item = join_table_keep(j, row);

	if (fresh) {
		j->first = mem_grow_wide(j->first, &j->cap_first, (size_t)at + 1, sizeof *j->first);
		j->last = mem_grow_wide(j->last, &j->cap_last, (size_t)at + 1, sizeof *j->last);
		j->first[at] = item;
	} else {
		j->items[j->last[at]].next = item;
	}
	j->last[at] = item;
}

/* How the key of a row is found. */
struct join_table_by {
	struct expr_vm *vm; /* evaluates the key; NULL: it is a field */
	const char *field;
};

static bool
join_table_field(const struct elem *row, const char *field, const uint8_t **key, size_t *len)
{
	const uint8_t *end = row->p + row->len;
	struct mp m;

	mp_head(row->p, end, &m);
	if (m.kind != MP_RECORD)
		return false;
	if (field)
		return mp_field(row->p, end, field, strlen(field), key, len);
	if (!m.n)
		return false;
	*key = mp_skip(m.p, end);
	*len = (size_t)(mp_skip(*key, end) - *key);
	return true;
}

static enum status
join_table_row(struct op_inst *self, struct join_table *j, const struct elem *row,
	       const struct join_table_by *by, struct err *e)
{
	const uint8_t *key;
	size_t len;
	enum status st = ST_OK;

	if (by->vm)
		st = expr_value(by->vm, row, &key, &len, e);
	else if (!join_table_field(row, by->field, &key, &len))
		st = err_set(e, ST_DATA, "a row has no field `%s`", by->field ? by->field : "");
	if (st == ST_SKIP)
		return ST_OK;
	if (st != ST_OK) {
		err_wrap(e, "the key of a row");
		return op_source_fault(self, NULL, 0, e);
	}
	if (*key != 0xc0) /* a null key equals no other key */
		join_table_add(j, key, len, row);
	else if (!j->n || j->keyless) /* still, the first row says which fields there are */
		join_table_keep(j, row);
	return ST_OK;
}

static size_t
join_table_size(const struct join_table *j)
{
	return key_table_size(&j->keys) + j->rows.len + j->n * sizeof *j->items;
}

static enum status
join_table_read(struct op_inst *self, struct join_table *j, struct op_inst *chain,
		const struct join_table_by *by, size_t mem, struct err *e)
{
	enum status st = ST_OK;
	struct run *rows;

	while (st == ST_OK && (st = op_pull(chain, &rows, e)) == ST_OK) {
		for (uint32_t i = 0; st == ST_OK && i < rows->n; i++)
			st = join_table_row(self, j, &rows->e[i], by, e);
		if (st == ST_OK && join_table_size(j) > mem) {
			err_set(e, ST_DATA, "the rows to be joined take more than mem=%zu bytes", mem);
			err_help(e, "select the fields that are needed, or make mem= larger");
			return op_blame(self->node, e);
		}
		if (st == ST_OK && j->n >= JOIN_TABLE_NONE - RUN_USUAL * 64)
			return err_set(e, ST_DATA, "too many rows to be joined");
	}
	j->loaded = st == ST_END;
	if (j->loaded)
		key_direct_make(&j->direct, &j->keys, mem - join_table_size(j));
	return st == ST_END ? ST_OK : st;
}

enum status
join_table_load(struct op_inst *self, struct join_table *j, struct op_inst *chain,
		struct expr_vm *by, size_t mem, struct err *e)
{
	return join_table_read(self, j, chain, &(struct join_table_by){ .vm = by }, mem, e);
}

enum status
join_table_load_field(struct op_inst *self, struct join_table *j, struct op_inst *chain,
		      const char *field, size_t mem, struct err *e)
{
	return join_table_read(self, j, chain, &(struct join_table_by){ .field = field }, mem, e);
}

uint32_t
join_table_find(struct join_table *j, const uint8_t *key, size_t len)
{
	uint32_t at;

	if (*key == 0xc0)
		return JOIN_TABLE_NONE;
	if (j->direct.n) {
		at = key_direct_find(&j->direct, key, len, &j->normal);
	} else {
		key = normal_key(key, &len, &j->normal);
		at = key_table_find(&j->keys, key, len);
	}
	return at == KEY_TABLE_NONE ? JOIN_TABLE_NONE : j->first[at];
}

void
join_table_look(struct join_table *j, struct keys_ahead *a, const struct elem *x, uint32_t i, const uint8_t *key,
		size_t len)
{
	if (j->direct.n)
		a->v[a->n++] = (struct keys_ahead_key){
			.i = i, .number = key_direct_find(&j->direct, key, len, &j->normal) };
	else
		keys_ahead_add(a, &j->keys, x, i, key, len);
}

uint32_t
join_table_find_ahead(const struct join_table *j, const struct keys_ahead *a, const struct keys_ahead_key *key)
{
	uint32_t at = j->direct.n ? key->number :
		key_table_find_code(&j->keys, keys_ahead_at(a, (uint32_t)(key - a->v)), key->len, key->code);

	return at == KEY_TABLE_NONE ? JOIN_TABLE_NONE : j->first[at];
}

bool
join_table_slow(const struct join_table *j)
{
	return key_table_size(&j->keys) + j->rows.len > JOIN_TABLE_CACHED;
}

void
join_table_fetch(const struct join_table *j, struct keys_ahead *a)
{
	if (!j->direct.n)
		keys_ahead_fetch(a, &j->keys);
	for (uint32_t k = 0; k < a->n; k++)
		if (a->v[k].number != KEY_TABLE_NONE)
			__builtin_prefetch(&j->first[a->v[k].number]);
	for (uint32_t k = 0; k < a->n; k++)
		if (a->v[k].number != KEY_TABLE_NONE)
			__builtin_prefetch(&j->items[j->first[a->v[k].number]]);
	for (uint32_t k = 0; k < a->n; k++) {
		if (a->v[k].number == KEY_TABLE_NONE)
			continue;
		const struct join_table_item *row = &j->items[j->first[a->v[k].number]];
		__builtin_prefetch(j->rows.data + row->at);
		__builtin_prefetch(j->rows.data + row->at + row->len - 1);
	}
}

/* Copies the pairs of the row whose names x has not; `null`: nulls in place of the values. */
static uint8_t *
join_table_pairs(const struct elem *x, const uint8_t *row, size_t len, bool null, uint8_t *w,
		 uint32_t *n)
{
	const uint8_t *end = row + len, *value, *p, *v;
	struct mp m, key;
	size_t v_len;

	mp_head(row, end, &m);
	if (m.kind != MP_RECORD)
		return w;
	p = m.p;
	for (uint32_t k = 0; k < m.n; k++) {
		const uint8_t *pair = p;

		mp_head(p, end, &key);
		value = mp_skip(p, end);
		p = mp_skip(value, end);
		if (key.kind == MP_TEXT
		    && mp_field(x->p, x->p + x->len, (const char *)key.p, key.n, &v, &v_len))
			continue;
		size_t size = (size_t)((null ? value : p) - pair);
		memcpy(w, pair, size);
		w += size;
		if (null)
			w = mp_put_nil(w);
		++*n;
	}
	return w;
}

void
join_table_put(struct join_table *j, const struct elem *x, uint32_t row, const char *as,
	       struct run *out)
{
	uint32_t from = row == JOIN_TABLE_NONE ? 0 : row, n;
	bool null = row == JOIN_TABLE_NONE, any = !null || (!as && j->n);
	const uint8_t *p = any ? j->rows.data + j->items[from].at : NULL;
	size_t len = any ? j->items[from].len : 0, as_len = as ? strlen(as) : 0;
	uint8_t *to = run_room(out, 2 * MP_HEAD_MAX + x->len + len + as_len + 16), *w, head[MP_HEAD_MAX];
	struct mp m;

	if (!as && !null && (w = join_shape_put(&j->shape, x, p, to))) {
		run_done(out, w, x->pos);
		return;
	}
	if (!as && !null)
		join_shape_learn(&j->shape, x, p, len);
	mp_head(x->p, x->p + x->len, &m);
	n = m.n;
	/* The head is written last, since the number of pairs is known only then. */
	w = to + MP_HEAD_MAX;
	size_t body = (size_t)(x->p + x->len - m.p);
	memcpy(w, m.p, body);
	w += body;
	if (as) {
		w = mp_put_text(w, as, (uint32_t)as_len);
		if (null) {
			w = mp_put_nil(w);
		} else {
			memcpy(w, p, len);
			w += len;
		}
		n++;
	} else if (any) {
		w = join_table_pairs(x, p, len, null, w, &n);
	}
	size_t h = (size_t)(mp_put_record_head(head, n) - head);
	memcpy(to, head, h);
	memmove(to + h, to + MP_HEAD_MAX, (size_t)(w - to) - MP_HEAD_MAX);
	run_done(out, w - MP_HEAD_MAX + h, x->pos);
}

const struct type *
join_table_type(struct op_typing *t, const struct type *x, const struct type *row, const char *as,
		bool always)
{
	bool open = x->kind != TYPE_RECORD || x->open || (!as && (row->kind != TYPE_RECORD || row->open));
	size_t n = 0, n_row = as ? 1 : row->kind == TYPE_RECORD ? row->n_fields : 0;
	size_t n_x = x->kind == TYPE_RECORD ? x->n_fields : 0;
	struct type_field *v = mem_array(n_x + n_row + 1, sizeof *v);
	const struct type *type;

	for (size_t k = 0; k < n_x; k++)
		v[n++] = x->fields[k];
	for (size_t k = 0; k < n_row; k++) {
		struct type_field f = as ? (struct type_field){ as, row } : row->fields[k];
		bool there = false;

		for (size_t i = 0; i < n_x; i++)
			there |= !strcmp(v[i].name, f.name);
		if (there)
			continue;
		if (!always)
			f.type = type_nullable(t->arena, f.type);
		v[n++] = f;
	}
	/* If x is an open record, the row's fields may be x's as well: their types are not
	 * known. */
	type = x->kind == TYPE_RECORD && !x->open ? type_record(t->arena, v, n, open)
						  : type_record(t->arena, v, n_x, true);
	mem_free(v);
	return type;
}
