/* SPDX-License-Identifier: MIT
 *
 * The structure of elements, from the first of them, and the places of columns in a slot.
 */
#include "value/columns.h"

#include <string.h>

#include "base/mem.h"
#include "value/columns_inner.h"
#include "value/mp.h"
#include "value/tensor.h"

enum { COLUMN_HEAP_LEAST = 4096 };

struct record {
	struct columns *c;
	bool batches;
	const struct column_axes *axes;
	const char *path[COLUMNS_DEPTH];
	uint32_t lens[COLUMNS_DEPTH];
	struct err *e;
};

static void
column_fix(struct column *c, enum dtype d)
{
	c->kind = COLUMN_FIXED;
	c->dtype = d;
	c->n_dims = 0;
	c->tensor = false;
	c->size = dtype_size(d);
}

static void
column_heap(struct column *c, enum column_kind kind)
{
	c->kind = kind;
	c->size = kind == COLUMN_INTS || kind == COLUMN_FLOATS ? 8 : 1;
}

/* A list of numbers; anything else in a list makes it a value of its own. */
static void
column_of_list(struct column *c, const struct mp *h, const uint8_t *end, const struct type *type)
{
	const struct type *item = type && type->kind == TYPE_LIST ? type->item : NULL;
	const uint8_t *p = h->p;
	enum column_kind kind = COLUMN_INTS;

	if (item && !item->nullable && (item->kind == TYPE_INT || item->kind == TYPE_FLOAT)) {
		column_heap(c, item->kind == TYPE_INT ? COLUMN_INTS : COLUMN_FLOATS);
		return;
	}
	for (uint32_t i = 0; i < h->n && kind != COLUMN_VALUE; i++) {
		struct mp x;

		p = mp_head(p, end, &x);
		if (x.kind == MP_FLOAT)
			kind = COLUMN_FLOATS;
		else if (x.kind != MP_INT || x.unsigned_big)
			kind = COLUMN_VALUE;
	}
	column_heap(c, h->n ? kind : COLUMN_VALUE);
}

static bool
column_of_tensor(struct column *c, const struct mp *h)
{
	struct tensor t;

	if (h->ext != MP_EXT_TENSOR || !tensor_read(h->p, h->n, &t))
		return false;
	column_fix(c, t.dtype);
	c->tensor = true;
	c->n_dims = t.n_dims;
	memcpy(c->dims, t.dims, sizeof c->dims);
	c->size = t.size;
	return true;
}

bool
column_of_value(struct column *c, const uint8_t *p, size_t len, const struct type *type)
{
	struct mp h;

	mp_head(p, p + len, &h);
	if (type && type->nullable)
		h.kind = MP_NIL;
	switch (h.kind) {
	case MP_BOOL: column_fix(c, DTYPE_BOOL); break;
	case MP_INT:
		if (type && type->kind == TYPE_FLOAT)
			column_fix(c, DTYPE_F64);
		else if (h.unsigned_big)
			column_fix(c, DTYPE_U64);
		else
			column_fix(c, DTYPE_I64);
		break;
	case MP_FLOAT: column_fix(c, DTYPE_F64); break;
	case MP_TEXT: column_heap(c, COLUMN_TEXT); break;
	case MP_BYTES: column_heap(c, COLUMN_BYTES); break;
	case MP_LIST: column_of_list(c, &h, p + len, type); break;
	case MP_EXT:
		if (!column_of_tensor(c, &h))
			column_heap(c, COLUMN_VALUE);
		break;
	case MP_NIL: case MP_RECORD: column_heap(c, COLUMN_VALUE); break;
	case MP_BAD: return false;
	}
	return true;
}

/* The column of one field of a batch: its rows without their axis. */
static void
column_of_batch(struct column *c, const uint8_t *p, size_t len, int axis, const struct type *type)
{
	struct mp h;
	struct tensor t;
	const uint8_t *end = p + len;

	mp_head(p, end, &h);
	if (h.kind == MP_EXT && tensor_read(h.p, h.n, &t)) {
		column_fix(c, t.dtype);
		c->tensor = t.n_dims > 1;
		c->n_dims = t.n_dims - 1;
		c->axis = axis;
		for (int i = 0, at = 0; i < t.n_dims; i++)
			if (i != axis)
				c->dims[at++] = t.dims[i];
		c->size = t.dims[axis] ? t.size / t.dims[axis] : 0;
		return;
	}
	const struct type *item = type && type->kind == TYPE_LIST ? type->item : NULL;
	const uint8_t *next = mp_skip(h.p, end);
	column_of_value(c, h.p, (size_t)(next - h.p), item);
}

