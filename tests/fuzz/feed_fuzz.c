/* SPDX-License-Identifier: MIT
 * What dsvc-feed reads of others. The first byte chooses: 0 a message of a core, which is refused
 * with words or says the same again; 1 a position; else elements end to end, whose rows come out of a slot as
 * values. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/feed/feed_place.h"
#include "value/columns.h"
#include "value/mp.h"
#include "wire/feed_msg.h"

enum { FUZZ_ROWS = 16, FUZZ_SLOT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
fuzz_message(const uint8_t *p, size_t n)
{
	struct feed_msg m, again;
	struct buf out = { 0 };
	struct err e = { 0 };
	size_t size;

	if (feed_msg_size(p, n, &size, &e) == ST_OK && size)
		assert(size >= 4);
	if (feed_msg_decode(p, n, &m, &e) != ST_OK) {
		assert(e.text[0]);
		return;
	}
	feed_msg_encode(&m, &out);
	assert(feed_msg_size(out.data, out.len, &size, &e) == ST_OK && size == out.len);
	assert(feed_msg_decode(out.data + 4, out.len - 4, &again, &e) == ST_OK && again.type == m.type);
	feed_msg_clear(&again);
	feed_msg_clear(&m);
	buf_clear(&out);
}

static void
fuzz_place(const uint8_t *p, size_t n)
{
	struct feed_place place = { 0 };
	struct feed_what what = { 0 };
	struct err e = { 0 };

	if (feed_place_decode(p, n, &place, &what, &e) != ST_OK)
		assert(e.text[0]);
	feed_place_clear(&place);
}

static void
fuzz_rows(const uint8_t *p, const uint8_t *end, bool batches, const char *mask)
{
	const uint8_t *next = mp_check_next(p, end);
	struct columns *c;
	struct err e = { 0 };
	uint64_t row = 0, rows, each;

	if (!next || columns_record(p, (size_t)(next - p), NULL, batches, NULL, mask, &c, &each, &e) != ST_OK)
		return;
	if (each && each <= FUZZ_ROWS && columns_lay(c, FUZZ_ROWS, 0, FUZZ_SLOT)) {
		uint8_t *slot = mem_zalloc(c->bytes);
		struct buf out = { 0 };

		for (; next && row < FUZZ_ROWS; p = next, next = mp_check_next(p, end)) {
			enum status st = columns_put(c, slot, row, FUZZ_ROWS - row, p, (size_t)(next - p), &rows, &e);

			if (st != ST_OK) {
				assert(st == ST_AGAIN || e.text[0]);
				break;
			}
			row += rows;
		}
		columns_pad(c, slot, row, FUZZ_ROWS - row, row & 1);
		if (columns_take(c, slot, 0, FUZZ_ROWS, &out))
			assert(mp_check(out.data, out.len));
		buf_clear(&out);
		mem_free(slot);
	}
	columns_free(&c);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] == 0)
		fuzz_message(data + 1, size - 1);
	else if (data[0] == 1)
		fuzz_place(data + 1, size - 1);
	else
		fuzz_rows(data + 1, data + size, data[0] & 1, data[0] & 4 ? "real" : NULL);
	return 0;
}
