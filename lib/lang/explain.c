/* SPDX-License-Identifier: MIT
 *
 * --explain: what is known of a plan before it runs, in words. All is read from
 * the descriptors: which operator means what under which sharding follows from
 * its scope and flags, as in scope.c and in the dispatcher's choice of splits.
 */
#include "lang/explain.h"
#include "op/facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { EXPLAIN_UNITS = 4, EXPLAIN_NAMES = 4 };

/* The operators that matter for sharding, in the order of the spec. */
struct explain {
	const struct op_node *local, *remote, *global, *share;
	const struct op_node *per_stream[EXPLAIN_NAMES], *stream[EXPLAIN_NAMES], *random[EXPLAIN_NAMES];
	const struct op_node *parts[EXPLAIN_NAMES];       /* the first of two steps: partial=make */
	size_t n_per_stream, n_stream, n_random, n_parts; /* counts, which may exceed the room for names */
	const struct op_node *order;             /* the operator that permutes */
	struct split_list units;
	int64_t times;
	bool repeats;
	struct buf *out;
};

static void
explain_note(const struct op_node **v, size_t *n, const struct op_node *node)
{
	if (*n < EXPLAIN_NAMES)
		v[*n] = node;
	++*n;
}

/* Whether it is the half of an aggregate that is done on workers. */
static bool
explain_makes_parts(const struct op_node *n)
{
	const struct param *row = n->desc->combines ? param_find(n->desc->params, "partial", strlen("partial")) : NULL;

	return row && *(const int *)((const char *)n->params + row->offset) == PARTIAL_MAKE;
}

/* Collects what matters below n. indexed: n is before an operator that reads by index, so that
 * nothing there counts the elements of a part. */
static void
explain_walk(struct explain *x, const struct op_node *n, bool indexed)
{
	const struct op_desc *d = n->desc;

	for (size_t i = 0; i < n->n_in; i++)
		explain_walk(x, n->in[i], indexed || n->permutes);
	if (op_is_local(n) && !x->local)
		x->local = n;
	if (d->flags & (OP_BORDER | OP_REMOTE) && !x->remote)
		x->remote = n;
	if (d->flags & OP_RANDOM)
		explain_note(x->random, &x->n_random, n);
	if (n->permutes)
		x->order = n;
	if (n->permutes || indexed)
		return;
	if (op_scope_of(n) == OP_GLOBAL && n->per_stream)
		explain_note(x->per_stream, &x->n_per_stream, n);
	else if (op_scope_of(n) == OP_GLOBAL && !x->global)
		x->global = n;
	if (explain_makes_parts(n))
		explain_note(x->parts, &x->n_parts, n);
	else if (op_scope_of(n) == OP_STREAM && !d->times)
		explain_note(x->stream, &x->n_stream, n);
	x->repeats |= d->times != NULL;
}

/* Appends names: `batch`, `scan` and 2 more. */
static void
explain_names(struct buf *out, const struct op_node *const *v, size_t n)
{
	size_t shown = n < EXPLAIN_NAMES ? n : EXPLAIN_NAMES;

	for (size_t i = 0; i < shown; i++)
		buf_printf(out, "%s`%s`", !i ? "" : i + 1 == n ? " and " : ", ", v[i]->desc->name);
	if (n > shown)
		buf_printf(out, " and %zu more", n - shown);
}

static void
explain_unit(const struct split *s, struct buf *out)
{
	buf_str(out, "  ");
	switch (s->kind) {
	case SPLIT_ALL:
		buf_str(out, "all of the source, by one worker");
		break;
	case SPLIT_RANGE:
		if (s->of)
			buf_printf(out, "one random order of %" PRIu64 " elements, %scut into ranges", s->of,
				   s->count != s->of ? "another in each pass, " : "");
		else if (s->count >= INT64_MAX)
			buf_printf(out, "elements from %" PRIu64 " on, without end", s->start);
		else if (!s->count)
			buf_str(out, "no elements");
		else
			buf_printf(out, "elements %" PRIu64 " to %" PRIu64, s->start,
				   s->start + s->count - 1);
		if (!s->of)
			buf_str(out, s->cuttable ? ", cut into ranges" : ", not to be cut");
		break;
	case SPLIT_FILE:
		buf_str(out, s->path ? s->path : "a file");
		if (!s->cuttable)
			buf_str(out, ", the whole file");
		else if (s->count)
			buf_printf(out, ", bytes %" PRIu64 " to %" PRIu64 ", cut into byte ranges between "
				   "elements", s->start, s->start + s->count - 1);
		else
			buf_str(out, ", cut into byte ranges between elements");
		break;
	}
	buf_byte(out, '\n');
}

