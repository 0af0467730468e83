/* SPDX-License-Identifier: MIT
 *
 * Sorting more than fits into memory, stably. Elements are collected, sorted
 * and, when the memory is used up, written to a file that has no name; at the
 * end these sorted stretches are merged.
 *
 *	sorter_new  { sorter_add }  sorter_end  { sorter_take }  sorter_free
 *	sorter_new  { sorter_add }  { sorter_give }  sorter_free
 *
 *	arena:    |key len|len|key|element| ...      in the order they came
 *	entries:  prefix of the key, place in the arena: these are sorted
 *
 * Most comparisons are of two prefixes: eight bytes that order as the keys do.
 * When all keys are texts, what they all begin with is left out of it.
 */
#ifndef WHOLE_SORTER_H
#define WHOLE_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"

struct sorter;

/* mem: bytes to work with; tmp: folder for the file, NULL: $TMPDIR or /tmp. Gives. */
struct sorter *sorter_new(size_t mem, bool reverse, const char *tmp);
void sorter_free(struct sorter **s);
/* Adds an element; key NULL: the element is its own key, then for all elements. */
enum status sorter_add(struct sorter *s, const uint8_t *key, size_t key_len,
		       const uint8_t *p, size_t len, struct err *e);
/* Ends adding, and begins to sort; what is given first is sorted first. */
enum status sorter_end(struct sorter *s, struct err *e);
/* Appends up to RUN_USUAL elements, about RUN_BYTES, in order; ST_END with the last. */
enum status sorter_take(struct sorter *s, struct run *out, struct err *e);
/* Appends like sorter_take; the first call ends adding. */
enum status sorter_give(struct sorter *s, struct run *out, struct err *e);
bool sorter_ended(const struct sorter *s);
/* Whether everything is still in memory, and so little that saving it costs less than reading it again. */
bool sorter_can_save(const struct sorter *s);
/* Appends the elements still to be given, each behind its key if `keys` and it has one: before the end of
 * adding in the order in which they came, then sorted. */
void sorter_save(struct sorter *s, bool keys, struct buf *out);

#endif
