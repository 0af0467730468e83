/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "value/arrow/made_inner.h"
#include "value/mp.h"

enum { MADE_BUFFERS = 3, MADE_CELLS_MOST = 1 << 27 /* fields of the records of a column, in a batch */ };

struct made_held { const void *buffers[MADE_BUFFERS]; };

/* ---- schema ---- */

static void
made_schema_release(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i]->release)
			s->children[i]->release(s->children[i]);
		mem_free(s->children[i]);
	}
	mem_free(s->children);
	mem_free(s->private_data);
	s->release = NULL;
}

static const char *
made_format(int kind)
{
	switch (kind) {
	case MP_BOOL: return "b";
	case MP_INT: return "l";
	case MP_FLOAT: return "g";
	case MP_TEXT: return "u";
	case MP_BYTES: return "z";
	case MP_LIST: return "+l";
	case MP_RECORD: return "+s";
	default: return "n";
	}
}

void
made_schema(const struct made_node *n, struct ArrowSchema *out)
{
	*out = (struct ArrowSchema){ .format = made_format(n->kind), .flags = ARROW_FLAG_NULLABLE,
		.n_children = (int64_t)n->n, .release = made_schema_release };
	out->private_data = mem_strdup(n->name ? n->name : "");
	out->name = out->private_data;
	out->children = mem_array(n->n + 1, sizeof *out->children);
	for (size_t i = 0; i < n->n; i++) {
		out->children[i] = mem_zalloc(sizeof **out->children);
		made_schema(n->kids[i], out->children[i]);
	}
}

/* ---- arrays ---- */

static void
made_release(struct ArrowArray *a)
{
	struct made_held *h = a->private_data;

	for (int i = 0; i < MADE_BUFFERS; i++)
		mem_free((void *)h->buffers[i]);
	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i]->release)
			a->children[i]->release(a->children[i]);
		mem_free(a->children[i]);
	}
	mem_free(a->children);
	mem_free(h);
	a->release = NULL;
}

static bool
made_null(const uint8_t *p)
{
	return !p || *p == MP_NIL_BYTE;
}

static uint8_t *
made_bits(const uint8_t *const *values, size_t n, int64_t *nulls)
{
	uint8_t *bits = mem_zalloc(n / 8 + 1);

	*nulls = 0;
	for (size_t i = 0; i < n; i++) {
		if (made_null(values[i]))
			++*nulls;
		else
			bits[i >> 3] |= (uint8_t)(1 << (i & 7));
	}
	return bits;
}

/* Numbers and bools. */
static void *
made_numbers(int kind, const uint8_t *const *values, const uint8_t *end, size_t n)
{
	uint8_t *out = mem_zalloc(kind == MP_BOOL ? n / 8 + 1 : n * 8 + 8);
	struct mp m;

	for (size_t i = 0; i < n; i++) {
		if (made_null(values[i]))
			continue;
		mp_head(values[i], end, &m);
		if (kind == MP_BOOL) {
			out[i >> 3] |= (uint8_t)(m.b << (i & 7));
			continue;
		}
		double f = m.kind == MP_FLOAT ? m.f : (double)m.i;
		memcpy(out + i * 8, kind == MP_FLOAT ? (const void *)&f : &m.i, 8);
	}
	return out;
}

static enum status
made_heap(const uint8_t *const *values, const uint8_t *end, size_t n, struct made_held *h, struct err *e)
{
	int32_t *offsets = mem_array(n + 1, sizeof *offsets);
	struct buf heap = { 0 };
	struct mp m;

	h->buffers[1] = offsets;
	for (size_t i = 0; i < n; i++) {
		if (!made_null(values[i])) {
			mp_head(values[i], end, &m);
			buf_put(&heap, m.p, m.n);
		}
		if (heap.len > INT32_MAX) {
			buf_clear(&heap);
			return err_set(e, ST_DATA, "the texts of a column take more than 2 GiB in a batch");
		}
		offsets[i + 1] = (int32_t)heap.len;
	}
	h->buffers[2] = heap.data ? heap.data : mem_zalloc(1);
	return ST_OK;
}