/* How many rows a field of a batch has; 0: none, or no axis. */
static uint64_t
record_length(const uint8_t *p, size_t len, int axis)
{
	struct mp h;
	struct tensor t;

	mp_head(p, p + len, &h);
	if (h.kind == MP_LIST && !axis)
		return h.n;
	if (h.kind == MP_EXT && h.ext == MP_EXT_TENSOR && tensor_read(h.p, h.n, &t) && t.n_dims > axis)
		return t.dims[axis];
	return 0;
}

/* The axis of the field at r->path. */
static int
record_axis(const struct record *r, size_t depth)
{
	for (size_t i = 0; r->axes && i < r->axes->n; i++) {
		const char *at = r->axes->v[i].field;
		size_t k = 0;

		for (; k < depth && !strncmp(at, r->path[k], r->lens[k]); k++) {
			at += r->lens[k];
			if (k + 1 < depth && *at++ != '.')
				break;
		}
		if (k == depth && !*at)
			return r->axes->v[i].axis;
	}
	return 0;
}

/* Whether all columns of the element have the same number of rows, which goes to *rows. */
static bool
record_is_batch(struct record *r, const uint8_t *p, size_t len, uint64_t *rows, size_t depth)
{
	const uint8_t *end = p + len;
	struct mp h, key;

	mp_head(p, end, &h);
	if (h.kind != MP_RECORD) {
		uint64_t n = record_length(p, len, record_axis(r, depth));
		bool same = n && (!*rows || *rows == n);
		*rows = n;
		return same;
	}
	p = h.p;
	for (uint32_t i = 0; i < h.n; i++) {
		mp_head(p, end, &key);
		p = mp_skip(p, end);
		const uint8_t *next = mp_skip(p, end);
		if (depth == COLUMNS_DEPTH || key.kind != MP_TEXT)
			return false;
		r->path[depth] = (const char *)key.p;
		r->lens[depth] = key.n;
		if (!record_is_batch(r, p, (size_t)(next - p), rows, depth + 1))
			return false;
		p = next;
	}
	return h.n > 0;
}

static struct column *
columns_add(struct columns *c)
{
	size_t cap = c->n;

	if (!(c->n & (c->n - 1))) /* doubled at each power of two */
		c->v = mem_realloc(c->v, (cap ? 2 * cap : 1) * sizeof *c->v);
	c->v[c->n] = (struct column){ 0 };
	return &c->v[c->n++];
}

static void
record_path(const struct record *r, struct column *col, size_t depth)
{
	col->path = mem_array(depth ? depth : 1, sizeof *col->path);
	col->n_path = depth;
	for (size_t i = 0; i < depth; i++)
		col->path[i] = mem_strndup(r->path[i], r->lens[i]);
}

static enum status record_value(struct record *r, struct column_node *node, const uint8_t *p, size_t len,
				const struct type *type, size_t depth);

static enum status
record_fields(struct record *r, struct column_node *node, const struct mp *h, const uint8_t *end,
	      const struct type *type, size_t depth)
{
	const uint8_t *p = h->p;
	enum status st = ST_OK;

	if (h->n > COLUMNS_MAX)
		return err_set(r->e, ST_DATA, "elements have more than %d fields", COLUMNS_MAX);
	node->record = true;
	node->v = mem_array(h->n, sizeof *node->v);
	node->n = h->n;
	for (uint32_t i = 0; i < h->n && st == ST_OK; i++) {
		struct mp key;

		p = mp_head(p, end, &key);
		const uint8_t *next = mp_skip(p, end);
		if (key.kind != MP_TEXT)
			return err_set(r->e, ST_DATA, "a field has a name that is not text");
		node->v[i].name = mem_strndup((const char *)key.p, key.n);
		node->v[i].len = key.n;
		r->path[depth] = node->v[i].name;
		r->lens[depth] = key.n;
		const struct type *t = type && type->kind == TYPE_RECORD ?
			type_field_get(type, node->v[i].name, key.n) : NULL;
		st = record_value(r, &node->v[i], p, (size_t)(next - p), t, depth + 1);
		p = next;
	}
	return st;
}