static void
explain_units(const struct explain *x)
{
	size_t cuttable = 0;
	const struct split_list *u = &x->units;

	for (size_t i = 0; i < u->n; i++)
		cuttable += u->v[i].cuttable;
	buf_printf(x->out, "splits: %zu unit%s", u->n, u->n == 1 ? "" : "s");
	if (u->n && !cuttable)
		buf_printf(x->out, ", none to be cut: work for %zu worker%s at a time", u->n,
			   u->n == 1 ? "" : "s");
	else if (u->n > 1 && cuttable < u->n)
		buf_printf(x->out, ", %zu of them to be cut", cuttable);
	if (x->times == INT64_MAX)
		buf_str(x->out, "; read again and again");
	else if (x->times != 1)
		buf_printf(x->out, "; read %" PRId64 " times", x->times);
	buf_byte(x->out, '\n');
	for (size_t i = 0; i < u->n && i < EXPLAIN_UNITS; i++)
		explain_unit(&u->v[i], x->out);
	if (u->n > EXPLAIN_UNITS)
		buf_printf(x->out, "  and %zu more\n", u->n - EXPLAIN_UNITS);
}

/* Explains what no policy can run; true when there was something to explain. */
static bool
explain_refused(const struct explain *x)
{
	if (x->local)
		buf_printf(x->out, "refused: `%s` reads this process's own input, which workers do "
			   "not have\n", x->local->desc->name);
	else if (x->remote)
		buf_printf(x->out, "refused: `%s` takes its elements from the service itself\n",
			   x->remote->desc->name);
	else if (x->share)
		buf_printf(x->out, "refused: `%s` takes its share from the job, with --sharding hint\n", x->share->text);
	return x->local || x->remote || x->share;
}

static void
explain_off(const struct explain *x, int64_t count)
{
	struct buf *out = x->out;

	buf_str(out, "  off      ");
	if (explain_refused(x))
		return;
	buf_str(out, "N workers give N whole copies");
	if (count == INT64_MAX)
		buf_str(out, ", each without end");
	else if (count >= 0)
		buf_printf(out, " of %" PRId64 " element%s", count, count == 1 ? "" : "s");
	if (x->n_random) {
		buf_str(out, ", each with random numbers of its own in ");
		explain_names(out, x->random, x->n_random);
	} else {
		buf_str(out, ", all alike");
	}
	buf_byte(out, '\n');
}

static void
explain_dynamic(const struct explain *x)
{
	const struct split_list *u = &x->units;
	struct buf *out = x->out;

	buf_str(out, "  dynamic  ");
	if (explain_refused(x))
		return;
	if (x->global) {
		buf_printf(out, "refused: operator %u `%s` must see all elements, but each "
			   "worker sees only some;\n           put it after `distribute`, or write "
			   "per_stream=true\n", x->global->place, x->global->text);
		return;
	}
	/* The dispatcher does the same: a source that cannot be divided is one stream with
	 * everything. */
	if (u->n == 1 && u->v[0].kind == SPLIT_ALL && x->times == 1) {
		buf_str(out, "exactly once, but by one worker: the source cannot be divided\n");
		return;
	}
	buf_str(out, "exactly once: the workers divide the source, together they use each of its "
		"elements once");
	if (x->repeats)
		buf_str(out, " in each pass");
	buf_byte(out, '\n');
	if (x->order)
		buf_printf(out, "           `%s` puts the whole into one random order, of which each worker reads "
			   "parts\n", x->order->text);
	if (x->n_stream) {
		buf_str(out, "           ");
		explain_names(out, x->stream, x->n_stream);
		buf_printf(out, " work%s on each worker's part alone, with an end for each stream\n",
			   x->n_stream == 1 ? "s" : "");
	}
	if (x->n_parts) {
		buf_str(out, "           ");
		explain_names(out, x->parts, x->n_parts);
		buf_printf(out, " give%s one answer for all elements, in two steps: each worker does it for its part, and the "
			   "reader joins\n           those answers (partial=join)\n", x->n_parts == 1 ? "s" : "");
	}
	if (x->n_per_stream) {
		buf_str(out, "           ");
		explain_names(out, x->per_stream, x->n_per_stream);
		buf_printf(out, " give%s an answer for each worker's part (per_stream=true)\n",
			   x->n_per_stream == 1 ? "s" : "");
	}
}

