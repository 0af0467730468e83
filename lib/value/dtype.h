/* SPDX-License-Identifier: MIT
 *
 * What the numbers of a tensor are, and single ones of its data: little endian, not
 * aligned.
 */
#ifndef VALUE_DTYPE_H
#define VALUE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype { /* the numbers stand in encoded tensors: new ones go behind the others */
	DTYPE_U8, DTYPE_U16, DTYPE_U32, DTYPE_U64, DTYPE_I8, DTYPE_I16, DTYPE_I32,
	DTYPE_I64, DTYPE_F32, DTYPE_F64, DTYPE_BOOL, DTYPE_F16, DTYPE_BF16, DTYPE_COUNT
};

const char *dtype_name(enum dtype d);                /* "u8" */
size_t dtype_size(enum dtype d);                     /* bytes of one number */
bool dtype_is_float(enum dtype d);
bool dtype_is_half(enum dtype d);                    /* f16 or bf16 */
int64_t dtype_int(enum dtype d, const uint8_t *p);   /* u64 as its bits; not for floats */
double dtype_float(enum dtype d, const uint8_t *p);  /* for every dtype */
void dtype_put_float(enum dtype d, double v, uint8_t *p); /* rounded once; for floats only */
/* Puts one number as a MessagePack value: bool, int or float. At most MP_FLOAT_MAX bytes. */
uint8_t *dtype_put(enum dtype d, const uint8_t *p, uint8_t *w);

#endif
