/* SPDX-License-Identifier: MIT */
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/replace.h"
#include "base/transfer.h"
#include "value/crc32c.h"
#include "value/mp.h"

#define KEEP_NAME "dsvc-feed-positions"
enum { KEEP_VERSION = 1, KEEP_MOST = 256 << 20, KEEP_PART = 3 };

static enum status
keep_bad(const char *file, struct err *e)
{
	err_set(e, ST_DATA, "%s holds no positions of dsvc-feed", file);
	err_help(e, "name another file for --checkpoint, or remove this one to start over");
	return ST_DATA;
}

static void
keep_push(struct keep *k, uint64_t step, uint64_t bytes, const uint8_t *p, size_t n)
{
	k->v = mem_grow(k->v, &k->cap, k->n + 1, sizeof *k->v);
	struct kept_place *x = &k->v[k->n++];
	*x = (struct kept_place){ .step = step, .bytes = bytes };
	buf_put(&x->position, p, n);
}

static enum status
keep_parse(struct keep *k, const struct buf *b, struct err *e)
{
	const uint8_t *p = b->data, *end = p + b->len;
	struct mp list, name, version, x[KEEP_PART + 1];

	if (!b->len || !mp_check(p, b->len))
		return keep_bad(k->file, e);
	p = mp_head(p, end, &list);
	if (list.kind != MP_LIST || list.n < 3)
		return keep_bad(k->file, e);
	p = mp_head(p, end, &name);
	p = mp_head(p, end, &version);
	if (name.kind != MP_TEXT || name.n != strlen(KEEP_NAME) || memcmp(name.p, KEEP_NAME, name.n) || version.kind != MP_INT)
		return keep_bad(k->file, e);
	if (version.i != KEEP_VERSION)
		return err_set(e, ST_PROTO, "%s is of version %lld, this program reads %d", k->file, (long long)version.i,
			       KEEP_VERSION);
	for (uint32_t i = 0; i + 3 < list.n; i++) {
		p = mp_head(p, end, &x[0]);
		if (x[0].kind != MP_LIST || x[0].n != KEEP_PART)
			return keep_bad(k->file, e);
		for (int j = 1; j <= KEEP_PART; j++)
			p = mp_head(p, end, &x[j]);
		if (x[1].kind != MP_INT || x[2].kind != MP_INT || x[3].kind != MP_BYTES)
			return keep_bad(k->file, e);
		keep_push(k, x[1].u, x[2].u, x[3].p, x[3].n);
	}
	const uint8_t *sum = p;
	mp_head(p, end, &x[0]);
	if (x[0].kind != MP_INT || x[0].u != crc32c(b->data, (size_t)(sum - b->data)))
		return keep_bad(k->file, e);
	return ST_OK;
}

enum status
keep_load(struct keep *k, const char *file, size_t most, struct err *e)
{
	struct buf b = { 0 };

	*k = (struct keep){ .file = file, .most = most };
	if (!file)
		return ST_OK;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? ST_OK : err_errno(e, "cannot read %s", file);
	enum status st = transfer_read_all(fd, KEEP_MOST, &b) ? keep_parse(k, &b, e) : err_errno(e, "cannot read %s", file);
	close(fd);
	buf_clear(&b);
	return st;
}

enum status
keep_find(const struct keep *k, uint64_t step, const struct kept_place **out, struct err *e)
{
	struct buf have = { 0 };

	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].step == step) {
			*out = &k->v[i];
			return ST_OK;
		}
	for (size_t i = k->n > 8 ? k->n - 8 : 0; i < k->n; i++)
		buf_printf(&have, "%s%llu", have.len ? ", " : "", (unsigned long long)k->v[i].step);
	err_set(e, ST_NOINPUT, "%s has no position of step %llu", k->file, (unsigned long long)step);
	err_help(e, have.len ? "it has those of the steps %s" : "it is empty or not there%s",
		have.len ? (char *)have.data : "");
	buf_clear(&have);
	return ST_NOINPUT;
}

static enum status
keep_store(const struct keep *k, struct err *e)
{
	struct buf b = { 0 };
	uint8_t head[64], *p = mp_put_list_head(head, (uint32_t)k->n + 3);

	p = mp_put_text(p, KEEP_NAME, (uint32_t)strlen(KEEP_NAME));
	p = mp_put_int(p, KEEP_VERSION);
	buf_put(&b, head, (size_t)(p - head));
	for (size_t i = 0; i < k->n; i++) {
		p = mp_put_list_head(head, KEEP_PART);
		p = mp_put_uint(p, k->v[i].step);
		p = mp_put_uint(p, k->v[i].bytes);
		p = mp_put_bytes_head(p, (uint32_t)k->v[i].position.len);
		buf_put(&b, head, (size_t)(p - head));
		buf_put(&b, k->v[i].position.data, k->v[i].position.len);
	}
	p = mp_put_uint(head, crc32c(b.data, b.len));
	buf_put(&b, head, (size_t)(p - head));
	enum status st = replace_save(k->file, "the position", b.data, b.len, e);
	buf_clear(&b);
	return st;
}

enum status
keep_add(struct keep *k, uint64_t step, uint64_t bytes, const struct buf *position, bool early, struct err *e)
{
	while (k->n && (k->early || k->v[k->n - 1].step >= step)) {
		buf_clear(&k->v[--k->n].position);
		k->early = false;
	}
	k->early = early;
	if (k->n == k->most) {
		buf_clear(&k->v[0].position);
		memmove(k->v, k->v + 1, --k->n * sizeof *k->v);
	}
	keep_push(k, step, bytes, position->data, position->len);
	return keep_store(k, e);
}

void
keep_clear(struct keep *k)
{
	for (size_t i = 0; i < k->n; i++)
		buf_clear(&k->v[i].position);
	mem_free(k->v);
	*k = (struct keep){ 0 };
}
