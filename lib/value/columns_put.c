/* SPDX-License-Identifier: MIT
 *
 * Elements into a slot: each is compared with the recorded structure while it is copied.
 */
#include <string.h>

#include "base/copy_far.h"
#include "base/str.h"
#include "value/columns.h"
#include "value/columns_inner.h"
#include "value/mp.h"
#include "value/tensor.h"

struct put {
	struct columns *c;
	uint8_t *slot;
	uint64_t row, left;
	uint64_t rows;           /* rows of the batch; 0: not known yet */
	const struct column *bad;/* the column that does not fit */
	struct err *e;
};

static enum status
put_refuse(struct put *u, const struct column *c, const uint8_t *p, size_t len)
{
	struct buf name = { 0 }, had = { 0 }, is = { 0 };
	struct column now = { 0 };

	column_name(c, &name);
	column_type(c, &had);
	struct mp h;
	mp_head(p, p + len, &h);
	if (h.kind == MP_NIL)
		buf_str(&is, "nil");
	else if (h.kind == MP_RECORD)
		buf_str(&is, "a record");
	else if (column_of_value(&now, p, len, NULL))
		column_type(&now, &is);
	err_set(u->e, ST_DATA, "%s%s%s is %s, and was %s from the start", name.len ? "field `" : "the element",
		name.len ? (char *)name.data : "", name.len ? "`" : "", (char *)is.data, (char *)had.data);
	if (c->kind == COLUMN_FIXED && c->tensor && now.tensor && now.dtype == c->dtype)
		err_help(u->e, "resize it, or make rows of different shape a list (they then come as Ragged)");
	else if (h.kind == MP_NIL)
		err_help(u->e, "give it a value where it has none, or write --expect with a type that ends in ?");
	else
		err_help(u->e, "convert it in the pipeline, with `cast` or a conversion in `map`");
	buf_clear(&name);
	buf_clear(&had);
	buf_clear(&is);
	return ST_DATA;
}

/* A number into a fixed column without dims. False: it is none that fits. */
static bool
put_number(const struct column *c, uint8_t *to, const struct mp *h)
{
	if (c->n_dims || c->tensor)
		return false;
	switch (c->dtype) {
	case DTYPE_BOOL:
		if (h->kind != MP_BOOL)
			return false;
		*to = h->b;
		return true;
	case DTYPE_I64:
		if (h->kind != MP_INT || h->unsigned_big)
			return false;
		memcpy(to, &h->i, 8);
		return true;
	case DTYPE_U64:
		if (h->kind != MP_INT || (h->i < 0 && !h->unsigned_big))
			return false;
		memcpy(to, &h->u, 8);
		return true;
	case DTYPE_F64: {
		double v = h->kind == MP_FLOAT ? h->f : h->unsigned_big ? (double)h->u : (double)h->i;
		if (h->kind != MP_FLOAT && h->kind != MP_INT)
			return false;
		memcpy(to, &v, 8);
		return true;
	}
	default:
		return false;
	}
}

static void
put_bytes(const struct column *c, uint8_t *to, const uint8_t *from, size_t n)
{
	if (c->far && n >= COPY_FAR_LEAST)
		copy_far(to, from, n);
	else
		memcpy(to, from, n);
}

/* A tensor of a row; with `batch` of rows along the column's axis. */
static bool
put_tensor(const struct column *c, uint8_t *to, const struct tensor *t, bool batch)
{
	if (t->dtype != c->dtype || t->n_dims != c->n_dims + batch)
		return false;
	for (int i = 0, at = 0; i < t->n_dims; i++)
		if ((!batch || i != c->axis) && t->dims[i] != c->dims[at++])
			return false;
	if (batch && c->axis)
		column_turn(c, t->data, t->dims[c->axis], to);
	else
		put_bytes(c, to, t->data, t->size);
	return true;
}

/* The bytes before the numbers of a tensor say all about it: where they are as before, nothing else is looked at. */
static bool
put_fixed(struct column *c, uint8_t *to, const uint8_t *p, size_t len)
{
	struct mp h;
	struct tensor t;

	if (c->n_alike && len == c->n_alike + c->size && !memcmp(p, c->alike, c->n_alike)) {
		put_bytes(c, to, p + c->n_alike, c->size);
		return true;
	}
	mp_head(p, p + len, &h);
	if (h.kind != MP_EXT)
		return put_number(c, to, &h);
	if (h.ext != MP_EXT_TENSOR || !tensor_read(h.p, h.n, &t) || !put_tensor(c, to, &t, false))
		return false;
	size_t head = (size_t)(t.data - p);
	if (head <= sizeof c->alike && len == head + c->size) {
		memcpy(c->alike, p, head);
		c->n_alike = (uint32_t)head;
	}
	return true;
}

