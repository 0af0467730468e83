/* SPDX-License-Identifier: MIT */
#include "value/arrow/arrow_cells.h"

#include <string.h>

#include "value/arrow/arrow_inner.h"
#include "value/arrow/arrow_text.h"

bool
arrow_cells_find(const struct arrow_rows *r, const char *name, size_t *column)
{
	for (*column = 0; *column < r->root->n_kids; ++*column)
		if (!strcmp(r->root->kids[*column]->name, name))
			return true;
	return false;
}

enum arrow_cells
arrow_cells_kind(const struct arrow_rows *r, size_t column)
{
	const struct arrow_node *n = r->root->kids[column];

	switch (n->kind) {
	case ARROW_I8: case ARROW_U8: case ARROW_I16: case ARROW_U16: case ARROW_I32: case ARROW_U32: case ARROW_I64:
		return ARROW_CELLS_INT;
	case ARROW_F32: case ARROW_F64:
		return ARROW_CELLS_FLOAT;
	case ARROW_DATE: case ARROW_TIME: case ARROW_STAMP: case ARROW_SPAN:
		return n->times == ARROW_TIMES_INT ? ARROW_CELLS_INT
			: n->times == ARROW_TIMES_SECONDS ? ARROW_CELLS_FLOAT : ARROW_CELLS_OTHER;
	case ARROW_HEAP32: case ARROW_HEAP64: case ARROW_VIEW:
		return ARROW_CELLS_BYTES;
	default:
		return ARROW_CELLS_OTHER;
	}
}

static void
cells_nulls(const struct arrow_node *n, int64_t at, size_t count, bool *null)
{
	if (!n->valid)
		memset(null, 0, count * sizeof *null);
	for (size_t i = 0; n->valid && i < count; i++) {
		uint64_t bit = (uint64_t)at + i;

		null[i] = !(n->valid[bit >> 3] >> (bit & 7) & 1);
	}
}

#define CELLS_WIDEN(FROM)                                                                 \
	for (size_t i = 0; i < count; i++) {                                              \
		FROM v;                                                                   \
		memcpy(&v, n->data + ((size_t)at + i) * sizeof v, sizeof v);              \
		out[i] = v;                                                               \
	}

static void
cells_ints(const struct arrow_node *n, int64_t at, size_t count, int64_t *out)
{
	switch (n->kind) {
	case ARROW_I8: CELLS_WIDEN(int8_t) break;
	case ARROW_U8: CELLS_WIDEN(uint8_t) break;
	case ARROW_I16: CELLS_WIDEN(int16_t) break;
	case ARROW_U16: CELLS_WIDEN(uint16_t) break;
	case ARROW_I32: CELLS_WIDEN(int32_t) break;
	case ARROW_U32: CELLS_WIDEN(uint32_t) break;
	case ARROW_I64: CELLS_WIDEN(int64_t) break;
	default: /* a time */
		if (n->width == 4) {
			CELLS_WIDEN(int32_t)
		} else {
			CELLS_WIDEN(int64_t)
		}
	}
}

void
arrow_cells_ints(const struct arrow_rows *r, size_t column, int64_t row, size_t count, int64_t *out, bool *null)
{
	const struct arrow_node *n = r->root->kids[column];
	int64_t at = row + r->root->offset + n->offset;

	cells_ints(n, at, count, out);
	cells_nulls(n, at, count, null);
}

void
arrow_cells_floats(const struct arrow_rows *r, size_t column, int64_t row, size_t count, double *out, bool *null)
{
	enum { TIMES = 64 };
	const struct arrow_node *n = r->root->kids[column];
	int64_t at = row + r->root->offset + n->offset, whole[TIMES];

	cells_nulls(n, at, count, null);
	if (n->kind == ARROW_F64) {
		CELLS_WIDEN(double)
		return;
	}
	if (n->kind == ARROW_F32) {
		CELLS_WIDEN(float)
		return;
	}
	for (size_t some; count; count -= some, out += some, at += (int64_t)some) {
		some = count < TIMES ? count : TIMES;
		cells_ints(n, at, some, whole);
		for (size_t i = 0; i < some; i++)
			out[i] = arrow_time_seconds(n, whole[i]);
	}
}

bool
arrow_cells_bytes(const struct arrow_rows *r, size_t column, int64_t row, const uint8_t **p, uint64_t *len)
{
	const struct arrow_node *n = r->root->kids[column];

	row += r->root->offset;
	if (!arrow_is_null(n, row))
		return arrow_node_bytes(n, row, p, len);
	*p = NULL;
	return true;
}

bool
arrow_cells_put(const struct arrow_rows *r, size_t column, int64_t row, size_t max, struct buf *out)
{
	return arrow_node_put(r->root->kids[column], row + r->root->offset, max, out);
}
