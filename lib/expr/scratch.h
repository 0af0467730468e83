/* SPDX-License-Identifier: MIT
 *
 * Memory for what one element's evaluation makes: handed out from the front,
 * given back all at once (or back to a mark), kept for the next element.
 */
#ifndef EXPR_SCRATCH_H
#define EXPR_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCRATCH_VALUE_MAX = 256 * 1024 * 1024, /* largest value */
	SCRATCH_ALL_MAX = 1024 * 1024 * 1024,  /* largest total for one element */
	SCRATCH_KEEP = 4 * 1024 * 1024         /* memory kept between elements */
};

struct scratch_piece {
	uint8_t *data;
	size_t cap;
};
struct scratch {
	uint8_t *at, *end;            /* in the current piece; NULL: none yet */
	struct scratch_piece *pieces;
	size_t n, cap, now;           /* now: index of the current piece */
	size_t total, most;           /* size of all pieces, and its limit */
};
struct scratch_mark {
	size_t now;
	uint8_t *at;
};

/* Room for n bytes; NULL: it would exceed the limits. Take it with scratch_done. */
uint8_t *scratch_room_slow(struct scratch *s, size_t n);
static inline uint8_t *
scratch_room(struct scratch *s, size_t n)
{
	if ((size_t)(s->end - s->at) > n)
		return s->at;
	return scratch_room_slow(s, n);
}
static inline void
scratch_done(struct scratch *s, uint8_t *end)
{
	s->at = end;
}

static inline struct scratch_mark
scratch_mark(const struct scratch *s)
{
	return (struct scratch_mark){ s->now, s->at };
}
void scratch_init(struct scratch *s, size_t most);
void scratch_release_slow(struct scratch *s, struct scratch_mark m);
/* Gives back what was taken since the mark. */
static inline void
scratch_release(struct scratch *s, struct scratch_mark m)
{
	s->at = m.at;
	if (s->now != m.now || !m.at)
		scratch_release_slow(s, m);
}

void scratch_init(struct scratch *s, size_t most);
/* Gives everything back. scratch_trim comes first when the memory has become large. */
static inline void
scratch_reset(struct scratch *s)
{
	if (s->n)
		s->at = s->pieces[0].data;
}
static inline bool
scratch_is_large(const struct scratch *s)
{
	return s->now || s->total > SCRATCH_KEEP;
}
/* Gives everything back, and frees all but the largest piece that may be kept, so that next
 * time one piece is enough. */
void scratch_trim(struct scratch *s);
void scratch_clear(struct scratch *s);

#endif
