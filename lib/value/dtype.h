/* SPDX-License-Identifier: MIT
 *
 * Single numbers of a tensor's data: little endian, not aligned.
 */
#ifndef VALUE_DTYPE_H
#define VALUE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "value/type.h"

bool dtype_is_float(enum dtype d);
int64_t dtype_int(enum dtype d, const uint8_t *p);   /* u64 as its bits; not for floats */
double dtype_float(enum dtype d, const uint8_t *p);  /* for every dtype */
/* Puts one number as a MessagePack value: bool, int or float. At most MP_FLOAT_MAX bytes. */
uint8_t *dtype_put(enum dtype d, const uint8_t *p, uint8_t *w);

#endif
