/* SPDX-License-Identifier: MIT
 *
 * JSON in, as MessagePack, by simdjson (json_simd.cc is its C face). One parser object per
 * thread of use.
 *
 * Ints that fit 64 bits stay ints (signed or unsigned), other numbers are
 * floats; an int outside 64 bits is an error, not a rounded float. Keys keep
 * their order; of a key given twice the last counts. Text is valid UTF-8 or
 * the document is refused. Depth at most MP_DEPTH_MAX.
 */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"

struct json;

struct json *json_new(void);
void json_free(struct json **j);

/* A projection: only these top-level fields of records are wanted; the rest is checked but not
 * converted. Values that are not records are converted whole. */
struct json_fields {
	const char **names;
	const uint32_t *lens;
	size_t n;
};

/* Converts the documents of NDJSON text [p, p+n), which ends at a line end (or
 * at the end of the input), appending one element per non-blank line to out
 * with pos = line index counted from `first_pos`. Stops after at most
 * `max` elements and tells in *used how many bytes it took and in *lines how
 * many lines these were. `fields` may be NULL.
 * A line that is not JSON: returns ST_DATA with e saying what and at which byte
 * of the line (err.col), *used and *lines up to and with that line, the elements
 * before it in out; the caller decides and may go on behind it.
 * Reads up to json_padding() bytes past p+n: the memory must be there. */
enum status json_lines(struct json *j, const uint8_t *p, size_t n,
		       const struct json_fields *fields, uint32_t max,
		       uint32_t first_pos, struct run *out, size_t *used,
		       uint32_t *lines, struct err *e);
size_t json_padding(void);
/* Reads the text as one document, which may have line ends in it, and appends the element with this
 * pos. ST_DATA: it is not JSON. Reads as far past p+n as json_lines. */
enum status json_document(struct json *j, const uint8_t *p, size_t n, const struct json_fields *fields,
			  uint32_t pos, struct run *out, struct err *e);

/* Reads one document, with any white space around it, and appends the value to out. Copies the
 * text when no padding is known to follow it. */
enum status json_value(struct json *j, const uint8_t *p, size_t n,
		       struct buf *out, struct err *e);

#endif
