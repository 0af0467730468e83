/* SPDX-License-Identifier: MIT */
#include "op/table/table_sift.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "value/arrow/arrow_cells.h"
#include "value/mp.h"

enum {
	SIFT_BLOCK = 256,          /* numbers that are looked at in one go */
	SIFT_VALUE_MAX = 4096,     /* bytes of a value that is looked at; the rows of others are made */
};
#define SIFT_EXACT 9007199254740992.0 /* below it every whole float is an int, and the other way round */

/* Knowledge of a row. */
enum { SIFT_OPEN, SIFT_OUT, SIFT_MADE };

struct sift_test {
	const struct condition *condition;
	size_t column;
	int kind;             /* CONDITION_BOOL and so on */
	enum arrow_cells how; /* the form that its values are looked at in; ARROW_CELLS_OTHER: encoded, one by one */
	uint8_t null;         /* knowledge of a row whose value is null */
	/* ARROW_CELLS_INT: those from low to high pass, or all others */
	int64_t low, high;
	bool others;
	double number;        /* ARROW_CELLS_FLOAT */
	const uint8_t *bytes; /* ARROW_CELLS_BYTES */
	uint32_t n_bytes;
};

struct table_sift {
	struct sift_test v[CONDITIONS_MAX];
	size_t n;
	uint8_t *marks;
	int64_t rows, cap;
	struct buf value;
};

int
table_sift_kind(const char *format, struct arrow_as as)
{
	switch (format[0]) {
	case 'b': return CONDITION_BOOL;
	case 'c': case 'C': case 's': case 'S': case 'i': case 'I': case 'l': case 'L': return CONDITION_INT;
	case 'e': case 'f': case 'g': return CONDITION_FLOAT;
	case 'u': case 'U': return CONDITION_TEXT;
	case 'z': case 'Z': case 'w': return CONDITION_BYTES;
	case 'v': return format[1] == 'u' ? CONDITION_TEXT : CONDITION_BYTES;
	case 'd': return as.decimals == ARROW_DECIMALS_FLOAT ? CONDITION_FLOAT : CONDITION_UNKNOWN;
	case 't':
		return as.times == ARROW_TIMES_INT ? CONDITION_INT
			: as.times == ARROW_TIMES_SECONDS ? CONDITION_FLOAT : CONDITION_UNKNOWN;
	default: return CONDITION_UNKNOWN;
	}
}

/* ---- what is compared ---- */

/* Sets the range of the ints that pass a comparison with a whole number. */
static void
sift_range(struct sift_test *t, int64_t least, int64_t greatest, uint8_t op)
{
	t->low = INT64_MIN;
	t->high = INT64_MAX;
	switch (op) {
	case AST_LT: t->high = least - 1; break;
	case AST_LE: t->high = greatest; break;
	case AST_GT: t->low = greatest + 1; break;
	case AST_GE: t->low = least; break;
	default: /* no int is equal to what lies between two */
		t->low = greatest < least ? greatest + 1 : least;
		t->high = greatest;
		t->others = op == AST_NE;
	}
}

/* Finds out how the test looks at values: encoded, unless it compares numbers, texts or bytes. */
static void
sift_how(struct sift_test *t, enum arrow_cells cells)
{
	const struct condition *c = t->condition;
	struct mp m;

	mp_head(c->value, c->value + c->len, &m);
	t->how = ARROW_CELLS_OTHER;
	bool number = (m.kind == MP_INT || m.kind == MP_FLOAT) && !m.unsigned_big;
	if (c->op < AST_EQ || c->op > AST_GE)
		return;
	/* Null differs from all these, and has no place in an order. */
	t->null = c->op == AST_EQ ? SIFT_OUT : c->op == AST_NE ? SIFT_OPEN : c->drops_nulls ? SIFT_OUT : SIFT_MADE;
	if (cells == ARROW_CELLS_BYTES && m.kind == (t->kind == CONDITION_TEXT ? MP_TEXT : MP_BYTES)) {
		t->bytes = m.p;
		t->n_bytes = m.n;
		t->how = cells;
	}
	if (number && cells == ARROW_CELLS_FLOAT && (m.kind == MP_FLOAT || fabs((double)m.i) < SIFT_EXACT)) {
		t->number = m.kind == MP_FLOAT ? m.f : (double)m.i;
		t->how = cells;
	} else if (number && cells == ARROW_CELLS_INT && m.kind == MP_INT && m.i > INT64_MIN && m.i < INT64_MAX) {
		sift_range(t, m.i, m.i, c->op);
		t->how = cells;
	} else if (number && cells == ARROW_CELLS_INT && m.kind == MP_FLOAT && fabs(m.f) < SIFT_EXACT) {
		sift_range(t, (int64_t)ceil(m.f), (int64_t)floor(m.f), c->op);
		t->how = cells;
	}
}

struct table_sift *
table_sift_new(const struct conditions *tests, struct arrow_as as, const struct ArrowSchema *schema,
	       const struct arrow_rows *rows)
{
	struct table_sift *s = mem_zalloc(sizeof *s);

	for (size_t i = 0; i < tests->n; i++) {
		struct sift_test t = { .condition = &tests->v[i] };

		if (!arrow_cells_find(rows, tests->v[i].field, &t.column))
			break;
		const struct ArrowSchema *column = schema->children[t.column];
		t.kind = table_sift_kind(column->dictionary ? column->dictionary->format : column->format, as);
		if (t.kind == CONDITION_UNKNOWN)
			break;
		sift_how(&t, arrow_cells_kind(rows, t.column));
		s->v[s->n++] = t;
	}
	if (!s->n)
		table_sift_free(&s);
	return s;
}

