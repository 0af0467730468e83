/* SPDX-License-Identifier: MIT
 *
 * What holds several: text, bytes, lists, records. Their operators, and the
 * making of lists and records.
 */
#include "expr/run/seq.h"

#include <stdlib.h>
#include <string.h>

#include "expr/needle.h"
#include "expr/tensor/tensor_val.h"
#include "value/num.h"

size_t
seq_chars(const uint8_t *p, size_t n)
{
	const uint64_t ones = 0x0101010101010101u;
	size_t chars = n, i = 0;

	/* eight bytes at a time, except those that continue a character */
	for (; i + 8 <= n; i += 8) {
		uint64_t w;

		memcpy(&w, p + i, 8);
		w = (w >> 7) & ~(w >> 6) & ones;
		chars -= (w * ones) >> 56;
	}
	for (; i < n; i++)
		chars -= (p[i] & 0xc0) == 0x80;
	/* bytes that do not continue a character */
	for (i = 0; i < n && (p[i] & 0xc0) == 0x80; i++)
		chars++;
	return chars;
}

const uint8_t *
seq_char(const uint8_t *p, const uint8_t *end, size_t k)
{
	for (; k && p < end; k--) {
		bool wide = *p++ >= 0xc0;

		/* Stray bytes at the front are characters of their own. */
		while (wide && p < end && (*p & 0xc0) == 0x80)
			p++;
	}
	return p;
}

static bool
seq_in_list(const struct val *a, const struct val *b)
{
	const uint8_t *p;
	struct val item;

	for (uint32_t n = val_count(b, &p); n; n--, p = mp_past(p)) {
		val_load(p, &item);
		if (val_equal(a, &item))
			return true;
	}
	return false;
}

static bool
seq_in_record(const struct val *a, const struct val *b)
{
	const uint8_t *p;
	struct val key;

	for (uint32_t n = val_count(b, &p); n; n--, p = mp_past(mp_past(p))) {
		val_load(p, &key);
		if (val_equal(a, &key))
			return true;
	}
	return false;
}

enum status
seq_in(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	bool is;

	const uint8_t *first;

	if (b->kind == VAL_LIST && vm_steps(vm, val_count(b, &first)))
		return ST_DATA;
	if (b->kind == VAL_LIST)
		is = seq_in_list(a, b);
	else if (b->kind == VAL_RECORD && a->kind == VAL_TEXT)
		is = seq_in_record(a, b);
	else if (a->kind == b->kind && (a->kind == VAL_TEXT || a->kind == VAL_BYTES))
		is = needle_search(a->p, a->n, b->p, b->p + b->n);
	else
		return vm_fault(vm, "`in` of %s and %s", val_kind_name(a->kind),
				val_kind_name(b->kind));
	*d = val_bool(is);
	return ST_OK;
}

static enum status
seq_cat_lists(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	const uint8_t *p, *q;
	uint64_t n = (uint64_t)val_count(a, &p) + val_count(b, &q);
	size_t a_len = (size_t)(a->p + val_span(a) - p), b_len = (size_t)(b->p + val_span(b) - q);
	uint8_t *start = vm_room(vm, a_len + b_len + MP_HEAD_MAX);

	if (!start)
		return ST_DATA;
	uint8_t *end = mp_put_list_head(start, (uint32_t)n);
	memcpy(end, p, a_len);
	memcpy(end + a_len, q, b_len);
	end += a_len + b_len;
	scratch_done(&vm->scratch, end);
	*d = val_whole(VAL_LIST, start, (size_t)(end - start));
	return ST_OK;
}

enum status
seq_cat(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	uint8_t kind = a->kind;
	size_t n = (size_t)a->n + b->n;
	uint8_t *p;

	if (tensor_is(a) || tensor_is(b))
		return tensor_cat(vm, d, a, b);
	if (kind != b->kind || (kind != VAL_TEXT && kind != VAL_BYTES && kind != VAL_LIST))
		return vm_fault(vm, "`++` of %s and %s%s", val_kind_name(kind),
				val_kind_name(b->kind),
				kind == VAL_TEXT || b->kind == VAL_TEXT
				? " (str() turns it into text)" : "");
	if (kind == VAL_LIST)
		return seq_cat_lists(vm, d, a, b);
	/* The result of the previous ++ is at the end, and grows in place, so that a ++ b ++ c
	 * ++ ... copies each part once. */
	if (a->n && a->p + a->n == vm->scratch.at && n <= SCRATCH_VALUE_MAX
	    && (size_t)(vm->scratch.end - vm->scratch.at) > b->n) {
		memcpy(vm->scratch.at, b->p, b->n);
		scratch_done(&vm->scratch, vm->scratch.at + b->n);
		*d = (struct val){ .kind = kind, .n = (uint32_t)n, .p = a->p };
		return ST_OK;
	}
	p = vm_room(vm, n);
	if (!p)
		return ST_DATA;
	if (a->n)
		memcpy(p, a->p, a->n);
	if (b->n)
		memcpy(p + a->n, b->p, b->n);
	scratch_done(&vm->scratch, p + n);
	*d = (struct val){ .kind = kind, .n = (uint32_t)n, .p = p };
	return ST_OK;
}

