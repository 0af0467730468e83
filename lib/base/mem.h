/* SPDX-License-Identifier: MIT
 *
 * Memory that never fails: out of memory ends the program (74, as a full disk does, with a
 * sentence), because no caller of a small program can do better. Sizes that come
 * from outside are bounded before they get here.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *mem_alloc(size_t size);                 /* gives; size 0 counts as 1 */
void *mem_zalloc(size_t size);                /* gives, zeroed */
void *mem_array(size_t n, size_t size);       /* gives, zeroed; checks the product */
void *mem_realloc(void *p, size_t size);
/* Grows p by doubling so that at least `need` items fit; *cap counts items. */
void *mem_grow(void *p, size_t *cap, size_t need, size_t item_size);
char *mem_strdup(const char *s);              /* gives; NULL gives NULL */
char *mem_strndup(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
void *mem_dup(const void *p, size_t n);
void mem_free(void *p);                       /* accepts NULL */

/* Names the operator that this thread works for, for the message when memory is exhausted;
 * NULL: none. Returns the previous one, to be set again. */
const char *mem_for(const char *op);

#endif
