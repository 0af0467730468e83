/* SPDX-License-Identifier: MIT */
#include "core/disp/ring.h"

#include <stdint.h>

void
ring_init(struct list_node *ring)
{
	ring->next = ring->prev = ring;
}

bool
ring_empty(const struct list_node *ring)
{
	return ring->next == ring;
}

void
ring_drop(struct list_node *n)
{
	if (n->next) {
		n->next->prev = n->prev;
		n->prev->next = n->next;
	}
	n->next = n->prev = NULL;
}

void
ring_push(struct list_node *ring, struct list_node *n)
{
	ring_drop(n);
	n->prev = ring->prev;
	n->next = ring;
	ring->prev->next = n;
	ring->prev = n;
}

static int64_t
ring_time(const struct list_node *n, ptrdiff_t at)
{
	return *(const int64_t *)(const void *)((const char *)n + at);
}

void
ring_push_by_time(struct list_node *ring, struct list_node *n, ptrdiff_t at)
{
	struct list_node *before;

	ring_drop(n);
	for (before = ring->prev; before != ring && ring_time(before, at) > ring_time(n, at);)
		before = before->prev;
	ring_push(before->next, n);
}
