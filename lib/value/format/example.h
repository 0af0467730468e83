/* SPDX-License-Identifier: MIT
 *
 * tf.train.Example, the protocol buffer that TFRecord files mostly hold: a map from
 * names to lists of bytes, of float32 or of int64. As a record:
 *
 *	int64_list   ints          float_list   floats
 *	bytes_list   text where it is UTF-8 without control characters, else bytes
 *
 * A message in parts is merged, as protocol buffers have it: lists go on, and of
 * a feature given twice the last counts.
 *
 * A feature with one value is that value, any other a list. The other way round bools
 * are ints, tensors are flattened, null is a feature without values; records and
 * lists within lists have no place.
 */
#ifndef FORMAT_EXAMPLE_H
#define FORMAT_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct example_conf {
	bool lists; /* a feature with one value becomes a list, too */
	bool bytes; /* bytes_list is always bytes */
};

enum { EXAMPLE_FEATURES_MAX = 100000 };

/* Appends the record to out, or fails and leaves out as it was. */
enum status example_decode(const struct example_conf *conf, const uint8_t *p, size_t n,
			   struct buf *out, struct err *e);
/* Buffers for encoding. Zero is valid. */
struct example_work {
	struct buf list, feature, entry, all;
};
void example_work_clear(struct example_work *w);
/* Appends the Example of an encoded record, features in the record's order. */
enum status example_encode(struct example_work *w, const uint8_t *p, size_t n, struct buf *out,
			   struct err *e);

#endif