/* Bytes that a field of the first element takes in the heap of its column. */
static size_t
record_heap(const struct record *r, const struct column *col, const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;
	struct mp h, item;
	size_t n = 0;

	if (col->kind == COLUMN_FIXED || col->size == 1)
		return col->kind == COLUMN_FIXED ? 0 : len;
	mp_head(p, end, &h);
	p = h.p;
	for (uint32_t i = 0; r->batches && h.kind == MP_LIST && i < h.n; i++, p = mp_skip(p, end)) {
		mp_head(p, end, &item);
		n += item.kind == MP_LIST ? item.n : 0;
	}
	return (r->batches ? n : h.n) * col->size;
}

static enum status
record_value(struct record *r, struct column_node *node, const uint8_t *p, size_t len, const struct type *type,
	     size_t depth)
{
	struct mp h;

	mp_head(p, p + len, &h);
	if (h.kind == MP_RECORD && h.n && depth < COLUMNS_DEPTH && !(type && type->nullable))
		return record_fields(r, node, &h, p + len, type, depth);
	if (r->c->n == COLUMNS_MAX)
		return err_set(r->e, ST_DATA, "elements have more than %d fields", COLUMNS_MAX);
	node->column = r->c->n;
	struct column *col = columns_add(r->c);
	record_path(r, col, depth);
	if (r->batches)
		column_of_batch(col, p, len, record_axis(r, depth), type);
	else
		column_of_value(col, p, len, type);
	col->room = record_heap(r, col, p, len);
	return ST_OK;
}

static enum status
record_axes_known(const struct record *r)
{
	struct buf name = { 0 };
	bool known = true;

	for (size_t i = 0; r->axes && known && i < r->axes->n; i++) {
		const struct column_axis *a = &r->axes->v[i];

		known = false;
		for (size_t k = 0; k < r->c->n && !known; k++) {
			buf_reset(&name);
			column_name(&r->c->v[k], &name);
			known = !strcmp(name.len ? (char *)name.data : "", a->field);
		}
		if (!known)
			err_set(r->e, ST_DATA, "--axis %s=%d: elements have no field `%s`", a->field, a->axis, a->field);
	}
	buf_clear(&name);
	return known ? ST_OK : ST_DATA;
}

enum status
columns_record(const uint8_t *p, size_t len, const struct type *type, bool batches, const struct column_axes *axes,
	       const char *mask, struct columns **out, uint64_t *rows, struct err *e)
{
	struct columns *c = mem_zalloc(sizeof *c);
	struct record r = { .c = c, .axes = axes, .e = e };

	*out = NULL;
	*rows = 0;
	c->root = mem_zalloc(sizeof *c->root);
	c->mask = -1;
	c->batches = r.batches = batches && record_is_batch(&r, p, len, rows, 0);
	c->whole = batches && !c->batches;
	if (!r.batches)
		*rows = 1;
	enum status st = record_value(&r, c->root, p, len, type, 0);
	if (st == ST_OK)
		st = record_axes_known(&r);
	for (size_t i = 0; mask && i < c->n && st == ST_OK; i++)
		if (c->v[i].n_path && !strcmp(c->v[i].path[0], mask))
			st = err_set(e, ST_DATA, "--mask %s: elements have a field of that name", mask);
	if (mask && st == ST_OK && !c->root->record)
		st = err_set(e, ST_DATA, "--mask %s: elements are not records, so no field can be added", mask);
	if (st != ST_OK) {
		columns_free(&c);
		return st;
	}
	if (mask) {
		c->mask = (int)c->n;
		struct column *col = columns_add(c);
		r.path[0] = mask, r.lens[0] = (uint32_t)strlen(mask);
		record_path(&r, col, 1);
		column_fix(col, DTYPE_BOOL);
	}
	*out = c;
	return ST_OK;
}

static void
column_node_clear(struct column_node *n)
{
	for (uint32_t i = 0; i < n->n; i++)
		column_node_clear(&n->v[i]);
	mem_free(n->v);
	mem_free(n->name);
}

void
columns_free(struct columns **cp)
{
	struct columns *c = *cp;

	*cp = NULL;
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->v[i].n_path; k++)
			mem_free(c->v[i].path[k]);
		mem_free(c->v[i].path);
	}
	if (c->root)
		column_node_clear(c->root);
	mem_free(c->root);
	mem_free(c->v);
	mem_free(c);
}

static void
column_node_copy(struct column_node *to, const struct column_node *from)
{
	*to = *from;
	to->name = mem_strdup(from->name);
	to->v = from->n ? mem_array(from->n, sizeof *to->v) : NULL;
	for (uint32_t i = 0; i < from->n; i++)
		column_node_copy(&to->v[i], &from->v[i]);
}

