/* SPDX-License-Identifier: MIT
 * unnest: gives a record for each item of a list in one of its fields, with the
 * item in the list's place.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "op/state.h"
#include "value/mp.h"

enum { UNNEST_RUN = 4096 };
enum unnest_empty { UNNEST_NULL, UNNEST_DROP };

/* The element at hand. */
struct unnest_at {
	uint32_t pairs;
	const uint8_t *p, *key, *value, *next, *end; /* first pair; the field's name, value, end; end of the record */
	struct mp list;
	const uint8_t *item;  /* where the next item begins; NULL: the text is used up */
	uint64_t left;        /* items of a list; of a text 1 as long as there is one */
};

struct unnest {
	char *field, *sep, *as;
	int empty;
	struct fields fields;
	bool opened;          /* `at` belongs to the element at self->at */
	struct unnest_at now;
	uint64_t given;       /* items of that element given so far */
};

static const struct param unnest_params[] = {
	{ "field", PARAM_WORD, offsetof(struct unnest, field), .help = "the field with a list" },
	{ "sep", PARAM_WORD, offsetof(struct unnest, sep), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "text between items, for a field that is a text" },
	{ "as", PARAM_WORD, offsetof(struct unnest, as), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "another name for the field" },
	{ "empty", PARAM_CHOICE, offsetof(struct unnest, empty), "null", .flags = PARAM_KEY_ONLY,
	  .choices = "null|drop",
	  .help = "for an empty list, or null: give a record with null, or none" },
	{ 0 }
};

static const struct type *
unnest_item_type(const struct unnest *u, struct op_typing *t, const struct type *of)
{
	const struct type *item = NULL;

	if (of->kind == TYPE_LIST)
		item = of->item;
	else if (of->kind == TYPE_ANY || of->kind == TYPE_NIL)
		item = type_scalar(TYPE_ANY);
	else if (of->kind == TYPE_TEXT && u->sep)
		item = type_scalar(TYPE_TEXT);
	return item && u->empty == UNNEST_NULL ? type_nullable(t->arena, item) : item;
}

static enum status
unnest_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct unnest *u = n->params;
	const struct type *x = n->in[0]->type;
	struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);
	struct fields f = { 0 };
	enum status st = u->sep && !*u->sep ? err_set(e, ST_DATA, "sep= is empty") : fields_read_one(u->field, &f, e);

	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	*type = x->kind == TYPE_RECORD ? x : type_scalar(TYPE_ANY);
	for (size_t i = 0; st == ST_OK && x->kind == TYPE_RECORD && i < x->n_fields; i++) {
		v[i] = x->fields[i];
		if (strlen(v[i].name) != f.v[0].len || memcmp(v[i].name, f.v[0].name, f.v[0].len) != 0)
			continue;
		v[i].type = unnest_item_type(u, t, x->fields[i].type);
		if (u->as)
			v[i].name = u->as;
		if (!v[i].type) {
			st = typed_fail(t, n, e, "the field `%s` is not a list", x->fields[i].name);
			err_help(e, x->fields[i].type->kind == TYPE_TEXT ? "sep=\",\" takes a text apart" :
				 "only a list can be unnested");
		}
	}
	if (st == ST_OK && x->kind == TYPE_RECORD)
		*type = type_record(t->arena, v, x->n_fields, x->open);
	mem_free(v);
	fields_forget(&f);
	return st;
}

static enum status
unnest_open(struct op_inst *self, struct err *e)
{
	struct unnest *u = self->state;

	return fields_read_one(u->field, &u->fields, e);
}

/* Finds the field; false: the record lacks it. */
static bool
unnest_find(const struct unnest *u, struct unnest_at *a)
{
	const uint8_t *p = a->p;
	struct field_name name;

	for (uint32_t k = 0; k < a->pairs; k++, p = a->next) {
		a->next = fields_pair(p, a->end, &name, &a->value);
		a->key = p;
		if (fields_find(&u->fields, (const uint8_t *)name.name, name.len, 0) == 0)
			return true;
	}
	return false;
}

/* Steps to the next item: its bytes are appended to a text or lent; false: there is none. */
static bool
unnest_step(const struct unnest *u, struct unnest_at *a, const uint8_t **p, size_t *len, bool *text)
{
	const uint8_t *end = a->next;

	*text = a->list.kind == MP_TEXT;
	if (!a->left)
		return false;
	*p = a->item;
	if (*text) {
		size_t sep = strlen(u->sep);
		const uint8_t *cut = memmem(a->item, (size_t)(end - a->item), u->sep, sep);

		*len = (size_t)((cut ? cut : end) - a->item);
		a->left = cut != NULL;
		a->item = cut ? cut + sep : end;
	} else {
		a->item = mp_skip(a->item, end);
		*len = (size_t)(a->item - *p);
		a->left--;
	}
	return true;
}

