/* SPDX-License-Identifier: MIT */
#include "op/file/file_gzip.h"

#include <isa-l/igzip_lib.h>
#include <string.h>

#include "base/mem.h"

enum { GZIP_RESERVED = 0xe0 }; /* flags of the head that are reserved */

/* Where in the file the next byte is: between two members, in a member's head (names and
 * times, which are skipped), or in its data and trailer. */
enum gzip_place { GZIP_BETWEEN, GZIP_HEAD, GZIP_BODY };

struct file_gzip {
	enum gzip_place place;
	bool zlib;
	bool members;         /* at least one member was begun */
	const char *fault;    /* the file is bad from here on */
	struct isal_gzip_header head;
	struct isal_zlib_header zlib_head;
	struct inflate_state z; /* 90 kB; its tables and window need not be cleared */
};

struct file_gzip *
file_gzip_new(void)
{
	struct file_gzip *g = mem_alloc(sizeof *g);

	file_gzip_start(g, false);
	return g;
}

void
file_gzip_free(struct file_gzip **gp)
{
	mem_free(*gp);
	*gp = NULL;
}

void
file_gzip_start(struct file_gzip *g, bool zlib)
{
	g->zlib = zlib;
	g->place = GZIP_BETWEEN;
	g->members = false;
	g->fault = NULL;
	isal_inflate_init(&g->z);
}

static const char *
gzip_fault_text(int rc)
{
	switch (rc) {
	case ISAL_INVALID_WRAPPER: return "a head that is not gzip's";
	case ISAL_UNSUPPORTED_METHOD: return "an unknown compression method";
	case ISAL_INCORRECT_CHECKSUM: return "the checksum or the length is not that of the data";
	case ISAL_INVALID_LOOKBACK: return "a reference to before the start of the data";
	case ISAL_INVALID_BLOCK: return "a block that cannot be decoded";
	case ISAL_INVALID_SYMBOL: return "a code that cannot be decoded";
	default: return "corrupt data";
	}
}

/* Skips padding after a member, and begins the next member if there is one. */
static void
gzip_begin(struct file_gzip *g, struct file_input *in)
{
	while (g->members && !g->zlib && in->from < in->to && in->buf[in->from] == 0)
		in->from++;
	if (in->from == in->to)
		return;
	if (g->zlib ? g->members : in->buf[in->from] != 0x1f) {
		g->fault = g->zlib ? "something after the end" : "something that is not gzip";
		return;
	}
	isal_inflate_reset(&g->z);
	isal_gzip_header_init(&g->head);
	memset(&g->zlib_head, 0, sizeof g->zlib_head);
	g->place = GZIP_HEAD;
	g->members = true;
}

static int
gzip_read_head(struct file_gzip *g)
{
	struct inflate_state *z = &g->z;
	int rc = g->zlib ? isal_read_zlib_header(z, &g->zlib_head)
		: isal_read_gzip_header(z, &g->head);

	if (rc != ISAL_DECOMP_OK)
		return rc;
	/* has inflate read the trailer and compare it */
	z->crc_flag = g->zlib ? ISAL_ZLIB_NO_HDR_VER : ISAL_GZIP_NO_HDR_VER;
	g->place = GZIP_BODY;
	if (!g->zlib && g->head.flags & GZIP_RESERVED)
		g->fault = "unknown flags in the head";
	if (g->zlib && g->zlib_head.dict_flag)
		g->fault = "a dictionary is needed";
	return rc;
}

/* Does one step with the bytes in the input's buffer, of which there may be none, since output
 * of bytes taken before may still be pending. False: it needs more input. */
static bool
gzip_step(struct file_gzip *g, struct file_input *in)
{
	struct inflate_state *z = &g->z;
	uint32_t had, room = z->avail_out;
	enum gzip_place before;
	int rc;

	if (g->place == GZIP_BETWEEN)
		gzip_begin(g, in);
	if (g->fault || g->place == GZIP_BETWEEN)
		return false;
	before = g->place;
	z->next_in = in->buf + in->from;
	z->avail_in = had = (uint32_t)(in->to - in->from);
	if (g->place == GZIP_HEAD) {
		rc = gzip_read_head(g);
	} else {
		rc = isal_inflate(z);
		if (rc == ISAL_DECOMP_OK && z->block_state == ISAL_BLOCK_FINISH)
			g->place = GZIP_BETWEEN;
	}
	in->from = in->to - z->avail_in;
	if (rc != ISAL_DECOMP_OK && rc != ISAL_END_INPUT && rc != ISAL_OUT_OVERFLOW)
		g->fault = gzip_fault_text(rc);
	if (z->avail_in < had || z->avail_out < room || g->place != before)
		return true;
	if (had && !g->fault) /* an impossible state, in which it would wait for ever */
		g->fault = gzip_fault_text(rc);
	return false;
}

/* Gives the bytes that were decompressed before a fault but found no room; inflate must not be
 * called again. */
static void
gzip_drain(struct inflate_state *z)
{
	size_t left = (size_t)(z->tmp_out_valid - z->tmp_out_processed);
	size_t n = left < z->avail_out ? left : z->avail_out;

	memcpy(z->next_out, z->tmp_out_buffer + z->tmp_out_processed, n);
	z->tmp_out_processed += (int32_t)n;
	z->next_out += n;
	z->avail_out -= (uint32_t)n;
}

static enum status
gzip_fail(const struct file_gzip *g, const char *what, const struct file_input *in, struct err *e)
{
	return err_set(e, ST_DATA, "cannot decompress: %s, at byte %llu of the %s data", what,
		       (unsigned long long)(in->taken - (in->to - in->from)), g->zlib ? "zlib" : "gzip");
}

enum status
file_gzip_read(struct file_gzip *g, struct file_input *in, uint8_t *p, size_t room, size_t *n,
	       struct err *e)
{
	enum status st = ST_OK;

	if (room > UINT32_MAX / 2)
		room = UINT32_MAX / 2;
	g->z.next_out = p;
	g->z.avail_out = (uint32_t)room;
	if (g->fault)
		gzip_drain(&g->z);
	while (g->z.avail_out && !g->fault) {
		if (gzip_step(g, in))
			continue;
		/* Decompressed bytes are given before waiting for more input. */
		if (g->fault || g->z.avail_out < room)
			break;
		st = file_input_fill(in, e);
		if (st == ST_END && g->place != GZIP_BETWEEN)
			st = gzip_fail(g, "the file is cut off", in, e);
		if (st != ST_OK)
			break;
	}
	*n = room - g->z.avail_out;
	/* If there are good bytes, the error is given by the next call. */
	if (*n)
		return ST_OK;
	return g->fault ? gzip_fail(g, g->fault, in, e) : st;
}
