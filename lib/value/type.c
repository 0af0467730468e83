/* SPDX-License-Identifier: MIT */
#include "value/type.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"
#include "value/tensor.h"

enum {
	TYPES_PIECE = 8192,     /* bytes allocated at once */
	TYPE_VALUE_ITEMS = 256, /* how many items of a list literal are examined */
	TYPE_VALUE_FIELDS = 256
};

struct types_piece {
	struct types_piece *next;
	size_t len, cap;
	max_align_t data[];
};
struct types {
	struct types_piece *pieces; /* the newest first */
};

struct types *
types_new(void)
{
	return mem_zalloc(sizeof(struct types));
}

void
types_free(struct types **t)
{
	struct types_piece *p = *t ? (*t)->pieces : NULL;

	while (p) {
		struct types_piece *next = p->next;

		mem_free(p);
		p = next;
	}
	mem_free(*t);
	*t = NULL;
}

static void *
types_alloc(struct types *t, size_t n) /* zeroed */
{
	struct types_piece *p = t->pieces;

	n = (n + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
	if (!p || p->cap - p->len < n) {
		size_t cap = n > TYPES_PIECE ? n : TYPES_PIECE;

		p = mem_alloc(sizeof *p + cap);
		p->len = 0;
		p->cap = cap;
		p->next = t->pieces;
		t->pieces = p;
	}
	void *at = (char *)p->data + p->len;
	p->len += n;
	return memset(at, 0, n);
}

static const char *
types_name(struct types *t, const char *s, size_t n)
{
	char *name = types_alloc(t, n + 1);

	memcpy(name, s, n);
	return name;
}

const struct type *
type_scalar(enum type_kind kind)
{
	static const struct type scalars[TYPE_NEVER + 1] = {
		[TYPE_ANY] = { .kind = TYPE_ANY }, [TYPE_NIL] = { .kind = TYPE_NIL },
		[TYPE_BOOL] = { .kind = TYPE_BOOL }, [TYPE_INT] = { .kind = TYPE_INT },
		[TYPE_FLOAT] = { .kind = TYPE_FLOAT }, [TYPE_TEXT] = { .kind = TYPE_TEXT },
		[TYPE_BYTES] = { .kind = TYPE_BYTES }, [TYPE_NEVER] = { .kind = TYPE_NEVER },
	};
	return &scalars[kind];
}

const struct type *
type_list(struct types *t, const struct type *item)
{
	struct type *a = types_alloc(t, sizeof *a);

	a->kind = TYPE_LIST;
	a->item = item;
	return a;
}

const struct type *
type_record(struct types *t, const struct type_field *fields, size_t n, bool open)
{
	struct type *a = types_alloc(t, sizeof *a);

	a->kind = TYPE_RECORD;
	a->open = open;
	a->n_fields = n;
	a->fields = types_alloc(t, (n ? n : 1) * sizeof *a->fields);
	for (size_t i = 0; i < n; i++) {
		a->fields[i].name = types_name(t, fields[i].name, strlen(fields[i].name));
		a->fields[i].type = fields[i].type;
	}
	return a;
}

const struct type *
type_tensor(struct types *t, enum dtype d, const int64_t *dims, int n_dims)
{
	struct type *a = types_alloc(t, sizeof *a);

	a->kind = TYPE_TENSOR;
	a->dtype = d;
	a->n_dims = n_dims;
	for (int i = 0; i < n_dims; i++)
		a->dims[i] = dims[i];
	return a;
}

const struct type *
type_nullable(struct types *t, const struct type *a)
{
	struct type *b;

	if (a->nullable || a->kind == TYPE_ANY || a->kind == TYPE_NIL)
		return a;
	if (a->kind == TYPE_NEVER)
		return type_scalar(TYPE_NIL);
	b = types_alloc(t, sizeof *b);
	*b = *a;
	b->nullable = true;
	return b;
}

static const struct type_field *
type_find(const struct type *rec, const char *name, size_t n)
{
	for (size_t i = 0; i < rec->n_fields; i++)
		if (!strncmp(rec->fields[i].name, name, n) && !rec->fields[i].name[n])
			return &rec->fields[i];
	return NULL;
}

const struct type *
type_field_get(const struct type *rec, const char *name, size_t n)
{
	const struct type_field *f;

	if (rec->kind == TYPE_ANY || rec->kind == TYPE_NEVER)
		return rec;
	if (rec->kind != TYPE_RECORD)
		return NULL;
	f = memchr(name, 0, n) ? NULL : type_find(rec, name, n);
	return f ? f->type : rec->open ? type_scalar(TYPE_ANY) : NULL;
}

bool
type_equal(const struct type *a, const struct type *b)
{
	if (a == b)
		return true;
	if (a->kind != b->kind || a->nullable != b->nullable)
		return false;
	switch (a->kind) {
	case TYPE_LIST:
		return type_equal(a->item, b->item);
	case TYPE_RECORD:
		if (a->n_fields != b->n_fields || a->open != b->open)
			return false;
		for (size_t i = 0; i < a->n_fields; i++)
			if (strcmp(a->fields[i].name, b->fields[i].name)
			    || !type_equal(a->fields[i].type, b->fields[i].type))
				return false;
		return true;
	case TYPE_TENSOR:
		return a->dtype == b->dtype && a->n_dims == b->n_dims
			&& (a->n_dims <= 0
			    || !memcmp(a->dims, b->dims, (size_t)a->n_dims * sizeof a->dims[0]));
	default:
		return true;
	}
}

/* The fields that both records have; a field that one lacks makes the result open. */
static const struct type *
type_join_records(struct types *t, const struct type *a, const struct type *b)
{
	struct type *r = types_alloc(t, sizeof *r);

	r->kind = TYPE_RECORD;
	r->fields = types_alloc(t, (a->n_fields + 1) * sizeof *r->fields);
	for (size_t i = 0; i < a->n_fields; i++) {
		const char *name = a->fields[i].name;
		const struct type_field *f = i < b->n_fields && !strcmp(b->fields[i].name, name)
			? &b->fields[i] : type_find(b, name, strlen(name));

		if (f) {
			r->fields[r->n_fields].name = name;
			r->fields[r->n_fields++].type = type_join(t, a->fields[i].type, f->type);
		}
	}
	r->open = a->open || b->open || r->n_fields < a->n_fields || r->n_fields < b->n_fields;
	return r;
}

static const struct type *
type_join_tensors(struct types *t, const struct type *a, const struct type *b)
{
	int64_t dims[TYPE_DIMS_MAX];

	if (a->dtype != b->dtype)
		return type_scalar(TYPE_ANY);
	if (a->n_dims != b->n_dims)
		return type_tensor(t, a->dtype, NULL, -1);
	for (int i = 0; i < a->n_dims; i++)
		dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : -1;
	return type_tensor(t, a->dtype, dims, a->n_dims);
}

const struct type *
type_join(struct types *t, const struct type *a, const struct type *b)
{
	const struct type *r;

	if (a->kind == TYPE_NEVER || type_equal(a, b))
		return b;
	if (b->kind == TYPE_NEVER || a->kind == TYPE_ANY)
		return a;
	if (b->kind == TYPE_ANY)
		return b;
	if (a->kind == TYPE_NIL)
		return type_nullable(t, b);
	if (b->kind == TYPE_NIL)
		return type_nullable(t, a);
	/* even for int and float: code compiled for floats does not read ints */
	if (a->kind != b->kind)
		return type_scalar(TYPE_ANY);
	switch (a->kind) {
	case TYPE_LIST: r = type_list(t, type_join(t, a->item, b->item)); break;
	case TYPE_RECORD: r = type_join_records(t, a, b); break;
	case TYPE_TENSOR: r = type_join_tensors(t, a, b); break;
	default: r = type_scalar(a->kind); break;
	}
	return a->nullable || b->nullable ? type_nullable(t, r) : r;
}

static bool
type_fits_record(const struct type *a, const struct type *b)
{
	for (size_t i = 0; i < b->n_fields; i++) {
		const char *name = b->fields[i].name;
		const struct type *f = type_field_get(a, name, strlen(name));

		if (!f || !type_fits(f, b->fields[i].type))
			return false;
	}
	if (b->open || a->open)
		return true;
	for (size_t i = 0; i < a->n_fields; i++)
		if (!type_find(b, a->fields[i].name, strlen(a->fields[i].name)))
			return false;
	return true;
}

bool
type_fits(const struct type *a, const struct type *b)
{
	if (a->kind == TYPE_ANY || b->kind == TYPE_ANY || a->kind == TYPE_NEVER)
		return true;
	if (a->kind == TYPE_NIL)
		return b->kind == TYPE_NIL || b->nullable;
	if (a->nullable && !b->nullable)
		return false;
	if (a->kind == TYPE_INT && b->kind == TYPE_FLOAT)
		return true;
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case TYPE_LIST:
		return type_fits(a->item, b->item);
	case TYPE_RECORD:
		return type_fits_record(a, b);
	case TYPE_TENSOR:
		if (a->dtype != b->dtype)
			return false;
		if (a->n_dims < 0 || b->n_dims < 0)
			return true;
		for (int i = 0; i < a->n_dims && a->n_dims == b->n_dims; i++)
			if (a->dims[i] != b->dims[i] && a->dims[i] >= 0 && b->dims[i] >= 0)
				return false;
		return a->n_dims == b->n_dims;
	default:
		return true;
	}
}

