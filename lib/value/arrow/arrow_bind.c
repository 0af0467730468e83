/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "value/arrow/arrow_inner.h"

static enum status
bind_malformed(const struct arrow_node *n, const char *what, struct err *e)
{
	return err_set(e, ST_DATA, "the column `%.100s` is malformed: %s", n->name, what);
}

/* How many buffers an array of this kind has; views have more. */
static int64_t
bind_buffers(const struct arrow_node *n)
{
	switch (n->kind) {
	case ARROW_NULL: return 0;
	case ARROW_STRUCT: case ARROW_LIST_FIXED: return 1;
	case ARROW_HEAP32: case ARROW_HEAP64: case ARROW_VIEW: return 3;
	default: return 2;
	}
}

static int64_t
bind_number(const uint8_t *p, int64_t i, bool wide)
{
	int64_t v;
	int32_t w;

	if (wide) {
		memcpy(&v, p + i * 8, 8);
		return v;
	}
	memcpy(&w, p + i * 4, 4);
	return w;
}

/* Sets the range of the offsets of texts and lists. */
static bool
bind_offsets(struct arrow_node *n)
{
	bool wide = n->kind == ARROW_HEAP64 || n->kind == ARROW_LIST64;

	n->low = n->high = 0;
	if (!n->length)
		return true;
	n->low = bind_number(n->data, n->offset, wide);
	n->high = bind_number(n->data, n->offset + n->length, wide);
	return n->low >= 0 && n->high >= n->low;
}

static enum status bind_node(struct arrow_node *n, const struct ArrowArray *a, int64_t need, struct err *e);

static enum status
bind_kids(struct arrow_node *n, const struct ArrowArray *a, struct err *e)
{
	enum status st = ST_OK;
	int64_t need = n->offset + n->length;

	if (n->kind == ARROW_DICTIONARY)
		return a->dictionary ? bind_node(n->kids[0], a->dictionary, 0, e)
			: bind_malformed(n, "its dictionary is missing", e);
	if (n->kind == ARROW_LIST32 || n->kind == ARROW_LIST64 || n->kind == ARROW_MAP)
		need = n->high;
	else if (n->kind == ARROW_LIST_FIXED && __builtin_mul_overflow(need, (int64_t)n->width, &need))
		return bind_malformed(n, "its items are too many", e);
	if (a->n_children != (int64_t)n->n_kids || (n->n_kids && !a->children))
		return bind_malformed(n, "its parts are others", e);
	for (size_t i = 0; i < n->n_kids && st == ST_OK; i++)
		st = a->children[i] ? bind_node(n->kids[i], a->children[i], need, e)
			: bind_malformed(n, "a part of it is missing", e);
	return st;
}

/* need: so many values are read of it. */
static enum status
bind_node(struct arrow_node *n, const struct ArrowArray *a, int64_t need, struct err *e)
{
	int64_t buffers = bind_buffers(n), end;
	bool view = n->kind == ARROW_VIEW, heap = n->kind == ARROW_HEAP32 || n->kind == ARROW_HEAP64;

	if (a->length < 0 || a->offset < 0 || __builtin_add_overflow(a->length, a->offset, &end) || a->length < need)
		return bind_malformed(n, "it has fewer values than it says", e);
	if (view ? a->n_buffers < buffers : a->n_buffers != buffers)
		return bind_malformed(n, "its buffers are others", e);
	if (buffers && !a->buffers)
		return bind_malformed(n, "its buffers are missing", e);
	n->offset = a->offset;
	n->length = a->length;
	n->valid = buffers && a->null_count ? a->buffers[0] : NULL;
	n->data = buffers > 1 ? a->buffers[1] : NULL;
	n->heap = heap ? a->buffers[2] : NULL;
	bool empty = !a->length || n->kind == ARROW_STRUCT || n->kind == ARROW_LIST_FIXED || n->kind == ARROW_NULL
		|| (n->kind == ARROW_FIXED_BYTES && !n->width);
	if (!n->data && !empty)
		return bind_malformed(n, "its values are missing", e);
	if (view) {
		n->n_heaps = a->n_buffers - buffers;
		n->heaps = a->buffers + 2;
		n->heap_sizes = a->buffers[a->n_buffers - 1];
		if (n->n_heaps && !n->heap_sizes)
			return bind_malformed(n, "the sizes of its buffers are missing", e);
	}
	if ((heap || n->kind == ARROW_LIST32 || n->kind == ARROW_LIST64 || n->kind == ARROW_MAP) && !bind_offsets(n))
		return bind_malformed(n, "its offsets", e);
	if (heap && !n->heap && n->high > n->low)
		return bind_malformed(n, "its bytes are missing", e);
	return n->n_kids ? bind_kids(n, a, e) : ST_OK;
}

enum status
arrow_rows_bind(struct arrow_rows *r, const struct ArrowArray *a, struct err *e)
{
	return bind_node(r->root, a, 0, e);
}
