/* SPDX-License-Identifier: MIT */
#include "op/table/table_from.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/transfer.h"
#include "fetch/fetch.h"
#include "op/kit/far_wait.h"
#include "value/arrow/arrow_lib.h"

void
table_from_init(struct table_from *f)
{
	*f = (struct table_from){ .fd = -1 };
}

static enum status
from_open_object(struct table_from *f, const char *url, const char *tag, struct err *e)
{
	struct fetch_wait w = far_wait(f->ctx);
	struct fetch_about about = { 0 };
	enum status st = fetch_about(url, GATE_READ, &w, &about, e);

	if (st == ST_OK && (!about.sized || !about.parts)) {
		st = err_set(e, ST_DATA, "cannot open it: its server gives no parts of objects");
		err_help(e, "copy it first: curl -O ADDRESS");
	}
	if (st == ST_OK)
		st = fetch_open(url, tag ? tag : about.tag, &w, &f->object, e);
	f->size = about.size;
	f->tag = tag ? mem_strdup(tag) : about.tag ? mem_strdup(about.tag) : NULL;
	fetch_about_clear(&about);
	return st;
}

enum status
table_from_open(struct table_from *f, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	struct stat st;

	f->ctx = ctx;
	err_clear(&f->failed);
	if (url_is(path))
		return from_open_object(f, path, tag, e);
	/* Without blocking, since a FIFO may have no writer. */
	f->fd = gate_open(GATE_READ, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (f->fd < 0 || fstat(f->fd, &st))
		return err_errno(e, "cannot open it");
	if (S_ISDIR(st.st_mode))
		return err_set(e, ST_NOINPUT, "cannot read it: it is a folder");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ST_DATA, "cannot read it: only a regular file can be read from its end");
	f->size = (uint64_t)st.st_size;
	return ST_OK;
}

static int64_t
from_read_object(struct table_from *f, int64_t offset, int64_t n, uint8_t *to)
{
	size_t got, have = 0;
	enum status st = ST_OK;

	fetch_seek(f->object, (uint64_t)offset);
	fetch_until(f->object, (uint64_t)offset + (uint64_t)n);
	while (have < (size_t)n && st == ST_OK) {
		st = fetch_read(f->object, to + have, (size_t)n - have, &got, &f->failed);
		have += st == ST_OK ? got : 0;
	}
	if (st == ST_AGAIN)
		f->failed.kind = ST_AGAIN;
	return st == ST_OK || st == ST_END ? (int64_t)have : -1;
}

int64_t
table_from_read(void *from, int64_t offset, int64_t n, void *to)
{
	struct table_from *f = from;

	if (f->ctx && op_stopped(f->ctx)) {
		f->failed.kind = ST_AGAIN;
		return -1;
	}
	int64_t got = f->object ? from_read_object(f, offset, n, to)
		: transfer_read_at(f->fd, to, (size_t)n, (uint64_t)offset);
	if (got < 0 && !f->object)
		err_errno(&f->failed, "cannot read it");
	if (got > 0 && f->ctx && f->ctx->intake)
		atomic_fetch_add_explicit(&f->ctx->intake->bytes, (uint64_t)got, memory_order_relaxed);
	return got;
}

enum status
table_from_why(struct table_from *f, int code, const struct arrow_why *why, struct err *e)
{
	if (f->failed.kind == ST_OK)
		return arrow_lib_says(code, why, e);
	if (f->failed.kind != ST_AGAIN)
		*e = f->failed;
	enum status st = f->failed.kind;
	err_clear(&f->failed);
	return st;
}

void
table_from_close(struct table_from *f)
{
	if (f->fd >= 0)
		close(f->fd);
	fetch_close(&f->object);
	mem_free(f->tag);
	table_from_init(f);
}
