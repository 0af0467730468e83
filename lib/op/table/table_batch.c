/* SPDX-License-Identifier: MIT */
#include "op/table/table_batch.h"

#include <string.h>

#include "op/table/table_sift.h"

void
table_batch_drop(struct table_batch *b)
{
	if (b->array.release)
		b->array.release(&b->array);
	memset(&b->array, 0, sizeof b->array);
	b->row = b->n = 0;
	b->sifted = false;
}

static void
batch_shapeless(struct table_batch *b)
{
	arrow_rows_free(&b->rows);
	table_sift_free(&b->sift);
}

void
table_batch_clear(struct table_batch *b)
{
	table_batch_drop(b);
	batch_shapeless(b);
}

enum status
table_batch_shape(struct table_batch *b, struct ArrowSchema *schema, const struct table_as *as, struct err *e)
{
	batch_shapeless(b);
	enum status st = arrow_rows_new(schema, as->as, &b->rows, e);
	if (st == ST_OK && as->tests)
		b->sift = table_sift_new(as->tests, as->as, schema, b->rows);
	schema->release(schema);
	return st;
}

enum status
table_batch_bind(struct table_batch *b, uint64_t most, struct err *e)
{
	enum status st = arrow_rows_bind(b->rows, &b->array, e);

	if (st == ST_OK && (uint64_t)b->array.length > most)
		st = err_set(e, ST_DATA, "it has %lld rows, and at most %llu are to come", (long long)b->array.length,
			     (unsigned long long)most);
	if (st == ST_OK)
		b->n = b->array.length;
	return st;
}

uint64_t
table_batch_pass(struct table_batch *b)
{
	int64_t from = b->row;

	if (!b->sift)
		return 0;
	if (!b->sifted)
		table_sift_look(b->sift, b->rows, b->n);
	b->sifted = true;
	b->row = table_sift_next(b->sift, b->row);
	return (uint64_t)(b->row - from);
}
