/* SPDX-License-Identifier: MIT
 *
 * Keys: one encoding for all values that mp_compare finds equal, so that they can
 * be hashed and compared as bytes. Heads are the shortest, a float that is a whole
 * number of 64 bits is that int, there is one nan, and the fields of a record stand
 * in the order of their names.
 */
#ifndef VALUE_NORMAL_H
#define VALUE_NORMAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The normal form of the checked value at p, *n bytes long: lends p itself when it is in that
 * form already, as most scalars are, else the form made in b. */
const uint8_t *normal_key(const uint8_t *p, size_t *n, struct buf *b);

#endif
