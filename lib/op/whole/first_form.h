/* SPDX-License-Identifier: MIT
 *
 * Keys that are shown otherwise than they are looked up: as they first came, 2.0 and
 * not the 2 that is equal to it, and fields of a record in their order there.
 */
#ifndef WHOLE_FIRST_FORM_H
#define WHOLE_FIRST_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct first_form_item {
	uint32_t number, len;
	size_t at;
};

struct first_form {
	struct first_form_item *items;
	size_t n, cap;
	struct buf bytes;
};

/* Numbers come in rising order; those that are shown as they are need no item. */
void first_form_add(struct first_form *s, uint32_t number, const uint8_t *p, size_t len);
/* Lends the key, until one is added; NULL: it is shown as it is. */
const uint8_t *first_form_find(const struct first_form *s, uint32_t number, uint32_t *len);
size_t first_form_size(const struct first_form *s); /* memory it takes, for limits */
void first_form_reset(struct first_form *s);
void first_form_clear(struct first_form *s);

#endif
