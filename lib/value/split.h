/* SPDX-License-Identifier: MIT
 *
 * Splits: parts of a source that can be read alone.
 *
 * A source lists its units (a range of indices, a file, a piece that cannot be
 * cut); the dispatcher cuts splits from the units, sized by what is left
 * (core/cut.h); a worker opens its source on one split after another.
 *
 *	SPLIT_ALL    the whole source, not to be cut
 *	SPLIT_RANGE  indices [start, start + count) of the source, in the source's
 *	             own counting (range: the i-th number; elements: the i-th item), or
 *	             places [start, start + count) of an order of `of` indices, pass
 *	             behind pass. `grows`: nobody knows yet how many there will be; the
 *	             one who reads behind the last of them says it
 *	SPLIT_FILE   bytes [start, start + count) of a file; count 0 with whole set:
 *	             all of it, whatever it holds. A line belongs to the split in which
 *	             its first byte lies.
 */
#ifndef VALUE_SPLIT_H
#define VALUE_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum split_kind { SPLIT_ALL, SPLIT_RANGE, SPLIT_FILE };

struct split {
	enum split_kind kind;
	uint32_t leaf;    /* which source of a pipeline with several, from 0 */
	bool whole;       /* file: the whole of it */
	bool cuttable;    /* file, whole: may be cut into smaller splits */
	bool grows;       /* range from 0 of files that are still being written: cut one by one */
	char *path;       /* name of the file; owned */
	char *tag;        /* an object elsewhere must have this tag (fetch/fetch.h); owned; NULL: any */
	uint64_t start, count; /* count INT64_MAX: without end */
	uint64_t times;   /* how often to read it in a row, at least once */
	uint64_t of;      /* range of an order: length of one pass of it; else 0 */
	/* size in bytes or elements; 0: unknown. An order's unit: bytes of one pass */
	uint64_t weight;
};

struct split_list {
	struct split *v;
	size_t n, cap;
};

void split_clear(struct split *s);
void split_copy(struct split *to, const struct split *from);
/* Adds a copy of s. */
void split_list_add(struct split_list *l, const struct split *s);
void split_list_clear(struct split_list *l);
/* How many splits from number `at` on make one part of a list that is sent or stored in parts:
 * at most `most`, and at most `bytes` once encoded, but at least one unless none is left. */
size_t split_list_part(const struct split_list *l, size_t at, size_t most, size_t bytes);
/* A number that tells the names of its files, in any order, from other ones; 0: it has no files. */
uint64_t split_list_names(const struct split_list *l);
/* Encodes the split as one MessagePack list; decoding checks all bounds (ST_PROTO). */
void split_encode(const struct split *s, struct buf *out);
enum status split_decode(const uint8_t *p, size_t n, struct split *out, struct err *e);

#endif
