/* SPDX-License-Identifier: MIT */
#include "op/kit/shards_far.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fetch/fetch.h"
#include "op/kit/far_wait.h"
#include "op/kit/seal.h"
#include "op/kit/seal_far.h"
#include "op/kit/shards_inner.h"

enum {
	FAR_SMALL = 64 * 1024,          /* so many bytes may always be in a state, */
	FAR_RATE = 100 * 1024,          /* and so many for each second since the last one, */
	FAR_STATE_MAX = 9 * 1024 * 1024, /* but not more: it must fit into a message */
	FAR_ID_MAX = 2048, FAR_TAG_MAX = 512
};

void
far_init(struct shards *s, const struct op_ctx *ctx)
{
	uint64_t part = FAR_PART;

	if (!url_is(s->dir))
		return;
	/* An object has at most 10 000 parts. */
	if (s->file_max / (PUT_PARTS_MAX - 1000) > part)
		part = s->file_max / (PUT_PARTS_MAX - 1000);
	s->far = mem_zalloc(sizeof *s->far);
	s->far->part = (size_t)part;
	s->far->wait = far_wait(ctx);
	s->far->wait.passes = &s->far->passes;
	s->far->saved_ns = clock_mono_ns();
}

enum status
far_io(struct shards *s, enum status st, struct err *e)
{
	if (st == ST_NOINPUT && e) /* that nothing can be written there is no missing input */
		st = e->kind = ST_IO;
	s->no_room = st == ST_IO && s->far->passes;
	s->far->passes = false;
	return st;
}

/* ---- objects ---- */

void
far_open(struct shards *s, struct shard *sh, char *url)
{
	(void)s;
	sh->object = mem_zalloc(sizeof *sh->object);
	sh->object->url = url;
}

void
far_drop(struct shard *sh)
{
	struct far_object *o = sh->object;

	sh->object = NULL;
	if (!o)
		return;
	mem_free(o->url);
	mem_free(o->upload);
	buf_clear(&o->tail);
	words_clear(&o->tags);
	mem_free(o);
}

/* The upload is gone: another writer of the stream has completed it, unless somebody has cancelled it. */
static enum status
far_gone(struct shards *s, struct far_object *o, uint64_t *size, struct err *e)
{
	struct fetch_about about;
	enum status st = fetch_about(o->url, GATE_WRITE, &s->far->wait, &about, e);

	if (st == ST_NOINPUT) {
		st = err_set(e, ST_DATA, "the upload of it was cancelled");
		err_help(e, "save it anew; a rule of the bucket may cancel uploads after some days");
	}
	if (st != ST_OK)
		return st;
	*size = about.size;
	fetch_about_clear(&about);
	o->others = true;
	return ST_OK;
}

/* Sends the first n bytes of the tail as a part. */
static enum status
far_part(struct shards *s, struct far_object *o, size_t n, struct err *e)
{
	const struct fetch_wait *w = &s->far->wait;
	enum status st = ST_OK;
	char *tag = NULL;
	uint64_t size;

	if (!o->others && !o->upload)
		st = fetch_upload_begin(o->url, &o->upload, w, e);
	if (st == ST_OK && !o->others) {
		st = fetch_upload_part(o->url, o->upload, (unsigned)o->tags.n + 1, o->tail.data, n, &tag, w, e);
		if (st == ST_NOINPUT)
			st = far_gone(s, o, &size, e);
	}
	if (st == ST_OK && tag)
		words_add(&o->tags, tag, strlen(tag));
	mem_free(tag);
	if (st != ST_OK)
		return st;
	memmove(o->tail.data, o->tail.data + n, o->tail.len - n);
	o->tail.len -= n;
	return ST_OK;
}

enum status
far_write(struct shards *s, struct shard *sh, const struct buf *b, struct err *e)
{
	struct far_object *o = sh->object;
	enum status st = ST_OK;

	while (st == ST_OK && o->tail.len >= s->far->part)
		st = far_part(s, o, s->far->part, e);
	if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot write %s", o->url);
	if (st == ST_OK)
		buf_put(&o->tail, b->data, b->len);
	return far_io(s, st, e);
}

/* Ends the upload, unless others have. */
static enum status
far_complete(struct shards *s, struct far_object *o, uint64_t bytes, struct err *e)
{
	enum status st = ST_OK;
	uint64_t size = bytes;

	while (st == ST_OK && o->tail.len)
		st = far_part(s, o, o->tail.len < s->far->part ? o->tail.len : s->far->part, e);
	if (st == ST_OK && !o->others)
		st = fetch_upload_end(o->url, o->upload, &o->tags, &s->far->wait, e);
	/* The answer to the end may have been lost. */
	if (st == ST_NOINPUT || (st == ST_OK && o->others))
		st = far_gone(s, o, &size, e);
	if (st == ST_OK && size != bytes)
		st = err_set(e, ST_DATA, "it has %" PRIu64 " bytes now, and not %" PRIu64, size, bytes);
	return st;
}

