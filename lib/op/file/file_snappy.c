/* SPDX-License-Identifier: MIT */
#include "op/file/file_snappy.h"

#include <snappy-c.h>
#include <string.h>

#include "base/mem.h"
#include "value/crc32c.h"

enum {
	SNAPPY_PLAIN = 65536,             /* most bytes of a block */
	SNAPPY_SUM = 4,
	SNAPPY_MOST = 76490 + SNAPPY_SUM, /* bytes of a compressed one: 32 + n + n/6 */
	SNAPPY_HEAD = 4
};

/* Kinds of blocks. */
enum { BLOCK_PACKED = 0, BLOCK_PLAIN = 1, BLOCK_SKIP = 0x80, BLOCK_BEGIN = 0xff };

struct file_snappy {
	uint8_t block[SNAPPY_HEAD + SNAPPY_MOST]; /* the block that is being read, with its head */
	size_t have;                              /* how much of it */
	size_t skip;                              /* bytes of a block that means nothing, still to come */
	uint8_t plain[SNAPPY_PLAIN];
	size_t from, to;                          /* unread decompressed bytes */
};

struct file_snappy *
file_snappy_new(void)
{
	struct file_snappy *s = mem_alloc(sizeof *s);

	file_snappy_start(s);
	return s;
}

void
file_snappy_free(struct file_snappy **s)
{
	mem_free(*s);
	*s = NULL;
}

void
file_snappy_start(struct file_snappy *s)
{
	s->have = s->skip = s->from = s->to = 0;
}

static enum status
snappy_fail(const char *what, const struct file_input *in, struct err *e)
{
	return err_set(e, ST_DATA, "cannot decompress: %s, near byte %llu of the snappy data", what,
		       (unsigned long long)(in->taken - (in->to - in->from)));
}

/* Has s->have reach `want` bytes of the block; ST_END: the file ends before. */
static enum status
snappy_gather(struct file_snappy *s, struct file_input *in, size_t want, struct err *e)
{
	while (s->have < want) {
		enum status st = in->from == in->to ? file_input_fill(in, e) : ST_OK;
		size_t n = in->to - in->from;

		if (st != ST_OK)
			return st;
		if (n > want - s->have)
			n = want - s->have;
		memcpy(s->block + s->have, in->buf + in->from, n);
		s->have += n;
		in->from += n;
	}
	return ST_OK;
}

static enum status
snappy_pass_over(struct file_snappy *s, struct file_input *in, struct err *e)
{
	while (s->skip) {
		enum status st = in->from == in->to ? file_input_fill(in, e) : ST_OK;
		size_t n = in->to - in->from;

		if (st != ST_OK)
			return st == ST_END ? snappy_fail("the file is cut off", in, e) : st;
		if (n > s->skip)
			n = s->skip;
		in->from += n;
		s->skip -= n;
	}
	return ST_OK;
}

/* Unpacks the block of this many bytes, sum and data. */
static const char *
snappy_unpack(struct file_snappy *s, size_t len)
{
	const uint8_t *sum = s->block + SNAPPY_HEAD, *data = sum + SNAPPY_SUM;
	size_t n = len - SNAPPY_SUM, plain = n;

	if (s->block[0] == BLOCK_PLAIN) {
		if (n > SNAPPY_PLAIN)
			return "a block is too long";
		memcpy(s->plain, data, n);
	} else {
		if (snappy_uncompressed_length((const char *)data, n, &plain) != SNAPPY_OK || plain > SNAPPY_PLAIN ||
		    snappy_uncompress((const char *)data, n, (char *)s->plain, &plain) != SNAPPY_OK)
			return "a block that cannot be decoded";
	}
	uint32_t want = sum[0] | (uint32_t)sum[1] << 8 | (uint32_t)sum[2] << 16 | (uint32_t)sum[3] << 24;
	if (crc32c_masked(s->plain, plain) != want)
		return "the checksum is not that of the data";
	s->from = 0;
	s->to = plain;
	return NULL;
}

/* Reads one block; the bytes of it that mean something are then unread. ST_END: there is none. */
static enum status
snappy_block(struct file_snappy *s, struct file_input *in, struct err *e)
{
	enum status st = snappy_pass_over(s, in, e);
	const char *fault = NULL;

	if (st == ST_OK)
		st = snappy_gather(s, in, SNAPPY_HEAD, e);
	if (st == ST_END && s->have)
		return snappy_fail("the file is cut off", in, e);
	if (st != ST_OK)
		return st;
	uint8_t kind = s->block[0];
	size_t len = s->block[1] | (size_t)s->block[2] << 8 | (size_t)s->block[3] << 16;
	if (kind >= BLOCK_SKIP && kind != BLOCK_BEGIN) {
		s->skip = len;
		s->have = 0;
		return ST_OK;
	}
	if (kind > BLOCK_PLAIN && kind != BLOCK_BEGIN)
		fault = "a kind of block that is not known";
	else if (kind == BLOCK_BEGIN ? len != 6 : len < SNAPPY_SUM || len > SNAPPY_MOST)
		fault = "a block of a wrong length";
	if (!fault) {
		st = snappy_gather(s, in, SNAPPY_HEAD + len, e);
		if (st == ST_END)
			fault = "the file is cut off";
		else if (st != ST_OK)
			return st;
	}
	if (!fault && kind == BLOCK_BEGIN)
		fault = memcmp(s->block + SNAPPY_HEAD, "sNaPpY", 6) ? "something that is not snappy" : NULL;
	else if (!fault)
		fault = snappy_unpack(s, len);
	if (fault)
		return snappy_fail(fault, in, e);
	s->have = 0;
	return ST_OK;
}

enum status
file_snappy_read(struct file_snappy *s, struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && s->from == s->to)
		st = snappy_block(s, in, e);
	if (st != ST_OK)
		return st;
	*n = s->to - s->from;
	if (*n > room)
		*n = room;
	memcpy(p, s->plain + s->from, *n);
	s->from += *n;
	return ST_OK;
}
