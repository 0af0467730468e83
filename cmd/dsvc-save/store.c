/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cli/stop.h"
#include "fetch/fetch.h"
#include "fetch/put.h"
#include "op/kit/seal_far.h"
#include "save.h"

static char *
store_url(const struct folder *f, const char *name)
{
	return mem_printf("%s/%s", f->path, name);
}

/* The position is kept there as soon as the job has begun: whoever cannot keep it begins none. */
static enum status
store_try(const struct folder *f, struct err *e)
{
	char *name = mem_printf(".dsvc-try-%016" PRIx64, rng_seed_fresh());
	struct buf b = { 0 };
	enum status st = store_write(f, name, &b, false, e);

	if (st == ST_OK)
		st = store_remove(f, name, e);
	if (st == ST_NOINPUT || st == ST_AGAIN)
		st = e->kind = ST_IO;
	mem_free(name);
	return st;
}

enum status
store_find(const char *url, struct folder *f, struct err *e)
{
	size_t n = strlen(url);
	enum status st = put_check(url, e);

	if (st != ST_OK)
		return st;
	while (url[n - 1] == '/')
		n--;
	f->far = true;
	f->path = mem_strndup(url, n);
	return store_try(f, e);
}

enum status
store_there(const struct folder *f, const char *name, bool *there, struct err *e)
{
	char *url = store_url(f, name);
	struct fetch_about about;
	enum status st = fetch_about(url, GATE_WRITE, NULL, &about, e);

	*there = st == ST_OK;
	if (st == ST_OK)
		fetch_about_clear(&about);
	if (st != ST_OK && st != ST_NOINPUT)
		err_wrap(e, "cannot find %s", url);
	mem_free(url);
	if (st != ST_NOINPUT)
		return st;
	err_clear(e);
	return ST_OK;
}

enum status
store_read(const struct folder *f, const char *name, size_t most, struct buf *out, struct err *e)
{
	return seal_far_get(f->path, name, GATE_WRITE, most, out, e);
}

static bool
store_stopped(const void *arg)
{
	(void)arg;
	return stop_signal() != 0;
}

enum status
store_write(const struct folder *f, const char *name, const struct buf *b, bool fresh, struct err *e)
{
	bool passes = false;
	struct fetch_wait w = { .stopped = store_stopped, .passes = &passes };
	char *url = store_url(f, name);
	enum status st = fetch_put(url, b->data, b->len, fresh, &w, e);

	if (st != ST_OK && st != ST_NO && st != ST_AGAIN)
		err_wrap(e, "cannot write %s", url);
	mem_free(url);
	return st == ST_IO && passes ? ST_AGAIN : st;
}

enum status
store_remove(const struct folder *f, const char *name, struct err *e)
{
	char *url = store_url(f, name);
	enum status st = fetch_remove(url, NULL, e);

	if (st != ST_OK)
		err_wrap(e, "cannot remove %s", url);
	mem_free(url);
	return st;
}

enum status
store_sweep(const struct folder *f, struct err *e)
{
	return seal_far_sweep(f->path, NULL, e);
}
