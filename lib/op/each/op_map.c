/* SPDX-License-Identifier: MIT
 * map: gives, for each element, the value of an expression.
 */
#include "op/each/parallel.h"

struct map {
	struct op_expr expr;
	struct expr_run run;
	struct parallel_use threads; /* NULL threads unless parallel */
};

static const struct param map_params[] = {
	{ "expr", PARAM_EXPR, offsetof(struct map, expr), .help = "the new value of the element" },
	PARALLEL_ROWS(struct map, threads),
	{ 0 }
};

static enum status
map_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct map *m = n->params;
	enum status st = op_compile(t, &m->expr, n->in[0]->type, NULL, e);

	if (st == ST_OK)
		*type = expr_type(m->expr.code);
	return st;
}

static int64_t
map_cardinality(const struct op_node *n, const int64_t *in)
{
	return typed_one_each(n) ? in[0] : -1;
}

static enum status
map_open(struct op_inst *self, struct err *e)
{
	struct map *m = self->state;

	(void)e;
	expr_run_open(self, &m->run, &m->expr);
	parallel_open(self, &m->threads, &m->expr, &m->run, PARALLEL_MAP);
	return ST_OK;
}

static enum status
map_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct map *m = self->state;

	return expr_run_all(self, &m->run, expr_map, in, out, e);
}

static enum status
map_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct map *m = self->state;

	return parallel_next(self, &m->threads, out, e);
}

static void
map_close(struct op_inst *self)
{
	struct map *m = self->state;

	parallel_close(&m->threads);
	expr_run_close(&m->run);
}

static void
map_save(struct op_inst *self, struct buf *out)
{
	struct map *m = self->state;

	if (!parallel_save(self, &m->threads, out))
		expr_run_save(&m->run, out);
}

static enum status
map_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct map *m = self->state;
	enum status st;

	if (parallel_restore(self, &m->threads, &p, &n, &st, e))
		return st;
	return expr_run_restore(self, &m->run, p, n, e);
}

const struct op_desc op_map = {
	.name = "map",
	.brief = "replaces each element by the value of an expression",
	.doc = "In the expression x is the element, .name one of its fields, and i its number in the stream, "
	       "from 0. skip() drops the element, and fail(\"why\") makes it an error; on_error decides what "
	       "happens to errors.\n\nWith parallel=N up to N threads of the pool evaluate the expression. "
	       "They work on blocks of elements, which are larger if an element takes little time; cheap "
	       "expressions are evaluated in place. The results and their order stay the same. With "
	       "ordered=false results come in the order in which threads finish, except on a worker, since it "
	       "must be possible to produce its streams again. All streams of a process share one pool; -j of "
	       "dsvc-run and --slots of dsvc-work set its size. Since dsvc-run -j and the slots of workers "
	       "already read several splits at once, parallel= is often unnecessary.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_BY_EXPR | OP_EACH,
	.params = map_params,
	.state_size = sizeof(struct map),
	.typing = map_typing,
	.cardinality = map_cardinality,
	.open = map_open,
	.next = map_next,
	.feed = map_feed,
	.close = map_close,
	.save = map_save,
	.restore = map_restore,
	.example = "range 4 | map {n: x, square: x * x}",
	.output = "{\"n\":0,\"square\":0}\n{\"n\":1,\"square\":1}\n"
		  "{\"n\":2,\"square\":4}\n{\"n\":3,\"square\":9}\n",
};
