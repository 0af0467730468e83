/* SPDX-License-Identifier: MIT
 *
 * What group_by works out for each key when it is given calls with names:
 *
 *	group_by .user n=count() ms=mean(.ms) p95=quantile(.ms, 0.95)
 *
 * Each call has a struct group for each key; those of one key lie side by side.
 * Nulls are left out, as in SQL: count(EXPR) tells how many values were used, and
 * nulls(EXPR) how many were not.
 */
#ifndef WHOLE_AGGREGATE_H
#define WHOLE_AGGREGATE_H

#include "op/kit/expr_value.h"
#include "op/kit/key_table.h"
#include "op/whole/group.h"

/* The field that is added where a quantile is approximate: the bound of its error. */
#define AGGREGATE_APPROX "approx"

struct aggregate_fn;

struct aggregate {
	const struct aggregate_fn *fn;
	enum group_agg agg;      /* how its groups are kept: as fn says, or for partial=make */
	double q;                /* quantile: which one */
	const char *name;        /* lent by the plan */
	bool by_value;           /* the call has an argument */
	size_t group;            /* which of a key's groups it is found in: quantiles of one expression share */
	struct expr_value value;
	const uint8_t *p;        /* value of the element at hand */
	size_t len;
	struct key_table seen;   /* distinct: number of the key (4 bytes) and value, in normal form */
};

struct aggregates {
	struct aggregate *v;
	size_t n;                /* 0: none were given */
	bool by_value;           /* one of them has an argument */
	size_t kept;             /* bytes of the values added last that groups may keep */
	struct buf item, normal; /* scratch */
};

/* The i-th of the calls there are; NULL behind the last. */
const struct op_call *aggregate_call(size_t i);
/* Checks the calls and compiles their arguments. fields: room for named->n + 1, filled with name
 * and type of each, and *n_fields set. */
enum status aggregates_typing(struct op_node *n, struct op_typing *t, struct op_named *named,
			      struct type_field *fields, size_t *n_fields, struct err *e);
/* parts: groups are to be given by aggregates_put_parts. */
void aggregates_open(struct op_inst *self, struct aggregates *a, const struct op_named *named, bool parts);
void aggregates_close(struct aggregates *a);
/* Evaluates the arguments for in->e[i]: ST_OK; ST_SKIP: leave the element out; or the error. */
enum status aggregates_values(struct op_inst *self, struct aggregates *a, const struct run *in, uint32_t i,
			      struct run *out, struct err *e);
/* Adds the values to the groups of the key with that number. NULL, or why that cannot be: then
 * nothing was added. */
const char *aggregates_add(struct aggregates *a, struct group *of_key, uint32_t key, struct slab *cells,
			   size_t *bytes);
/* NULL, or why aggregates_add would refuse the values. */
const char *aggregates_refuse(const struct aggregates *a);
/* Values at hand, for another thread: their size, writing them, and having them at hand again where they were
 * written by aggregates of the same calls; they are lent. */
size_t aggregates_row_size(const struct aggregates *a);
void aggregates_write(const struct aggregates *a, uint8_t *p);
void aggregates_read(struct aggregates *a, const uint8_t *p);
/* aggregates_add of values that aggregates_refuse has not refused. */
const char *aggregates_add_sound(struct aggregates *a, struct group *of_key, uint32_t key, struct slab *cells,
				 size_t *bytes);
/* Upper bound for the bytes of the fields, their number, and the fields themselves: gives their end. */
size_t aggregates_room(const struct aggregates *a, const struct group *of_key);
uint32_t aggregates_fields(const struct aggregates *a, bool approx);
uint8_t *aggregates_put(const struct aggregates *a, const struct group *of_key, bool approx, uint8_t *p);
/* Whether a quantile of the key is approximate: all records then have the field `approx`. */
bool aggregates_approx(const struct aggregates *a, const struct group *of_key);
/* For partial=make and join (partial.h): what the groups of a key come to, and adding that
 * to those of the key with that number. aggregates_join gives the end, as group_join_part does. */
uint8_t *aggregates_put_parts(const struct aggregates *a, const struct group *of_key, uint8_t *p);
const uint8_t *aggregates_join(struct aggregates *a, struct group *of_key, uint32_t key, const uint8_t *p,
			       const uint8_t *end, struct slab *cells, size_t *bytes, const char **why);
size_t aggregates_size(const struct aggregates *a); /* memory used beside the groups, for limits */
void aggregates_reset(struct aggregates *a);
/* State beside that of the groups. */
void aggregates_save(const struct aggregates *a, struct buf *out);
void aggregates_restore(struct aggregates *a, uint32_t n_keys, struct state_in *in);
/* How the group of the k-th call is kept. */
enum group_agg aggregates_kind(const struct aggregates *a, size_t k);

#endif