/* Takes up the element at self->at: ST_OK, ST_SKIP (it gives nothing) or the error. */
static enum status
unnest_begin(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unnest *u = self->state;
	struct unnest_at *a = &u->now;
	const struct elem *x = &in->e[self->at];
	enum status st = ST_OK;
	const uint8_t *p;
	size_t len;
	bool text;

	*a = (struct unnest_at){ .end = x->p + x->len };
	if (!fields_record(self, in, self->at, out, &a->pairs, &a->p, &st, e))
		return st == ST_OK ? ST_SKIP : st;
	if (!unnest_find(u, a)) {
		st = expr_run_wrong(self, in, self->at, out, e, "the record has no field `%.60s`", u->field);
		return st == ST_OK ? ST_SKIP : st;
	}
	mp_head(a->value, a->next, &a->list);
	bool list = a->list.kind == MP_LIST, parts = a->list.kind == MP_TEXT && u->sep;
	if (!list && !parts && a->list.kind != MP_NIL) {
		st = expr_run_wrong(self, in, self->at, out, e, "the field `%.60s` is not a list%s", u->field,
				    a->list.kind == MP_TEXT ? " (sep=\",\" takes a text apart)" : "");
		return st == ST_OK ? ST_SKIP : st;
	}
	a->item = a->list.p;
	a->left = list ? a->list.n : parts && a->list.n;
	for (uint64_t k = 0; k < u->given; k++)
		if (!unnest_step(u, a, &p, &len, &text)) /* items given before a restore */
			return ST_OK;
	return ST_OK;
}

static void
unnest_put(const struct unnest *u, const struct elem *x, const uint8_t *p, size_t len, bool text, struct run *out)
{
	const struct unnest_at *a = &u->now;
	size_t as = u->as ? strlen(u->as) : 0;
	uint8_t *w = run_room(out, x->len + len + as + 4 * MP_HEAD_MAX);
	size_t before = (size_t)(a->key - a->p), key = (size_t)(a->value - a->key), after = (size_t)(a->end - a->next);

	w = mp_put_record_head(w, a->pairs);
	memcpy(w, a->p, before);
	w += before;
	if (u->as) {
		w = mp_put_text(w, u->as, (uint32_t)as);
	} else {
		memcpy(w, a->key, key);
		w += key;
	}
	if (!p) {
		w = mp_put_nil(w);
	} else {
		if (text)
			w = mp_put_text_head(w, (uint32_t)len);
		memcpy(w, p, len);
		w += len;
	}
	memcpy(w, a->next, after);
	run_done(out, w + after, x->pos);
}

/* Gives items of the element until it has no more, or the run is full: false. */
static bool
unnest_give(struct unnest *u, const struct elem *x, struct run *out)
{
	const uint8_t *p;
	size_t len;
	bool text;

	for (; out->n < UNNEST_RUN && !run_full(out); u->given++) {
		if (unnest_step(u, &u->now, &p, &len, &text))
			unnest_put(u, x, p, len, text, out);
		else if (!u->given && u->empty == UNNEST_NULL)
			unnest_put(u, x, NULL, 0, false, out);
		else
			return true;
	}
	return false;
}

static enum status
unnest_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unnest *u = self->state;

	for (; self->at < in->n; self->at++) {
		if (!u->opened) {
			enum status st = unnest_begin(self, in, out, e);

			if (st == ST_SKIP)
				continue;
			if (st != ST_OK)
				return st;
		}
		u->opened = true;
		if (!unnest_give(u, &in->e[self->at], out))
			return ST_AGAIN;
		u->opened = false;
		u->given = 0;
	}
	return ST_OK;
}

static void
unnest_close(struct op_inst *self)
{
	struct unnest *u = self->state;

	fields_forget(&u->fields);
}

static void
unnest_save(struct op_inst *self, struct buf *out)
{
	struct unnest *u = self->state;

	state_put_u64(out, u->given);
}

static enum status
unnest_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct unnest *u = self->state;
	struct state_in in = state_begin(p, n);

	u->given = state_get_u64(&in, UINT32_MAX);
	u->opened = false;
	return state_finish(self, &in, e);
}

const struct op_desc op_unnest = {
	.name = "unnest",
	.aliases = "explode",
	.brief = "gives a record for each item of a list in a field",
	.doc = "The item takes the list's place, and the other fields are repeated. With sep= the field may also be "
	       "a text, which is taken apart. The counterpart is nest.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.params = unnest_params,
	.state_size = sizeof(struct unnest),
	.typing = unnest_typing,
	.open = unnest_open,
	.feed = unnest_feed,
	.close = unnest_close,
	.save = unnest_save,
	.restore = unnest_restore,
	.example = "elements [{id: 1, tags: [\"a\", \"b\"]}, {id: 2, tags: [\"c\"]}] | unnest tags as=tag",
	.output = "{\"id\":1,\"tag\":\"a\"}\n{\"id\":1,\"tag\":\"b\"}\n{\"id\":2,\"tag\":\"c\"}\n",
};
