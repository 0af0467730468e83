/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow like those of mem_grow, and are read here and there: from a few MiB on they
 * lie in huge pages, as far as the system has some, since most of the waiting for a place in a
 * large table is for the address of its page. They move with their pages.
 */
#ifndef BASE_MEM_WIDE_H
#define BASE_MEM_WIDE_H

#include <stddef.h>

/* Like mem_grow; an array is grown and freed by these two alone. New items hold anything. */
void *mem_grow_wide(void *p, size_t *cap, size_t need, size_t item_size);
/* Keeps the first `keep` items, and gives back the room of others as far as it is known to the system. */
void mem_cut_wide(void *p, size_t *cap, size_t keep, size_t item_size);
void mem_free_wide(void *p, size_t cap, size_t item_size); /* accepts NULL */

#endif
