/* SPDX-License-Identifier: MIT
 *
 * The sorter's parts among themselves: collecting (sorter.c), the order (sorter_order.c),
 * sorting in memory (sorter_ranges.c, sorter_radix.c, sorter_ints.c), stretches in a file and their merge
 * (sorter_merge.c).
 */
#ifndef WHOLE_SORTER_INNER_H
#define WHOLE_SORTER_INNER_H

#include <string.h>

#include "base/ahead.h"
#include "base/tmp_room.h"
#include "op/whole/sorter.h"
#include "value/mp.h"

enum {
	SORTER_HEAD = 8,              /* size of the two lengths before each record */
	SORTER_BUFFER = 128 * 1024,   /* least size of a buffer that reads a stretch in a merge */
	SORTER_FAN_MAX = 256,         /* most stretches merged at a time */
	SORTER_WRITE = 256 * 1024,
	SORTER_AHEAD = 32,          /* how many records ahead memory is asked for */
	SORTER_RANGES = 256,        /* most ranges that are sorted one by one */
	SORTER_SAVED_MAX = 64 * 1024 * 1024 /* bytes of elements and keys that are saved */
};

struct sorter_entry {
	uint64_t prefix;
	uint64_t at;       /* place in the arena: rises in the order of arrival */
};

/* A record, where it lies in memory. */
struct sorter_record {
	const uint8_t *key, *elem;
	uint32_t key_len, len;
};

/* How keys compare. */
struct sorter_order {
	bool reverse;
	uint64_t flip;     /* combined with prefixes by exclusive or: all bits set if reverse */
	bool texts;        /* all keys are texts */
	bool ints;         /* all keys are integers of 64 bits with a sign: the prefix is all of it */
	size_t skip;       /* number of bytes with which all of them begin */
};

/* A sorted part of the file, during a merge. */
struct stretch {
	uint64_t at, end;  /* the part of the file that has not been read yet */
	uint8_t *buf;
	size_t from, to, cap;
	uint64_t prefix;
	struct sorter_record r;
	bool over;
};

struct sorter {
	size_t mem;
	struct sorter_order order;
	uint8_t *first;    /* text of the first key, to compare beginnings with */
	size_t first_len;
	uint8_t *arena;
	size_t len, cap;
	struct sorter_entry *entries;
	size_t n, cap_entries;
	struct sorter_entry *spare; /* a second array of the same size, for sorting */
	size_t cap_spare;
	bool only_ints;    /* all elements are integers in their shortest form, and their own keys: */
	uint64_t *ints;    /* they are here, and neither in the arena nor among the entries */
	size_t n_ints, cap_ints;
	uint64_t *spare_ints; /* a second array of the same size, for sorting */
	size_t cap_spare_ints;
	/* ranges, while entries or integers are sorted: from sorter_sort or sorter_ints_sort to sorter_ranges_end */
	struct ahead ahead;
	size_t starts[SORTER_RANGES + 1]; /* where each range begins */
	size_t range;      /* the next one to be needed */
	size_t sorted;     /* those before it are sorted; nothing else may be read */
	size_t next;       /* in memory: the entry or integer to give next */
	bool ended;
	/* the file */
	char *tmp;
	int fd;            /* -1: none */
	uint64_t file_len;
	struct tmp_room room;
	uint8_t *write_buf;
	size_t write_len;
	struct { uint64_t at, end; } *parts;
	size_t n_parts, cap_parts;
	/* the merge */
	struct stretch *stretches;
	uint32_t *tree;    /* tree of losers; [0] is the winner */
	size_t n_stretches;
};

static inline void
sorter_read(const uint8_t *p, struct sorter_record *r)
{
	memcpy(&r->key_len, p, 4);
	memcpy(&r->len, p + 4, 4);
	r->key = p + SORTER_HEAD;
	r->elem = r->key + r->key_len;
	if (!r->key_len) {
		r->key = r->elem;
	}
}

static inline size_t
sorter_record_size(const struct sorter_record *r)
{
	return SORTER_HEAD + (size_t)r->key_len + r->len;
}

/* The content of a key, which is known to be a text. */
static inline const uint8_t *
sorter_text(const uint8_t *p, uint32_t *n)
{
	struct mp m;

	if ((*p & 0xe0) == 0xa0) {
		*n = *p & 0x1f;
		return p + 1;
	}
	if (*p == 0xd9) {
		*n = p[1];
		return p + 2;
	}
	mp_head(p, p + UINT32_MAX, &m);
	*n = m.n;
	return m.p;
}

