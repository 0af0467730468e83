/* SPDX-License-Identifier: MIT
 *
 * Reading by index, as far as the plan tells: what can be read so, and how many
 * elements there are. The descriptors say it; no operator is known here by name.
 */
#include "base/mem.h"
#include "op/typed.h"
#include "op/facts.h"
#include "op/table.h"

static bool
index_through(const struct op_node *n)
{
	return n->desc->kind == OP_TRANSFORM && n->desc->flags & (OP_EACH | OP_NUMBERS) && n->n_in;
}

int64_t
op_indexed(const struct op_node *n)
{
	int64_t count;

	while (index_through(n))
		n = n->in[0];
	if (!n->desc->cardinality || n->n_binds)
		return -1;
	if (n->desc->indexed)
		return n->desc->indexed(n);
	int64_t *in = mem_array(n->n_in + 1, sizeof *in);
	for (size_t k = 0; k < n->n_in; k++)
		in[k] = op_indexed(n->in[k]);
	count = n->desc->cardinality(n, in);
	/* An operator that gives more rows than an input has makes them up: they have no index. */
	for (size_t k = 0; k < n->n_in && n->desc->flags & OP_ALONGSIDE; k++)
		count = in[k] < count ? -1 : count;
	mem_free(in);
	return count;
}

/* Appends the names of the sources with random access, for people. */
static void
index_sources(struct buf *out)
{
	for (size_t i = 0; op_at(i); i++)
		if (op_at(i)->at)
			buf_printf(out, "%s%s", out->len ? ", " : "", op_at(i)->name);
}

static enum status
index_no_source(const struct op_node *n, const struct op_node *who, struct err *e)
{
	struct buf names = { 0 };

	index_sources(&names);
	err_set(e, ST_DATA, "%s%s%s can only be read in order, but `%s` picks elements anywhere",
		n->place ? "`" : "", n->place ? n->desc->name : "what feeds a fragment",
		n->place ? "`" : "", op_text(who));
	err_help(e, "`%s N` chooses from a buffer of N elements; sources to pick from: %s",
		 who->desc->name, (char *)names.data);
	buf_clear(&names);
	return ST_DATA;
}

static enum status
index_help(const struct op_node *who, struct err *e)
{
	err_help(e, "put `%s` right after the source, or choose from a buffer of N elements: `%s N`",
		 op_text(who), who->desc->name);
	return ST_DATA;
}

static enum status
index_unknown(const struct op_node *n, const struct op_node *who, struct err *e)
{
	err_set(e, ST_DATA, "it is unknown which element after `%s` is the k-th, but `%s` picks them by "
		"number", n->desc->name, op_text(who));
	return index_help(who, e);
}

/* Whether exactly one element comes out for each that comes in. */
static bool
index_exact(const struct op_node *n)
{
	const int64_t some = 1000;

	return typed_one_each(n) && n->desc->cardinality && n->desc->cardinality(n, &some) == some;
}

/* Whether each operator from n down to the source can be read by index. exact: an operator
 * after n asks for elements by their number, so none may be left out. */
static enum status
index_check(const struct op_node *n, const struct op_node *who, bool exact,
	    const struct op_node **culprit, struct err *e)
{
	enum status st = ST_OK;

	for (; n->desc->kind == OP_TRANSFORM && n->n_in && st == ST_OK; n = n->in[0]) {
		*culprit = n;
		if ((n->desc->pick || n->desc->groups) && !n->permutes) {
			exact = true;
			continue;
		}
		if (!index_through(n) || n->permutes)
			return index_unknown(n, who, e);
		if (op_traits(n) & EXPR_COUNTS) {
			err_set(e, ST_DATA, "`i` counts elements as they come, and `%s` changes that before "
				"they come here", op_text(who));
			err_help(e, "`enumerate` gives each its own number, before `%s` too", op_text(who));
			return ST_DATA;
		}
		if (exact && !index_exact(n)) {
			err_set(e, ST_DATA, "`%s` may drop elements, but the operators between it and `%s` rely "
				"on their numbers", n->desc->name, op_text(who));
			return index_help(who, e);
		}
		exact |= (n->desc->flags & OP_NUMBERS) != 0;
	}
	*culprit = n;
	if (n->desc->kind != OP_COMBINE)
		return n->desc->at ? ST_OK : index_no_source(n, who, e);
	if (!(n->desc->flags & (OP_ALONGSIDE | OP_JOINS_SPLITS)))
		return index_unknown(n, who, e);
	for (size_t k = 0; k < n->n_in && st == ST_OK; k++)
		st = index_check(n->in[k], who, true, culprit, e);
	return st;
}