static bool
put_numbers(const struct column *c, uint8_t *to, const struct mp *list, const uint8_t *end)
{
	struct column item = { .dtype = c->kind == COLUMN_INTS ? DTYPE_I64 : DTYPE_F64 };
	const uint8_t *p = list->p;

	for (uint32_t i = 0; i < list->n; i++, to += 8) {
		struct mp h;

		p = mp_head(p, end, &h);
		if (!put_number(&item, to, &h))
			return false;
	}
	return true;
}

/* A row of a column with a heap. */
static enum status
put_item(struct put *u, struct column *c, uint64_t row, const uint8_t *p, size_t len)
{
	uint64_t *offsets = column_offsets(c, u->slot);
	struct mp h = { .kind = MP_BYTES, .p = p };
	uint64_t n = len;

	if (!row)
		offsets[0] = 0;
	if (c->kind != COLUMN_VALUE) {
		enum mp_kind want = c->kind == COLUMN_TEXT ? MP_TEXT : c->kind == COLUMN_BYTES ? MP_BYTES : MP_LIST;

		mp_head(p, p + len, &h);
		if (h.kind != want)
			return put_refuse(u, c, p, len);
		n = h.n;
	}
	uint64_t left = c->room / c->size - offsets[row];
	if (n > left) {
		c->lack = (n - left) * c->size;
		return ST_AGAIN;
	}
	uint8_t *to = u->slot + c->heap + offsets[row] * c->size;
	if (c->size == 8 && !put_numbers(c, to, &h, p + len))
		return put_refuse(u, c, p, len);
	if (c->size == 1)
		memcpy(to, h.p, n);
	offsets[row + 1] = offsets[row] + n;
	return ST_OK;
}

static enum status
put_row(struct put *u, struct column *c, uint64_t row, const uint8_t *p, size_t len)
{
	if (c->kind != COLUMN_FIXED)
		return put_item(u, c, row, p, len);
	return put_fixed(c, u->slot + c->at + row * c->size, p, len) ? ST_OK : put_refuse(u, c, p, len);
}

static enum status
put_length(struct put *u, const struct column *c, uint64_t n)
{
	struct buf name = { 0 };

	if (u->rows == n && n <= u->left)
		return ST_OK;
	if (!u->rows && n && n <= u->left) {
		u->rows = n;
		return ST_OK;
	}
	column_name(c, &name);
	if (u->rows && u->rows != n)
		err_set(u->e, ST_DATA, "field `%s` has %llu row%s, and the fields before it have %llu",
			name.len ? (char *)name.data : "", (unsigned long long)n, str_s(n), (unsigned long long)u->rows);
	else
		err_set(u->e, ST_DATA, "a batch has %llu row%s, and the first one had %llu", (unsigned long long)n, str_s(n),
			(unsigned long long)u->left);
	err_help(u->e, "batches have the size of the first one, and only the last may be smaller; or give "
		"rows, with --batch N");
	buf_clear(&name);
	return ST_DATA;
}

/* A field of a batch: all its rows. */
static enum status
put_batch(struct put *u, struct column *c, const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;
	struct mp h;
	struct tensor t;
	enum status st;

	mp_head(p, end, &h);
	if (h.kind == MP_EXT && h.ext == MP_EXT_TENSOR && tensor_read(h.p, h.n, &t) && t.n_dims > c->axis &&
	    c->kind == COLUMN_FIXED) {
		st = put_length(u, c, t.dims[c->axis]);
		if (st == ST_OK && !put_tensor(c, u->slot + c->at + u->row * c->size, &t, true))
			st = put_refuse(u, c, p, len);
		return st;
	}
	if (h.kind != MP_LIST || c->axis)
		return put_refuse(u, c, p, len);
	st = put_length(u, c, h.n);
	p = h.p;
	for (uint32_t i = 0; i < h.n && st == ST_OK; i++) {
		const uint8_t *next = mp_skip(p, end);

		st = put_row(u, c, u->row + i, p, (size_t)(next - p));
		p = next;
	}
	return st;
}

static enum status put_node(struct put *u, struct column_node *node, const uint8_t *p, size_t len);

static struct column_node *
put_find(struct column_node *node, uint32_t at, const struct mp *key)
{
	struct column_node *x = &node->v[at < node->n ? at : 0];

	if (key->kind != MP_TEXT)
		return NULL;
	if (x->len == key->n && !memcmp(x->name, key->p, key->n))
		return x;
	for (uint32_t i = 0; i < node->n; i++)
		if (node->v[i].len == key->n && !memcmp(node->v[i].name, key->p, key->n))
			return &node->v[i];
	return NULL;
}