static enum status
made_list(const struct made_node *node, const uint8_t *const *values, const uint8_t *end, size_t n,
	  struct ArrowArray *out, struct made_held *h, struct err *e)
{
	int32_t *offsets = mem_array(n + 1, sizeof *offsets);
	const uint8_t **items;
	uint64_t count = 0, k = 0;
	struct mp m;

	h->buffers[1] = offsets;
	for (size_t i = 0; i < n; i++) {
		if (!made_null(values[i]))
			mp_head(values[i], end, &m), count += m.n;
		if (count > INT32_MAX)
			return err_set(e, ST_DATA, "the lists of a column have more than 2^31 items in a batch");
		offsets[i + 1] = (int32_t)count;
	}
	items = mem_array(count + 1, sizeof *items);
	for (size_t i = 0; i < n; i++) {
		if (made_null(values[i]))
			continue;
		const uint8_t *p = mp_head(values[i], end, &m);
		for (uint32_t j = 0; j < m.n; j++, p = mp_skip(p, end))
			items[k++] = p;
	}
	enum status st = made_column(node->kids[0], items, end, count, out->children[0], e);
	mem_free(items);
	return st;
}

/* Finds a field of a record, at `near` first. */
static size_t
made_field(const struct made_node *node, const struct mp *key, size_t near)
{
	for (size_t i = 0; i < node->n; i++) {
		size_t k = (near + i) % node->n;
		const struct made_node *kid = node->kids[k];

		if (kid->name_len == key->n && !memcmp(kid->name, key->p, key->n))
			return k;
	}
	return node->n;
}

static enum status
made_record(const struct made_node *node, const uint8_t *const *values, const uint8_t *end, size_t n,
	    struct ArrowArray *out, struct err *e)
{
	enum status st = ST_OK;
	struct mp m, key;

	/* Each item of a list has all fields that any has. */
	if (node->n && n > MADE_CELLS_MOST / node->n) {
		err_set(e, ST_DATA, "%.80s: %zu records of %zu fields are too many for a batch", node->name ? node->name : "",
			n, node->n);
		err_help(e, "leave fields out, or flatten the list: unnest");
		return ST_DATA;
	}
	const uint8_t **all = mem_array(n * node->n + 1, sizeof *all);

	for (size_t i = 0; i < n; i++) {
		if (made_null(values[i]))
			continue;
		const uint8_t *p = mp_head(values[i], end, &m);
		for (uint32_t j = 0; j < m.n; j++, p = mp_skip(p, end)) {
			p = mp_head(p, end, &key);
			size_t k = node->n ? made_field(node, &key, j) : 0;
			if (k < node->n)
				all[k * n + i] = p;
		}
	}
	for (size_t k = 0; k < node->n && st == ST_OK; k++)
		st = made_column(node->kids[k], all + k * n, end, n, out->children[k], e);
	mem_free(all);
	return st;
}

enum status
made_column(const struct made_node *node, const uint8_t *const *values, const uint8_t *end, size_t n,
	    struct ArrowArray *out, struct err *e)
{
	struct made_held *h = mem_zalloc(sizeof *h);
	enum status st = ST_OK;

	*out = (struct ArrowArray){ .length = (int64_t)n, .n_buffers = 2, .buffers = h->buffers, .private_data = h,
		.n_children = (int64_t)node->n, .release = made_release };
	out->children = mem_array(node->n + 1, sizeof *out->children);
	for (size_t i = 0; i < node->n; i++)
		out->children[i] = mem_zalloc(sizeof **out->children);
	if (node->kind == MP_NIL) {
		out->n_buffers = 0;
		out->null_count = (int64_t)n;
		return ST_OK;
	}
	h->buffers[0] = made_bits(values, n, &out->null_count);
	switch (node->kind) {
	case MP_TEXT: case MP_BYTES:
		out->n_buffers = 3;
		st = made_heap(values, end, n, h, e);
		break;
	case MP_LIST:
		st = made_list(node, values, end, n, out, h, e);
		break;
	case MP_RECORD:
		out->n_buffers = 1;
		st = made_record(node, values, end, n, out, e);
		break;
	default:
		h->buffers[1] = made_numbers(node->kind, values, end, n);
	}
	if (st != ST_OK)
		out->release(out);
	return st;
}
