/* SPDX-License-Identifier: MIT
 * What children answer: the first byte chooses the protocol, the second where
 * the bytes are cut into reads. Whatever is taken is one well-formed element,
 * and the cuts change nothing.
 *
 * A first byte of 255: the rest is a record of a run (op/program_row.h), refused or one that is read the
 * same when it is written again, and a single line of a log. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "op/program_row.h"
#include "value/format/frame.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All answers of the n bytes, seen `step` bytes more at a time; gives their number. */
static size_t
fuzz_all(enum frame_proto proto, const uint8_t *p, size_t n, size_t step, struct run *out)
{
	size_t at = 0, seen = 0, len;
	struct frame f;
	struct err e = { 0 };

	frame_init(&f, proto, 4096);
	for (;;) {
		bool eof = seen == n;

		if (frame_find(&f, p + at, seen - at, eof, &len, &e) != ST_OK)
			break;
		assert(len <= seen - at);
		if (len) {
			frame_get(&f, p + at, len, out->n, out, &e);
			at += len;
			if (proto == FRAME_RAW || proto == FRAME_ARG)
				break;
		} else if (eof) {
			break;
		} else {
			seen = n - seen < step ? n : seen + step;
		}
	}
	frame_clear(&f);
	return out->n;
}

static void
fuzz_row(const uint8_t *p, size_t n)
{
	struct program_row row, again;
	const uint8_t *at, *end, *at2, *end2;
	struct buf b = { 0 }, line = { 0 };
	struct err e = { 0 };
	uint32_t many, many2;

	if (!mp_check(p, n) || program_row_get(p, n, &row, &at, &end, &many, &e) != ST_OK)
		return;
	program_row_put(&row, at, (size_t)(end - at), many, &b);
	assert(mp_check(b.data, b.len));
	assert(program_row_get(b.data, b.len, &again, &at2, &end2, &many2, &e) == ST_OK);
	assert(many == many2 && end - at == end2 - at2 && !memcmp(at, at2, (size_t)(end - at)));
	assert(row.number == again.number && row.began == again.began && row.took == again.took);
	program_row_print(&row, &line);
	size_t tabs = 0;
	for (size_t i = 0; i < line.len; i++) {
		assert(line.data[i] == '\t' || line.data[i] >= ' ');
		tabs += line.data[i] == '\t';
	}
	assert(tabs == 10);
	buf_clear(&b);
	buf_clear(&line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run whole, parts;

	if (size < 2)
		return 0;
	if (data[0] == 255) {
		fuzz_row(data + 1, size - 1);
		return 0;
	}
	enum frame_proto proto = (enum frame_proto)(data[0] % (FRAME_STREAM + 1));
	size_t step = 1 + data[1] % 16, n = size - 2;
	uint8_t *copy = mem_zalloc(n + frame_padding());
	memcpy(copy, data + 2, n);
	run_init(&whole);
	run_init(&parts);
	fuzz_all(proto, copy, n, n ? n : 1, &whole);
	fuzz_all(proto, copy, n, step, &parts);
	for (uint32_t i = 0; i < whole.n; i++)
		assert(mp_check(whole.e[i].p, whole.e[i].len));
	/* A refusal may come earlier when more is seen at once, never another answer. */
	for (uint32_t i = 0; i < whole.n && i < parts.n; i++)
		assert(whole.e[i].len == parts.e[i].len
		       && !memcmp(whole.e[i].p, parts.e[i].p, whole.e[i].len));
	run_clear(&whole);
	run_clear(&parts);
	mem_free(copy);
	return 0;
}
