/* SPDX-License-Identifier: MIT
 *
 * What join and lookup share: a table of rows by key, read once from a
 * pipeline, and the records made of an element and a row.
 *
 *	rows:   |row 0|row 1|...   end to end
 *	items:  where each lies, and the next one with the same key
 *	first:  by the key's number
 */
#ifndef WHOLE_JOIN_TABLE_H
#define WHOLE_JOIN_TABLE_H

#include "op/kit/expr_value.h"
#include "op/kit/key_direct.h"
#include "op/kit/keys_ahead.h"
#include "op/whole/join_shape.h"

#define JOIN_TABLE_NONE UINT32_MAX

struct join_table_item {
	size_t at;
	uint32_t len, next;
};

struct join_table {
	struct key_table keys;
	struct key_direct direct; /* its keys once more, if they are such */
	uint32_t *first, *last;
	size_t cap_first, cap_last;
	struct buf rows, normal;
	struct join_table_item *items;
	uint32_t n;
	size_t cap_items;
	struct join_shape shape; /* how the records joined last looked */
	bool loaded;
	bool keyless; /* set by the caller: rows whose key is null are kept, too, and found by none */
};

void join_table_clear(struct join_table *j);
/* Reads the chain to its end; `by` gives each row's key. ST_AGAIN: the chain is to stop, and
 * the call may be repeated. ST_DATA: the rows take more than mem bytes. */
enum status join_table_load(struct op_inst *self, struct join_table *j, struct op_inst *chain,
			    struct expr_vm *by, size_t mem, struct err *e);
/* Like join_table_load, with a field as the key; NULL: the row's first field. */
enum status join_table_load_field(struct op_inst *self, struct join_table *j, struct op_inst *chain,
				  const char *field, size_t mem, struct err *e);
/* The first row with the key, or JOIN_TABLE_NONE; items[i].next is the next one with it. */
uint32_t join_table_find(struct join_table *j, const uint8_t *key, size_t len);
/* Adds the key of element x, the i-th of its run, to those that are looked ahead for. */
void join_table_look(struct join_table *j, struct keys_ahead *a, const struct elem *x, uint32_t i, const uint8_t *key,
		     size_t len);
/* Like join_table_find, for a key that was looked ahead for, unless it is null. */
uint32_t join_table_find_ahead(const struct join_table *j, const struct keys_ahead *a,
			       const struct keys_ahead_key *key);
/* Whether the table is so large that lookups wait for memory. */
bool join_table_slow(const struct join_table *j);
/* Asks for what looking these keys up, and putting their first rows, will read. */
void join_table_fetch(const struct join_table *j, struct keys_ahead *a);
/* Appends the record x with the row's fields after its own; where both have a name, x's field
 * counts. With `as` the row goes into one field. row JOIN_TABLE_NONE: nulls, under the names
 * of the first row's fields. */
void join_table_put(struct join_table *j, const struct elem *x, uint32_t row, const char *as,
		    struct run *out);
/* The type of the records that join_table_put makes. */
const struct type *join_table_type(struct op_typing *t, const struct type *x,
				   const struct type *row, const char *as, bool always);

#endif