enum status
far_commit(struct shards *s, struct shard *sh, struct err *e)
{
	struct far_object *o = sh->object;
	enum status st = seal_far_mine(s, e);

	if (st == ST_OK) {
		st = o->upload || o->others ? far_complete(s, o, sh->written, e) :
		     fetch_put(o->url, o->tail.data, o->tail.len, false, &s->far->wait, e);
		if (st != ST_OK && st != ST_AGAIN)
			err_wrap(e, "cannot write %s", o->url);
	}
	if (st != ST_OK)
		return far_io(s, st, e);
	struct seal_files *l = &s->far->done;
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n++] = (struct seal_file){ .name = mem_strdup(strrchr(o->url, '/') + 1), .elements = sh->elements,
		.bytes = sh->written, .sum = sh->sum, .summed = true };
	return ST_OK;
}

/* An upload that no state names can be continued by nobody, and one of a save that has failed will not be. */
static void
far_cancel(const struct far_object *o, bool failed)
{
	struct err e;

	if (o->upload && !o->others && (failed || !o->kept))
		(void)fetch_upload_cancel(o->url, o->upload, NULL, &e);
}

void
far_close(struct shards *s, const struct err *pending)
{
	struct err e;
	bool failed = s->begun && pending && seal_far_mine(s, &e) == ST_OK && !seal_far_ended(s);

	if (failed)
		seal_far_fail(s->dir, pending);
	for (uint32_t k = 0; k < s->n; k++) {
		if (s->v[k].object)
			far_cancel(s->v[k].object, failed);
		far_drop(&s->v[k]);
	}
	seal_files_clear(&s->far->done);
	mem_free(s->far);
	s->far = NULL;
}

/* ---- the pass ---- */

enum status
far_begin(struct shards *s, bool overwrite, struct err *e)
{
	enum status st = seal_far_begin(s, overwrite, e);

	s->begun = st == ST_OK;
	/* In a process alone the input may be another one than last time. */
	if (st == ST_OK && !s->pass)
		st = seal_far_break(s, e);
	s->begun = st == ST_OK;
	return far_io(s, st, e);
}

enum status
far_end(struct shards *s, const struct seal_stream *ended, struct seal_about *about, struct err *e)
{
	enum status st = seal_far_mine(s, e);

	return far_io(s, st == ST_OK ? seal_far_end(s, ended, about, e) : st, e);
}

/* ---- the state ---- */

bool
far_may_save(const struct shards *s)
{
	int64_t since = clock_mono_ns() - s->far->saved_ns;
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < s->n; k++)
		bytes += s->v[k].object ? s->v[k].object->tail.len + s->v[k].buf.len : 0;
	return bytes <= FAR_SMALL || (bytes <= FAR_STATE_MAX && bytes / FAR_RATE <= (uint64_t)since / 1000000000);
}

void
far_save(struct shards *s, struct buf *out)
{
	const struct seal_files *l = &s->far->done;

	for (uint32_t k = 0; k < s->n; k++) {
		struct far_object *o = s->v[k].object;

		if (!o)
			continue;
		state_put_u64(out, o->others);
		state_put_bytes(out, o->upload, o->upload ? strlen(o->upload) : 0);
		state_put_u64(out, o->tags.n);
		for (size_t i = 0; i < o->tags.n; i++)
			state_put_bytes(out, o->tags.v[i], strlen(o->tags.v[i]));
		state_put_bytes(out, o->tail.data, o->tail.len);
		o->kept |= o->upload != NULL;
	}
	state_put_u64(out, l->n);
	for (size_t i = 0; i < l->n; i++) {
		state_put_bytes(out, l->v[i].name, strlen(l->v[i].name));
		state_put_u64(out, l->v[i].elements);
		state_put_u64(out, l->v[i].bytes);
		state_put_u64(out, l->v[i].sum);
	}
	s->far->saved_ns = clock_mono_ns();
}

/* Gives a text of at least one byte and at most so many; NULL: it is empty, or there is none. */
static char *
far_get_text(struct state_in *in, size_t most)
{
	const uint8_t *p;
	size_t n;

	if (!state_get_bytes(in, &p, &n) || n > most || memchr(p, 0, n)) {
		in->bad = true;
		return NULL;
	}
	return n ? mem_strndup((const char *)p, n) : NULL;
}

static void
far_restore_object(struct far_object *o, struct state_in *in)
{
	const uint8_t *tail;
	size_t n_tail;

	o->others = state_get_u64(in, 1);
	o->upload = far_get_text(in, FAR_ID_MAX);
	o->kept = true;
	uint64_t n = state_get_u64(in, PUT_PARTS_MAX);
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		char *tag = far_get_text(in, FAR_TAG_MAX);

		if (tag)
			words_add(&o->tags, tag, strlen(tag));
		mem_free(tag);
	}
	if (state_get_bytes(in, &tail, &n_tail))
		buf_put(&o->tail, tail, n_tail);
	if (o->tags.n != n || (n && !o->upload))
		in->bad = true;
}

void
far_restore(struct shards *s, struct state_in *in)
{
	struct seal_files *l = &s->far->done;

	for (uint32_t k = 0; k < s->n && !in->bad; k++)
		if (s->v[k].object)
			far_restore_object(s->v[k].object, in);
	seal_files_clear(l);
	for (uint64_t i = 0, n = state_get_u64(in, UINT32_MAX); i < n && !in->bad; i++) {
		struct seal_file f = { .name = far_get_text(in, 255), .summed = true };

		f.elements = state_get_u64(in, UINT64_MAX);
		f.bytes = state_get_u64(in, UINT64_MAX);
		f.sum = (uint32_t)state_get_u64(in, UINT32_MAX);
		if (!f.name)
			in->bad = true;
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
		l->v[l->n++] = f;
	}
}
