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
void ring_drop(struct list_node *n);                         /* harmless when in none */

#endif
