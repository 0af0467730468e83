/* SPDX-License-Identifier: MIT
 *
 * Rings: lists of objects that hold their own node, so that adding, moving and
 * taking out need no memory and no search. A node is in one ring at most.
 */
#ifndef DISP_RING_H
#define DISP_RING_H

#include <stdbool.h>
#include <stddef.h>

struct list_node { struct list_node *next, *prev; };
#define LIST_OF(node, type, field) ((type *)(void *)((char *)(node) - offsetof(type, field)))
void ring_init(struct list_node *ring);
bool ring_empty(const struct list_node *ring);
void ring_push(struct list_node *ring, struct list_node *n); /* at the end; out of where it was */
/* Behind the last node whose time is not later. Each node's time, an int64_t, lies `at` bytes
 * behind the node: RING_TIME. Looks from the end, where most belong. */
void ring_push_by_time(struct list_node *ring, struct list_node *n, ptrdiff_t at);
#define RING_TIME(type, node, time) ((ptrdiff_t)offsetof(type, time) - (ptrdiff_t)offsetof(type, node))
void ring_drop(struct list_node *n);                         /* harmless when in none */

#endif
