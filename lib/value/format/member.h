/* SPDX-License-Identifier: MIT
 *
 * Files of a WebDataset archive as values, by what their names end in:
 *
 *	json jsn                      the value          npy   a tensor or number
 *	txt text transcript           text
 *	cls cls2 class count index inx id   an int
 *
 * The last part counts: seg.json is JSON. Everything else is bytes.
 */
#ifndef FORMAT_MEMBER_H
#define FORMAT_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/json/json.h"

/* Appends the value to out, or fails and leaves it as it was. */
enum status member_decode(struct json *j, const char *name, const uint8_t *p, size_t n,
			  struct buf *out, struct err *e);

#endif
