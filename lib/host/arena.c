/* SPDX-License-Identifier: MIT */
#include "host/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

enum { ARENA_WORD = 64 };

struct arena {
	atomic_size_t refs;      /* the set's, and one of each block */
	atomic_size_t lent;      /* bytes of blocks that operators have */
	pthread_mutex_t lock;    /* for used and low */
	uint64_t *used;          /* a bit for each page; those behind the last are set */
	size_t words, low;       /* no page in a word before `low` is free */
	uint8_t *base;
	size_t size;
	uint32_t number;
	int fd;
};

struct arenas {
	size_t bytes;
	atomic_bool use;
	pthread_mutex_t lock;    /* for now */
	struct arena *now;
	struct arena *old[ARENA_OLD];
	uint32_t made;
};

static void
arena_unref(struct arena *a)
{
	if (atomic_fetch_sub(&a->refs, 1) != 1)
		return;
	munmap(a->base, a->size);
	close(a->fd);
	pthread_mutex_destroy(&a->lock);
	mem_free(a->used);
	mem_free(a);
}

static int
arena_file(void)
{
	int fd = memfd_create("dsvc-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* a kernel from before that flag */
		fd = memfd_create("dsvc-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

static enum status
arena_failed(int fd, struct err *e)
{
	err_errno(e, "cannot make memory that is shared");
	e->kind = ST_UNAVAIL;
	if (fd >= 0)
		close(fd);
	return ST_UNAVAIL;
}

static enum status
arena_new(size_t bytes, uint32_t number, struct arena **out, struct err *e)
{
	size_t pages = (bytes + ARENA_PAGE - 1) / ARENA_PAGE, size = pages * ARENA_PAGE;
	int fd = arena_file();

	if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
		return arena_failed(fd, e);
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return arena_failed(fd, e);
	/* only now: the mapping above is the last one that may write */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
		int code = errno;
		munmap(base, size);
		errno = code;
		return arena_failed(fd, e);
	}
	struct arena *a = mem_zalloc(sizeof *a);
	*a = (struct arena){ .words = (pages + ARENA_WORD - 1) / ARENA_WORD, .base = base, .size = size,
		.number = number, .fd = fd };
	atomic_init(&a->refs, 1);
	pthread_mutex_init(&a->lock, NULL);
	a->used = mem_array(a->words, sizeof *a->used);
	if (pages % ARENA_WORD)
		a->used[a->words - 1] = ~(uint64_t)0 << pages % ARENA_WORD;
	*out = a;
	return ST_OK;
}

/* The first page from `at` on whose bit is `bit`. */
static size_t
arena_find(const struct arena *a, size_t at, bool bit)
{
	uint64_t flip = bit ? 0 : ~(uint64_t)0;
	size_t w = at / ARENA_WORD;

	if (w >= a->words)
		return a->words * ARENA_WORD;
	uint64_t word = (a->used[w] ^ flip) & ~(uint64_t)0 << at % ARENA_WORD;
	while (!word && ++w < a->words)
		word = a->used[w] ^ flip;
	return w * ARENA_WORD + (word ? (size_t)__builtin_ctzll(word) : 0);
}

static void
arena_mark(struct arena *a, size_t at, size_t n, bool used)
{
	while (n) {
		size_t bit = at % ARENA_WORD, here = ARENA_WORD - bit < n ? ARENA_WORD - bit : n;
		uint64_t mask = (here == ARENA_WORD ? ~(uint64_t)0 : ((uint64_t)1 << here) - 1) << bit;

		if (used)
			a->used[at / ARENA_WORD] |= mask;
		else
			a->used[at / ARENA_WORD] &= ~mask;
		at += here;
		n -= here;
	}
}

/* A run of n pages; SIZE_MAX: there is none. */
static size_t
arena_take(struct arena *a, size_t n)
{
	size_t last = a->words * ARENA_WORD, got = SIZE_MAX;

	pthread_mutex_lock(&a->lock);
	size_t at = arena_find(a, a->low * ARENA_WORD, false);
	a->low = at / ARENA_WORD;
	while (at < last) {
		size_t end = arena_find(a, at, true);
		if (end - at >= n) {
			arena_mark(a, at, n, true);
			got = at;
			break;
		}
		at = arena_find(a, end, false);
	}
	pthread_mutex_unlock(&a->lock);
	return got;
}

static size_t
arena_pages(size_t bytes)
{
	return bytes ? (bytes - 1) / ARENA_PAGE + 1 : 1;
}

static void
arena_release(void *arg, uint8_t *data, size_t cap)
{
	struct arena *a = arg;
	size_t at = (size_t)(data - a->base) / ARENA_PAGE;

	pthread_mutex_lock(&a->lock);
	arena_mark(a, at, arena_pages(cap), false);
	if (at / ARENA_WORD < a->low)
		a->low = at / ARENA_WORD;
	pthread_mutex_unlock(&a->lock);
	arena_unref(a);
}

struct arenas *
arenas_new(size_t bytes)
{
	struct arenas *as = mem_zalloc(sizeof *as);

	as->bytes = bytes;
	pthread_mutex_init(&as->lock, NULL);
	return as;
}

void
arenas_free(struct arenas **asp)
{
	struct arenas *as = *asp;

	*asp = NULL;
	if (!as)
		return;
	for (int i = 0; i < ARENA_OLD; i++)
		if (as->old[i])
			arena_unref(as->old[i]);
	if (as->now)
		arena_unref(as->now);
	pthread_mutex_destroy(&as->lock);
	mem_free(as);
}

enum status
arenas_open(struct arenas *as, struct err *e)
{
	struct arena *a;

	if (as->now)
		return ST_OK;
	enum status st = arena_new(as->bytes, ++as->made, &a, e);
	if (st != ST_OK)
		return st;
	pthread_mutex_lock(&as->lock);
	as->now = a;
	pthread_mutex_unlock(&as->lock);
	return ST_OK;
}

void
arenas_use(struct arenas *as, bool use)
{
	atomic_store(&as->use, use);
}

bool
arenas_used(const struct arenas *as)
{
	return as && atomic_load_explicit(&as->use, memory_order_relaxed);
}

struct block *
arenas_block(struct arenas *as, size_t n)
{
	if (!arenas_used(as))
		return NULL;
	pthread_mutex_lock(&as->lock);
	struct arena *a = as->now;
	if (a)
		atomic_fetch_add(&a->refs, 1);
	pthread_mutex_unlock(&as->lock);
	if (!a)
		return NULL;
	size_t at = arena_take(a, arena_pages(n));
	if (at == SIZE_MAX) {
		arena_unref(a);
		return NULL;
	}
	return block_wrap(a->base + at * ARENA_PAGE, n, arena_release, a);
}

/* Like arena_release, of a block that was lent and not adopted. */
static void
arena_returned(void *arg, uint8_t *data, size_t cap)
{
	struct arena *a = arg;

	atomic_fetch_sub(&a->lent, cap);
	arena_release(a, data, cap);
}

struct block *
arenas_lend(void *as, size_t n)
{
	struct block *b = n < ARENA_LENT_LEAST ? NULL : arenas_block(as, n);

	if (!b)
		return NULL;
	struct arena *a = b->release_arg;
	if (atomic_fetch_add(&a->lent, n) + n <= a->size / 4) {
		b->release = arena_returned;
		return b;
	}
	atomic_fetch_sub(&a->lent, n);
	block_unref(&b);
	return NULL;
}

bool
arena_adopt(struct block *b)
{
	if (!b || (b->release != arena_returned && b->release != arena_release))
		return false;
	if (b->release == arena_returned) { /* else it may be looked at by others already */
		atomic_fetch_sub(&((struct arena *)b->release_arg)->lent, b->cap);
		b->release = arena_release;
	}
	return true;
}

bool
arena_place(const struct block *b, const uint8_t *p, struct arena_place *out)
{
	if (b->release != arena_release)
		return false;
	const struct arena *a = b->release_arg;
	*out = (struct arena_place){ a->number, (uint64_t)(p - a->base) };
	return true;
}

bool
arenas_now(const struct arenas *as, struct arena_info *out)
{
	if (!as->now)
		return false;
	*out = (struct arena_info){ as->now->number, as->now->fd, as->now->size };
	return true;
}

bool
arenas_renew(struct arenas *as)
{
	struct err e;
	struct arena *a;
	int i = 0;

	while (i < ARENA_OLD && as->old[i])
		i++;
	if (!as->now || i == ARENA_OLD || arena_new(as->bytes, as->made + 1, &a, &e) != ST_OK)
		return false;
	as->made++;
	pthread_mutex_lock(&as->lock);
	as->old[i] = as->now;
	as->now = a;
	pthread_mutex_unlock(&as->lock);
	return true;
}

uint32_t
arenas_gone(struct arenas *as)
{
	for (int i = 0; i < ARENA_OLD; i++) {
		struct arena *a = as->old[i];
		if (!a || atomic_load(&a->refs) != 1)
			continue;
		uint32_t number = a->number;
		as->old[i] = NULL;
		arena_unref(a);
		return number;
	}
	return 0;
}

size_t
arenas_size(const struct arenas *as)
{
	size_t n = as->now ? as->now->size : 0;

	for (int i = 0; i < ARENA_OLD; i++)
		n += as->old[i] ? as->old[i]->size : 0;
	return n;
}
