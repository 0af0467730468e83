/* SPDX-License-Identifier: MIT
 *
 * Elements as the bytes that go to a child, and its answers as elements.
 *
 *	line     text\n               scalars as they are, lists and records as JSON
 *	ndjson   value\n              JSON both ways
 *	nul      text\0               as line, for texts with line ends
 *	netstring LENGTH:text,        binary-safe; the answer is bytes
 *	len32    u32 big-endian, text binary-safe; the answer is bytes
 *	msgpack  value                the element as it lies
 *	raw      contents             one element, up to the end of the pipe
 *	arg      -                    answers only: text without its last line end
 *
 * Answers are a program's and so are trusted in nothing: a length is bounded, a
 * value is checked.
 */
#ifndef FORMAT_FRAME_H
#define FORMAT_FRAME_H

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"
#include "value/json/json.h"
#include "value/json_rules.h"
#include "value/type.h"

enum frame_proto {
	FRAME_LINE, FRAME_NDJSON, FRAME_NUL, FRAME_MSGPACK, FRAME_NETSTRING, FRAME_LEN32,
	FRAME_RAW, FRAME_ARG, FRAME_STREAM
};
#define FRAME_CHOICES "line|ndjson|nul|msgpack|netstring|len32|raw|arg|stream"

struct frame {
	enum frame_proto proto;
	size_t max;         /* most bytes of an answer */
	struct json *json;  /* made when needed */
	/* state of an incomplete answer */
	size_t searched;    /* line, nul: bytes known to hold no end */
	size_t wait;        /* msgpack: number of bytes at which to try again */
};

void frame_init(struct frame *f, enum frame_proto proto, size_t max);
void frame_clear(struct frame *f);
const char *frame_name(enum frame_proto proto);
const struct type *frame_type(enum frame_proto proto); /* type of the answers */

/* Appends the element. ST_DATA: the protocol cannot express it. */
enum status frame_put(enum frame_proto proto, const struct elem *x, const struct json_rules *rules,
		      struct buf *out, struct err *e);
/* Finds one whole answer in the n bytes at p: its length in *len; 0: more bytes are needed.
 * `eof`: none will come. ST_DATA: these bytes cannot become an answer. */
enum status frame_find(struct frame *f, const uint8_t *p, size_t n, bool eof, size_t *len,
		       struct err *e);
/* Appends the answer of n bytes to out as one element. frame_padding bytes after it must be
 * readable. */
enum status frame_get(struct frame *f, const uint8_t *p, size_t n, uint32_t pos, struct run *out,
		      struct err *e);
size_t frame_padding(void);
/* The contents of a text or bytes; NULL: the element is neither. */
const uint8_t *frame_contents(const struct elem *x, uint32_t *n);
/* The contents of a text or bytes; another element as text, which is put into *own. */
const uint8_t *frame_text(const struct elem *x, struct buf *own, size_t *n);

#endif
