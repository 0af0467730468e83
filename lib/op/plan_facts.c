/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "op/chain.h"
#include "op/facts.h"

/* How splits lie in a plan. Read from the descriptors; no operator is known
 * here by its name. */

/* The node at which a chain is cut into splits: the first that is no transform, or one that
 * reads its input by index, which counts as one source together with its input. */
bool
facts_is_root(const struct op_node *n)
{
	return n->desc->kind != OP_TRANSFORM || n->permutes;
}

const struct op_node *
facts_root(const struct op_node *n)
{
	while (!facts_is_root(n) && n->n_in)
		n = n->in[0];
	return n;
}

static bool
facts_joins(const struct op_node *n)
{
	return n->desc->kind == OP_COMBINE && (n->desc->flags & OP_JOINS_SPLITS);
}

/* Whether the operators from n down to the root treat the elements of a split as they would
 * treat the same elements in the whole; a repeat of these is a repeat of each split. */
bool
facts_cuttable(const struct op_node *n)
{
	for (; !facts_is_root(n) && n->n_in; n = n->in[0])
		if (op_scope_of(n) != OP_ELEMENT && !n->desc->times)
			return false;
	return true;
}

/* Number of elements that a node gives, for the numbers that its inputs give. */
static int64_t
facts_count_of(const struct op_node *n, const int64_t *in)
{
	bool transform = n->desc->kind == OP_TRANSFORM;

	if (n->endless)
		return INT64_MAX;
	/* Unknown here: what an outer element decides, and what a fragment will be fed. */
	if (n->n_binds || (transform && !n->n_in))
		return -1;
	int64_t count = n->desc->cardinality ? n->desc->cardinality(n, in) : -1;
	if (count == -1 && transform && *in == INT64_MAX && !(n->desc->flags & OP_CUTS))
		return INT64_MAX;
	return count;
}

/* Not recursive down the chain, which may be long. */
int64_t
op_elements_of(const struct op_node *n)
{
	const struct op_node **chain = NULL;
	size_t k = 0, cap = 0;
	int64_t count = -1;

	for (; n; n = n->desc->kind == OP_TRANSFORM && n->n_in ? n->in[0] : NULL) {
		chain = mem_grow(chain, &cap, k + 1, sizeof *chain);
		chain[k++] = n;
	}
	while (k-- > 0) {
		n = chain[k];
		if (n->desc->kind == OP_TRANSFORM) {
			count = facts_count_of(n, &count);
			continue;
		}
		int64_t *in = mem_array(n->n_in + 1, sizeof *in);
		for (size_t i = 0; i < n->n_in; i++)
			in[i] = op_elements_of(n->in[i]);
		count = facts_count_of(n, in);
		mem_free(in);
	}
	mem_free(chain);
	return count;
}

static bool
facts_permutes(const struct op_node *n)
{
	bool found = n->permutes;

	for (size_t k = 0; k < n->n_in && !found; k++)
		found = facts_permutes(n->in[k]);
	return found;
}

/* Whether the units' `times` count the passes of this repeat. If the root permutes, its units
 * say which pass a place is in, since each pass has another order. Units of several roots say
 * nothing of the pass, so the chain repeats them itself. */
bool
facts_covered(const struct op_node *n)
{
	if (!n->desc->times || !n->n_in || !facts_cuttable(n->in[0]))
		return false;
	const struct op_node *root = facts_root(n);
	return root->permutes || !facts_permutes(root);
}

uint32_t
facts_leaves(const struct op_node *n)
{
	const struct op_node *root = facts_root(n);
	uint32_t sum = 0;

	if (!facts_joins(root) || (root != n && !facts_cuttable(n)))
		return 1;
	for (size_t k = 0; k < root->n_in; k++)
		sum += facts_leaves(root->in[k]);
	return sum;
}

static int64_t
facts_product(int64_t a, int64_t b)
{
	int64_t p;

	if (a == 0 || b == 0)
		return 0;
	return __builtin_mul_overflow(a, b, &p) ? INT64_MAX : p;
}

bool
op_can_split(const struct op_node *n)
{
	const struct op_node *root = facts_root(n);

	return root->permutes || facts_joins(root) || (root->desc->kind == OP_SOURCE && root->desc->list);
}

static int64_t
facts_times(const struct op_node *n)
{
	int64_t times = 1;

	for (; !facts_is_root(n) && n->n_in; n = n->in[0])
		if (facts_covered(n))
			times = facts_product(times, n->desc->times(n));
	return times;
}