static const struct type *type_of_next(struct types *t, const uint8_t **p, const uint8_t *end);

/* The items of a long list of lists or records are `any`, since each join makes types. */
static const struct type *
type_of_list(struct types *t, uint32_t n, const uint8_t **p, const uint8_t *end)
{
	const struct type *item = type_scalar(TYPE_NEVER);
	uint32_t compound = 0;

	for (uint32_t i = 0; i < n && item->kind != TYPE_ANY; i++) {
		struct mp h;

		mp_head(*p, end, &h);
		if ((h.kind == MP_LIST || h.kind == MP_RECORD || h.kind == MP_EXT)
		    && ++compound > TYPE_VALUE_ITEMS)
			item = type_scalar(TYPE_ANY);
		else
			item = type_join(t, item, type_of_next(t, p, end));
	}
	return type_list(t, item);
}

static const struct type *
type_of_record(struct types *t, uint32_t n, const uint8_t **p, const uint8_t *end)
{
	struct type *r = types_alloc(t, sizeof *r);
	struct mp key;

	r->kind = TYPE_RECORD;
	r->open = n > TYPE_VALUE_FIELDS;
	n = r->open ? TYPE_VALUE_FIELDS : n;
	r->fields = types_alloc(t, (n + 1u) * sizeof *r->fields);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *start = *p;

		*p = mp_head(start, end, &key);
		if (key.kind != MP_TEXT || memchr(key.p, 0, key.n)
		    || type_find(r, (const char *)key.p, key.n)) {
			/* the name cannot be used in an expression, or is repeated */
			*p = mp_skip(mp_skip(start, end), end);
			r->open = true;
			continue;
		}
		r->fields[r->n_fields].name = types_name(t, (const char *)key.p, key.n);
		r->fields[r->n_fields].type = type_of_next(t, p, end);
		r->n_fields++;
	}
	return r;
}