/* Each stream has files of its own: the k-th of N those with the numbers k, k + N, ... */
static void
explain_file(const struct explain *x)
{
	size_t files = 0;

	if (x->local || x->remote || x->share)
		return;
	for (size_t i = 0; i < x->units.n; i++)
		files += x->units.v[i].kind == SPLIT_FILE;
	if (!files || files < x->units.n)
		buf_str(x->out, "  file     refused: the source is not divided into files\n");
	else if (x->global)
		buf_printf(x->out, "  file     refused: `%s` must see all elements\n", x->global->desc->name);
	else
		buf_printf(x->out, "  file     exactly once: N streams (--shards, at most %zu), number I reads every N-th of the "
			   "%zu file%s\n", files, files, files == 1 ? "" : "s");
}

static void
explain_data(const struct explain *x, const struct op_node *top)
{
	bool by_index;
	const struct op_node *behind = op_shard_place(top, &by_index);

	if (x->local || x->remote || x->share)
		return;
	if (op_timed(top)) {
		buf_str(x->out, "  data     refused: another run may give other elements\n");
		return;
	}
	buf_str(x->out, "  data     exactly once: N streams (--shards), number I gives every N-th element;\n           ");
	if (by_index)
		buf_str(x->out, "the source is read by index, so that nothing is made twice\n");
	else
		buf_printf(x->out, "each makes all elements as far as `%s`%s\n", behind->desc->name,
			   behind != top ? ", and behind it only its own" : "");
}

static void
explain_hint(const struct explain *x)
{
	if (x->local || x->remote)
		return;
	buf_printf(x->out, "  hint     %s\n", x->share ? "N streams (--shards), each gives what `shard auto auto` leaves it" :
		   "N streams give N whole copies, for there is no `shard auto auto`");
}

/* Explains a plan that could be registered: where it is cut, and what each policy gives. */
static enum status
explain_sharding(const struct plan *p, struct buf *out, struct err *e)
{
	struct explain x = { .out = out, .times = 1, .share = p->by_share };
	enum status st = ST_OK;

	explain_walk(&x, p->top, false);
	bool may = !x.local && !x.remote;
	if (may) {
		x.times = op_split_times(p->top);
		st = op_list_splits(p->top, &x.units, e);
	}
	if (!st && may)
		explain_units(&x);
	if (!st) {
		buf_str(out, "sharding:\n");
		explain_off(&x, op_elements_of(p->top));
		explain_dynamic(&x);
		explain_file(&x);
		explain_data(&x, p->top);
		explain_hint(&x);
	}
	const struct op_node *exec = op_needs_exec(p->top);
	if (!st && may && exec)
		buf_printf(out, "operator %u `%s` runs programs: workers on TCP need --allow-exec\n",
			   exec->place, exec->text);
	split_list_clear(&x.units);
	return st;
}

/* Says of each aggregate that is not done in two steps why that is. */
static void
explain_whole(const struct op_node *n, struct buf *out)
{
	for (size_t i = 0; i < n->n_in; i++)
		explain_whole(n->in[i], out);
	if (n->whole_why)
		buf_printf(out, "operator %u `%s` is done by the reader for all elements: %s\n", n->place, n->text, n->whole_why);
}

enum status
plan_explain(const struct plan *p, const struct op_service *service, struct buf *out, struct err *e)
{
	struct plan *part = NULL;

	plan_print_counted(p, out);
	if (!p->border || !p->border->remote_spec)
		return explain_sharding(p, out, e);
	explain_whole(p->top, out);
	/* The part before the border exists as text only. */
	struct spec_src src = { .text = p->border->remote_spec, .file = "<workers>", .service = service };
	for (const char *c = src.text; *c; c++)
		src.len++;
	enum status st = plan_make(&src, &part, e);
	if (!st) {
		buf_str(out, "on workers:\n");
		plan_print_counted(part, out);
		st = explain_sharding(part, out, e);
	}
	plan_free(&part);
	return st;
}
