/* SPDX-License-Identifier: MIT */
#include "value/format/example.h"

#include <endian.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "value/dtype.h"
#include "value/mp.h"
#include "value/tensor.h"

/* Wire format: a field is varint(number << 3 | type) and its contents.
 *
 *	Example { Features features = 1 }
 *	Features { map<string, Feature> = 1 { key = 1, value = 2 } }
 *	Feature { oneof BytesList = 1, FloatList = 2, Int64List = 3 }, each: repeated = 1
 */
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };
enum { WIRE_VARINT_MAX = 10, EXAMPLE_FEW = 32 };
enum example_list { LIST_NONE, LIST_BYTES, LIST_FLOAT, LIST_INT };

struct wire {
	const uint8_t *p, *end;
	bool bad;
};

/* One field: bytes are lent, a number is in u. */
struct wire_field {
	uint32_t number, type;
	uint64_t u;
	struct wire bytes;
};

static uint64_t
wire_varint(struct wire *w)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && w->p < w->end; shift += 7) {
		uint8_t c = *w->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return v;
	}
	w->bad = true;
	return 0;
}

static uint64_t
wire_fixed(struct wire *w, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(w->end - w->p) < size) {
		w->bad = true;
		return 0;
	}
	memcpy(&v, w->p, size);
	w->p += size;
	return le64toh(v);
}

/* Reads the next field; false at the end, or where it is bad. */
static bool
wire_next(struct wire *w, struct wire_field *f)
{
	if (w->p == w->end || w->bad)
		return false;
	uint64_t tag = wire_varint(w);
	f->number = (uint32_t)(tag >> 3);
	f->type = tag & 7;
	if (tag >> 3 > 0x1fffffff || !f->number)
		w->bad = true;
	switch (f->type) {
	case WIRE_VARINT: f->u = wire_varint(w); break;
	case WIRE_64: f->u = wire_fixed(w, 8); break;
	case WIRE_32: f->u = wire_fixed(w, 4); break;
	case WIRE_BYTES:
		f->u = wire_varint(w);
		if (f->u > (size_t)(w->end - w->p))
			w->bad = true;
		else
			f->bytes = (struct wire){ w->p, w->p + f->u, false };
		if (!w->bad)
			w->p += f->u;
		break;
	default: w->bad = true;
	}
	return !w->bad;
}

/* ---- in ---- */

static bool
example_is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 && p[i] != '\t' && p[i] != '\n' && p[i] != '\r')
			return false;
	return str_utf8_valid(p, n) == n;
}

static void
example_put_bytes(const struct example_conf *conf, const struct wire *v, struct buf *out)
{
	size_t n = (size_t)(v->end - v->p);
	uint8_t *start = buf_room(out, n + MP_HEAD_MAX), *w;
	bool text = !conf->bytes && example_is_text(v->p, n);

	w = text ? mp_put_text_head(start, (uint32_t)n) : mp_put_bytes_head(start, (uint32_t)n);
	if (n)
		memcpy(w, v->p, n);
	out->len += (size_t)(w - start) + n;
}

static void
example_put_float(uint32_t bits, struct buf *out)
{
	uint8_t *start = buf_room(out, MP_FLOAT_MAX);
	float f;

	memcpy(&f, &bits, 4);
	out->len += (size_t)(mp_put_float(start, (double)f) - start);
}

static void
example_put_int(uint64_t v, struct buf *out)
{
	uint8_t *start = buf_room(out, MP_INT_MAX);

	out->len += (size_t)(mp_put_int(start, (int64_t)v) - start);
}

/* Puts the values of one list, packed or not; gives their number. */
static uint32_t
example_values(const struct example_conf *conf, enum example_list kind, struct wire w,
	       struct buf *out, bool *bad)
{
	struct wire_field f;
	uint32_t n = 0;

	while (wire_next(&w, &f)) {
		if (f.number != 1)
			continue;
		if (kind == LIST_BYTES && f.type == WIRE_BYTES) {
			example_put_bytes(conf, &f.bytes, out);
			n++;
		} else if (kind == LIST_FLOAT && f.type == WIRE_32) {
			example_put_float((uint32_t)f.u, out);
			n++;
		} else if (kind == LIST_INT && f.type == WIRE_VARINT) {
			example_put_int(f.u, out);
			n++;
		} else if (f.type == WIRE_BYTES) {
			for (; f.bytes.p < f.bytes.end && !f.bytes.bad; n++) {
				if (kind == LIST_FLOAT)
					example_put_float((uint32_t)wire_fixed(&f.bytes, 4), out);
				else
					example_put_int(wire_varint(&f.bytes), out);
			}
			*bad |= f.bytes.bad;
		} else {
			*bad = true;
		}
	}
	*bad |= w.bad;
	return n;
}

