/* SPDX-License-Identifier: MIT
 *
 * Messages of dsvc-feed and its cores.
 */
#include <string.h>

#include "value/mp.h"
#include "value/type.h"
#include "wire/feed_msg.h"
#include "wire/table.h"

static const struct field join[] = {
	U32(feed_join, version, 0, "version of this protocol; now 1"),
	U32(feed_join, core, 0, "the seat that is wanted; 4294967295: any that is free"),
	U32(feed_join, pid, 0, NULL), NAME(feed_join, name, "shown to people"),
	TEXT(feed_join, want, WIRE_TEXT_MAX, "the type that elements must have; empty: any"),
	BYTES(feed_join, position, FEED_POSITION_MAX, "where to go on; empty: the feed decides"),
	U64(feed_join, features, "none yet: 0"), { 0 }
};
static const struct field ready[] = {
	U64(feed_ready, given, "slots given back so far, in the order of steps"),
	U64(feed_ready, done, "the number of steps done, as BATCH counts them"),
	U64(feed_ready, wanted, "steps that it wants, in all"), { 0 }
};
static const struct field step[] = { U64(feed_step, step, "number of steps done"), { 0 } };
static const struct field result[] = {
	U64(feed_result, step, NULL), U64(feed_result, rows, "of the value; 0: not by row"),
	BYTES(feed_result, value, FEED_RESULT_MAX, "one MessagePack value"), { 0 }
};
static const struct field stop[] = { TEXT(feed_why, why, WIRE_TEXT_MAX, "for people"), { 0 } };
static const struct field fail[] = {
	U32(feed_fail, code, 255, "exit code"), TEXT(feed_fail, text, WIRE_TEXT_MAX, NULL),
	TEXT(feed_fail, help, WIRE_TEXT_MAX, NULL), TEXT(feed_fail, detail, FEED_POSITION_MAX, "a traceback"), { 0 }
};
static const struct field bye[] = { U64(feed_bye, done, "number of steps done"), { 0 } };
static const struct field welcome[] = {
	U32(feed_welcome, version, 0, NULL), U32(feed_welcome, core, 0, NULL), U32(feed_welcome, cores, 0, NULL),
	U32(feed_welcome, rank, 0, NULL), U32(feed_welcome, ranks, 0, NULL),
	U32(feed_welcome, host, 0, NULL), U32(feed_welcome, hosts, 0, NULL),
	U32(feed_welcome, epoch, 0, NULL), U32(feed_welcome, prefetch, 0, NULL), U32(feed_welcome, slots, 0, NULL),
	U32(feed_welcome, results, 2, "0 none, 1 one value a step, 2 one value a row"),
	U64(feed_welcome, rows, "of a core in a full step; 0: known with RING"),
	U64(feed_welcome, step, "the first step"), U64(feed_welcome, loop, "steps of a loop; 0: no loops"),
	U64(feed_welcome, until, "the step to stop at; 0: none"), U64(feed_welcome, seed, NULL),
	NAME(feed_welcome, tail, NULL), NAME(feed_welcome, dataset, NULL), TEXT(feed_welcome, type, WIRE_SPEC_MAX, NULL),
	U64(feed_welcome, each, "steps of a whole epoch; 18446744073709551615: not known"), { 0 }
};
static const struct field dim[] = { U64(feed_dim, n, NULL), { 0 } };
static const struct field column[] = {
	{ "path", FIELD_WORDS, offsetof(struct feed_column, path), 64,
		"names of the fields from the outermost on", NULL, 0, false },
	U32(feed_column, kind, 0, "0 fixed, 1 text, 2 bytes, 3 ints, 4 floats, 5 values"), NAME(feed_column, dtype, NULL),
	LIST(feed_column, dims, TYPE_DIMS_MAX, dim, struct feed_dim, "of a row"),
	U64(feed_column, at, "offset of the rows in the slot; or of rows + 1 offsets into the heap, u64"),
	U64(feed_column, heap, "offset of the heap in the slot"), BOOL(feed_column, tensor, NULL),
	U32(feed_column, axis, TYPE_DIMS_MAX, "the place among dims where the rows were in the element"), { 0 }
};
static const struct field ring[] = {
	U32(feed_layout, slots, 0, NULL), U64(feed_layout, bytes, "of a slot"), U64(feed_layout, rows, "of a slot"),
	BOOL(feed_layout, whole, "elements are single values and not batches"), BOOL(feed_layout, writable, NULL),
	NAME(feed_layout, mask, "the column that is true for real rows"),
	LIST(feed_layout, columns, 4096, column, struct feed_column, NULL), { 0 }
};
static const struct field batch[] = {
	U64(feed_batch, step, NULL), U32(feed_batch, epoch, 0, NULL), U32(feed_batch, slot, 0, NULL),
	U64(feed_batch, first, "the core's first row in the slot"), U64(feed_batch, rows, NULL),
	U64(feed_batch, valid, "rows before the padding"),
	U32(feed_batch, flags, 7, "1 last of its loop, 2 last of its epoch, 4 last of all; where that is known"), { 0 }
};
static const struct field here[] = { U64(feed_here, step, NULL), BYTES(feed_here, position, FEED_POSITION_MAX,
	   NULL), { 0 } };