/* ---- looking ---- */

#define SIFT_EACH(TYPE, OUT)                                                                          \
	for (size_t i = 0; i < n; i++) {                                                              \
		TYPE v = x[i];                                                                        \
		uint8_t now = null[i] ? t->null : (OUT) ? SIFT_OUT : SIFT_OPEN;                       \
		mark[i] = mark[i] ? mark[i] : now;                                                    \
	}

/* nan passes no test but one for being different, and is for the filter to see. */
static void
sift_floats(const struct sift_test *t, const double *x, const bool *null, size_t n, uint8_t *mark)
{
	const double c = t->number;

	switch (t->condition->op) {
	case AST_LT: SIFT_EACH(double, v >= c) break;
	case AST_LE: SIFT_EACH(double, v > c) break;
	case AST_GT: SIFT_EACH(double, v <= c) break;
	case AST_GE: SIFT_EACH(double, v < c) break;
	case AST_EQ: SIFT_EACH(double, (v < c) | (v > c)) break;
	default: SIFT_EACH(double, v == c) break;
	}
}

static void
sift_ints(const struct sift_test *t, const int64_t *x, const bool *null, size_t n, uint8_t *mark)
{
	const int64_t low = t->low, high = t->high;
	const bool others = t->others;

	SIFT_EACH(int64_t, ((v >= low) & (v <= high)) == others)
}

static void
sift_numbers(struct table_sift *s, const struct sift_test *t, const struct arrow_rows *rows)
{
	union { int64_t i[SIFT_BLOCK]; double f[SIFT_BLOCK]; } v;
	bool null[SIFT_BLOCK];

	for (int64_t at = 0; at < s->rows; at += SIFT_BLOCK) {
		size_t n = s->rows - at < SIFT_BLOCK ? (size_t)(s->rows - at) : SIFT_BLOCK;

		if (t->how == ARROW_CELLS_INT) {
			arrow_cells_ints(rows, t->column, at, n, v.i, null);
			sift_ints(t, v.i, null, n, s->marks + at);
		} else {
			arrow_cells_floats(rows, t->column, at, n, v.f, null);
			sift_floats(t, v.f, null, n, s->marks + at);
		}
	}
}

/* Asks a comparison with a text or bytes about one value. */
static uint8_t
sift_bytes(const struct sift_test *t, const struct arrow_rows *rows, int64_t row)
{
	const uint8_t *p;
	uint64_t len;
	uint8_t op = t->condition->op;

	if (!arrow_cells_bytes(rows, t->column, row, &p, &len))
		return SIFT_MADE;
	if (!p)
		return t->null;
	if (op <= AST_NE && len != t->n_bytes)
		return op == AST_EQ ? SIFT_OUT : SIFT_OPEN;
	size_t least = len < t->n_bytes ? (size_t)len : t->n_bytes;
	int c = least ? memcmp(p, t->bytes, least) : 0;
	c = c ? c : (len > t->n_bytes) - (len < t->n_bytes);
	bool passes = op == AST_EQ ? !c : op == AST_NE ? c : op == AST_LT ? c < 0 : op == AST_LE ? c <= 0
		: op == AST_GT ? c > 0 : c >= 0;
	return passes ? SIFT_OPEN : SIFT_OUT;
}

/* Asks a condition about one value, of any type. */
static uint8_t
sift_value(struct table_sift *s, const struct sift_test *t, const struct arrow_rows *rows, int64_t row)
{
	struct condition_limits limits = { .kind = (unsigned)t->kind, .n = 1 };
	struct mp m;

	buf_reset(&s->value);
	if (!arrow_cells_put(rows, t->column, row, SIFT_VALUE_MAX, &s->value))
		return SIFT_MADE;
	mp_head(s->value.data, s->value.data + s->value.len, &m);
	limits.nulls = m.kind == MP_NIL;
	if (m.kind != MP_NIL && !(m.kind == MP_FLOAT && isnan(m.f))) {
		limits.least = limits.greatest = s->value.data;
		limits.least_len = limits.greatest_len = s->value.len;
	}
	return condition_excludes(t->condition, &limits) ? SIFT_OUT
		: condition_can_fail(t->condition, &limits) ? SIFT_MADE : SIFT_OPEN;
}

void
table_sift_look(struct table_sift *s, const struct arrow_rows *rows, int64_t n)
{
	s->rows = n;
	if (n > s->cap) {
		mem_free(s->marks);
		s->marks = mem_alloc((size_t)n);
		s->cap = n;
	}
	memset(s->marks, SIFT_OPEN, (size_t)n);
	for (size_t i = 0; i < s->n; i++) {
		const struct sift_test *t = &s->v[i];

		if (t->how == ARROW_CELLS_INT || t->how == ARROW_CELLS_FLOAT) {
			sift_numbers(s, t, rows);
			continue;
		}
		for (int64_t row = 0; row < n; row++)
			if (s->marks[row] == SIFT_OPEN)
				s->marks[row] = t->how == ARROW_CELLS_BYTES ? sift_bytes(t, rows, row)
					: sift_value(s, t, rows, row);
	}
}

int64_t
table_sift_next(const struct table_sift *s, int64_t row)
{
	while (row < s->rows && s->marks[row] == SIFT_OUT)
		row++;
	return row;
}

void
table_sift_free(struct table_sift **at)
{
	struct table_sift *s = *at;

	if (!s)
		return;
	mem_free(s->marks);
	buf_clear(&s->value);
	mem_free(s);
	*at = NULL;
}
