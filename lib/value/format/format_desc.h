/* SPDX-License-Identifier: MIT
 *
 * The shape of an output format. A format is one file format_NAME.c that exports one
 * `const struct format_desc format_NAME`; the list of formats (--format, its help and
 * completion, enum format_kind) is the list of such files. `auto` is none of them: it
 * chooses text or ndjson by the first element (format.c).
 */
#ifndef FORMAT_FORMAT_DESC_H
#define FORMAT_FORMAT_DESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"
#include "value/json_rules.h"

enum format_flag {
	FORMAT_IS_BINARY = 1, /* not fit for a terminal */
	FORMAT_IS_FRAMED = 2, /* has a beginning or an end: cannot be continued where it was left */
	FORMAT_IS_BLIND = 4,  /* uses no element's contents */
	FORMAT_IS_VERBATIM = 8, /* the elements' own bytes, end to end */
	FORMAT_HAS_HEADER = 16 /* takes unsparsify of struct format_opts, and no_header or refuses that itself */
};

struct format_opts;
struct type;

struct format_desc {
	unsigned flags;
	size_t state_size;    /* size of `state`, which is zeroed at the start */
	/* All callbacks but one may be NULL. Elements are checked values. elems: writes n
	 * elements, after `before` others; false: the rules refuse one of them (json_refuse), and all of its
	 * output is taken back. elem: writes one, for a format
	 * that may refuse; on an error its output is taken back. */
	bool (*elems)(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n,
		      struct buf *out);
	enum status (*elem)(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e);
	/* Writes the end, and what was held back. ST_DATA: that cannot be; out may hold a part of it. */
	enum status (*end)(void *state, uint64_t count, struct buf *out, struct err *e);
	/* Writes the rows that are held back, when the end does not come. */
	void (*rest)(void *state, struct buf *out);
	/* Called first: the options that the format takes, and the elements' type (NULL: unknown). */
	enum status (*set)(void *state, const struct format_opts *o, const struct type *type, struct err *e);
	void (*seekable)(void *state);
	void (*screen)(void *state, size_t columns); /* the output goes to a terminal of this width */
	bool (*patch)(void *state, struct buf *out);
	void (*clear)(void *state);
};

/* The kind of the value at p, in messages: "a record", "text", ... */
const char *format_what(const uint8_t *p, size_t n);

#endif
