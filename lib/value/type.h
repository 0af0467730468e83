/* SPDX-License-Identifier: MIT
 *
 * Element specs: what the planner knows of the elements between two operators.
 * Types are immutable trees owned by an arena (struct types) that lives as long
 * as the plan; functions lend pointers into it. `any` is what cannot be known.
 *
 *	int  float  bool  text  bytes  nil  any  [int]  {id: int, tags: [text]}
 *	u8[224,224,3]  f32[?,10]      tensors: dtype and shape, ? unknown
 *	{id: int, ...}                a record that may have more fields
 *	int?                          or nil
 *
 * type_print and type_parse are inverse.
 */
#ifndef VALUE_TYPE_H
#define VALUE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/dtype.h"

enum type_kind {
	TYPE_ANY, TYPE_NIL, TYPE_BOOL, TYPE_INT, TYPE_FLOAT, TYPE_TEXT, TYPE_BYTES,
	TYPE_LIST, TYPE_RECORD, TYPE_TENSOR,
	TYPE_NEVER /* the type of fail() and skip(): joins with anything */
};

enum { TYPE_DIMS_MAX = 16 };

struct type_field {
	const char *name; /* NUL-ended, owned by the arena */
	const struct type *type;
};

struct type {
	enum type_kind kind;
	bool nullable;             /* or nil */
	bool open;                 /* record: may have fields not listed */
	const struct type *item;   /* list */
	struct type_field *fields; /* record, in order */
	size_t n_fields;
	enum dtype dtype;          /* tensor */
	int n_dims;                /* tensor; -1: rank unknown */
	int64_t dims[TYPE_DIMS_MAX]; /* -1: unknown */
};

struct types; /* the arena */

struct types *types_new(void);
void types_free(struct types **t);

const struct type *type_scalar(enum type_kind kind); /* any, nil, bool, int, float, text, bytes, never: static */
const struct type *type_list(struct types *t, const struct type *item);
const struct type *type_record(struct types *t, const struct type_field *fields, size_t n, bool open);
const struct type *type_tensor(struct types *t, enum dtype d, const int64_t *dims, int n_dims);
const struct type *type_nullable(struct types *t, const struct type *a);
/* The narrowest type that holds both. */
const struct type *type_join(struct types *t, const struct type *a, const struct type *b);
bool type_equal(const struct type *a, const struct type *b);
/* Whether a value of type a may be used where b is wanted (any fits both ways). */
bool type_fits(const struct type *a, const struct type *b);
/* Whether every value of type a is one of type wide: what type_fits lets pass because it may turn
 * out well is not enough here. */
bool type_holds(const struct type *wide, const struct type *a);
/* ST_DATA, with both types, when the elements of type `has` are not all of type `want`. from: what
 * is printed before the type, such as "type=". */
enum status type_expect(const struct type *want, const struct type *has, const char *from, struct err *e);
/* The type of a field; NULL when the closed record lacks it; any for open records and any. */
const struct type *type_field_get(const struct type *rec, const char *name, size_t n);
/* The type of one encoded value, for example a literal; any when it is malformed. */
const struct type *type_of_value(struct types *t, const uint8_t *p, size_t len);

void type_print(const struct type *a, struct buf *out);
const struct type *type_parse(struct types *t, const char *text, size_t n, struct err *e);

#endif
