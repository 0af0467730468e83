/* SPDX-License-Identifier: MIT */
#include "op/file/file_utf16.h"

#include <string.h>

#include "base/mem.h"

enum { UTF16_BLOCK = 64 * 1024 };

struct file_utf16 {
	uint8_t *in;      /* [from, to) is not converted yet */
	size_t from, to, cap;
	uint64_t offset;  /* place of `from` in the text */
	bool big;         /* the more significant byte comes first */
};

bool
file_utf16_is(const uint8_t *p, size_t n)
{
	return n >= 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff));
}

struct file_utf16 *
file_utf16_new(void)
{
	return mem_zalloc(sizeof(struct file_utf16));
}

void
file_utf16_free(struct file_utf16 **u)
{
	if (*u)
		mem_free((*u)->in);
	mem_free(*u);
	*u = NULL;
}

void
file_utf16_start(struct file_utf16 *u, const uint8_t *p, size_t n)
{
	size_t cap = n > UTF16_BLOCK ? n : UTF16_BLOCK;

	if (u->cap < cap) {
		mem_free(u->in);
		u->in = mem_alloc(cap);
		u->cap = cap;
	}
	memcpy(u->in, p, n);
	u->big = p[0] == 0xfe;
	u->from = u->offset = 2;
	u->to = n;
}

static uint32_t
utf16_unit(const struct file_utf16 *u, size_t at)
{
	const uint8_t *p = u->in + at;

	return u->big ? (uint32_t)(p[0] << 8 | p[1]) : (uint32_t)(p[1] << 8 | p[0]);
}

static uint8_t *
utf16_put(uint8_t *w, uint32_t c)
{
	if (c < 0x80) {
		*w++ = (uint8_t)c;
		return w;
	}
	if (c < 0x800) {
		*w++ = (uint8_t)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*w++ = (uint8_t)(0xe0 | c >> 12);
		} else {
			*w++ = (uint8_t)(0xf0 | c >> 18);
			*w++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		}
		*w++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	}
	*w++ = (uint8_t)(0x80 | (c & 0x3f));
	return w;
}

static enum status
utf16_bad(const struct file_utf16 *u, struct err *e)
{
	err_set(e, ST_DATA, "it begins as UTF-16, but is not from byte %llu on",
		(unsigned long long)u->offset + 1);
	err_help(e, "`whole` and `bytes` read a file as it is");
	return ST_DATA;
}

/* Converts what is there, as far as it goes. */
static enum status
utf16_some(struct file_utf16 *u, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	uint8_t *w = p;
	enum status st = ST_OK;

	while (st == ST_OK && u->to - u->from >= 2 && (size_t)(w - p) + UTF16_ROOM <= room) {
		uint32_t c = utf16_unit(u, u->from), low;
		size_t used = 2;

		if ((c & 0xf800) == 0xd800) { /* half of a pair */
			if (c < 0xdc00 && u->to - u->from < 4)
				break;
			low = c < 0xdc00 ? utf16_unit(u, u->from + 2) : 0;
			if ((low & 0xfc00) != 0xdc00) {
				st = ST_DATA;
				break;
			}
			c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
			used = 4;
		}
		w = utf16_put(w, c);
		u->from += used;
		u->offset += used;
	}
	*n = (size_t)(w - p);
	/* Bytes that could be converted are given first. */
	return st == ST_DATA && !*n ? utf16_bad(u, e) : ST_OK;
}

enum status
file_utf16_read(struct file_utf16 *u, file_utf16_from *from, void *arg, uint8_t *p, size_t room,
		size_t *n, struct err *e)
{
	enum status st;
	size_t more;

	while ((st = utf16_some(u, p, room, n, e)) == ST_OK && !*n) {
		memmove(u->in, u->in + u->from, u->to - u->from);
		u->to -= u->from;
		u->from = 0;
		st = from(arg, u->in + u->to, u->cap - u->to, &more, e);
		if (st == ST_END && u->to)
			return utf16_bad(u, e);
		if (st != ST_OK)
			return st;
		u->to += more;
	}
	return st;
}
