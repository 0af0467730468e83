/* SPDX-License-Identifier: MIT */
#include "value/block.h"

#include "base/mem.h"

/* A larger block is not kept for a small need: one huge element must not pin its memory for
 * the rest of the run. */
enum { BLOCK_KEEP_MAX = 4 * 1024 * 1024, BLOCK_ALIGN = 64 };

struct block *
block_new(size_t cap)
{
	/* One allocation: the bytes follow the struct, aligned for tensors. */
	struct block *b = mem_alloc(sizeof *b + BLOCK_ALIGN + cap);
	uintptr_t at = (uintptr_t)(b + 1);

	atomic_init(&b->refs, 1);
	b->data = (uint8_t *)b + sizeof *b + (-at & (BLOCK_ALIGN - 1));
	b->len = 0;
	b->cap = cap;
	b->release = NULL;
	b->release_arg = NULL;
	return b;
}

struct block *
block_wrap(uint8_t *data, size_t len,
	   void (*release)(void *arg, uint8_t *data, size_t cap), void *arg)
{
	struct block *b = mem_alloc(sizeof *b);

	atomic_init(&b->refs, 1);
	b->data = data;
	b->len = b->cap = len;
	b->release = release;
	b->release_arg = arg;
	return b;
}

static _Thread_local struct block *(*lender)(void *arg, size_t cap);
static _Thread_local void *lender_arg;

void
block_lender(struct block *(*give)(void *arg, size_t cap), void *arg)
{
	lender = give;
	lender_arg = arg;
}

struct block *
block_lent(size_t cap)
{
	return lender ? lender(lender_arg, cap) : NULL;
}

struct block *
block_ref(struct block *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void
block_unref(struct block **bp)
{
	struct block *b = *bp;

	*bp = NULL;
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (b->release)
		b->release(b->release_arg, b->data, b->cap);
	mem_free(b);
}

void
block_recycle(struct block **bp, size_t need)
{
	struct block *b = *bp;

	/* Acquire: what the last other holder read must be read before this holder writes over
	 * it. Wrapped memory must not be written to. */
	if (b && !b->release && b->cap >= need
	    && (b->cap <= BLOCK_KEEP_MAX || b->cap / 4 <= need)
	    && atomic_load_explicit(&b->refs, memory_order_acquire) == 1) {
		b->len = 0;
		return;
	}
	block_unref(bp);
	*bp = block_new(need > BLOCK_USUAL ? need : BLOCK_USUAL);
}
