/* SPDX-License-Identifier: MIT
 *
 * Elements made into an Arrow stream (IPC), batch by batch. The columns and their types are those of the first
 * batch, as far as the elements' type does not tell them: null and a value are that value's type, ints among floats
 * floats. After it they stay as they are.
 *
 *	element --arrow_made_add--> kept, its types joined --arrow_made_flush--> columns --> the stream
 *
 * bool, int, float, text, bytes, lists and records become bool, int64, double, utf8, binary, list and struct, all
 * of which may be null; tensors become lists. Ints above 2^63-1 have no place.
 */
#ifndef ARROW_ARROW_MADE_H
#define ARROW_ARROW_MADE_H

#include "base/buf.h"
#include "base/err.h"
#include "value/type.h"

struct arrow_made;

/* type: that of the elements; NULL: unknown. loose: records need not have the fields of the first one, and nothing
 * is written before the end. Gives. */
struct arrow_made *arrow_made_new(const struct type *type, bool loose);
void arrow_made_free(struct arrow_made **m);
/* Takes an element in. ST_DATA: it is no record, or is unlike those before it; e names the field. */
enum status arrow_made_add(struct arrow_made *m, const uint8_t *p, size_t n, struct err *e);
/* Whether there are enough elements for a batch. */
bool arrow_made_full(const struct arrow_made *m);
/* Appends the elements that were taken in; before the first ones, the schema. */
enum status arrow_made_flush(struct arrow_made *m, struct buf *out, struct err *e);
/* Appends what is left, and the end. After a flush that failed there is no end. */
enum status arrow_made_end(struct arrow_made *m, struct buf *out, struct err *e);

#endif
