/* SPDX-License-Identifier: MIT
 * unique: lets each element through when it, or its key, is seen for the first time.
 */
#include "op/kit/expr_value.h"
#include "op/kit/keys_ahead.h"
#include "op/whole/partial.h"

enum {
	/* For partial=make: keys, or bytes of them, after which all are forgotten. If hardly an element was
	 * dropped until then, as many pass unseen as UNIQUE_PASS says. */
	UNIQUE_KEYS = 1 << 16, UNIQUE_BYTES = 8 << 20, UNIQUE_PASS = 1 << 19
};

struct unique {
	struct op_expr key;
	int partial; /* enum op_partial; join is as none: what is left of the parts goes through it again */
	int64_t mem;
	uint64_t taken, pass; /* partial=make: elements since all was forgotten, and those that still pass */
	struct expr_run run;
	struct key_table keys;    /* keys that were seen */
	struct keys_ahead ahead;  /* those of the next elements */
};

static const struct param unique_params[] = {
	{ "key", PARAM_EXPR, offsetof(struct unique, key), .flags = PARAM_OPTIONAL,
	  .help = "the key that must differ; by default the whole element" },
	PARTIAL_ROW(struct unique),
	{ "mem", PARAM_SIZE, offsetof(struct unique, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the remembered keys may take" },
	{ 0 }
};

static enum op_scope
unique_scope(const struct op_node *n)
{
	return partial_scope(((const struct unique *)n->params)->partial);
}

static bool
unique_partwise(const struct op_node *n, const char **remedy)
{
	(void)remedy;
	return ((const struct unique *)n->params)->partial == PARTIAL_MAKE;
}

static bool
unique_combines(const struct op_node *n, const char **why)
{
	(void)n, (void)why;
	return true;
}

static enum status
unique_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct unique *u = n->params;

	*type = n->in[0]->type;
	return u->key.ast ? op_compile(t, &u->key, n->in[0]->type, NULL, e) : ST_OK;
}

static int64_t
unique_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == 0 || in[0] == 1 || in[0] == INT64_MAX ? in[0] : -1;
}

static enum status
unique_open(struct op_inst *self, struct err *e)
{
	struct unique *u = self->state;

	(void)e;
	if (u->key.code)
		expr_run_open(self, &u->run, &u->key);
	return ST_OK;
}

static enum status
unique_limit(struct op_inst *self, struct err *e)
{
	struct unique *u = self->state;

	if (key_table_size(&u->keys) <= (size_t)u->mem)
		return ST_OK;
	err_set(e, ST_DATA, "the %u keys that were seen take more than mem=%lld bytes", u->keys.n,
		(long long)u->mem);
	err_help(e, "make mem= larger, or put `sort` first, which uses files, and `dedup` instead of unique");
	return op_blame(self->node, e);
}

/* Forgets the keys when they are many. */
static void
unique_forget(struct unique *u)
{
	if (u->keys.n < UNIQUE_KEYS && u->keys.len < UNIQUE_BYTES)
		return;
	u->pass = u->keys.n > u->taken - u->taken / 10 ? UNIQUE_PASS : 0;
	u->taken = 0;
	key_table_clear(&u->keys);
}

/* Lets through those of the next `most` elements from *i on whose keys are new. ST_SKIP: none of them
 * had a key, and on_error has dealt with that. */
static enum status
unique_take(struct op_inst *self, const struct run *in, uint32_t *i, uint32_t most, struct run *out, struct err *e)
{
	struct unique *u = self->state;
	enum status st = ST_OK;

	keys_ahead_begin(&u->ahead);
	for (; *i < in->n && u->ahead.n < most; ++*i) {
		const struct elem *x = &in->e[*i];
		const uint8_t *p = x->p;
		size_t len = x->len;

		if (u->run.vm)
			st = expr_run_one(self, &u->run, in, *i, out, &p, &len, e);
		if (st == ST_OK)
			keys_ahead_add(&u->ahead, &u->keys, x, *i, p, len);
		else if (st != ST_SKIP)
			break;
	}
	keys_ahead_fetch(&u->ahead, &u->keys);
	for (uint32_t k = 0; k < u->ahead.n; k++) {
		const struct keys_ahead_key *key = &u->ahead.v[k];
		bool fresh;

		key_table_add_code(&u->keys, keys_ahead_at(&u->ahead, k), key->len, key->code, &fresh);
		if (fresh)
			run_push(out, in->e[key->i]);
	}
	return st == ST_SKIP && u->ahead.n ? ST_OK : st;
}

