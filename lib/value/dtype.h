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
bool dtype_is_half(enum dtype d);                    /* f16 or bf16 */
int64_t dtype_int(enum dtype d, const uint8_t *p);   /* u64 as its bits; not for floats */
double dtype_float(enum dtype d, const uint8_t *p);  /* for every dtype */
void dtype_put_float(enum dtype d, double v, uint8_t *p); /* rounded once; for floats only */
/* Puts one number as a MessagePack value: bool, int or float. At most MP_FLOAT_MAX bytes. */
uint8_t *dtype_put(enum dtype d, const uint8_t *p, uint8_t *w);

#endif