/* Inserts a list's head before the n values put from `at` on. */
static void
example_list_head(struct buf *out, size_t at, uint32_t n)
{
	uint8_t head[MP_HEAD_MAX];
	size_t len = (size_t)(mp_put_list_head(head, n) - head);

	buf_room(out, len);
	memmove(out->data + at + len, out->data + at, out->len - at);
	memcpy(out->data + at, head, len);
	out->len += len;
}

/* Puts the feature of an entry of the map. Parts of a message are merged as protocol buffers
 * require: lists are concatenated, and of a oneof the last member counts. */
static bool
example_feature(const struct example_conf *conf, struct wire entry, struct buf *out)
{
	struct wire_field value, f;
	enum example_list kind = LIST_NONE;
	size_t at = out->len;
	uint32_t n = 0;
	bool bad = false;

	while (!bad && wire_next(&entry, &value)) {
		while (value.number == 2 && !bad && wire_next(&value.bytes, &f)) {
			if (f.number > LIST_INT)
				continue;
			if (f.number != kind) {
				kind = (enum example_list)f.number;
				out->len = at;
				n = 0;
			}
			if (f.type == WIRE_BYTES)
				n += example_values(conf, kind, f.bytes, out, &bad);
			else
				bad = true;
		}
		bad |= value.number == 2 && value.bytes.bad;
	}
	if (n != 1 || conf->lists)
		example_list_head(out, at, n);
	return !bad;
}

/* ---- the map ---- */

struct example_key {
	const uint8_t *p;
	size_t n;
	bool gone; /* a later feature has the same key */
};

static bool
example_key_read(struct wire entry, struct example_key *key)
{
	struct wire_field f;

	*key = (struct example_key){ .p = entry.p };
	while (wire_next(&entry, &f)) {
		if (f.number > 2)
			continue;
		if (f.type != WIRE_BYTES)
			return false;
		if (f.number == 1) {
			key->p = f.bytes.p;
			key->n = (size_t)(f.bytes.end - f.bytes.p);
		}
	}
	return !entry.bad;
}

static inline bool
example_same_key(const void *keys, uint32_t index, const void *key)
{
	const struct example_key *a = (const struct example_key *)keys + index, *b = key;

	return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* Marks the keys that count: of a repeated key, the last. Few keys are compared with each
 * other, many are found by hash. */
static void
example_keys_mark(struct example_key *keys, uint32_t n)
{
	struct slots slots = { 0 };

	for (uint32_t i = 0; n <= EXAMPLE_FEW && i < n; i++)
		for (uint32_t k = i + 1; k < n && !keys[i].gone; k++)
			keys[i].gone = example_same_key(keys, i, &keys[k]);
	if (n <= EXAMPLE_FEW)
		return;
	slots_widen(&slots, 2 * (size_t)n, 0, NULL, NULL);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = slots_find(&slots, hash_bytes(keys[i].p, keys[i].n), example_same_key, keys, &keys[i]);

		if (slots.v[at])
			keys[slots.v[at] - 1].gone = true;
		slots.v[at] = i + 1;
	}
	slots_clear(&slots);
}

/* Counts the features, up to one more than the limit; their keys go to `keys`, unless NULL.
 * *bad: some cannot be read. */
static uint32_t
example_keys_read(struct wire w, struct example_key *keys, bool *bad)
{
	struct wire_field f, entry;
	uint32_t n = 0;

	while (n <= EXAMPLE_FEATURES_MAX && !*bad && wire_next(&w, &f)) {
		if (f.number != 1)
			continue;
		*bad = f.type != WIRE_BYTES;
		while (!*bad && n <= EXAMPLE_FEATURES_MAX && wire_next(&f.bytes, &entry)) {
			if (entry.number != 1)
				continue;
			*bad = entry.type != WIRE_BYTES
				|| (keys && !example_key_read(entry.bytes, &keys[n]));
			n += !*bad;
		}
		*bad |= f.type == WIRE_BYTES && f.bytes.bad;
	}
	*bad |= w.bad;
	return n;
}

