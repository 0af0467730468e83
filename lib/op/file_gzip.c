/* SPDX-License-Identifier: MIT */
#include "op/file_gzip.h"

#include <string.h>
#include <zlib.h>

#include "base/mem.h"

enum { GZIP_WINDOW = 15 + 16 }; /* the largest; gzip heads and trailers only */

struct file_gzip {
	z_stream z;
	bool inside;  /* of a member */
	bool members; /* at least one was read */
};

static void *
gzip_alloc(void *arg, unsigned n, unsigned size)
{
	(void)arg;
	return mem_alloc((size_t)n * size);
}

static void
gzip_release(void *arg, void *p)
{
	(void)arg;
	mem_free(p);
}

struct file_gzip *
file_gzip_new(void)
{
	struct file_gzip *g = mem_zalloc(sizeof *g);

	g->z.zalloc = gzip_alloc;
	g->z.zfree = gzip_release;
	/* Fails for want of memory or for a wrong argument only. */
	(void)inflateInit2(&g->z, GZIP_WINDOW);
	return g;
}

void
file_gzip_free(struct file_gzip **gp)
{
	if (!*gp)
		return;
	inflateEnd(&(*gp)->z);
	mem_free(*gp);
	*gp = NULL;
}

void
file_gzip_start(struct file_gzip *g)
{
	g->inside = g->members = false;
}

static enum status
gzip_fault(const struct file_input *in, const char *what, struct err *e)
{
	return err_set(e, ST_DATA, "cannot unpack: %s, at byte %llu of the gzip data", what,
		       (unsigned long long)(in->taken - (in->to - in->from)));
}

/* Between two members: skips padding, begins the next one. */
static enum status
gzip_begin(struct file_gzip *g, struct file_input *in, struct err *e)
{
	while (g->members && in->from < in->to && in->buf[in->from] == 0)
		in->from++;
	if (in->from == in->to)
		return ST_OK;
	if (in->buf[in->from] != 0x1f)
		return gzip_fault(in, "something that is not gzip", e);
	inflateReset(&g->z);
	g->inside = g->members = true;
	return ST_OK;
}

/* One step of inflate over what is in the input's buffer. */
static enum status
gzip_inflate(struct file_gzip *g, struct file_input *in, struct err *e)
{
	z_stream *z = &g->z;

	z->next_in = in->buf + in->from;
	z->avail_in = (unsigned)(in->to - in->from);
	int rc = inflate(z, Z_NO_FLUSH);
	in->from = in->to - z->avail_in;
	if (rc == Z_STREAM_END) {
		g->inside = false;
		return ST_OK;
	}
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return ST_OK;
	return gzip_fault(in, z->msg ? z->msg : "corrupt data", e);
}

enum status
file_gzip_read(struct file_gzip *g, struct file_input *in, uint8_t *p, size_t room, size_t *n,
	       struct err *e)
{
	enum status st = ST_OK;

	if (room > UINT32_MAX / 2)
		room = UINT32_MAX / 2;
	g->z.next_out = p;
	g->z.avail_out = (unsigned)room;
	while (g->z.avail_out) {
		if (in->from == in->to) {
			/* What is unpacked goes out before more is waited for. */
			if (g->z.avail_out < room)
				break;
			st = file_input_fill(in, e);
			if (st == ST_END && g->inside)
				st = gzip_fault(in, "the file is cut off", e);
			if (st != ST_OK)
				break;
		}
		st = g->inside ? ST_OK : gzip_begin(g, in, e);
		if (st == ST_OK && g->inside)
			st = gzip_inflate(g, in, e);
		if (st != ST_OK)
			break;
	}
	*n = room - g->z.avail_out;
	/* An error behind good bytes: inflate gives it again at the next call. */
	return *n ? ST_OK : st;
}
