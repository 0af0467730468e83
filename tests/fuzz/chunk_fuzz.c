/* SPDX-License-Identifier: MIT
 * Payloads of chunks, as a reader gets them from a worker: unpacked, cut into pieces
 * and written as NDJSON, any bytes are refused or are well-formed elements.
 *
 *	byte 0     bit 0: packed with snappy; the others: elements of the first piece
 *	byte 1     elements in the chunk, as its header says
 *	bytes 2-4  bytes unpacked, as its header says
 *	the rest   the payload */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "base/mem.h"
#include "host/chunk.h"
#include "host/reader_host_inner.h"
#include "value/format/format.h"
#include "value/mp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A client that nobody feeds: only what reader_host_take looks at. */
static void
fuzz_client(struct reader_host *c, struct held *h, uint32_t first)
{
	*c = (struct reader_host){ .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) };
	pthread_mutex_init(&c->lock, NULL);
	c->items = mem_grow(c->items, &c->cap_items, 2, sizeof *c->items);
	if (first && first < h->count) {
		c->items[c->n_items++] = (struct item){ .held = h, .count = first };
		c->items[c->n_items++] = (struct item){ .held = h, .first = first, .count = h->count - first };
		atomic_store(&h->refs, 2);
	} else {
		c->items[c->n_items++] = (struct item){ .held = h, .count = h->count };
		atomic_store(&h->refs, 1);
	}
}

static void
fuzz_take(struct reader_host *c)
{
	struct reader_host_piece piece;
	struct buf out = { 0 };
	struct err e = { 0 };
	enum status st;

	while ((st = reader_host_take(c, &piece, &e)) != ST_AGAIN) {
		assert(st == ST_OK || e.text[0]);
		if (st != ST_OK)
			continue;
		struct format *f = format_new(FORMAT_NDJSON, NULL);
		/* Nothing is refused that is well-formed. */
		struct format_opts opts = { .json = json_rules_shown };
		assert(format_set(f, &opts, NULL, &e) == ST_OK);
		const uint8_t *at = piece.p, *end = piece.p + piece.len;

		for (uint32_t i = 0; at && i < piece.count; i++)
			at = mp_check_next(at, end);
		bool good = format_bytes(f, piece.p, piece.len, piece.count, &out, &e) == ST_OK;
		assert(good == (at == end));
		format_free(&f);
		buf_reset(&out);
	}
	buf_clear(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader_host c;

	if (size < 6 || !data[1])
		return 0;
	struct held *h = mem_zalloc(sizeof *h);
	size_t n = size - 5;
	h->block = block_new(n);
	memcpy(h->block->data, data + 5, n);
	h->block->len = n;
	h->count = data[1];
	h->codec = data[0] & 1 ? CODEC_SNAPPY : CODEC_NONE;
	h->raw_len = h->codec == CODEC_NONE ? n : data[2] | data[3] << 8 | (uint64_t)data[4] << 16;
	fuzz_client(&c, h, data[0] >> 1);
	fuzz_take(&c);
	while (c.n_items) /* reader_host_take does not go on behind an error */
		held_unref(c.items[c.items_at++].held), c.n_items--;
	held_unref(c.lent);
	mem_free(c.items);
	pthread_mutex_destroy(&c.lock);
	close(c.fd);
	return 0;
}