int64_t
op_split_times(const struct op_node *n)
{
	int64_t times = facts_times(n);

	return times && facts_root(n)->permutes ? 1 : times;
}

const struct op_node *
op_repeat_watched(const struct op_node *n, uint64_t *period)
{
	const struct op_node *found = NULL;

	*period = 1;
	for (; !facts_is_root(n) && n->n_in; n = n->in[0]) {
		int64_t times = facts_covered(n) ? n->desc->times(n) : 1;

		if (!facts_covered(n) || times < 2) {
			continue;
		} else if (times == INT64_MAX || !found) {
			found = n;
			*period = 1;
		} else {
			*period = (uint64_t)facts_product((int64_t)*period, times);
		}
	}
	return found;
}

enum { FACTS_FILE_BYTES = 4 << 20 };

/* Adds up the bytes and files of the sources below, as far as these are files. Where an
 * element is a whole file or its name, a few files are worth a split, however small. */
static void
facts_weigh(const struct op_node *n, uint64_t *bytes, uint64_t *elements)
{
	struct split_list units = { 0 };
	struct err e;

	for (size_t k = 0; k < n->n_in; k++)
		facts_weigh(n->in[k], bytes, elements);
	if (n->n_in || !n->desc->list || n->desc->list(n, &units, &e) != ST_OK)
		return;
	uint64_t all = (uint64_t)op_indexed(n), least = units.n == all ? FACTS_FILE_BYTES : 0;
	for (size_t k = 0; k < units.n; k++) {
		uint64_t weight = units.v[k].weight > least ? units.v[k].weight : least;

		*bytes += units.v[k].kind == SPLIT_FILE ? weight : 0;
	}
	*elements += all;
	split_list_clear(&units);
}

/* Lists the places of all passes in one row: place p is place p mod N of pass p div N. */
static enum status
facts_list_order(const struct op_node *root, int64_t times, struct split_list *out, struct err *e)
{
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true };
	uint64_t bytes = 0, elements = 0;
	enum status st = op_permute_count(root, &s.of, e);

	if (st != ST_OK)
		return st;
	s.count = (uint64_t)facts_product((int64_t)s.of, times);
	facts_weigh(root, &bytes, &elements);
	if (elements && bytes / elements)
		s.weight = (uint64_t)facts_product((int64_t)s.of, (int64_t)(bytes / elements));
	split_list_add(out, &s);
	return ST_OK;
}

static enum status
facts_list(const struct op_node *n, int64_t times, uint32_t *leaf, bool top,
	   struct split_list *out, struct err *e)
{
	const struct op_node *root = facts_root(n);
	bool cut = top || facts_cuttable(n);
	size_t first = out->n;
	enum status st = ST_OK;

	if (cut)
		times = facts_product(times, facts_times(n));
	if (cut && facts_joins(root)) {
		for (size_t k = 0; st == ST_OK && k < root->n_in; k++)
			st = facts_list(root->in[k], times, leaf, false, out, e);
		return st;
	}
	if (times && cut && root->permutes) {
		st = facts_list_order(root, times, out, e);
		times = 1;
	} else if (times && cut && root->desc->list) {
		st = root->desc->list(root, out, e);
	} else if (times) {
		struct split all = { .kind = SPLIT_ALL };

		split_list_add(out, &all);
	}
	for (size_t k = first; k < out->n; k++) {
		out->v[k].leaf = *leaf;
		out->v[k].times = (uint64_t)times;
	}
	++*leaf;
	return st;
}

enum status
op_list_splits(const struct op_node *n, struct split_list *out, struct err *e)
{
	uint32_t leaf = 0;

	return facts_list(n, 1, &leaf, true, out, e);
}

static bool
facts_is_reshuffle(void *arg, const struct op_node *n)
{
	(void)arg;
	return n->desc->flags & (OP_RESHUFFLES | OP_REMOTE) || op_traits(n) & EXPR_VARIES;
}

bool
facts_reshuffles(const struct op_node *n)
{
	return op_node_find(n, facts_is_reshuffle, NULL) != NULL;
}

static bool
facts_is_timed(void *arg, const struct op_node *n)
{
	(void)arg;
	return n->desc->flags & OP_REMOTE || op_traits(n) & EXPR_TIMED;
}

bool
op_timed(const struct op_node *n)
{
	return op_node_find(n, facts_is_timed, NULL) != NULL;
}

static bool
facts_is_alike(void *arg, const struct op_node *n)
{
	(void)arg;
	return n->desc->flags & OP_ALIKE;
}

bool
op_alike(const struct op_node *n)
{
	return op_node_find(n, facts_is_alike, NULL) != NULL;
}
