/* SPDX-License-Identifier: MIT
 * Decoders of values: MessagePack, JSON, chunks in every format, types. The
 * first byte chooses. What is accepted must survive being printed and read again. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "value/format/format.h"
#include "value/json/json.h"
#include "value/json/json_fault.h"
#include "value/mp.h"
#include "value/num.h"
#include "value/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct json *fuzz_parser;

static void
fuzz_type(const struct type *a)
{
	struct types *t = types_new();
	struct buf text = { 0 }, again = { 0 };
	struct err e = { 0 };

	type_print(a, &text);
	const struct type *b = type_parse(t, (char *)text.data, text.len, &e);
	if (b) {
		assert(type_equal(a, b) && type_fits(a, b) && type_fits(b, a));
		type_print(b, &again);
		assert(again.len == text.len && !memcmp(again.data, text.data, text.len));
		assert(type_equal(type_join(t, a, b), a));
	} else {
		assert(strstr(e.text, "more than"));
	}
	buf_clear(&text);
	buf_clear(&again);
	types_free(&t);
}

static void
fuzz_msgpack(const uint8_t *p, size_t n)
{
	const uint8_t *end = mp_skip(p, p + n), *v;
	struct buf text = { 0 }, back = { 0 };
	struct types *t = types_new();
	struct err e = { 0 };
	size_t len;

	if (mp_check_next(p, p + n))
		assert(end == mp_check_next(p, p + n));
	mp_field(p, p + n, "a", 1, &v, &len);
	mp_compare(p, n, p, n / 2);
	fuzz_type(type_of_value(t, p, n));
	if (n && mp_check(p, n)) {
		assert(end == p + n);
		assert(!mp_compare(p, n, p, n));
		text_print(p, n, &text);
		buf_reset(&text);
		json_print(p, n, &text);
		/* an empty list at depth 129 passes mp_check */
		if (json_value(fuzz_parser, text.data, text.len, &back, &e))
			assert(strstr(e.text, "nested deeper"));
		else
			assert(mp_check(back.data, back.len));
	}
	types_free(&t);
	buf_clear(&text);
	buf_clear(&back);
}

static void
fuzz_json(const uint8_t *p, size_t n)
{
	struct buf v = { 0 }, text = { 0 }, again = { 0 };
	struct json_fault f;
	struct err e = { 0 };
	enum status st = json_value(fuzz_parser, p, n, &v, &e);

	assert((st == ST_OK) == !json_fault(p, n, &f));
	if (st == ST_OK) {
		assert(mp_check(v.data, v.len));
		json_print(v.data, v.len, &text);
		assert(json_value(fuzz_parser, text.data, text.len, &again, &e) == ST_OK);
		assert(again.len == v.len && !memcmp(again.data, v.data, v.len));
	} else {
		assert(v.len == 0 && f.at <= n);
	}
	buf_clear(&v);
	buf_clear(&text);
	buf_clear(&again);
}

/* Under a projection the same is refused, and what is kept is the same. */
static void
fuzz_fields(const uint8_t *p, size_t n, uint32_t max, const struct run *all, enum status want, size_t end)
{
	const char *names[] = { "a", "id" };
	const uint32_t lens[] = { 1, 2 };
	struct json_fields f = { names, lens, 2 };
	struct run r = { 0 };
	struct err e = { 0 };
	uint32_t lines;
	size_t used;

	enum status st = json_lines(fuzz_parser, p, n, &f, max, 0, &r, &used, &lines, &e);
	assert(st == want && used == end && r.n == all->n);
	for (uint32_t i = 0; i < r.n; i++) {
		const struct elem *x = &all->e[i], *y = &r.e[i];
		const uint8_t *v, *w;
		struct mp head;
		size_t k, m;

		mp_head(x->p, x->p + x->len, &head);
		assert(mp_check(y->p, y->len));
		if (head.kind != MP_RECORD)
			assert(x->len == y->len && !memcmp(x->p, y->p, x->len));
		for (int j = 0; head.kind == MP_RECORD && j < 2; j++) {
			bool there = mp_field(x->p, x->p + x->len, names[j], lens[j], &v, &k);

			assert(mp_field(y->p, y->p + y->len, names[j], lens[j], &w, &m) == there);
			assert(!there || (k == m && !memcmp(v, w, k)));
		}
	}
	run_clear(&r);
}