static inline uint64_t
sorter_eight(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	if (n >= 8) {
		memcpy(&v, p, 8);
		return __builtin_bswap64(v);
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (56 - 8 * i);
	return v;
}

/* The first bytes of a key of any kind, in its order. */
uint64_t sorter_prefix_any(const uint8_t *p, const uint8_t *end);
static inline uint64_t
sorter_prefix(const struct sorter_order *o, const struct sorter_record *r)
{
	uint64_t v;

	if (o->texts) {
		uint32_t n;
		const uint8_t *p = sorter_text(r->key, &n);

		v = sorter_eight(p + o->skip, n - o->skip);
	} else if (o->ints) {
		struct mp m;

		mp_head(r->key, r->elem + r->len, &m);
		v = (uint64_t)m.i ^ (uint64_t)1 << 63;
	} else {
		v = sorter_prefix_any(r->key, r->elem + r->len);
	}
	return v ^ o->flip;
}

/* Compares records whose prefixes are equal; 0: equal. Takes account of reverse. */
int sorter_compare(const struct sorter_order *o, const struct sorter_record *a,
		   const struct sorter_record *b);
/* Sorts n entries by their prefixes, and where these are equal by what they stand for; spare has room for
 * as many. The order of equals is kept. */
void sorter_radix(const struct sorter *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n);
/* Like sorter_radix, by comparing alone. */
void sorter_compare_sort(const struct sorter *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n);
/* Deals the entries out into ranges, which threads of the pool begin to sort. */
void sorter_sort(struct sorter *s);
/* The first `all` entries or integers are in n ranges, whose starts are set. */
void sorter_ranges_begin(struct sorter *s, size_t n, size_t all, void (*sort)(void *arg, size_t range));
/* Returns when the next range is sorted, which may be empty. */
void sorter_range_next(struct sorter *s);
void sorter_ranges_end(struct sorter *s); /* when nothing is sorted, too */
/* Returns when the i-th is sorted: to be called for one after another. */
static inline void
sorter_need(struct sorter *s, size_t i)
{
	while (i >= s->sorted)
		sorter_range_next(s);
}
/* Asks for the records of the entries that come SORTER_AHEAD after the i-th. */
static inline void
sorter_ahead(const struct sorter *s, size_t i)
{
	if (i + SORTER_AHEAD < s->sorted) {
		const uint8_t *p = s->arena + s->entries[i + SORTER_AHEAD].at;

		__builtin_prefetch(p);
		__builtin_prefetch(p + 64);
		__builtin_prefetch(p + 128);
	}
}
/* Reads an element as sorter_ints_add takes it. False: it is not an integer in its shortest form of 64 bits with a
 * sign. */
bool sorter_ints_read(const struct sorter *s, const uint8_t *p, size_t len, uint64_t *v);
enum status sorter_ints_add(struct sorter *s, uint64_t v, struct err *e);
/* Works like sorter_sort. */
void sorter_ints_sort(struct sorter *s);
/* Writes the integers as a sorted stretch, and forgets them. */
enum status sorter_ints_spill(struct sorter *s, struct err *e);
/* Makes records of the integers, since other elements follow. */
enum status sorter_ints_end(struct sorter *s, struct err *e);
/* Appends integers, as sorter_take does; false: these were the last. */
bool sorter_ints_take(struct sorter *s, struct run *out);
void sorter_ints_save(const struct sorter *s, struct buf *out);
void sorter_ints_clear(struct sorter *s);
/* A stretch is begun, written record by record in their order, and ended. */
enum status sorter_part_begin(struct sorter *s, struct err *e);
enum status sorter_part_write(struct sorter *s, const uint8_t *p, size_t n, struct err *e);
enum status sorter_part_end(struct sorter *s, struct err *e);
/* Writes the contents of the memory as a sorted stretch, and empties the memory. */
enum status sorter_spill(struct sorter *s, struct err *e);
enum status sorter_merge_begin(struct sorter *s, struct err *e);
enum status sorter_merge_take(struct sorter *s, struct run *out, struct err *e);
void sorter_merge_clear(struct sorter *s);

#endif
