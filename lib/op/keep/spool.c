/* SPDX-License-Identifier: MIT */
#include "op/keep/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/transfer.h"
#include "value/mp.h"

enum { SPOOL_BLOCK = 1024 * 1024 };

static enum status
spool_new_file(struct spool *s, const char *dir, struct err *e)
{
	s->fd = gate_open(GATE_WRITE, dir, O_TMPFILE | O_RDWR, 0666);
	if (s->fd >= 0) {
		s->unnamed = s->path != NULL;
		return ST_OK;
	}
	s->part = mem_printf("%s/.%s-XXXXXX", dir, s->path ? "cache" : "pass");
	s->fd = gate_temporary(s->part);
	if (s->fd < 0) {
		mem_free(s->part);
		s->part = NULL;
		s->file = false;
		return err_errno(e, "cannot make a file in %s", dir);
	}
	if (!s->path) {
		gate_unlink(s->part);
		mem_free(s->part);
		s->part = NULL;
	}
	return ST_OK;
}

enum status
spool_open(struct spool *s, const char *dir, const char *name, struct err *e)
{
	struct stat st;

	memset(s, 0, sizeof *s);
	if (gate_mkdir(dir, 0777) && errno != EEXIST)
		return err_errno(e, "cannot make the folder %s", dir);
	s->file = true;
	s->dir = dir;
	if (!name)
		return spool_new_file(s, dir, e);
	s->path = mem_printf("%s/%s", dir, name);
	s->fd = gate_open(GATE_WRITE, s->path, O_RDONLY, 0);
	if (s->fd < 0 && errno == ENOENT)
		return spool_new_file(s, dir, e);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		err_errno(e, "cannot open %s", s->path);
		s->file = s->fd >= 0;
		return e->kind;
	}
	s->bytes = (uint64_t)st.st_size;
	s->whole = true;
	return ST_OK;
}

/* The block with room for n more bytes; with a file, blocks that are full are written out first. */
static enum status
spool_room(struct spool *s, size_t n, struct err *e)
{
	struct block *last = s->n ? s->v[s->n - 1] : NULL;

	if (last && last->cap - last->len >= n)
		return ST_OK;
	if (last && s->file) {
		if (!s->path && tmp_room_take(&s->room, last->len, s->fd, s->dir, e) != ST_OK)
			return e->kind;
		if (!transfer_write(s->fd, last->data, last->len))
			return err_errno(e, "cannot write to %s", s->path ? s->path : "a cache");
		last->len = 0;
		if (last->cap >= n)
			return ST_OK;
		block_unref(&s->v[--s->n]);
	}
	s->v = mem_grow(s->v, &s->cap, s->n + 1, sizeof *s->v);
	s->v[s->n++] = block_new(n > SPOOL_BLOCK ? n : SPOOL_BLOCK);
	return ST_OK;
}

enum status
spool_add(struct spool *s, const struct run *r, struct err *e)
{
	for (uint32_t i = 0; i < r->n; i++) {
		enum status st = spool_room(s, r->e[i].len, e);

		if (st != ST_OK)
			return st;
		struct block *b = s->v[s->n - 1];
		memcpy(b->data + b->len, r->e[i].p, r->e[i].len);
		b->len += r->e[i].len;
		s->bytes += r->e[i].len;
	}
	return ST_OK;
}

enum status
spool_end(struct spool *s, struct err *e)
{
	/* Asking for more room than is left writes the last block. */
	enum status st = s->file && s->n ? spool_room(s, s->v[s->n - 1]->cap + 1, e) : ST_OK;

	if (st != ST_OK)
		return st;
	/* Where another process was faster, its file has the same contents. */
	if (s->unnamed || s->part)
		st = replace_name(s->fd, s->part, s->path, e);
	if (st != ST_OK)
		return st;
	mem_free(s->part);
	s->part = NULL;
	s->unnamed = false;
	s->whole = true;
	return spool_seek(s, 0, e);
}

