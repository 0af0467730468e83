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

/* Adds the form of key `number`, in rising order; a key that is shown as it is needs none. */
void first_form_add(struct first_form *s, uint32_t number, const uint8_t *p, size_t len);
/* Lends the form in which the key is shown, until another is added; NULL: as it is. */
const uint8_t *first_form_find(const struct first_form *s, uint32_t number, uint32_t *len);
size_t first_form_size(const struct first_form *s); /* memory used, for limits */
void first_form_reset(struct first_form *s);
void first_form_clear(struct first_form *s);

#endif
