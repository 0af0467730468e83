/* SPDX-License-Identifier: MIT
 * join: adds to each record the fields of the rows of another pipeline that have
 * the same key, or only looks whether there are any. That pipeline is read once, and kept.
 */
#include <string.h>

#include "op/kit/fields.h"
#include "op/whole/join_rest.h"
#include "op/pull.h"
#include "op/typed.h"

enum join_kind { JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI, JOIN_RIGHT, JOIN_OUTER };
enum { JOIN_RUN = 4096 };

struct join {
	struct op_node *pipe;
	struct op_expr on, right;
	int kind;
	char *as;
	int64_t mem;
	struct expr_value key;
	struct join_table table;
	struct join_rest rest; /* right, outer */
	struct expr_vm *look;    /* evaluates keys only to ask for what their lookup reads; NULL: x is the key */
	struct keys_ahead ahead;
	bool looks;      /* the keys ahead are those of the run at hand, as evaluating them again gives them */
	bool varies;     /* keys may be others when they are evaluated again */
	bool opened;     /* row belongs to the element at self->at */
	uint32_t row;    /* the row to give next */
	uint64_t given;  /* rows of that element given so far */
};

static const struct param join_params[] = {
	{ "pipeline", PARAM_PIPE, offsetof(struct join, pipe), .flags = PARAM_WHOLE,
	  .help = "the pipeline that gives the rows, which are records" },
	{ "on", PARAM_EXPR, offsetof(struct join, on), .flags = PARAM_KEY_ONLY,
	  .help = "the key, for elements and for rows" },
	{ "right", PARAM_EXPR, offsetof(struct join, right),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the key of a row, if it is another expression" },
	{ "kind", PARAM_CHOICE, offsetof(struct join, kind), "inner", .flags = PARAM_KEY_ONLY,
	  .choices = "inner|left|semi|anti|right|outer",
	  .help = "inner: drop elements without a row; left: keep them, with nulls; semi: give the "
	  "elements that have a row, as they are; anti: those that have none; right: like inner, and at the end "
	  "the rows that no element matched, with nulls; outer: left and right together" },
	{ "as", PARAM_WORD, offsetof(struct join, as), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "field for the whole row, instead of adding its fields to those of x" },
	{ "mem", PARAM_SIZE, offsetof(struct join, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the rows may take" },
	{ 0 }
};

/* Elements are given as they are, or not at all. */
static bool
join_picks(const struct join *j)
{
	return j->kind == JOIN_SEMI || j->kind == JOIN_ANTI;
}

/* Rows that no element has matched are given, too. */
static bool
join_rests(const struct join *j)
{
	return j->kind == JOIN_RIGHT || j->kind == JOIN_OUTER;
}

/* Only who sees all elements knows which rows none of them has matched. */
static enum op_scope
join_scope(const struct op_node *n)
{
	return join_rests(n->params) ? OP_GLOBAL : OP_ELEMENT;
}

static const struct type *
join_type(const struct join *j, struct op_typing *t, const struct type *x)
{
	if (join_picks(j))
		return x;
	if (join_rests(j))
		return join_rest_type(t, x, j->pipe->type, j->as, j->kind == JOIN_OUTER);
	return join_table_type(t, x, j->pipe->type, j->as, j->kind == JOIN_INNER);
}

static enum status
join_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct join *j = n->params;
	const struct fields none = { 0 };
	enum status st = join_picks(j) ? ST_OK : fields_typing(n, t, &none, false, e);

	if (join_picks(j) && j->as) {
		typed_fail(t, n, e, "as= names a field for the row, but kind=%s gives elements as they are",
			   j->kind == JOIN_SEMI ? "semi" : "anti");
		err_help(e, "leave out as=, or write kind=inner");
		return ST_DATA;
	}
	if (st == ST_OK)
		st = expr_value_typing(n, t, &j->on, NULL, e);
	if (st == ST_OK && !j->right.ast) {
		struct buf text = { 0 };
		struct expr_src src = { .file = t->file };

		expr_print(j->on.ast, &text);
		src.text = (char *)text.data;
		src.len = text.len;
		j->right.ast = expr_parse(&src, e);
		st = j->right.ast ? ST_OK : ST_BUG;
		buf_clear(&text);
	}
	if (st == ST_OK) {
		/* The places of on= in the spec do not apply to a text of its own. */
		st = op_compile(t, &j->right, j->pipe->type, NULL, e);
		if (st != ST_OK) {
			err_wrap(e, "the rows of join");
			err_place(e, t->file, t->text, t->text_len, n->at, n->len);
		}
	}
	*type = join_type(j, t, n->in[0]->type);
	return st;
}

static enum status
join_open(struct op_inst *self, struct err *e)
{
	struct join *j = self->state;

	(void)e;
	expr_value_open(self, &j->key, &j->on);
	j->table.keyless = join_rests(j);
	j->varies = expr_traits(j->on.code) & (EXPR_VARIES | EXPR_COUNTS | EXPR_DRAWS | EXPR_TIMED);
	if (j->key.by_expr)
		j->look = op_vm_new(self, &j->on);
	if (join_rests(j))
		join_rest_typed(&j->rest, self->node->in[0]->type);
	return ST_OK;
}

/* Reads all rows, when the first element comes. */
static enum status
join_load(struct op_inst *self, struct err *e)
{
	static const uint8_t nil = 0xc0;
	static const struct elem none = { .p = &nil, .len = 1 };
	struct join *j = self->state;
	struct expr_vm *by;
	struct op_inst *chain;
	enum status st = op_open_inner(j->pipe, self, self->outer ? self->outer : &none, &chain, e);

	if (st != ST_OK)
		return st;
	join_table_clear(&j->table);
	by = op_vm_new(self, &j->right);
	st = join_table_load(self, &j->table, chain, by, (size_t)j->mem, e);
	expr_vm_free(&by);
	op_close(&chain);
	if (st == ST_OK && join_rests(j))
		st = join_rest_begin(&j->rest, self->node, j->table.n, e);
	return st;
}

/* Evaluates the keys of the next elements of a run, to ask for the memory that looking them up will read. Nulls, and
 * what cannot be evaluated, are left until their turn comes. Gives where to do it again. */
static uint32_t
join_look_ahead(struct join *j, const struct run *in, uint32_t from)
{
	uint32_t end = in->n - from < KEYS_AHEAD ? in->n : from + KEYS_AHEAD;
	struct err e;

	keys_ahead_begin(&j->ahead);
	for (uint32_t i = from; i < end; i++) {
		const uint8_t *p = in->e[i].p;
		size_t len = in->e[i].len;

		bool known = !j->look || expr_part(j->look, &in->e[i], &p, &len) ||
			     expr_value(j->look, &in->e[i], &p, &len, &e) == ST_OK;

		if (known && *p != MP_NIL_BYTE)
			join_table_look(&j->table, &j->ahead, &in->e[i], i, p, len);
	}
	join_table_fetch(&j->table, &j->ahead);
	return end;
}

/* Looks up the element's key: ST_OK, ST_SKIP or the error. */
static enum status
join_begin(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct join *j = self->state;
	const uint8_t *key, *p;
	uint32_t pairs;
	size_t len;
	enum status st = ST_OK;
	const struct keys_ahead_key *ahead = j->looks ? keys_ahead_of(&j->ahead, self->at) : NULL;

	if (ahead) {
		j->row = join_table_find_ahead(&j->table, &j->ahead, ahead);
	} else {
		st = expr_value_get(self, &j->key, in, self->at, out, &key, &len, e);
		if (st != ST_OK)
			return st;
		j->row = join_table_find(&j->table, key, len);
	}
	if (!join_picks(j) && !fields_record(self, in, self->at, out, &pairs, &p, &st, e))
		return st == ST_OK ? ST_SKIP : st;
	if (join_rests(j))
		join_rest_first(&j->rest, &in->e[self->at]);
	for (uint64_t k = 0; k < j->given && j->row != JOIN_TABLE_NONE; k++)
		j->row = j->table.items[j->row].next; /* rows given before a restore */
	j->opened = true;
	return ST_OK;
}

static void
join_give(struct join *j, const struct elem *x, struct run *out)
{
	if (join_picks(j)) {
		if ((j->row != JOIN_TABLE_NONE) == (j->kind == JOIN_SEMI))
			run_push(out, *x);
		j->row = JOIN_TABLE_NONE;
		return;
	}
	if (j->row == JOIN_TABLE_NONE && j->given == 0 && (j->kind == JOIN_LEFT || j->kind == JOIN_OUTER))
		join_table_put(&j->table, x, JOIN_TABLE_NONE, j->as, out);
	for (; j->row != JOIN_TABLE_NONE && out->n < JOIN_RUN && !run_full(out); j->given++) {
		join_table_put(&j->table, x, j->row, j->as, out);
		if (join_rests(j))
			join_rest_mark(&j->rest, j->row);
		j->row = j->table.items[j->row].next;
	}
}

static enum status
join_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct join *j = self->state;
	enum status st;

	if (!j->table.loaded && (st = join_load(self, e)) != ST_OK)
		return st;
	uint32_t ahead = join_table_slow(&j->table) ? self->at : in->n;
	j->looks = false;
	for (; self->at < in->n; self->at++) {
		if (self->at >= ahead) {
			ahead = join_look_ahead(j, in, self->at);
			j->looks = !j->varies;
		}
		if (!j->opened) {
			st = join_begin(self, in, out, e);
			if (st == ST_SKIP)
				continue;
			if (st != ST_OK)
				return st;
		}
		join_give(j, &in->e[self->at], out);
		if (j->row != JOIN_TABLE_NONE)
			return ST_AGAIN;
		j->opened = false;
		j->given = 0;
		if (out->n >= JOIN_RUN || run_full(out)) {
			self->at++;
			return ST_AGAIN;
		}
	}
	return ST_OK;
}

static enum status
join_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct join *j = self->state;
	enum status st = ST_OK;

	if (!join_rests(j))
		return ST_END;
	if (!j->table.loaded)
		st = join_load(self, e);
	return st == ST_OK ? join_rest_give(&j->rest, &j->table, j->as, out) : st;
}

