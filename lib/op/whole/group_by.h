/* SPDX-License-Identifier: MIT
 *
 * What the parts of group_by share: the operator itself (op_group_by.c), and what
 * it does on workers and with what comes from there (group_by_part.c).
 */
#ifndef WHOLE_GROUP_BY_H
#define WHOLE_GROUP_BY_H

#include "op/whole/aggregate.h"
#include "op/whole/group.h"
#include "op/whole/partial.h"
#include "op/whole/row_keys.h"

enum { GROUP_BY_AHEAD = 64 };

/* The key of an element that will be added next. */
struct group_by_ahead {
	const uint8_t *p; /* lent by the element; NULL: the key lies in keys_ahead */
	size_t at, len; /* its place there, its length */
	size_t shown;   /* length of the form to show, which lies before `at`; 0: the key itself */
	uint32_t code, i;
	uint32_t number; /* the number that the key has if it is in the table */
};

struct group_by {
	struct op_expr key;
	int agg;
	struct op_expr of;
	struct buf init;
	struct op_expr reduce;
	struct op_named named;
	int partial;          /* enum op_partial */
	int64_t mem;
	struct expr_value by, value;
	struct row_keys rows;
	struct aggregates aggs;
	size_t each;          /* number of groups of a key */
	struct group *groups; /* those of key k are the ones from k * each on */
	size_t cap;
	struct slab cells;
	size_t bytes;         /* size of the cells */
	bool approx;          /* once `looked`, or the lanes' end: records have the field `approx` */
	bool looked;
	uint32_t at;          /* the key to give next, at the end or, with partial=make, at that of a part */
	struct partial_end part;
	struct group_by_ahead ahead[GROUP_BY_AHEAD];
	struct buf keys_ahead;
	struct group_by_giving *giving; /* the records that are given at the end (group_by_giving.h); NULL: not yet */
	struct group_by_lanes *lanes; /* threads that have keys and groups in its place (group_by_lanes.h); NULL: none */
};

/* Takes elements of the run from *i on, at most up to `end`: evaluates the keys of the next ones, finds
 * their slots, and adds them. ST_SKIP is no error. */
enum status group_by_take(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t end, struct run *out,
			  struct err *e);
/* The number of a key as it is shown, added if it is new. */
uint32_t group_by_key(struct group_by *g, const uint8_t *p, size_t len);
/* The number of a key in normal form, added if it is new. `shown`: length of the form before p in which a new
 * key is shown; 0: the key itself. */
uint32_t group_by_find(struct group_by *g, const uint8_t *p, size_t len, size_t shown, uint32_t code);
/* Prefetches what adding the next n elements reads, whose codes are in g->ahead: slots are under way; items and
 * groups, then what these point to. */
void group_by_fetch(struct group_by *g, uint32_t n);
/* Prefetches what the groups of a key point to. */
void group_by_fetch_cells(const struct group_by *g, uint32_t number);
/* Whether nulls are left out, as in SQL; a key with nothing else has null. */
bool group_by_leaves_null(enum group_agg agg);
/* Bytes that keys and states take. */
size_t group_by_size(const struct group_by *g);
/* Makes quantiles of many numbers approximate; whether one is. */
void group_by_squeeze(struct group_by *g);
bool group_by_squeezed(const struct group_by *g);
/* Whether a record has an approximate quantile: then all have the field `approx`, as a table wants it. */
bool group_by_approx(const struct group_by *g);
enum status group_by_too_large(struct op_inst *self, uint32_t keys, struct err *e);
void group_by_empty(struct group_by *g);
/* Frees keys, groups and aggregates. */
void group_by_tables_free(struct group_by *g);
/* ST_OK, or the error when keys and states take more than mem=. */
enum status group_by_fits(struct op_inst *self, struct err *e);

/* partial=make: feed and finish. */
enum status group_by_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
enum status group_by_make_end(struct op_inst *self, struct run *out);
/* partial=join: feed. */
enum status group_by_join(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
bool group_by_combines(const struct op_node *n, const char **why);
bool group_by_partwise(const struct op_node *n, const char **remedy);

#endif