static void
example_put_key(const struct example_key *key, struct buf *out)
{
	uint8_t *start = buf_room(out, key->n + MP_HEAD_MAX);
	uint8_t *p = mp_put_text_head(start, (uint32_t)key->n);

	memcpy(p, key->p, key->n);
	out->len += (size_t)(p - start) + key->n;
}

/* Puts the n features, whose keys can be read; gives how many were put. */
static uint32_t
example_put(const struct example_conf *conf, struct wire w, const struct example_key *keys,
	    uint32_t n, struct buf *out)
{
	struct wire_field f, entry;
	uint8_t *head = buf_room(out, MP_HEAD_MAX);
	uint32_t i = 0, left = n;

	for (uint32_t k = 0; k < n; k++)
		left -= keys[k].gone;
	out->len += (size_t)(mp_put_record_head(head, left) - head);
	while (wire_next(&w, &f)) {
		while (f.number == 1 && wire_next(&f.bytes, &entry)) {
			if (entry.number != 1)
				continue;
			if (!keys[i].gone) {
				example_put_key(&keys[i], out);
				if (!example_feature(conf, entry.bytes, out))
					return i;
			}
			i++;
		}
	}
	return i;
}

enum status
example_decode(const struct example_conf *conf, const uint8_t *p, size_t n, struct buf *out,
	       struct err *e)
{
	struct wire w = { p, p + n, false };
	struct example_key few[EXAMPLE_FEW], *keys = few;
	size_t at = out->len;
	bool bad = false;
	uint32_t count = example_keys_read(w, NULL, &bad), done = count;

	if (count > EXAMPLE_FEATURES_MAX)
		return err_set(e, ST_DATA, "not a tf.train.Example: more than %d features",
			       EXAMPLE_FEATURES_MAX);
	if (count > EXAMPLE_FEW)
		keys = mem_array(count, sizeof *keys);
	if (!bad)
		done = example_keys_read(w, keys, &bad);
	if (!bad) {
		example_keys_mark(keys, count);
		done = example_put(conf, w, keys, count, out);
		bad = done < count;
	}
	if (keys != few)
		mem_free(keys);
	if (!bad)
		return ST_OK;
	out->len = at;
	return err_set(e, ST_DATA, "not a tf.train.Example: malformed after feature %u", done);
}

/* ---- out ---- */

static size_t
wire_varint_to(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static void
wire_put_varint(struct buf *out, uint64_t v)
{
	out->len += wire_varint_to(buf_room(out, WIRE_VARINT_MAX), v);
}

static void
wire_put_bytes(struct buf *out, uint32_t number, const void *p, size_t n)
{
	wire_put_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
	wire_put_varint(out, n);
	buf_put(out, p, n);
}

static void
example_add_float(struct buf *out, double v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, 4);
	bits = htole32(bits);
	buf_put(out, &bits, 4);
}

static void
example_add_tensor(const struct tensor *t, enum example_list *kind, struct buf *out)
{
	size_t size = dtype_size(t->dtype);
	bool floats = dtype_is_float(t->dtype);
	const uint8_t *p = t->data;

	*kind = floats ? LIST_FLOAT : LIST_INT;
	for (uint64_t i = 0; i < t->count; i++, p += size) {
		if (floats)
			example_add_float(out, dtype_float(t->dtype, p));
		else
			wire_put_varint(out, (uint64_t)dtype_int(t->dtype, p));
	}
}

static enum status
example_mixed(struct err *e)
{
	err_set(e, ST_DATA, "a list of different kinds");
	err_help(e, "a feature holds ints, or floats, or texts and bytes");
	return ST_DATA;
}

