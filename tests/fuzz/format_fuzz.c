/* SPDX-License-Identifier: MIT
 * Decoders of files: CSV and TSV rows, .npy headers, tf.train.Example, files of
 * WebDataset archives; and formats that refuse. The first byte chooses. Every value
 * that comes out is well formed; CSV read in pieces is CSV read at once; what an
 * Example becomes can be written and read again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "value/csv/csv.h"
#include "value/format/example.h"
#include "value/format/format.h"
#include "value/format/member.h"
#include "value/mp.h"
#include "value/format/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct json *fuzz_json;

/* All rows as NDJSON with line numbers, and what went wrong; `step` bytes more at a time. */
static void
fuzz_csv_read(const struct csv_conf *conf, const uint8_t *text, size_t size, size_t step,
	      struct buf *out)
{
	struct csv *c = csv_new(conf, NULL, 0);
	uint8_t *p = malloc(size + CSV_PAD);
	size_t have = 0, at = 0;
	uint64_t line = 1;
	struct err e = { 0 };
	struct run r;

	run_init(&r);
	memset(p, conf->delim, size + CSV_PAD);
	do {
		have = size - have < step ? size : have + step;
		memcpy(p, text, have);
		for (;;) {
			size_t used = 0;
			uint32_t lines = 0;
			bool header = !csv_ready(c);

			run_reset(&r);
			enum status st = header
				? csv_header(c, p + at, have - at, have == size, &used, &lines, &e)
				: csv_rows(c, p + at, have - at, have == size, 3, &r, &used, &lines, &e);
			assert(used <= have - at);
			if (st == ST_END)
				break;
			assert(used);
			for (uint32_t i = 0; i < r.n; i++) {
				assert(mp_check(r.e[i].p, r.e[i].len));
				buf_printf(out, "%llu ", (unsigned long long)(line + r.e[i].pos));
				json_print(r.e[i].p, r.e[i].len, out);
				buf_byte(out, '\n');
			}
			if (st == ST_DATA)
				buf_printf(out, "%llu %s\n", (unsigned long long)line, e.text);
			if (st == ST_DATA && header)
				goto out;
			at += used;
			line += lines;
		}
	} while (have < size);
out:
	run_clear(&r);
	free(p);
	csv_free(&c);
}

static void
fuzz_csv(uint8_t how, const uint8_t *p, size_t n)
{
	struct csv_conf conf = { .delim = ',', .quote = '"', .text = (how & 1) != 0, .header = (how & 2) != 0 };
	struct buf once = { 0 }, parts = { 0 };

	if (how & 4)
		conf = (struct csv_conf){ .delim = '\t', .quote = CSV_NO_QUOTE, .escapes = true,
					   .text = (how & 1) != 0, .header = (how & 2) != 0 };
	conf.ragged = (how & 8) != 0;
	if (how & 16) {
		conf.comment = "##";
		conf.n_comment = 1 + (how & 1);
	}
	fuzz_csv_read(&conf, p, n, n + 1, &once);
	fuzz_csv_read(&conf, p, n, 1 + how % 7, &parts);
	assert(once.len == parts.len && (!once.len || !memcmp(once.data, parts.data, once.len)));
	buf_clear(&once);
	buf_clear(&parts);
}

static void
fuzz_npy(const uint8_t *p, size_t n)
{
	uint8_t head[NPY_HEAD_PUT];
	struct npy a, b;
	struct err e;
	uint64_t count;

	if (npy_head(p, n, &a, &e) != ST_OK)
		return;
	assert(a.head <= n);
	npy_slice(&a, &count);
	size_t len = npy_put_head(&a, head);
	assert(len <= sizeof head && npy_head(head, len, &b, &e) == ST_OK && b.head == len);
	assert(a.dtype == b.dtype && a.n_dims == b.n_dims
	       && !memcmp(a.dims, b.dims, (size_t)a.n_dims * sizeof *a.dims));
}

static void
fuzz_example(uint8_t how, const uint8_t *p, size_t n)
{
	struct example_conf conf = { (how & 1) != 0, (how & 2) != 0 };
	struct buf record = { 0 }, wire = { 0 }, again = { 0 };
	struct example_work work = { { 0 }, { 0 }, { 0 }, { 0 } };
	struct err e;

	if (example_decode(&conf, p, n, &record, &e) == ST_OK) {
		assert(mp_check(record.data, record.len));
		assert(example_encode(&work, record.data, record.len, &wire, &e) == ST_OK);
		assert(example_decode(&conf, wire.data, wire.len, &again, &e) == ST_OK);
		assert(again.len == record.len);
		/* nan has many forms */
		assert(memchr(record.data, 0xcb, record.len)
		       || !memcmp(again.data, record.data, record.len));
	} else {
		assert(!record.len);
	}
	example_work_clear(&work);
	buf_clear(&record);
	buf_clear(&wire);
	buf_clear(&again);
}

static void
fuzz_member(uint8_t how, const uint8_t *p, size_t n)
{
	static const char *const names[] = { "json", "txt", "cls", "npy", "jpg", "a.npy" };
	struct buf out = { 0 };
	struct err e;

	if (!fuzz_json)
		fuzz_json = json_new();
	if (member_decode(fuzz_json, names[how % 6], p, n, &out, &e) == ST_OK)
		assert(mp_check(out.data, out.len));
	buf_clear(&out);
}

/* Any MessagePack value, in each format. */
static void
fuzz_write(const uint8_t *p, size_t n)
{
	for (int kind = FORMAT_AUTO; kind < FORMAT_KINDS; kind++) {
		struct format *f = format_new((enum format_kind)kind, NULL);
		struct buf out = { 0 };
		struct err e = { 0 };
		uint64_t count = 0;
		const uint8_t *at = p, *next;

		while (count < 1000 && (next = mp_check_next(at, p + n)))
			at = next, count++;
		format_seekable(f);
		enum status st = format_bytes(f, p, (size_t)(at - p), count, &out, &e);
		if (st == ST_OK)
			st = format_end(f, &out, &e);
		assert(st == ST_OK || st == ST_DATA || (kind == FORMAT_ARROW && st == ST_UNAVAIL)); /* without the plugin */
		format_patch(f, &out);
		format_free(&f);
		buf_clear(&out);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	/* A copy without a byte to spare behind it. */
	size_t n = size - 2;
	uint8_t *p = malloc(n ? n : 1);

	memcpy(p, data + 2, n);
	switch (data[0] % 5) {
	case 0: fuzz_csv(data[1], p, n); break;
	case 1: fuzz_npy(p, n); break;
	case 2: fuzz_example(data[1], p, n); break;
	case 3: fuzz_member(data[1], p, n); break;
	default: fuzz_write(p, n); break;
	}
	free(p);
	return 0;
}