static const struct field end[] = {
	U32(feed_end, why, 3, "0 data, 1 steps, 2 a core, 3 a signal"), U64(feed_end, step, "number of steps in all"),
	TEXT(feed_end, text, WIRE_TEXT_MAX, NULL), { 0 }
};
static const struct field error[] = {
	U32(feed_error, code, 255, "exit code"), TEXT(feed_error, text, WIRE_TEXT_MAX, NULL),
	TEXT(feed_error, help, WIRE_TEXT_MAX, NULL), U32(feed_error, core, 0, "the core to blame; 4294967295: none"), { 0 }
};

static const struct { const char *name; const struct field *fields; } feed_descs[FEED_MSG_TYPES] = {
	[FEED_JOIN] = { "JOIN", join }, [FEED_READY] = { "READY", ready }, [FEED_POSITION] = { "POSITION", step },
	[FEED_SAVED] = { "SAVED", step }, [FEED_RESULT] = { "RESULT", result }, [FEED_STOP] = { "STOP", stop },
	[FEED_FAIL] = { "FAIL", fail }, [FEED_BYE] = { "BYE", bye }, [FEED_WELCOME] = { "WELCOME", welcome },
	[FEED_RING] = { "RING", ring }, [FEED_BATCH] = { "BATCH", batch }, [FEED_HERE] = { "HERE", here },
	[FEED_END] = { "END", end }, [FEED_ERROR] = { "ERROR", error },
};

/* There is one for each step and core: all its numbers have 64 bits, so that it can be read at one go. */
static void
feed_batch_encode(const struct feed_batch *b, struct buf *out)
{
	const uint64_t v[] = { b->step, b->epoch, b->slot, b->first, b->rows, b->valid, b->flags };
	enum { N = sizeof v / sizeof *v, BYTES = 2 + 9 * N };
	uint8_t *p = buf_room(out, 4 + BYTES);

	memcpy(p, (const uint8_t[]){ BYTES, 0, 0, 0, 0x90 | (N + 1), FEED_BATCH }, 6);
	p += 6;
	for (int i = 0; i < N; i++) {
		*p++ = 0xcf;
		for (int shift = 56; shift >= 0; shift -= 8)
			*p++ = (uint8_t)(v[i] >> shift);
	}
	out->len += 4 + BYTES;
}

void
feed_msg_encode(const struct feed_msg *m, struct buf *out)
{
	size_t start = out->len;
	uint32_t n;

	if (m->type == FEED_BATCH) {
		feed_batch_encode(&m->batch, out);
		return;
	}
	buf_put(out, "\0\0\0", 4);
	/* [type, fields ...]: the fields' own list head is replaced by one that is longer by 1. */
	struct buf fields = { 0 };
	struct mp h;
	fields_encode(feed_descs[m->type].fields, &m->join, &fields);
	const uint8_t *end_ = fields.data + fields.len;
	mp_head(fields.data, end_, &h);
	uint8_t *p = buf_room(out, MP_HEAD_MAX + MP_INT_MAX), *w = mp_put_list_head(p, h.n + 1);
	w = mp_put_uint(w, m->type);
	out->len += (size_t)(w - p);
	buf_put(out, h.p, (size_t)(end_ - h.p));
	buf_clear(&fields);
	n = (uint32_t)(out->len - start - 4);
	for (int i = 0; i < 4; i++)
		out->data[start + (size_t)i] = (uint8_t)(n >> (8 * i));
}

enum status
feed_msg_size(const uint8_t *p, size_t n, size_t *size, struct err *e)
{
	*size = 0;
	if (n < 4)
		return ST_OK;
	*size = 4 + ((size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24);
	if (*size > 4 + FEED_RESULT_MAX + 64u)
		return err_set(e, ST_PROTO, "a message of %zu bytes is larger than any", *size);
	/* type and list head are enough to know that it is no result */
	if (*size > 4 + FEED_MSG_MAX && n >= 6 && p[5] != FEED_RESULT)
		return err_set(e, ST_PROTO, "a message of %zu bytes is larger than any but results", *size);
	return ST_OK;
}

enum status
feed_msg_decode(const uint8_t *p, size_t n, struct feed_msg *m, struct err *e)
{
	const uint8_t *end_ = p + n;
	struct mp h, type;

	memset(m, 0, sizeof *m);
	if (!mp_check(p, n))
		return err_set(e, ST_PROTO, "a message is not a MessagePack value");
	const uint8_t *at = mp_head(p, end_, &h);
	if (h.kind != MP_LIST || !h.n)
		return err_set(e, ST_PROTO, "a message is not a list with a type");
	at = mp_head(at, end_, &type);
	if (type.kind != MP_INT || type.u >= FEED_MSG_TYPES || !feed_descs[type.u].name)
		return err_set(e, ST_PROTO, "a message has an unknown type");
	/* The fields again as a list of their own. */
	struct buf fields = { 0 };
	uint8_t *head = buf_room(&fields, MP_HEAD_MAX);
	fields.len = (size_t)(mp_put_list_head(head, h.n - 1) - head);
	buf_put(&fields, at, (size_t)(end_ - at));
	enum status st = fields_decode(feed_descs[type.u].name, feed_descs[type.u].fields, fields.data, fields.len,
				       &m->join, e);
	buf_clear(&fields);
	if (st == ST_OK)
		m->type = (enum feed_msg_type)type.u;
	return st;
}

void
feed_msg_clear(struct feed_msg *m)
{
	if (m->type)
		fields_clear(feed_descs[m->type].fields, &m->join);
	m->type = 0;
}
