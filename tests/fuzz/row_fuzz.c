/* SPDX-License-Identifier: MIT
 * Rows of the dispatcher's durable state: any rows are refused with words, or are a
 * state that goes on and can be told.
 *
 * A row is: kind, three keys, length of the bytes (each one MessagePack int), the bytes. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/disp/dispatcher.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_STEPS = 20, FUZZ_ROWS = 200 };

static void
fuzz_id(const char *spec, size_t n, char *out, size_t out_size)
{
	(void)spec, (void)n;
	assert(out_size > 8);
	memcpy(out, "abcdef01", 9);
}

static struct disp *
fuzz_new(void)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = fuzz_id };

	return disp_new(&o, 0);
}

static void
fuzz_run(struct disp *d)
{
	struct buf out = { 0 };
	struct msg m;
	uint64_t peer;

	for (int i = 0; i < FUZZ_STEPS; i++) {
		int64_t when = disp_next_deadline(d);

		if (when == INT64_MAX)
			break;
		disp_tick(d, when);
		while (disp_outbox(d, &peer, &m))
			msg_clear(&m);
	}
	disp_status(d, 1, REPORT_ALL, "", &out);
	assert(mp_check(out.data, out.len));
	buf_reset(&out);
	disp_status(d, 1, REPORT_AUDIT, "", &out);
	assert(mp_check(out.data, out.len));
	buf_clear(&out);
	disp_changes(d, NULL, NULL);
}

static bool
fuzz_int(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	struct mp m;
	const uint8_t *next = *p < end ? mp_head(*p, end, &m) : NULL;

	if (!next || m.kind != MP_INT)
		return false;
	*p = next;
	*v = m.u;
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *p = data, *end = data + size;
	struct disp *d = fuzz_new();
	enum status st = ST_OK;
	struct err e = { 0 };
	uint64_t v[5];

	for (int rows = 0; st == ST_OK && rows < FUZZ_ROWS; rows++) {
		size_t k = 0;

		while (k < 5 && fuzz_int(&p, end, &v[k]))
			k++;
		if (k < 5 || v[4] > (uint64_t)(end - p) || v[0] > ROW_KINDS)
			break;
		struct disp_row row = { .kind = (enum disp_row_kind)v[0], .n_key = 3, .key = { v[1], v[2], v[3] },
					.blob = mem_dup(p, v[4]), .n = v[4] };
		st = disp_load(d, &row, &e);
		mem_free((void *)row.blob);
		p += v[4];
	}
	if (st == ST_OK)
		st = disp_loaded(d, 0, &e);
	if (st == ST_OK)
		fuzz_run(d);
	else
		assert(e.text[0]);
	disp_free(&d);
	return 0;
}
