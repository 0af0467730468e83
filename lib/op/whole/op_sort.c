/* SPDX-License-Identifier: MIT
 * sort: gives all elements in order, when the last has come. What does not fit
 * into mem= is sorted in parts, in a temporary file.
 */
#include "op/kit/expr_value.h"
#include "op/whole/sorter.h"

struct sort {
	struct op_expr by;
	bool reverse;
	int64_t mem;
	char *tmp;
	struct expr_value key;
	struct sorter *sorter;
};

static const struct param sort_params[] = {
	{ "by", PARAM_EXPR, offsetof(struct sort, by), .flags = PARAM_OPTIONAL,
	  .help = "the value to compare; by default the whole element" },
	{ "reverse", PARAM_BOOL, offsetof(struct sort, reverse), "false", .flags = PARAM_KEY_ONLY,
	  .help = "greatest first" },
	{ "mem", PARAM_SIZE, offsetof(struct sort, mem), "256M", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX,
	  .help = "bytes of memory to sort in; the rest goes to a temporary file" },
	{ "tmp", PARAM_WORD, offsetof(struct sort, tmp), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "folder for the temporary file; by default $TMPDIR, or /tmp" },
	{ 0 }
};

static enum status
sort_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct sort *s = n->params;

	*type = n->in[0]->type;
	return expr_value_typing(n, t, &s->by, NULL, e);
}

static int64_t
sort_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP && in[0] != INT64_MAX ? -1 : in[0];
}

static enum status
sort_open(struct op_inst *self, struct err *e)
{
	struct sort *s = self->state;

	(void)e;
	expr_value_open(self, &s->key, &s->by);
	s->sorter = sorter_new((size_t)s->mem, s->reverse, s->tmp);
	return ST_OK;
}

static enum status
sort_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct sort *s = self->state;
	enum status st = ST_OK;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const struct elem *x = &in->e[i];

		if (!s->key.by_expr) {
			st = sorter_add(s->sorter, NULL, 0, x->p, x->len, e);
			continue;
		}
		st = expr_value_get(self, &s->key, in, i, out, &p, &len, e);
		if (st == ST_OK)
			st = sorter_add(s->sorter, p, len, x->p, x->len, e);
		else if (st == ST_SKIP)
			st = ST_OK;
		else
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails would come out of order */
	return st == ST_OK ? st : op_blame(self->node, e);
}

static enum status
sort_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct sort *s = self->state;
	enum status st = sorter_give(s->sorter, out, e);

	return st == ST_OK || st == ST_END ? st : op_blame(self->node, e);
}

static void
sort_close(struct op_inst *self)
{
	struct sort *s = self->state;

	sorter_free(&s->sorter);
	expr_value_close(&s->key);
}

static void
sort_save(struct op_inst *self, struct buf *out)
{
	struct sort *s = self->state;

	self->unsaved = !sorter_can_save(s->sorter);
	if (self->unsaved)
		return;
	expr_value_save(&s->key, out);
	sorter_save(s->sorter, true, out);
}

/* Elements that were sorted when they were saved are sorted again, which keeps their order. */
static enum status
sort_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct sort *s = self->state;
	struct state_in in = state_begin(p, n);
	enum status st = ST_OK;
	struct elem key = { 0 }, x;

	expr_value_restore(&s->key, &in);
	sorter_free(&s->sorter);
	s->sorter = sorter_new((size_t)s->mem, s->reverse, s->tmp);
	while (st == ST_OK && !in.bad && in.p < in.end) {
		if (s->key.by_expr)
			state_get_elem(&in, &key);
		if (state_get_elem(&in, &x))
			st = sorter_add(s->sorter, key.p, key.len, x.p, x.len, e);
	}
	return st == ST_OK ? state_finish(self, &in, e) : st;
}

const struct op_desc op_sort = {
	.name = "sort",
	.brief = "sorts the elements",
	.doc = "Values of any kind can be compared. They come in this order: null, false, true, "
	       "numbers, texts (by their bytes), bytes, lists (item by item), records. Equal "
	       "elements keep their order, also with reverse=true. To sort by several keys give a "
	       "list: sort [.year, .name]. Elements for which mem= is too small are sorted in a "
	       "temporary file, whose size --tmp-max limits. All threads (-j) sort what is in "
	       "memory.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_REORDERS | OP_PASSES | OP_BY_EXPR,
	.params = sort_params,
	.state_size = sizeof(struct sort),
	.typing = sort_typing,
	.cardinality = sort_cardinality,
	.open = sort_open,
	.feed = sort_feed,
	.finish = sort_finish,
	.close = sort_close,
	.save = sort_save,
	.restore = sort_restore,
	.example = "elements [{n: 2, t: \"b\"}, {n: 1, t: \"c\"}, {n: 2, t: \"a\"}] | sort .n reverse=true",
	.output = "{\"n\":2,\"t\":\"b\"}\n{\"n\":2,\"t\":\"a\"}\n{\"n\":1,\"t\":\"c\"}\n",
};
