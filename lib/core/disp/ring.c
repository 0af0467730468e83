/* SPDX-License-Identifier: MIT */
#include "core/disp/ring.h"

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