/* Reads the window of the file that begins at base + from. */
static enum status
spool_refill(struct spool *s, struct err *e)
{
	struct block *old = s->n ? s->v[0] : NULL, *b;
	size_t left = old ? old->len - s->from : 0;
	size_t size = left >= SPOOL_BLOCK / 2 ? left * 2 : SPOOL_BLOCK;

	b = block_new(size);
	if (left)
		memcpy(b->data, old->data + s->from, left);
	b->len = left;
	s->base += s->from;
	s->from = 0;
	ssize_t n = transfer_read_at(s->fd, b->data + left, b->cap - left, s->base + left);
	if (n < 0)
		err_errno(e, "cannot read %s", s->path ? s->path : "a cache");
	else
		b->len += (size_t)n;
	for (size_t k = 0; k < s->n; k++)
		block_unref(&s->v[k]);
	s->v = mem_grow(s->v, &s->cap, 1, sizeof *s->v);
	s->v[0] = b;
	s->n = 1;
	return b->len > left ? ST_OK : ST_END;
}

/* Contents of a file are checked before they are used. */
static enum status
spool_next_file(struct spool *s, struct run *out, struct err *e)
{
	for (;;) {
		struct block *b = s->n ? s->v[0] : NULL;

		while (b && s->from < b->len && out->n < RUN_USUAL) {
			const uint8_t *p = b->data + s->from, *end = mp_check_next(p, b->data + b->len);

			if (!end)
				break;
			run_push(out, (struct elem){ p, b, (uint32_t)(end - p), 0 });
			s->from += (size_t)(end - p);
		}
		if (out->n)
			return ST_OK;
		if (s->base + s->from == s->bytes)
			return ST_END;
		if (b && b->len - s->from > UINT32_MAX)
			break;
		err_clear(e);
		enum status st = spool_refill(s, e);
		if (st == ST_END)
			break;
	}
	if (e->kind != ST_OK)
		return e->kind;
	err_set(e, ST_DATA, "%s is damaged at byte %llu", s->path ? s->path : "a cache",
		(unsigned long long)spool_tell(s));
	err_help(e, "remove it, and it is made again");
	return ST_DATA;
}

enum status
spool_next(struct spool *s, struct run *out, struct err *e)
{
	if (s->file)
		return spool_next_file(s, out, e);
	while (s->at < s->n && out->n < RUN_USUAL) {
		struct block *b = s->v[s->at];
		const uint8_t *p = b->data + s->from, *end = b->data + b->len;

		for (; p < end && out->n < RUN_USUAL; ) {
			const uint8_t *next = mp_skip(p, end);

			run_push(out, (struct elem){ p, b, (uint32_t)(next - p), 0 });
			p = next;
		}
		s->from = (size_t)(p - b->data);
		if (p < end)
			break;
		s->base += b->len;
		s->from = 0;
		s->at++;
	}
	return out->n ? ST_OK : ST_END;
}

uint64_t
spool_tell(const struct spool *s)
{
	return s->base + s->from;
}

enum status
spool_seek(struct spool *s, uint64_t at, struct err *e)
{
	if (at > s->bytes)
		return err_set(e, ST_PROTO, "a place behind the end of what is kept");
	s->base = s->from = s->at = 0;
	if (s->file) {
		for (size_t k = 0; k < s->n; k++)
			block_unref(&s->v[k]);
		s->n = 0;
		s->base = at;
		return ST_OK;
	}
	while (s->at < s->n && s->base + s->v[s->at]->len <= at)
		s->base += s->v[s->at++]->len;
	s->from = (size_t)(at - s->base);
	if (!s->from)
		return ST_OK;
	/* A place in a saved state may be invalid, and lie within an element. */
	const struct block *b = s->v[s->at];
	const uint8_t *p = b->data, *want = b->data + s->from;
	while (p < want)
		p = mp_skip(p, b->data + b->len);
	return p == want ? ST_OK : err_set(e, ST_PROTO, "a place within an element");
}

void
spool_clear(struct spool *s)
{
	if (s->part)
		gate_unlink(s->part);
	if (s->file && s->fd >= 0)
		close(s->fd);
	tmp_room_give_back(&s->room);
	for (size_t k = 0; k < s->n; k++)
		block_unref(&s->v[k]);
	mem_free(s->v);
	mem_free(s->path);
	mem_free(s->part);
	memset(s, 0, sizeof *s);
}
