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
	{ "expr", PARAM_EXPR, offsetof(struct map, expr), .help = "what to give in place of x" },
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
	.brief = "the value of an expression for each element",
	.doc = "In the expression x is the element, .name a field of it, and i its number "
	       "in the stream, from 0. skip() drops the element, fail(\"why\") makes it an "
	       "error, and on_error says what becomes of errors.\n\n"
	       "With parallel=N up to N threads of the pool evaluate it, for blocks of elements "
	       "at a time, larger the less an element costs; what costs so little that handing it "
	       "over would not pay is done as without. What comes out is the same and in the same "
	       "order. With ordered=false it comes as threads finish, save on a worker, whose "
	       "streams must come the same when they are made again. All streams of a process "
	       "share its pool, which -j of dsvc-run and dsvc-work sizes. dsvc-run -j and the "
	       "slots of workers read several splits at once, and often need no parallel= at all.",
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
