/* SPDX-License-Identifier: MIT
 *
 * The sorter's parts among themselves: collecting (sorter.c), the order (sorter_order.c),
 * sorting in memory (sorter_ranges.c, sorter_radix.c, sorter_ints.c), stretches in a file (sorter_spill.c,
 * sorter_marks.c) and their merge (sorter_merge.c), by several threads (sorter_cut.c).
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
	SORTER_BUFFER_MAX = 512 * 1024,
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

/* Entries or integers are sorted range by range, while those that are sorted are used. */
struct sorter_ranges {
	struct ahead ahead;
	size_t starts[SORTER_RANGES + 1]; /* where each range begins */
	size_t range;      /* the next one to be needed */
	size_t sorted;     /* entries or integers before it are sorted; nothing else may be read */
};

/* Records and their entries. */
struct sorter_pile {
	struct sorter_order order; /* for sorting them */
	uint8_t *arena;
	size_t len, cap;
	struct sorter_entry *entries;
	size_t n, cap_entries;
	struct sorter_entry *spare; /* a second array of the same size, for sorting */
	size_t cap_spare;
	struct sorter_ranges ranges; /* from sorter_sort to sorter_ranges_end */
};

/* Where a sorted part of the file lies, or some of it. */
struct sorter_part { uint64_t at, end; };

/* A record in the file of which the place and the key are kept: there is one every so many bytes, and the first of each
 * part. */
struct sorter_mark {
	uint64_t at;
	uint32_t part, key_len;
	size_t key;        /* its place among the keys of the marks */
};

/* A marked record as far as it can be compared: a border between others. */
struct sorter_edge {
	struct sorter_record r;
	uint64_t prefix, at;
	uint32_t part;
};

/* A sorted part of the file, during a merge. */
struct stretch {
	uint64_t at, end;  /* the part of the file that has not been read yet */
	uint8_t *buf;
	size_t from, to, cap;
	uint64_t prefix, more; /* the head's; more: what follows the prefix of a text */
	struct sorter_record r;
	bool over;
};

/* A merge of parts, of which the first to be given is the head of stretches[tree[0]]. */
struct merge {
	const struct sorter *s;
	struct stretch *stretches;
	uint32_t *tree;    /* tree of losers; [0] is the winner */
	size_t n;
};

