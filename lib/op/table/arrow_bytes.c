/* SPDX-License-Identifier: MIT */
#include "op/table/arrow_bytes.h"

#include <string.h>

#include "base/mem.h"
#include "op/file/file_bytes.h"

enum { BYTES_ROOM = 64 * 1024, BYTES_HEAD = 8 /* the magic, and what aligns the first message */ };

struct arrow_bytes {
	struct file_bytes *file;
	struct err failed;
	size_t from, to;
	bool end;
	uint8_t buf[BYTES_ROOM];
};

bool
arrow_magic(const uint8_t *p, size_t n)
{
	return n >= ARROW_MAGIC && !memcmp(p, "ARROW1", ARROW_MAGIC);
}

/* Reads once, to `to`; *got is 0 at the end. */
static enum status
bytes_more(struct arrow_bytes *b, uint8_t *to, size_t room, size_t *got, struct err *e)
{
	*got = 0;
	if (b->end)
		return ST_OK;
	enum status st = file_bytes_read(b->file, to, room, got, e);
	b->end = st == ST_END;
	return st == ST_END ? ST_OK : st;
}

enum status
arrow_bytes_open(const char *path, const char *tag, const struct op_ctx *ctx, struct arrow_bytes **out, struct err *e)
{
	struct arrow_bytes *b = mem_zalloc(sizeof *b);
	size_t got = 1;

	b->file = file_bytes_new();
	enum status st = file_bytes_open(b->file, path, tag, false, ctx, e);
	while (st == ST_OK && b->to < BYTES_HEAD && got) {
		st = bytes_more(b, b->buf + b->to, BYTES_ROOM - b->to, &got, e);
		b->to += got;
	}
	if (st == ST_OK && arrow_magic(b->buf, b->to))
		b->from = b->to < BYTES_HEAD ? b->to : BYTES_HEAD;
	if (st != ST_OK)
		arrow_bytes_close(&b);
	*out = b;
	return st;
}

int64_t
arrow_bytes_read(void *bytes, int64_t offset, int64_t n, void *to)
{
	struct arrow_bytes *b = bytes;
	size_t want = (size_t)n, have = 0, got;
	uint8_t *w = to;

	(void)offset; /* always the next one */
	while (have < want) {
		size_t here = b->to - b->from;
		enum status st = ST_OK;

		if (here) {
			got = here < want - have ? here : want - have;
			memcpy(w + have, b->buf + b->from, got);
			b->from += got;
		} else if (want - have >= BYTES_ROOM) {
			st = bytes_more(b, w + have, want - have, &got, &b->failed);
		} else {
			b->from = b->to = 0;
			st = bytes_more(b, b->buf, BYTES_ROOM, &b->to, &b->failed);
			if (st == ST_OK && b->to)
				continue;
			got = 0;
		}
		if (st == ST_AGAIN)
			b->failed.kind = ST_AGAIN;
		if (st != ST_OK)
			return -1;
		have += got;
		if (!got)
			break;
	}
	return (int64_t)have;
}

const char *
arrow_bytes_tag(const struct arrow_bytes *b)
{
	return file_bytes_tag(b->file);
}

struct err
arrow_bytes_failed(struct arrow_bytes *b)
{
	struct err failed = b->failed;

	err_clear(&b->failed);
	return failed;
}

void
arrow_bytes_close(struct arrow_bytes **at)
{
	struct arrow_bytes *b = *at;

	if (!b)
		return;
	file_bytes_free(&b->file);
	mem_free(b);
	*at = NULL;
}