enum status
op_may_permute(const struct op_node *n, const struct op_node **culprit, struct err *e)
{
	return index_check(n->in[0], n, false, culprit, e);
}

/* The operator nearest to the source, at n or before it, that groups and whose last group
 * would not be full; NULL: none. */
static const struct op_node *
index_uneven(const struct op_node *n)
{
	const struct op_node *found = NULL;

	for (size_t k = 0; k < n->n_in && !found; k++)
		found = index_uneven(n->in[k]);
	if (found || !n->desc->groups)
		return found;
	int64_t in = op_indexed(n->in[0]);
	return in >= 0 && (uint64_t)n->desc->cardinality(n, &in) * n->desc->groups(n) > (uint64_t)in ? n : NULL;
}

/* Whether an element, made alone, is what it is among all others. Whoever skips a broken one
 * shifts the numbers of those behind it. */
static bool
index_stable(const struct op_node *n)
{
	bool stable = !(n->desc->flags & OP_RESHUFFLES) && n->on_error == OP_FAIL && !n->n_binds &&
		!(op_traits(n) & (EXPR_VARIES | EXPR_DRAWS | EXPR_TIMED | EXPR_COUNTS | EXPR_SKIPS));

	for (size_t k = 0; k < n->n_in && stable; k++)
		stable = index_stable(n->in[k]);
	return stable;
}

/* Whether the shard may have all before it read by index. */
static bool
index_may_stride(const struct op_node *shard)
{
	const struct op_node *culprit;
	uint64_t count;
	struct err e;

	return index_stable(shard->in[0]) && index_check(shard->in[0], shard, true, &culprit, &e) == ST_OK &&
		op_permute_count(shard, &count, &e) == ST_OK;
}

bool
op_each_alone(const struct op_node *n)
{
	unsigned traits = EXPR_VARIES | EXPR_DRAWS | EXPR_TIMED | EXPR_COUNTS | EXPR_SKIPS;

	return n->desc->kind == OP_TRANSFORM && n->n_in == 1 && n->desc->flags & OP_EACH && !n->permutes &&
		op_scope_of(n) == OP_ELEMENT && !(n->desc->flags & (OP_NUMBERS | OP_RANDOM | OP_EXEC | OP_RESHUFFLES)) &&
		n->on_error == OP_FAIL && !(op_traits(n) & traits) && index_exact(n);
}

const struct op_node *
op_shard_place(const struct op_node *top, bool *by_index)
{
	/* A stand-in for the shard: the tests look at what stands before it. */
	struct op_node *in = (struct op_node *)top;
	struct op_node shard = { .desc = top->desc, .in = &in, .n_in = 1 };

	while (!(*by_index = index_may_stride(&shard)) && op_each_alone(in))
		in = in->in[0];
	return in;
}

void
op_push_shard(struct op_node **top)
{
	struct op_node *shard = *top, **at = top;
	bool by_index;
	const struct op_node *behind = op_shard_place(shard->in[0], &by_index);

	while (shard->in[0] != behind) {
		struct op_node *each = shard->in[0];

		shard->in[0] = each->in[0];
		each->in[0] = shard;
		*at = each;
		at = &each->in[0];
	}
	shard->type = behind->type;
	shard->strides = by_index;
}

enum status
op_permute_count(const struct op_node *n, uint64_t *count, struct err *e)
{
	const char *text = op_text(n);
	int64_t all = op_indexed(n->in[0]);

	*count = all >= 0 ? (uint64_t)all : 0;
	const struct op_node *uneven = all >= 0 && all < INT64_MAX ? index_uneven(n->in[0]) : NULL;
	if (uneven) {
		err_set(e, ST_DATA, "the last of `%s` is not full, and `%s` can only count on full ones",
			op_text(uneven), text);
		err_help(e, "drop_remainder=true leaves it out; or put `%s` before it", text);
		return ST_DATA;
	}
	if (all >= 0 && all < INT64_MAX)
		return ST_OK;
	if (all < 0) {
		err_set(e, ST_DATA, "`%s` must know how many elements there are, which is not known before they "
			"are read", text);
		err_help(e, "the number is unknown for compressed files, pipes, objects elsewhere, files that an outer element "
			 "names, and with with_name; `%s N` chooses from a buffer of N elements", n->desc->name);
	} else {
		err_set(e, ST_DATA, "`%s` of an endless input would never give its first element", text);
		err_help(e, "put `repeat` after it, or `take N` before it; `%s N` chooses from a "
			 "buffer of N elements", n->desc->name);
	}
	return ST_DATA;
}
