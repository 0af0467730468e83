/* SPDX-License-Identifier: MIT
 *
 * A value of a type without having seen one: zeros, empty texts, nil where that is allowed.
 */
#ifndef VALUE_TYPE_ZERO_H
#define VALUE_TYPE_ZERO_H

#include "value/type.h"

/* Appends one MessagePack value. False: the type (NULL: unknown) leaves open what it would look like. */
bool type_zero(const struct type *t, struct buf *out);

#endif