struct sorter {
	size_t mem, most;  /* bytes to work with; how much of them the pile that is being filled may take */
	struct sorter_order order;
	uint8_t *first;    /* text of the first key, to compare beginnings with */
	size_t first_len;
	struct sorter_pile *pile; /* the one of piles that is being filled */
	struct sorter_pile piles[2];
	bool only_ints;    /* all elements are integers in their shortest form, and their own keys: */
	uint64_t *ints;    /* they are here, and not in a pile */
	size_t n_ints, cap_ints;
	uint64_t *spare_ints; /* a second array of the same size, for sorting */
	size_t cap_spare_ints;
	struct sorter_ranges int_ranges; /* from sorter_ints_sort to sorter_ranges_end */
	size_t next;       /* in memory: the entry or integer to give next */
	bool ended;
	bool spilled;      /* there is a file, or will be */
	/* the pile that another thread writes to the file, of which the rest is that thread's meanwhile */
	struct ahead writer;
	struct sorter_pile *written;
	enum status write_code;
	struct err write_err;
	/* the file */
	char *tmp;
	int fd;            /* -1: none */
	uint64_t file_len;
	struct tmp_room room;
	uint8_t *write_buf;
	size_t write_len;
	struct sorter_part *parts;
	size_t n_parts, cap_parts;
	struct sorter_mark *marks; /* by part and place */
	size_t n_marks, cap_marks;
	struct buf mark_keys;
	uint64_t mark_every, mark_next; /* the first record from there on is the next */
	/* the merge of the parts from `unmerged` on: by one thread, or cut into ranges of keys */
	size_t unmerged;
	struct merge merge;
	struct sorter_cut *cut; /* NULL: by one */
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

/* The eight bytes behind the prefix, if all keys are texts; else 0 for all. */
static inline uint64_t
sorter_more(const struct sorter_order *o, const struct sorter_record *r)
{
	uint32_t n;
	const uint8_t *p;

	if (!o->texts)
		return 0;
	p = sorter_text(r->key, &n);
	return n - o->skip > 8 ? sorter_eight(p + o->skip + 8, n - o->skip - 8) ^ o->flip : o->flip;
}

/* Compares records whose prefixes are equal; 0: equal. Takes account of reverse. */
int sorter_compare(const struct sorter_order *o, const struct sorter_record *a,
		   const struct sorter_record *b);
static inline int
sorter_compare_all(const struct sorter_order *o, uint64_t a_prefix, const struct sorter_record *a, uint64_t b_prefix,
		   const struct sorter_record *b)
{
	return a_prefix != b_prefix ? (a_prefix > b_prefix) - (a_prefix < b_prefix) : sorter_compare(o, a, b);
}
/* Sorts n entries by their prefixes, and where these are equal by what they stand for; spare has room for
 * as many. The order of equals is kept. */
void sorter_radix(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n);
/* Like sorter_radix, by comparing alone. */
void sorter_compare_sort(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n);
/* Deals the entries out into ranges, which threads of the pool begin to sort. */
void sorter_sort(struct sorter_pile *s);
/* The first `all` entries or integers are in n ranges, whose starts are set. */
void sorter_ranges_begin(struct sorter_ranges *r, size_t n, size_t all, void (*sort)(void *arg, size_t range),
			 void *arg);
/* Returns when the next range is sorted, which may be empty. */
void sorter_range_next(struct sorter_ranges *r);
void sorter_ranges_end(struct sorter_ranges *r); /* when nothing is sorted, too */
/* Returns when the i-th is sorted: to be called for one after another. */
static inline void
sorter_need(struct sorter_ranges *r, size_t i)
{
	while (i >= r->sorted)
		sorter_range_next(r);
}
/* Gives the record of the i-th entry, once it is sorted, and asks for that of the one SORTER_AHEAD behind it. */
static inline const uint8_t *
sorter_at(struct sorter_pile *s, size_t i)
{
	sorter_need(&s->ranges, i);
	if (i + SORTER_AHEAD < s->ranges.sorted) {
		const uint8_t *p = s->arena + s->entries[i + SORTER_AHEAD].at;

		__builtin_prefetch(p);
		__builtin_prefetch(p + 64);
		__builtin_prefetch(p + 128);
	}
	return s->arena + s->entries[i].at;
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
/* A part is begun, written record by record in their order, and ended. */
enum status sorter_part_begin(struct sorter *s, struct err *e);
enum status sorter_part_write(struct sorter *s, const uint8_t *p, size_t n, struct err *e);
enum status sorter_part_end(struct sorter *s, struct err *e);
/* Begins to write the records in memory as a sorted stretch, or does it; then they are gone from memory. Fails for the
 * one before, too. */
enum status sorter_spill(struct sorter *s, struct err *e);
/* Returns when all that sorter_spill has begun is written. */
enum status sorter_spill_end(struct sorter *s, struct err *e);
/* Returns when nothing is being written; it may be that not all was. */
void sorter_spill_drop(struct sorter *s);
/* Keeps the place and the key of the record, which is written next. */
void sorter_mark(struct sorter *s, const uint8_t *record);
struct sorter_edge sorter_edge(const struct sorter *s, const struct sorter_mark *m);
/* The order of all records: by keys, and of equal ones by parts and places. */
int sorter_edge_compare(const struct sorter *s, const struct sorter_edge *a, const struct sorter_edge *b);
/* Whether the head of a stretch of that part comes before the edge, which may be that head itself. */
bool sorter_before_edge(const struct sorter *s, const struct stretch *t, uint32_t part, const struct sorter_edge *x);
/* Begins to merge parts[0 .. n), each with a buffer of that size; of their records those before the edge, which may be
 * NULL, are left out. To be closed also if it fails. */
enum status merge_open(struct merge *m, const struct sorter *s, const struct sorter_part *parts, size_t n,
		       size_t buffer, const struct sorter_edge *from, struct err *e);
static inline const struct stretch *
merge_head(const struct merge *m)
{
	return &m->stretches[m->tree[0]];
}
/* The head is done with. */
enum status merge_step(struct merge *m, struct err *e);
void merge_close(struct merge *m);
/* Cuts the merge into ranges, if that pays and there is memory for it. */
void sorter_cut_begin(struct sorter *s);
enum status sorter_cut_take(struct sorter *s, struct run *out, struct err *e);
void sorter_cut_free(struct sorter *s);
enum status sorter_merge_begin(struct sorter *s, struct err *e);
enum status sorter_merge_take(struct sorter *s, struct run *out, struct err *e);
void sorter_merge_clear(struct sorter *s);

#endif
