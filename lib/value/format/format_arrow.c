/* SPDX-License-Identifier: MIT
 * arrow: a stream of Arrow's IPC format, with records as rows of batches (value/arrow/arrow_made.h).
 */
#include "value/arrow/arrow_lib.h"
#include "value/arrow/arrow_made.h"
#include "value/format/format.h"
#include "value/format/format_desc.h"

struct arrow_format { struct arrow_made *made; };

static enum status
arrow_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	struct arrow_format *f = state;

	if (o->no_header) {
		err_set(e, ST_USAGE, "--no-header goes with -t csv and -t tsv");
		return ST_USAGE;
	}
	if (!arrow_lib(e))
		return ST_UNAVAIL;
	f->made = arrow_made_new(type, o->unsparsify);
	return ST_OK;
}

static enum status
arrow_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	struct arrow_format *f = state;

	if (!f->made)
		f->made = arrow_made_new(NULL, false);
	enum status st = arrow_made_add(f->made, p, n, e);
	return st == ST_OK && arrow_made_full(f->made) ? arrow_made_flush(f->made, out, e) : st;
}

static enum status
arrow_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	struct arrow_format *f = state;

	(void)count;
	if (!f->made)
		f->made = arrow_made_new(NULL, false);
	return arrow_made_end(f->made, out, e);
}

static void
arrow_rest(void *state, struct buf *out)
{
	struct arrow_format *f = state;
	struct err ignored;

	if (f->made)
		arrow_made_flush(f->made, out, &ignored);
}

static void
arrow_clear(void *state)
{
	struct arrow_format *f = state;

	arrow_made_free(&f->made);
}

const struct format_desc format_arrow = { .flags = FORMAT_IS_BINARY | FORMAT_IS_FRAMED | FORMAT_HAS_HEADER,
	.state_size = sizeof(struct arrow_format), .set = arrow_set, .elem = arrow_elem, .end = arrow_end,
	.rest = arrow_rest, .clear = arrow_clear };