/* The length in the units that indexes count. */
static int64_t
seq_length(const struct val *a)
{
	const uint8_t *first;

	if (a->kind == VAL_TEXT)
		return (int64_t)seq_chars(a->p, a->n);
	if (a->kind == VAL_BYTES)
		return a->n;
	return val_count(a, &first);
}

/* The place after the k-th unit. */
static const uint8_t *
seq_walk(const struct val *a, const uint8_t *p, uint64_t k)
{
	if (a->kind == VAL_TEXT)
		return seq_char(p, a->p + a->n, k);
	if (a->kind == VAL_BYTES)
		return p + k;
	while (k--)
		p = mp_past(p);
	return p;
}

static enum status
seq_index_key(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	const uint8_t *p;
	struct val key;

	if (b->kind != VAL_TEXT)
		return vm_fault(vm, "a field's name is text, not %s", val_kind_name(b->kind));
	for (uint32_t n = val_count(a, &p); n; n--, p = mp_past(p)) {
		val_load(p, &key);
		p = mp_past(p);
		if (val_equal(&key, b)) {
			val_load(p, d);
			return ST_OK;
		}
	}
	*d = val_nil();
	return ST_OK;
}

static enum status
seq_out_of_range(struct expr_vm *vm, const struct val *a, const struct val *b)
{
	char index[NUM_INT_MAX + 1];

	*(b->kind == VAL_BIG ? num_print_uint(b->u, index) : num_print_int(b->i, index)) = '\0';
	return vm_fault(vm, "index %s is out of range: there are %lld %s", index,
			(long long)seq_length(a), a->kind == VAL_TEXT ? "characters"
			: a->kind == VAL_BYTES ? "bytes" : "items");
}

enum status
seq_index(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b)
{
	const uint8_t *p = a->p;
	struct val out;

	if (a->kind == VAL_NIL) {
		*d = val_nil();
		return ST_OK;
	}
	if (a->kind == VAL_RECORD)
		return seq_index_key(vm, d, a, b);
	if (tensor_is(a))
		return tensor_index(vm, d, a, b);
	if (a->kind != VAL_LIST && a->kind != VAL_TEXT && a->kind != VAL_BYTES)
		return vm_fault(vm, "%s has no items", val_kind_name(a->kind));
	if (b->kind == VAL_BIG)
		return seq_out_of_range(vm, a, b);
	if (b->kind != VAL_INT)
		return vm_fault(vm, "an index is an int, not %s", val_kind_name(b->kind));
	int64_t i = b->i, n = 0;
	if (i < 0 || a->kind != VAL_TEXT) {
		n = seq_length(a);
		i += i < 0 ? n : 0;
	}
	if (a->kind == VAL_LIST)
		val_count(a, &p);
	bool in = i >= 0 && (a->kind == VAL_TEXT || i < n);
	if (in)
		p = seq_walk(a, p, (uint64_t)i);
	if (!in || (a->kind == VAL_TEXT && p >= a->p + a->n))
		return seq_out_of_range(vm, a, b);
	if (a->kind == VAL_LIST)
		val_load(p, &out);
	else if (a->kind == VAL_BYTES)
		out = val_int(*p);
	else
		out = val_text(p, (size_t)(seq_char(p, a->p + a->n, 1) - p));
	*d = out;
	return ST_OK;
}

/* Reads a bound of a slice, clamped to 0..n. */
static bool
seq_border(const struct val *v, int64_t n, int64_t absent, int64_t *out)
{
	if (v->kind == VAL_NIL)
		*out = absent;
	else if (v->kind == VAL_BIG)
		*out = n;
	else if (v->kind == VAL_INT)
		*out = v->i >= 0 ? v->i : v->i < -n ? 0 : v->i + n;
	else
		return false;
	if (*out > n)
		*out = n;
	return true;
}

enum status
seq_slice(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b,
	  const struct val *c)
{
	int64_t from, to;
	const uint8_t *p = a->p;

	if (a->kind == VAL_NIL) {
		*d = val_nil();
		return ST_OK;
	}
	if (a->kind != VAL_LIST && a->kind != VAL_TEXT && a->kind != VAL_BYTES && !tensor_is(a))
		return vm_fault(vm, "%s cannot be sliced", val_kind_name(a->kind));
	int64_t n = tensor_is(a) ? tensor_length(vm, a) : seq_length(a);
	if (n < 0)
		return ST_DATA;
	if (!seq_border(b, n, 0, &from) || !seq_border(c, n, n, &to))
		return vm_fault(vm, "a slice is from int to int, not from %s to %s",
				val_kind_name(b->kind), val_kind_name(c->kind));
	if (to < from)
		to = from;
	if (tensor_is(a))
		return tensor_slice(vm, d, a, from, to);
	if (a->kind == VAL_LIST)
		val_count(a, &p);
	p = seq_walk(a, p, (uint64_t)from);
	const uint8_t *end = seq_walk(a, p, (uint64_t)(to - from));
	if (a->kind != VAL_LIST) {
		*d = (struct val){ .kind = a->kind, .n = (uint32_t)(end - p), .p = p };
		return ST_OK;
	}
	uint8_t *room = vm_room(vm, (size_t)(end - p) + MP_HEAD_MAX);
	if (!room)
		return ST_DATA;
	uint8_t *at = mp_put_list_head(room, (uint32_t)(to - from));
	memcpy(at, p, (size_t)(end - p));
	at += end - p;
	scratch_done(&vm->scratch, at);
	*d = val_whole(VAL_LIST, room, (size_t)(at - room));
	return ST_OK;
}

