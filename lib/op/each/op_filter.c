/* SPDX-License-Identifier: MIT
 * filter: lets those elements through for which a test is true, as they are.
 */
#include "op/each/parallel.h"
#include "op/each/unseen.h"

struct filter {
	struct op_expr test;
	struct expr_run run;
	struct parallel_use threads; /* NULL threads unless parallel */
	struct unseen unseen;
};

static const struct param filter_params[] = {
	{ "test", PARAM_EXPR, offsetof(struct filter, test),
	  .help = "the test; elements for which it is true are kept" },
	PARALLEL_ROWS(struct filter, threads),
	{ 0 }
};

static enum status
filter_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct filter *f = n->params;

	*type = n->in[0]->type;
	return typed_test(n, t, &f->test, e);
}

static int64_t
filter_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == 0 || in[0] == INT64_MAX ? in[0] : -1;
}

static enum status
filter_open(struct op_inst *self, struct err *e)
{
	struct filter *f = self->state;

	(void)e;
	expr_run_open(self, &f->run, &f->test);
	parallel_open(self, &f->threads, &f->test, &f->run, PARALLEL_FILTER);
	unseen_open(self, &f->unseen, &f->test);
	return ST_OK;
}

static enum status
filter_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct filter *f = self->state;

	uint32_t from = self->at, n = out->n;
	enum status st = expr_run_all(self, &f->run, expr_filter, in, out, e);

	if (f->unseen.n && out->n > n)
		unseen_forget(&f->unseen);
	else if (f->unseen.n && st == ST_OK)
		unseen_look(&f->unseen, in, from);
	return st;
}

static enum status
filter_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct filter *f = self->state;

	(void)out;
	(void)e;
	unseen_tell(self, &f->unseen);
	return ST_END;
}

static enum status
filter_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct filter *f = self->state;

	return parallel_next(self, &f->threads, out, e);
}

static void
filter_close(struct op_inst *self)
{
	struct filter *f = self->state;

	unseen_forget(&f->unseen);
	parallel_close(&f->threads);
	expr_run_close(&f->run);
}

static void
filter_save(struct op_inst *self, struct buf *out)
{
	struct filter *f = self->state;

	if (!parallel_save(self, &f->threads, out))
		expr_run_save(&f->run, out);
}

static enum status
filter_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct filter *f = self->state;
	enum status st;

	if (parallel_restore(self, &f->threads, &p, &n, &st, e))
		return st;
	return expr_run_restore(self, &f->run, p, n, e);
}

const struct op_desc op_filter = {
	.name = "filter",
	.aliases = "where",
	.match = "grep",
	.brief = "keeps the elements for which a test is true",
	.doc = "The test can use the element x, its fields as .name, and its number i. Elements are passed on "
	       "unchanged, without being copied. parallel=N works as in map. If dsvc-run keeps no element, and "
	       "no element has a field that the test uses, a note on standard error says so.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EACH | OP_TESTS,
	.params = filter_params,
	.state_size = sizeof(struct filter),
	.typing = filter_typing,
	.cardinality = filter_cardinality,
	.open = filter_open,
	.next = filter_next,
	.feed = filter_feed,
	.finish = filter_finish,
	.close = filter_close,
	.save = filter_save,
	.restore = filter_restore,
	.example = "range 10 | filter x % 3 == 1",
	.output = "1\n4\n7\n",
};
