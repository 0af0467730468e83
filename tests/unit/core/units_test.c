/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/disp/disp_row.h"

/* A part with one file in it. */
static bool
part(struct iteration *it, uint64_t listing, uint32_t number, bool last, const char *path)
{
	struct msg_units u = { .listing = listing, .part = number, .last = last, .times = 1 };
	struct split s = { .kind = SPLIT_FILE, .whole = true, .path = (char *)(uintptr_t)path, .times = 1 };

	split_list_add(&u.units, &s);
	bool whole = units_add(it, &u);
	split_list_clear(&u.units);
	return whole;
}

static void
is_list(const struct split_list *l, const char *paths)
{
	assert_int_equal(l->n, strlen(paths));
	for (size_t i = 0; i < l->n; i++)
		assert_int_equal(l->v[i].path[0], paths[i]);
}

/* A part that was lost, came twice or is of another listing does not make a wrong list. */
static void
parts_of_one_listing_make_a_list(void **state)
{
	struct iteration it = { 0 };

	(void)state;
	assert_false(part(&it, 1, 0, false, "a"));
	assert_false(part(&it, 1, 2, true, "c")); /* part 1 was lost: asked again */
	assert_false(part(&it, 2, 0, false, "A"));
	assert_false(part(&it, 1, 1, false, "b")); /* a part of the previous listing */
	assert_false(part(&it, 2, 0, false, "A"));
	assert_false(part(&it, 1, 0, true, "a"));
	assert_false(part(&it, 2, 1, false, "B"));
	assert_true(part(&it, 2, 2, true, "C"));
	is_list(&it.listed.units, "ABC");
	units_forget(&it);
	assert_true(part(&it, 1, 0, true, "x")); /* another worker counts from 1, too */
	is_list(&it.listed.units, "x");
	units_forget(&it);
}

struct kept { struct units_listed rows[8]; size_t n; };

static void
keep_row(void *arg, const struct disp_row *row)
{
	struct kept *k = arg;
	struct err e;

	assert_int_equal(row->kind, ROW_UNITS);
	assert_int_equal(row->key[1], k->n);
	k->rows[k->n] = (struct units_listed){ 0 };
	assert_int_equal(fields_decode("units", row_units_fields, row->blob, row->n, &k->rows[k->n], &e), ST_OK);
	k->n++;
}

static void
rows_of_a_list_are_read_back_or_missed(void **state)
{
	struct iteration it = { 0 }, again = { 0 }, torn = { 0 };
	struct kept k = { .n = 0 };
	struct row_out o = { .cb = keep_row, .arg = &k, .units_part = 2 };
	struct err e;

	(void)state;
	for (const char *c = "abcde"; *c; c++) {
		char path[2] = { *c, 0 };
		struct split s = { .kind = SPLIT_FILE, .path = path, .times = 1 };
		split_list_add(&it.cut.units, &s);
	}
	row_put_units(&o, &it);
	assert_int_equal(k.n, 3);
	assert_int_equal(units_load(&torn, 0, &k.rows[0], &e), ST_OK);
	assert_int_equal(units_load(&torn, 2, &k.rows[2], &e), ST_DATA);
	assert_false(torn.units_loaded);
	units_forget(&torn);
	fields_clear(row_units_fields, &k.rows[1]);
	fields_clear(row_units_fields, &k.rows[2]);

	k.n = 0;
	row_put_units(&o, &it);
	for (uint64_t i = 0; i < k.n; i++) {
		assert_false(again.units_loaded);
		assert_int_equal(units_load(&again, i, &k.rows[i], &e), ST_OK);
	}
	assert_true(again.units_loaded);
	is_list(&again.listed.units, "abcde");
	units_forget(&again);
	split_list_clear(&it.cut.units);
	buf_clear(&o.b);
}