static const struct type *
type_of_ext(struct types *t, const struct mp *h)
{
	struct tensor x;
	int64_t dims[TYPE_DIMS_MAX];

	if (h->ext != MP_EXT_TENSOR || !tensor_read(h->p, h->n, &x))
		return type_scalar(TYPE_ANY);
	for (int i = 0; i < x.n_dims; i++)
		dims[i] = x.dims[i] <= INT64_MAX ? (int64_t)x.dims[i] : -1;
	return type_tensor(t, x.dtype, dims, x.n_dims);
}

/* The type of the value at *p; *p moves past it. */
static const struct type *
type_of_next(struct types *t, const uint8_t **p, const uint8_t *end)
{
	static const uint8_t scalars[] = {
		[MP_NIL] = TYPE_NIL, [MP_BOOL] = TYPE_BOOL, [MP_INT] = TYPE_INT,
		[MP_FLOAT] = TYPE_FLOAT, [MP_TEXT] = TYPE_TEXT, [MP_BYTES] = TYPE_BYTES
	};
	const uint8_t *start = *p, *items;
	const struct type *r;
	struct mp h;

	items = *p = mp_head(start, end, &h);
	switch (h.kind) {
	case MP_LIST:
		r = type_of_list(t, h.n, &items, end);
		break;
	case MP_RECORD:
		r = type_of_record(t, h.n, &items, end);
		break;
	case MP_EXT:
		return type_of_ext(t, &h);
	case MP_BAD:
		*p = end;
		return type_scalar(TYPE_ANY);
	default:
		return type_scalar(scalars[h.kind]);
	}
	*p = mp_skip(start, end);
	return r;
}

const struct type *
type_of_value(struct types *t, const uint8_t *p, size_t len)
{
	return mp_check(p, len) ? type_of_next(t, &p, p + len) : type_scalar(TYPE_ANY);
}
