/* SPDX-License-Identifier: MIT
 *
 * Rows that describe messages: one row per field. Encoding, decoding, freeing,
 * limits and doc/protocol.md read the rows; nothing is written twice.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

enum field_kind {
	FIELD_NONE,   /* ends a table */
	FIELD_U32, FIELD_U64, FIELD_BOOL,
	FIELD_TEXT,   /* char *; max bytes */
	FIELD_BYTES,  /* struct bytes; max bytes */
	FIELD_RANGES, /* { v, n } of struct range: list of start, count, gap, count, gap, count... */
	FIELD_WORDS,  /* struct words: list of texts of WIRE_NAME_MAX; max items */
	FIELD_SPLITS, /* struct split_list; max items */
	FIELD_LIST    /* { v, n } of structs: list of lists by `item`; max items */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;
	uint64_t max;             /* largest number, or most bytes or items; 0: any number */
	const char *doc;          /* one clause; NULL: the name says it */
	const struct field *item; /* FIELD_LIST */
	size_t item_size;
	bool cap;                 /* FIELD_RANGES, FIELD_LIST: { v, n, cap }, which can grow */
};

/* A list of the fields, appended. Also used for rows of durable state. */
void fields_encode(const struct field *rows, const void *base, struct buf *out);
/* base is zeroed storage; on failure (ST_PROTO) it is cleared again. */
enum status fields_decode(const char *name, const struct field *rows, const uint8_t *p, size_t n,
			  void *base, struct err *e);
void fields_clear(const struct field *rows, void *base);
/* Gives copies of what the rows name; `to` is overwritten, not cleared. */
void fields_copy(const struct field *rows, void *to, const void *from);
/* Moves what the rows name: `to` loses what it had there, and zeros are left in `from`. */
void fields_move(const struct field *rows, void *to, void *from);

/* Any list { v, n } of structs, whatever they are. */
struct field_list {
	void *v;
	size_t n;
};
/* Any list whose row has `cap` set. */
struct field_list_cap {
	void *v;
	size_t n, cap;
};

struct msg_desc {
	const char *name;
	const char *way;          /* "reader -> dispatcher" */
	const char *doc;          /* its meaning, and the message that answers it */
	const struct field *fields;
	int large;                /* up to WIRE_FRAME_LARGE */
	unsigned may;             /* to a dispatcher: roles that may say it (wire/role.h) */
};

/* Indexed by enum msg_type; name NULL: no such message. */
const struct msg_desc *msg_desc(unsigned type);
extern const struct msg_desc msg_descs_control[], msg_descs_service[];

#endif