/* Drops what it remembers to have seen; the reader drops the rest. */
static enum status
unique_make(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unique *u = self->state;

	for (uint32_t i = 0; i < in->n;) {
		if (u->pass) {
			u->pass--;
			run_push(out, in->e[i++]);
			continue;
		}
		enum status st = unique_take(self, in, &i, 1, out, e);

		if (st != ST_OK && st != ST_SKIP)
			return st;
		if (st != ST_OK)
			continue;
		u->taken++;
		unique_forget(u);
	}
	return ST_OK;
}

/* How many elements are looked up together. One that fails and is kept must come out in its place. */
static uint32_t
unique_ahead(const struct op_inst *self)
{
	return self->node->on_error == OP_KEEP ? 1 : KEYS_AHEAD;
}

static enum status
unique_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unique *u = self->state;

	if (u->partial == PARTIAL_MAKE)
		return unique_make(self, in, out, e);
	for (uint32_t i = 0; i < in->n;) {
		enum status st = unique_take(self, in, &i, unique_ahead(self), out, e);

		if (st != ST_OK && st != ST_SKIP)
			return st;
	}
	return unique_limit(self, e);
}

static void
unique_close(struct op_inst *self)
{
	struct unique *u = self->state;

	expr_run_close(&u->run);
	key_table_clear(&u->keys);
	keys_ahead_clear(&u->ahead);
}

static void
unique_save(struct op_inst *self, struct buf *out)
{
	struct unique *u = self->state;

	state_put_u64(out, u->run.seen);
	state_put_u64(out, u->taken);
	state_put_u64(out, u->pass);
	state_put_u64(out, u->keys.n);
	for (uint32_t i = 0; i < u->keys.n; i++) {
		uint32_t len;
		const uint8_t *p = key_table_at(&u->keys, i, &len);

		buf_put(out, p, len);
	}
}

static enum status
unique_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct unique *u = self->state;
	struct state_in in = state_begin(p, n);

	u->run.seen = state_get_u64(&in, INT64_MAX);
	u->taken = state_get_u64(&in, UINT64_MAX);
	u->pass = state_get_u64(&in, UNIQUE_PASS);
	uint64_t count = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t i = 0; i < count && !in.bad; i++) {
		struct elem key;
		bool fresh;

		if (state_get_elem(&in, &key))
			key_table_add(&u->keys, key.p, key.len, &fresh);
	}
	if (u->run.vm)
		expr_vm_set_index(u->run.vm, (int64_t)u->run.seen);
	return state_finish(self, &in, e);
}

const struct op_desc op_unique = {
	.name = "unique",
	.brief = "drops elements, or keys, that have been seen before",
	.doc = "Of several equal elements the first is passed on. All keys are remembered, so memory grows "
	       "with the number of different keys, up to mem=. Directly after `distribute`, each stream drops "
	       "repetitions in its part, as far as its memory reaches, and the reader drops the rest.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.scope_of = unique_scope,
	.partwise = unique_partwise,
	.combines = unique_combines,
	.flags = OP_PASSES,
	.params = unique_params,
	.state_size = sizeof(struct unique),
	.typing = unique_typing,
	.cardinality = unique_cardinality,
	.open = unique_open,
	.feed = unique_feed,
	.close = unique_close,
	.save = unique_save,
	.restore = unique_restore,
	.example = "elements [\"b\", \"a\", \"b\", \"c\", \"a\"] | unique",
	.output = "b\na\nc\n",
};