struct columns *
columns_copy(const struct columns *from)
{
	struct columns *c = mem_dup(from, sizeof *c);

	/* room as columns_add counts it is not needed: a copy gets no more columns */
	c->v = mem_dup(from->v, (from->n ? from->n : 1) * sizeof *c->v);
	for (size_t i = 0; i < c->n; i++) {
		c->v[i].path = mem_array(c->v[i].n_path ? c->v[i].n_path : 1, sizeof *c->v[i].path);
		for (size_t k = 0; k < c->v[i].n_path; k++)
			c->v[i].path[k] = mem_strdup(from->v[i].path[k]);
	}
	c->root = mem_zalloc(sizeof *c->root);
	column_node_copy(c->root, from->root);
	return c;
}

/* Takes n bytes of the slot; false: they are too many. */
static bool
columns_reserve(struct columns *c, size_t n, size_t most, size_t *at)
{
	if (n > most || c->bytes > most - n)
		return false;
	*at = c->bytes;
	c->bytes = (c->bytes + n + COLUMN_ALIGN - 1) / COLUMN_ALIGN * COLUMN_ALIGN;
	return true;
}

bool
columns_lay(struct columns *c, uint64_t rows, uint64_t each, size_t most)
{
	c->rows = rows;
	c->bytes = 0;
	for (size_t i = 0; i < c->n; i++) {
		struct column *col = &c->v[i];
		size_t row = col->kind == COLUMN_FIXED ? col->size : sizeof(uint64_t);

		if (row && rows + 1 > most / row)
			return false;
		if (!columns_reserve(c, row * (rows + (col->kind != COLUMN_FIXED)), most, &col->at))
			return false;
		if (col->kind == COLUMN_FIXED)
			continue;
		size_t least = each ? 2 * (col->room / each) + 1 : 0;
		if (least && rows > most / least)
			return false;
		if (each)
			col->room = least * rows;
		if (col->room < COLUMN_HEAP_LEAST)
			col->room = COLUMN_HEAP_LEAST;
		col->room = (col->room + 7) / 8 * 8;
		if (!columns_reserve(c, col->room, most, &col->heap))
			return false;
	}
	if (!c->bytes)
		c->bytes = COLUMN_ALIGN;
	for (size_t i = 0; i < c->n; i++)
		c->v[i].far = c->bytes >= COLUMNS_FAR;
	return true;
}

void
columns_widen(struct columns *c, size_t most)
{
	size_t taken = c->bytes + 2 * COLUMN_ALIGN, spare = most > taken ? most - taken : 0;

	for (size_t i = 0; i < c->n; i++) {
		struct column *col = &c->v[i];
		size_t more = col->lack > col->room ? col->lack : col->room;

		if (!col->lack)
			continue;
		if (more > spare && col->lack <= spare)
			more = col->lack + (spare - col->lack) / 2;
		col->room += more;
		col->lack = 0;
	}
}

void
columns_move(const struct columns *from, const uint8_t *old, const struct columns *to, uint8_t *slot, uint64_t rows)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct column *a = &from->v[i], *b = &to->v[i];

		if (a->kind == COLUMN_FIXED) {
			memcpy(slot + b->at, old + a->at, rows * a->size);
			continue;
		}
		const uint64_t *offsets = column_offsets(a, old);
		memcpy(slot + b->at, old + a->at, (rows + 1) * sizeof *offsets);
		memcpy(slot + b->heap, old + a->heap, offsets[rows] * a->size);
	}
}

void
column_name(const struct column *c, struct buf *out)
{
	for (size_t i = 0; i < c->n_path; i++) {
		buf_str(out, i ? "." : "");
		buf_str(out, c->path[i]);
	}
}

void
column_type(const struct column *c, struct buf *out)
{
	static const char *const names[] = { [COLUMN_TEXT] = "text", [COLUMN_BYTES] = "bytes",
		[COLUMN_INTS] = "[int]", [COLUMN_FLOATS] = "[float]", [COLUMN_VALUE] = "any" };

	if (c->kind != COLUMN_FIXED) {
		buf_str(out, names[c->kind]);
	} else if (!c->tensor) {
		buf_str(out, c->dtype == DTYPE_I64 ? "int" : c->dtype == DTYPE_F64 ? "float" : dtype_name(c->dtype));
	} else {
		buf_str(out, dtype_name(c->dtype));
		for (int i = 0; i < c->n_dims; i++)
			buf_printf(out, "%s%llu", i ? "," : "[", (unsigned long long)c->dims[i]);
		buf_str(out, c->n_dims ? "]" : "[]");
	}
}