static void
join_close(struct op_inst *self)
{
	struct join *j = self->state;

	join_table_clear(&j->table);
	join_rest_clear(&j->rest);
	expr_value_close(&j->key);
	expr_vm_free(&j->look);
	keys_ahead_clear(&j->ahead);
}

/* The rows are not saved: they are read again. Which of them were matched is. */
static void
join_save(struct op_inst *self, struct buf *out)
{
	struct join *j = self->state;

	expr_value_save(&j->key, out);
	state_put_u64(out, j->given);
	if (join_rests(j) && !join_rest_save(&j->rest, out))
		self->unsaved = true;
}

static enum status
join_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct join *j = self->state;
	struct state_in in = state_begin(p, n);

	expr_value_restore(&j->key, &in);
	j->opened = false;
	j->given = state_get_u64(&in, UINT32_MAX);
	join_table_clear(&j->table);
	if (join_rests(j))
		join_rest_restore(&j->rest, &in);
	return state_finish(self, &in, e);
}

const struct op_desc op_join = {
	.name = "join",
	.brief = "adds the fields of rows with the same key to each record",
	.doc = "The other pipeline is read once, before the first element, and its rows are kept "
	       "in memory. An element comes out once for each matching row; if both have a field, "
	       "the element's value is kept. Null matches nothing. Keys of several fields are "
	       "lists: on=[.a, .b]. On workers each stream reads the rows for itself, except with right "
	       "and outer, which must see all elements.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.scope_of = join_scope,
	.params = join_params,
	.state_size = sizeof(struct join),
	.typing = join_typing,
	.open = join_open,
	.feed = join_feed,
	.finish = join_finish,
	.close = join_close,
	.save = join_save,
	.restore = join_restore,
	.example = "elements [{id: 1}, {id: 2}] | join (elements [{id: 2, name: \"ann\"}]) on=.id",
	.output = "{\"id\":2,\"name\":\"ann\"}\n",
};
