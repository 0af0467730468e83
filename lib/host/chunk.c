/* SPDX-License-Identifier: MIT */
#include "host/chunk.h"

#include <pthread.h>
#include <snappy-c.h>
#include <string.h>

#include "base/mem.h"
#include "wire/msg.h"

enum { POOL_MOST = 32, PACK_PAUSE = 15 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *pool[POOL_MOST];
static size_t pool_n;

static void
pool_give(void *arg, uint8_t *data, size_t cap)
{
	(void)arg, (void)cap;
	pthread_mutex_lock(&pool_lock);
	if (pool_n < POOL_MOST) {
		pool[pool_n++] = data;
		data = NULL;
	}
	pthread_mutex_unlock(&pool_lock);
	mem_free(data);
}

struct block *
builder_block(void)
{
	uint8_t *data = NULL;
	pthread_mutex_lock(&pool_lock);
	if (pool_n)
		data = pool[--pool_n];
	pthread_mutex_unlock(&pool_lock);
	return block_wrap(data ? data : mem_alloc(CHUNK_BYTES), CHUNK_BYTES, pool_give, NULL);
}

struct chunk *
chunk_new(struct block *b, const uint8_t *p, size_t len, uint64_t offset, uint32_t count)
{
	struct chunk *c = mem_alloc(sizeof *c);
	*c = (struct chunk){ b, p, len, len, offset, count, CODEC_NONE };
	return c;
}

void
chunk_free(struct chunk **c)
{
	if (!*c)
		return;
	block_unref(&(*c)->block);
	mem_free(*c);
	*c = NULL;
}

static void
chunk_sent(void *arg, uint8_t *data, size_t len)
{
	struct block *b = arg;
	(void)data, (void)len;
	block_unref(&b);
}

struct sock_payload
chunk_payload(const struct chunk *c)
{
	return (struct sock_payload){ c->p, c->len, chunk_sent, block_ref(c->block) };
}

void
chunk_pack(struct chunk *c, enum job_compression how, unsigned *tries)
{
	if (how == PACK_NONE || c->codec != CODEC_NONE || c->len == 0)
		return;
	if (how == PACK_AUTO && *tries) {
		(*tries)--;
		return;
	}
	struct block *b = block_new(snappy_max_compressed_length(c->len));
	size_t n = b->cap;
	if (snappy_compress((const char *)c->p, c->len, (char *)b->data, &n) != SNAPPY_OK ||
	    (how == PACK_AUTO && n > c->len - c->len / 8)) {
		block_unref(&b);
		*tries = PACK_PAUSE;
		return;
	}
	/* kept until it is acknowledged, so it should take no more memory than needed */
	struct block *fit = block_new(n);
	memcpy(fit->data, b->data, n);
	fit->len = n;
	block_unref(&b);
	block_unref(&c->block);
	c->block = fit;
	c->p = fit->data;
	c->len = n;
	c->codec = CODEC_SNAPPY;
}

bool
chunk_unpack(const uint8_t *p, size_t len, size_t raw_len, struct block **out)
{
	size_t n = 0;
	if (snappy_uncompressed_length((const char *)p, len, &n) != SNAPPY_OK || n != raw_len)
		return false;
	struct block *b = block_new(n);
	if (snappy_uncompress((const char *)p, len, (char *)b->data, &n) != SNAPPY_OK) {
		block_unref(&b);
		return false;
	}
	b->len = n;
	*out = b;
	return true;
}

/* From this size on an element becomes a chunk of its own. */
static size_t
builder_own_from(const struct builder *b)
{
	return arenas_used(b->arenas) ? CHUNK_BYTES / 2 : CHUNK_OWN;
}

bool
builder_owns(const struct builder *b, size_t len)
{
	return len >= builder_own_from(b);
}

/* The buffer, which lasts until it is cut. */
static uint8_t *
builder_room(struct builder *b)
{
	if (!b->block)
		b->block = arenas_block(b->arenas, CHUNK_BYTES);
	if (!b->block)
		b->block = builder_block();
	return b->block->data + b->len;
}

uint32_t
builder_add(struct builder *b, const struct run *r, uint32_t i, uint32_t n)
{
	const struct elem *e = r->e;
	size_t own = builder_own_from(b);
	uint32_t first = i;
	while (i < n) {
		const uint8_t *start = e[i].p;
		size_t room = CHUNK_BYTES - b->len, len = 0;
		uint32_t most = CHUNK_ELEMENTS - b->count, from = i;
		most = n - i < most ? n : i + most;
		/* elements of one arena lie end to end: one copy for all of them */
		while (i < most && e[i].p == start + len && e[i].len < own && len + e[i].len <= room)
			len += e[i++].len;
		if (i == from)
			break;
		memcpy(builder_room(b), start, len);
		b->len += len;
		b->count += i - from;
	}
	return i - first;
}

/* For a few bytes, where the call of memcpy would cost more than the copy. */
static inline void
builder_copy(uint8_t *to, const uint8_t *from, size_t n)
{
	uint64_t a, z;
	uint32_t b, y;

	if (n > 16) {
		memcpy(to, from, n);
	} else if (n >= 8) { /* the halves may overlap */
		memcpy(&a, from, 8);
		memcpy(&z, from + n - 8, 8);
		memcpy(to, &a, 8);
		memcpy(to + n - 8, &z, 8);
	} else if (n >= 4) {
		memcpy(&b, from, 4);
		memcpy(&y, from + n - 4, 4);
		memcpy(to, &b, 4);
		memcpy(to + n - 4, &y, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

uint32_t
builder_pick(struct builder *b, const struct elem *e, uint32_t step, uint32_t n)
{
	size_t own = builder_own_from(b), room = CHUNK_BYTES - b->len;
	uint32_t most = CHUNK_ELEMENTS - b->count, i = 0;
	uint8_t *start, *to;

	if (!n || e->len >= own || e->len > room || !most)
		return 0;
	most = n < most ? n : most;
	start = to = builder_room(b);
	for (; i < most; i++, e += step) {
		if (e->len >= own || e->len > room)
			break;
		builder_copy(to, e->p, e->len);
		to += e->len;
		room -= e->len;
	}
	b->len += (size_t)(to - start);
	b->count += i;
	return i;
}

/* A copy that takes no more than it needs. */
static struct block *
builder_exact(const struct builder *b, const uint8_t *p, size_t len)
{
	struct block *block = len >= CHUNK_SHARED ? arenas_block(b->arenas, len) : NULL;

	if (!block)
		block = block_new(len);
	memcpy(block->data, p, len);
	block->len = len;
	return block;
}

struct chunk *
builder_cut(struct builder *b)
{
	if (b->count == 0)
		return NULL;
	struct block *block = b->block;
	if (b->len < CHUNK_BYTES / 2) {
		/* kept buffers would count as little and hold much */
		block = builder_exact(b, b->block->data, b->len);
	} else {
		b->block = NULL;
	}
	struct chunk *c = chunk_new(block, block->data, b->len, b->offset, b->count);
	b->offset += b->count;
	b->len = 0;
	b->count = 0;
	return c;
}

struct chunk *
builder_own(struct builder *b, const struct elem *e)
{
	struct block *block = e->block;
	const uint8_t *p = e->p;
	if (block && (!arenas_used(b->arenas) || (e->len >= block->cap / 2 && arena_adopt(block)))) {
		block_ref(block);
	} else {
		block = builder_exact(b, p, e->len);
		p = block->data;
	}
	return chunk_new(block, p, e->len, b->offset++, 1);
}

void
builder_clear(struct builder *b)
{
	block_unref(&b->block);
	*b = (struct builder){ 0 };
}
