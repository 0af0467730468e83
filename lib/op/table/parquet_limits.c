/* SPDX-License-Identifier: MIT */
#include "op/table/parquet_limits.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "op/table/table_sift.h"
#include "value/mp.h"

enum { LIMITS_MOST = 1 << 20 /* bytes of the statistics of a row group that are looked at */ };

struct parquet_limits {
	const struct conditions *tests;
	struct arrow_as as;
	struct arrow_rows *rows; /* NULL: no group was looked at yet */
	struct run run;
	struct condition_limits v[CONDITIONS_MAX];
	const char *names[CONDITIONS_MAX];
};

struct parquet_limits *
parquet_limits_new(const struct conditions *tests, struct arrow_as as)
{
	struct parquet_limits *l = mem_zalloc(sizeof *l);

	l->tests = tests;
	l->as = as;
	run_init(&l->run);
	for (size_t i = 0; i < tests->n; i++)
		l->names[i] = tests->v[i].field;
	return l;
}

static bool
limits_schema(struct parquet_limits *l, const struct ArrowSchema *schema)
{
	struct err ignored = { 0 };

	if (arrow_rows_new(schema, l->as, &l->rows, &ignored) != ST_OK)
		return false;
	for (size_t i = 0; i < l->tests->n; i++)
		l->v[i].kind = table_sift_kind(schema->children[i]->format, l->as);
	return true;
}

/* Goes to the value behind a key. */
static const uint8_t *
limits_value(const uint8_t *p, const uint8_t *end, const uint8_t **next)
{
	p = mp_skip(p, end);
	*next = mp_skip(p, end);
	return p;
}

static bool
limits_usable(const uint8_t *p, const uint8_t *end)
{
	struct mp m;

	mp_head(p, end, &m);
	return m.kind != MP_NIL && !(m.kind == MP_FLOAT && isnan(m.f));
}

/* Takes the limits from the two rows. */
static void
limits_take(struct parquet_limits *l)
{
	const struct elem *a = &l->run.e[0], *b = &l->run.e[1];
	const uint8_t *a_end = a->p + a->len, *b_end = b->p + b->len, *a_next, *b_next;
	struct mp m;

	a_next = mp_head(a->p, a_end, &m);
	b_next = mp_head(b->p, b_end, &m);
	for (size_t i = 0; i < l->tests->n; i++) {
		const uint8_t *least = limits_value(a_next, a_end, &a_next);
		const uint8_t *greatest = limits_value(b_next, b_end, &b_next);
		bool known = limits_usable(least, a_end) && limits_usable(greatest, b_end);

		l->v[i].least = known ? least : NULL;
		l->v[i].greatest = known ? greatest : NULL;
		l->v[i].least_len = (size_t)(a_next - least);
		l->v[i].greatest_len = (size_t)(b_next - greatest);
	}
}

bool
parquet_limits_exclude(struct parquet_limits *l, const struct arrow_plugin *plugin, struct arrow_parquet *file,
		       int64_t group, int64_t rows)
{
	struct ArrowSchema schema = { 0 };
	struct ArrowArray array = { 0 };
	int64_t nulls[CONDITIONS_MAX];
	struct err ignored = { 0 };
	struct arrow_why why;

	/* Limits that cannot be had are not known: reading the group will tell what is wrong. */
	if (plugin->parquet_limits(file, group, l->names, l->tests->n, nulls, l->rows ? NULL : &schema, &array, &why))
		return false;
	bool good = l->rows || limits_schema(l, &schema);
	run_clear(&l->run);
	run_init(&l->run);
	good = good && arrow_rows_bind(l->rows, &array, &ignored) == ST_OK;
	for (int64_t i = 0; i < 2 && good; i++)
		good = arrow_rows_put(l->rows, i, LIMITS_MOST, &l->run, (uint32_t)i, &ignored) == ST_OK;
	if (good) {
		limits_take(l);
		for (size_t i = 0; i < l->tests->n; i++) {
			l->v[i].n = rows;
			l->v[i].nulls = nulls[i] >= 0 && nulls[i] <= rows ? nulls[i] : -1;
		}
		good = conditions_exclude(l->tests, l->v);
	}
	if (array.release)
		array.release(&array);
	if (schema.release)
		schema.release(&schema);
	return good;
}

void
parquet_limits_free(struct parquet_limits **at)
{
	struct parquet_limits *l = *at;

	if (!l)
		return;
	arrow_rows_free(&l->rows);
	run_clear(&l->run);
	mem_free(l);
	*at = NULL;
}