/* Adds one value to the list being built; the first decides the kind of the list. */
static enum status
example_add(const struct mp *m, enum example_list *kind, struct buf *out, struct err *e)
{
	enum example_list k = m->kind == MP_INT || m->kind == MP_BOOL ? LIST_INT
		: m->kind == MP_FLOAT ? LIST_FLOAT
		: m->kind == MP_TEXT || m->kind == MP_BYTES ? LIST_BYTES : LIST_NONE;

	if (k == LIST_NONE) {
		err_set(e, ST_DATA, "a tf.train.Example has no place for %s within",
			m->kind == MP_RECORD ? "a record" : m->kind == MP_NIL ? "null" : "a list");
		err_help(e, "-t ndjson and -t msgpack hold any value");
		return ST_DATA;
	}
	/* an int among floats becomes a float */
	if (*kind == LIST_FLOAT && m->kind == MP_INT)
		k = LIST_FLOAT;
	if (*kind != LIST_NONE && *kind != k)
		return example_mixed(e);
	*kind = k;
	if (k == LIST_BYTES)
		wire_put_bytes(out, 1, m->p, m->n);
	else if (k == LIST_FLOAT)
		example_add_float(out, m->kind == MP_FLOAT ? m->f
				  : m->unsigned_big ? (double)m->u : (double)m->i);
	else if (m->kind == MP_INT && m->unsigned_big)
		return err_set(e, ST_DATA, "%llu does not fit an int64", (unsigned long long)m->u);
	else
		wire_put_varint(out, m->kind == MP_BOOL ? m->b : m->u);
	return ST_OK;
}

/* Whether any of the n values at p is a float. */
static bool
example_has_float(const uint8_t *p, const uint8_t *end, uint32_t n)
{
	for (struct mp m; n--; p = mp_skip(p, end))
		if (mp_head(p, end, &m) && m.kind == MP_FLOAT)
			return true;
	return false;
}

/* Adds the values of one field to `list`; *p moves past it. */
static enum status
example_collect(const uint8_t **p, const uint8_t *end, enum example_list *kind, struct buf *list,
		struct err *e)
{
	enum status st = ST_OK;
	struct tensor t;
	struct mp m, item;

	*p = mp_head(*p, end, &m);
	*kind = LIST_NONE;
	if (m.kind == MP_NIL)
		return ST_OK;
	if (m.kind == MP_EXT && m.ext == MP_EXT_TENSOR && tensor_read(m.p, m.n, &t)) {
		example_add_tensor(&t, kind, list);
		return ST_OK;
	}
	if (m.kind != MP_LIST)
		return example_add(&m, kind, list, e);
	if (example_has_float(*p, end, m.n))
		*kind = LIST_FLOAT;
	for (uint32_t i = 0; i < m.n && st == ST_OK; i++) {
		*p = mp_head(*p, end, &item);
		st = example_add(&item, kind, list, e);
	}
	return st;
}

/* Appends a Feature: the list in the field of its kind, numbers packed. */
static void
example_put_feature(enum example_list kind, const struct buf *list, struct buf *feature)
{
	uint8_t head[1 + WIRE_VARINT_MAX];
	size_t n = 0;

	buf_reset(feature);
	if (kind == LIST_NONE)
		return;
	if (kind != LIST_BYTES && list->len) {
		head[n++] = 1 << 3 | WIRE_BYTES;
		n += wire_varint_to(head + n, list->len);
	}
	wire_put_varint(feature, (uint64_t)kind << 3 | WIRE_BYTES);
	wire_put_varint(feature, n + list->len);
	buf_put(feature, head, n);
	buf_put(feature, list->data, list->len);
}

void
example_work_clear(struct example_work *w)
{
	buf_clear(&w->list);
	buf_clear(&w->feature);
	buf_clear(&w->entry);
	buf_clear(&w->all);
}

enum status
example_encode(struct example_work *w, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	const uint8_t *end = p + n;
	struct mp m, key;

	p = mp_head(p, end, &m);
	if (m.kind != MP_RECORD)
		return err_set(e, ST_DATA, "only a record can be a tf.train.Example");
	buf_reset(&w->all);
	for (uint32_t i = 0; i < m.n; i++) {
		enum example_list kind;

		p = mp_head(p, end, &key);
		if (key.kind != MP_TEXT)
			return err_set(e, ST_DATA, "the name of a feature must be text");
		buf_reset(&w->list);
		if (example_collect(&p, end, &kind, &w->list, e) != ST_OK)
			return err_wrap(e, "field `%.*s`", key.n < 100 ? (int)key.n : 100,
					(const char *)key.p);
		example_put_feature(kind, &w->list, &w->feature);
		buf_reset(&w->entry);
		wire_put_bytes(&w->entry, 1, key.p, key.n);
		wire_put_bytes(&w->entry, 2, w->feature.data, w->feature.len);
		wire_put_bytes(&w->all, 1, w->entry.data, w->entry.len);
	}
	wire_put_bytes(out, 1, w->all.data, w->all.len);
	return ST_OK;
}
