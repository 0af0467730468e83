/* SPDX-License-Identifier: MIT
 *
 * A dispatcher whose rows are kept, for tests of what it still knows after a restart.
 */
#ifndef UNIT_DURABLE_KIT_H
#define UNIT_DURABLE_KIT_H

#include "dispatcher_kit.h"

/* The rows that a disk would have, by kind and key. */
enum { ROWS_MAX = 400 };
static struct { struct disp_row row; uint8_t blob[512]; } disk[ROWS_MAX];
static size_t n_disk;

static inline void
write_row(void *arg, const struct disp_row *r)
{
	(void)arg;
	for (size_t i = 0; i < n_disk;)
		if (disk[i].row.kind == r->kind && !memcmp(disk[i].row.key, r->key, (r->blob ? 3 : r->n_key) * sizeof *r->key))
			disk[i] = disk[--n_disk];
		else
			i++;
	if (!r->blob)
		return;
	assert_true(n_disk < ROWS_MAX && r->n <= sizeof disk[0].blob);
	disk[n_disk].row = *r;
	memcpy(disk[n_disk++].blob, r->blob, r->n);
}

static inline size_t
rows_of(enum disp_row_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < n_disk; i++)
		n += disk[i].row.kind == kind;
	return n;
}

static const struct disp_opts durable = { .instance = 5, .seed = 3, .durable = true, .spec_id = spec_id,
	.job_gc_ns = 60 * SEC };

static inline void
setup_durable(void)
{
	disp_free(&d);
	n_disk = 0;
	on_row = write_row;
	d = disp_new(&durable, now);
}

static inline void
restart(void)
{
	struct err e;

	forget();
	disp_free(&d);
	d = disp_new(&durable, now);
	for (size_t i = 0; i < n_disk; i++) {
		disk[i].row.blob = disk[i].blob;
		assert_int_equal(disp_load(d, &disk[i].row, &e), ST_OK);
	}
	assert_int_equal(disp_loaded(d, now, &e), ST_OK);
}

#endif