/* Each line alone gives what the lines together give. */
static void
fuzz_lines(const uint8_t *p, size_t n, uint32_t max)
{
	uint8_t *copy = calloc(1, n + json_padding());
	struct run r = { 0 };
	struct buf one = { 0 };
	struct err e = { 0 };
	size_t at = 0, used, line_at = 0;
	uint32_t line = 0, lines;

	memcpy(copy, p, n);
	while (at < n) {
		run_reset(&r);
		enum status st = json_lines(fuzz_parser, copy + at, n - at, NULL, max, line, &r, &used, &lines, &e);
		assert(used && used <= n - at && r.n <= max);
		fuzz_fields(copy + at, n - at, max, &r, st, used);
		uint32_t seen = 0, to = line + lines;
		for (; line < to; line++) {
			const uint8_t *nl = memchr(p + line_at, '\n', n - line_at);
			size_t len = nl ? (size_t)(nl - p) - line_at : n - line_at;

			buf_reset(&one);
			if (json_value(fuzz_parser, p + line_at, len, &one, &e) == ST_OK) {
				assert(seen < r.n && r.e[seen].pos == line && r.e[seen].len == one.len);
				assert(!memcmp(r.e[seen++].p, one.data, one.len));
			} else {
				assert((line == to - 1 && st) || strstr(e.text, "nothing"));
			}
			line_at += len + 1;
		}
		assert(seen == r.n);
		at += used;
		assert(line_at == at || at == n);
	}
	run_clear(&r);
	buf_clear(&one);
	free(copy);
}

static void
fuzz_chunk(const uint8_t *p, size_t n, unsigned kind)
{
	enum format_kind what = kind % FORMAT_KINDS;
	/* the others refuse elements of the wrong shape, or texts that are no UTF-8 */
	bool any = what == FORMAT_COUNT || what == FORMAT_NONE || what == FORMAT_MSGPACK;
	struct format *f = format_new(what, NULL);
	struct buf out = { 0 };
	const uint8_t *q = p;
	uint64_t count = 0;

	for (; q && q < p + n; count++)
		q = mp_check_next(q, p + n);
	enum status st = format_bytes(f, p, n, count, &out, NULL);
	bool good = st == ST_OK;
	st = format_end(f, &out, NULL);
	assert(st == ST_OK || what == FORMAT_ARROW); /* it looks at what it held back */
	good &= st == ST_OK;
	assert(any ? good == (q != NULL) : !good || q);
	buf_clear(&out);
	format_free(&f);
}

static void
fuzz_type_text(const uint8_t *p, size_t n)
{
	struct types *t = types_new();
	struct err e = { 0 };
	const struct type *a = type_parse(t, (const char *)p, n, &e);

	assert(a || e.kind == ST_DATA);
	if (a)
		fuzz_type(a);
	types_free(&t);
}

static void
fuzz_number(const uint8_t *p, size_t n)
{
	char out[NUM_FLOAT_MAX];
	double v, w;

	if (num_parse_float((const char *)p, n, &v) || n >= 8) {
		if (n >= 8)
			memcpy(&v, p, 8);
		size_t len = num_print_float(v, out);
		assert(len <= sizeof out && num_parse_float(out, len, &w));
		assert(v == w || (isnan(v) && isnan(w)));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!fuzz_parser)
		fuzz_parser = json_new();
	if (!size)
		return 0;
	/* A copy without a byte to spare behind it. */
	size_t n = size - 1;
	uint8_t *p = malloc(n ? n : 1);
	memcpy(p, data + 1, n);
	switch (data[0] % 8) {
	case 0: case 6: fuzz_msgpack(p, n); break;
	case 1: fuzz_json(p, n); break;
	case 2: fuzz_lines(p, n, 1 + data[0] / 8 % 8); break;
	case 3: fuzz_chunk(p, n, data[0] / 8); break;
	case 4: fuzz_type_text(p, n); break;
	case 5: fuzz_number(p, n); break;
	default: /* an order of two values */
		if (n && mp_check(p, n / 2) && mp_check(p + n / 2, n - n / 2))
			assert(mp_compare(p, n / 2, p + n / 2, n - n / 2)
			       == -mp_compare(p + n / 2, n - n / 2, p, n / 2));
		break;
	}
	free(p);
	return 0;
}
