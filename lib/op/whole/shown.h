/* SPDX-License-Identifier: MIT
 *
 * Keys that are shown otherwise than they are looked up: as they first came, 2.0 and
 * not the 2 that is equal to it, and fields of a record in their order there.
 */
#ifndef WHOLE_SHOWN_H
#define WHOLE_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct shown_item {
	uint32_t number, len;
	size_t at;
};

struct shown {
	struct shown_item *items;
	size_t n, cap;
	struct buf bytes;
};

/* Numbers come in rising order; those that are shown as they are need no item. */
void shown_add(struct shown *s, uint32_t number, const uint8_t *p, size_t len);
/* Lends the key, until one is added; NULL: it is shown as it is. */
const uint8_t *shown_find(const struct shown *s, uint32_t number, uint32_t *len);
size_t shown_size(const struct shown *s); /* memory it takes, for limits */
void shown_reset(struct shown *s);
void shown_clear(struct shown *s);

#endif