/* Bytes that the items need, and their depth. */
static bool
seq_measure(struct expr_vm *vm, const struct val *items, uint32_t n, size_t *size,
	    unsigned *depth)
{
	for (uint32_t i = 0; i < n; i++) {
		*size += val_size(&items[i]);
		unsigned d = val_depth(&items[i]);
		if (d > *depth)
			*depth = d;
	}
	if (*depth < MP_DEPTH_MAX)
		return true;
	vm_fault(vm, "lists and records are nested more than %d deep", MP_DEPTH_MAX);
	return false;
}

enum status
seq_list(struct expr_vm *vm, struct val *d, const struct val *items, uint32_t n)
{
	size_t size = MP_HEAD_MAX;
	unsigned depth = 0;

	if (!seq_measure(vm, items, n, &size, &depth))
		return ST_DATA;
	uint8_t *p = vm_room(vm, size);
	if (!p)
		return ST_DATA;
	uint8_t *at = mp_put_list_head(p, n);
	for (uint32_t i = 0; i < n; i++)
		at = val_encode(&items[i], at);
	scratch_done(&vm->scratch, at);
	*d = val_whole(VAL_LIST, p, (size_t)(at - p));
	d->depth = (uint8_t)(depth + 1);
	return ST_OK;
}

enum status
seq_record(struct expr_vm *vm, struct val *d, const struct shape *shape, const struct val *items)
{
	size_t size = MP_HEAD_MAX;
	unsigned depth = 0;

	if (!seq_measure(vm, items, shape->n, &size, &depth))
		return ST_DATA;
	for (uint32_t i = 0; i < shape->n; i++)
		size += shape->keys[i].len;
	uint8_t *p = vm_room(vm, size);
	if (!p)
		return ST_DATA;
	uint8_t *at = mp_put_record_head(p, shape->n);
	for (uint32_t i = 0; i < shape->n; i++) {
		memcpy(at, shape->keys[i].enc, shape->keys[i].len);
		at = val_encode(&items[i], at + shape->keys[i].len);
	}
	scratch_done(&vm->scratch, at);
	*d = val_whole(VAL_RECORD, p, (size_t)(at - p));
	d->depth = (uint8_t)(depth + 1);
	return ST_OK;
}

/* An item of a list being made, with its key. */
struct seq_item {
	const uint8_t *key, *p;
	uint32_t key_len, len;
};

static int
seq_item_compare(const void *x, const void *y)
{
	const struct seq_item *a = x, *b = y;
	int c = mp_compare(a->key, a->key_len, b->key, b->key_len);

	/* Equal items keep their order. */
	return c ? c : a->p < b->p ? -1 : a->p > b->p;
}

static void
seq_sort(struct vm_loop *loop, struct buf *tmp, uint8_t *out)
{
	struct seq_item *v;
	const uint8_t *p = loop->made.data, *k = loop->keys.data;

	buf_reset(tmp);
	v = (struct seq_item *)(void *)buf_room(tmp, (loop->kept + 1u) * sizeof *v);
	for (uint32_t i = 0; i < loop->kept; i++) {
		v[i].p = p;
		v[i].key = k;
		p = mp_past(p);
		k = mp_past(k);
		v[i].len = (uint32_t)(p - v[i].p);
		v[i].key_len = (uint32_t)(k - v[i].key);
	}
	qsort(v, loop->kept, sizeof *v, seq_item_compare);
	for (uint32_t i = 0; i < loop->kept; i++) {
		memcpy(out, v[i].p, v[i].len);
		out += v[i].len;
	}
}

enum status
seq_made(struct expr_vm *vm, struct val *d, struct vm_loop *loop, bool sorted)
{
	uint8_t *p = vm_room(vm, loop->made.len + MP_HEAD_MAX);

	if (!p)
		return ST_DATA;
	uint8_t *at = mp_put_list_head(p, loop->kept);
	if (sorted)
		seq_sort(loop, &vm->tmp, at);
	else if (loop->made.len)
		memcpy(at, loop->made.data, loop->made.len);
	at += loop->made.len;
	scratch_done(&vm->scratch, at);
	*d = val_whole(VAL_LIST, p, (size_t)(at - p));
	return ST_OK;
}
