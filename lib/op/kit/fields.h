/* SPDX-License-Identifier: MIT
 *
 * Fields of records by name, for operators that change which ones there are.
 * Names are written plainly or as in expressions: `id` or `.id`. At most
 * FIELDS_MAX of them.
 */
#ifndef KIT_FIELDS_H
#define KIT_FIELDS_H

#include "op/op.h"

enum { FIELDS_MAX = 1000 };

struct field_name {
	const char *name; /* name without the dot; lent */
	uint32_t len;
	const char *to;   /* rename: the name after the colon; else NULL */
	uint32_t to_len;
};

struct fields {
	struct field_name *v;
	uint32_t n;
};

/* Reads the words (with pairs: old:new). The names point into the words. */
enum status fields_read(const struct words *w, bool pairs, struct fields *out, struct err *e);
/* One name, lent; as fields_read does. */
enum status fields_read_one(char *name, struct fields *out, struct err *e);
void fields_forget(struct fields *f);
/* Number of the name, or -1. `near` is tried first. */
int fields_find(const struct fields *f, const uint8_t *name, uint32_t len, uint32_t near);
/* Typing: refuses an input that cannot be a record or, where `must`, cannot have one of the
 * fields. */
enum status fields_typing(struct op_node *n, struct op_typing *t, const struct fields *f,
			  bool must, struct err *e);
/* Steps over the next pair of a record: its name and value; gives the end. */
const uint8_t *fields_pair(const uint8_t *p, const uint8_t *end, struct field_name *name,
			   const uint8_t **value);
/* For feed: whether the element is a record, with the number of its pairs and the first one.
 * False: on_error has been applied, and *st says how to go on. */
bool fields_record(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
		   uint32_t *pairs, const uint8_t **p, enum status *st, struct err *e);

#endif
