/* SPDX-License-Identifier: MIT
 *
 * Chunks in the making, in the simulation: one for each view of a stream, each with the
 * elements at its place in the rounds.
 */
#ifndef SIM_BUILD_H
#define SIM_BUILD_H

#include "world.h"

enum { CHUNK_ELEMS = 7 };

struct sim_builder {
	struct element e[CHUNK_ELEMS];
	uint32_t n;
	uint64_t offset, split; /* offset: counted in the view */
	bool wanted;
	struct intervals skip;
};
struct builders {
	struct sim_builder of[PLACES_MAX];
	struct element round[PLACES_MAX]; /* the round that is not whole */
	uint64_t splits[PLACES_MAX], at; /* at: its first element's offset */
	uint32_t n, places;     /* places in a round */
	uint64_t base;          /* those before it go to nobody */
	bool pad;
	/* groups get all elements, but for those that they have */
	struct intervals group_skip[PLACES_MAX];
	uint32_t groups;
	unsigned skips;         /* the groups that skip the element before */
};

/* Adds unit i of the set, as a worker lists it. */
void sim_unit(const struct sim_dataset *s, unsigned i, struct split_list *to);
void builders_init(struct builders *b, struct world *w, const struct msg_assign *a);
void builders_clear(struct builders *b);
/* The element at `offset` of the stream, which came from that split. */
void builders_add(struct builders *b, struct node *n, struct stream_key key, uint64_t offset, uint64_t split,
		  const struct element *e);
void builders_flush(struct builders *b, struct node *n, struct stream_key key);
/* At the end of the stream. */
void builders_rest(struct builders *b, struct node *n, struct stream_key key);
void builders_want(struct builders *b, uint32_t view);
void builders_flush_wanted(struct builders *b, struct node *n, struct stream_key key);

#endif