static enum status
put_missing(struct put *u, const struct column_node *node)
{
	for (uint32_t i = 0; i < node->n; i++)
		if (node->v[i].stamp != u->c->stamp) {
			err_set(u->e, ST_DATA, "field `%s` is missing, and was there from the start", node->v[i].name);
			break;
		}
	err_help(u->e, "make records alike, for example with `map {a: .a, b: .b}`");
	return ST_DATA;
}

static enum status
put_fields(struct put *u, struct column_node *node, const struct mp *h, const uint8_t *end)
{
	const uint8_t *p = h->p;
	uint32_t found = 0;
	enum status st = ST_OK;

	for (uint32_t i = 0; i < h->n && st == ST_OK; i++) {
		struct mp key;

		p = mp_head(p, end, &key);
		const uint8_t *next = mp_skip(p, end);
		struct column_node *x = put_find(node, i, &key);
		if (!x || x->stamp == u->c->stamp) {
			err_set(u->e, ST_DATA, "field `%.*s` %s", key.kind == MP_TEXT ? (int)(key.n < 200 ? key.n : 200) : 0,
				key.kind == MP_TEXT ? (const char *)key.p : "",
				x ? "comes twice" : "was not there from the start");
			err_help(u->e, "make records alike, for example with `map {a: .a, b: .b}`");
			return ST_DATA;
		}
		x->stamp = u->c->stamp;
		found++;
		st = put_node(u, x, p, (size_t)(next - p));
		p = next;
	}
	return st == ST_OK && found < node->n ? put_missing(u, node) : st;
}

static enum status
put_node(struct put *u, struct column_node *node, const uint8_t *p, size_t len)
{
	struct mp h;

	if (!node->record)
		return u->c->batches ? put_batch(u, &u->c->v[node->column], p, len) :
				       put_row(u, &u->c->v[node->column], u->row, p, len);
	mp_head(p, p + len, &h);
	if (h.kind == MP_RECORD)
		return put_fields(u, node, &h, p + len);
	return err_set(u->e, ST_DATA, "%s%s%s is not a record, as the first one was",
		node->name ? "field `" : "the element",
		       node->name ? node->name : "", node->name ? "`" : "");
}

enum status
columns_put(struct columns *c, uint8_t *slot, uint64_t row, uint64_t left, const uint8_t *p, size_t len,
	    uint64_t *rows, struct err *e)
{
	struct put u = { .c = c, .slot = slot, .row = row, .left = left, .e = e };

	c->stamp++;
	enum status st = put_node(&u, c->root, p, len);
	*rows = c->batches ? u.rows : 1;
	if (st == ST_OK && c->mask >= 0)
		memset(slot + c->v[c->mask].at + row, 1, *rows);
	return st;
}

/* Rows like the one before them. False: there is no room in the heap. */
static bool
pad_like(struct column *c, uint8_t *slot, uint64_t row, uint64_t n)
{
	if (c->kind == COLUMN_FIXED) {
		uint8_t *to = slot + c->at + row * c->size;

		for (uint64_t k = 0; k < n; k++)
			memcpy(to + k * c->size, to - c->size, c->size);
		return true;
	}
	uint64_t *offsets = column_offsets(c, slot), len = offsets[row] - offsets[row - 1];
	uint64_t left = c->room / c->size - offsets[row];
	if (len && left / len < n) {
		c->lack = (len * n - left) * c->size;
		return false;
	}
	for (uint64_t k = row; k < row + n; k++) {
		memcpy(slot + c->heap + offsets[k] * c->size, slot + c->heap + offsets[row - 1] * c->size, len * c->size);
		offsets[k + 1] = offsets[k] + len;
	}
	return true;
}

static void
pad_zero(const struct column *c, uint8_t *slot, uint64_t row, uint64_t n)
{
	if (c->kind == COLUMN_FIXED) {
		memset(slot + c->at + row * c->size, 0, n * c->size);
		return;
	}
	uint64_t *offsets = column_offsets(c, slot);
	if (!row)
		offsets[0] = 0;
	for (uint64_t k = 0; k < n; k++)
		offsets[row + k + 1] = offsets[row];
}

bool
columns_pad(struct columns *c, uint8_t *slot, uint64_t row, uint64_t n, bool last)
{
	bool ok = true;

	for (size_t i = 0; i < c->n && ok; i++)
		if (last && row && (int)i != c->mask)
			ok = pad_like(&c->v[i], slot, row, n);
		else
			pad_zero(&c->v[i], slot, row, n);
	return ok;
}
