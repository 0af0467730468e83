/* SPDX-License-Identifier: MIT
 *
 * Elements and runs of them.
 *
 * An element is one encoded MessagePack value: a slice of a block. A struct
 * elem owns nothing: it is lent by whoever made the run it lies in, until that
 * maker is asked for its next run. Who wants it longer copies it or takes a
 * reference to its block (run_keep does the cheaper of the two).
 *
 * A run is up to RUN_USUAL consecutive elements. Operators work on runs, not
 * on single elements, so that a stage costs a loop and not a call per element.
 * A source gives a short run rather than wait for more input: an element is
 * never held back for the sake of a full run. Elements may be large: whoever makes
 * several out of one run ends when run_full says so.
 *
 * New elements are written into the run's arena:
 *
 *	uint8_t *p = run_room(out, MP_INT_MAX);      // at most that many bytes
 *	run_done(out, mp_put_int(p, v), in->e[i].pos);  // end of what was written
 *
 *	arena:  |e0|e1 |e2 |  e3  |.....room.....|
 *	         ^ elements lie end to end, in order
 */
#ifndef VALUE_ELEM_H
#define VALUE_ELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/block.h"

enum {
	RUN_USUAL = 512,         /* number of elements that a source aims at in a run */
	RUN_BYTES = 128 * 1024,  /* or this many bytes, whichever comes first */
	RUN_MOST = 4 * 1024 * 1024, /* size of its own at which a run must be passed on */
	RUN_SAMPLE = 16,         /* elements by which the size of a run is estimated, and up to twice as many */
	KEEP_COPY_MAX = 16 * 1024 /* run_keep copies up to this, else shares the block */
};

struct elem {
	const uint8_t *p;
	struct block *block; /* the block that p lies in; NULL: memory that outlives the run */
	uint32_t len;        /* bytes; element limit is below 4 GiB */
	uint32_t pos;        /* place in the source: lines (or records) after run.line */
};

/* A part of a run whose elements come from several files: those with pos from `pos` on (up to
 * that of the next part) are from this file, at line + (their pos - pos). */
struct run_part {
	uint32_t pos;
	const char *file;
	uint64_t line;       /* 0: unknown */
};

struct run {
	struct elem *e;
	uint32_t n, cap;
	struct block *arena; /* where new elements go; owned by the run */
	struct block **held; /* other blocks that elements of this run lie in, owned */
	uint32_t n_held, cap_held;
	size_t before;       /* size of the arenas before this one and of kept blocks of others */
	const char *file;    /* source file of these elements, interned (origin.h), or NULL */
	uint64_t line;       /* line or record number of e with pos 0, from 1; 0: unknown */
	const struct run_part *parts; /* by pos, lent by the run's maker; NULL: all from `file` */
	uint32_t n_parts;
	bool sifted;         /* the filter right behind the maker would keep them all */
};

void run_init(struct run *r);
void run_clear(struct run *r);
/* Forgets the elements; memory that nobody else refers to is used again. */
void run_reset(struct run *r);

/* Lends room for n bytes in the arena. Bytes written before stay where they are: a full arena
 * moves to `held`, and a new one begins. */
uint8_t *run_room_slow(struct run *r, size_t n);
static inline uint8_t *
run_room(struct run *r, size_t n)
{
	struct block *b = r->arena;
	if (b && b->cap - b->len >= n)
		return b->data + b->len;
	return run_room_slow(r, n);
}

/* Whether the run's maker has put so much into it, in memory that exists only for this run,
 * that it should be passed on before more are added. */
static inline bool
run_full(const struct run *r)
{
	return r->before + (r->arena ? r->arena->len : 0) >= RUN_MOST;
}

void run_more(struct run *r); /* makes room in e */

/* Ends an element begun at the pointer run_room lent; `end` is one past it. */
static inline void
run_done(struct run *r, uint8_t *end, uint32_t pos)
{
	struct block *b = r->arena;
	if (r->n == r->cap)
		run_more(r);
	uint8_t *p = b->data + b->len;
	r->e[r->n++] = (struct elem){ p, b, (uint32_t)(end - p), pos };
	b->len = (size_t)(end - b->data);
}

/* Passes an element on unchanged: for transforms, whose input run outlives their output run. */
static inline void
run_push(struct run *r, struct elem e)
{
	if (r->n == r->cap)
		run_more(r);
	r->e[r->n++] = e;
}

/* Adds an element that must outlive its maker's run: small ones are copied to the arena; for
 * large ones a reference to the block is held. */
void run_keep(struct run *r, struct elem e);
/* Takes a reference to a block in which elements of this run lie, so that they
 * can be pushed without a copy. */
void run_hold(struct run *r, struct block *b);
/* Moves what `from` holds to `to` (which is reset first); `from` is left empty. */
void run_move(struct run *to, struct run *from);
/* Tells where e came from; false when neither file nor line is known. */
bool run_place(const struct run *r, const struct elem *e, const char **file, uint64_t *line);
/* Size of all elements. */
size_t run_bytes(const struct run *r);
/* About that size, from a sample of a long run, for what only shows it. Exact: a run of fewer than 2 * RUN_SAMPLE
 * elements, and one whose elements are of one size. */
size_t run_bytes_near(const struct run *r);

/* Elements kept one by one for longer than a run, e.g. a shuffle buffer.
 * kept_set copies (into *k's own memory, reused) or shares the block. */
struct kept {
	uint8_t *data;       /* own copy, or NULL */
	uint32_t cap;
	struct block *block; /* reference, when shared */
	struct elem e;
};
void kept_set(struct kept *k, struct elem e);
void kept_clear(struct kept *k);

#endif
