/* SPDX-License-Identifier: MIT
 *
 * Values: literals, names, calls, lists, records, parameters.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "expr/fn.h"
#include "expr/text/grammar.h"
#include "value/mp.h"

/* Reads items up to the closing sign into *a; `now` is after the opening one. */
static enum status
grammar_items(struct grammar *g, struct expr_ast *a, char sign, size_t open_at)
{
	enum status st = grammar_next(g, true);

	if (!st && !grammar_is(g, sign)) {
		for (;;) {
			struct expr_ast *item = NULL;

			st = grammar_expr(g, LEVEL_COALESCE, &item);
			if (st)
				return st;
			ast_add(a, item);
			if (!grammar_is(g, ','))
				break;
			g->op_at = g->t.now.at;
			g->op_len = 1;
			grammar_take(g);
			st = grammar_next(g, true);
			if (st)
				return st;
		}
	}
	return st ? st : grammar_close(g, sign, open_at);
}

static struct expr_ast *
grammar_text_lit(const void *s, size_t n)
{
	struct buf b = { 0 };
	uint8_t *p = buf_room(&b, n + MP_HEAD_MAX);
	size_t len = (size_t)(mp_put_text(p, s, (uint32_t)n) - p);
	struct expr_ast *a = ast_new(AST_LIT, 0, p, len);

	buf_clear(&b);
	return a;
}

struct expr_ast *
grammar_field(struct expr_ast *base, const char *name, size_t n)
{
	struct expr_ast *a = ast_new(AST_FIELD, 0, name, n);

	ast_add(a, base);
	return a;
}

static struct expr_ast *
grammar_x(size_t at)
{
	struct expr_ast *x = ast_new(AST_NAME, EXPR_X, NULL, 0);

	ast_place(x, at, 1);
	return x;
}

/* Refuses a key that the record has already. */
static enum status
grammar_key_twice(struct grammar *g, struct hash *keys, const struct expr_ast *key)
{
	const char *text = NULL;
	size_t n = 0;

	ast_lit_text(key, &text, &n);
	if (hash_put(keys, text, n, g))
		return token_fault(&g->t, key->at, key->len, "this key is given twice");
	return ST_OK;
}

/* Reads `: value`. */
static enum status
grammar_pair_value(struct grammar *g, struct expr_ast **value)
{
	g->op_at = g->t.now.at;
	g->op_len = 1;
	grammar_take(g);
	enum status st = grammar_next(g, true);
	return st ? st : grammar_expr(g, LEVEL_COALESCE, value);
}

/* Reads (name): value as the call pair(name, value). */
static enum status
grammar_pair_computed(struct grammar *g, struct expr_ast **out)
{
	size_t at = g->t.now.at;
	struct expr_ast *a = ast_new(AST_CALL, 0, "pair", 4), *name = NULL, *value = NULL;

	*out = a;
	ast_mark(a, at, 1);
	grammar_open(g);
	enum status st = grammar_next(g, true);
	if (!st)
		st = grammar_expr(g, LEVEL_COALESCE, &name);
	if (name)
		ast_add(a, name);
	if (!st)
		st = grammar_close(g, ')', at);
	if (!st)
		st = grammar_next(g, false);
	if (!st && !grammar_is(g, ':'))
		return token_fault(&g->t, at, g->t.now.at - at, "a `:` and a value are missing after this name");
	if (!st)
		st = grammar_pair_value(g, &value);
	if (value)
		ast_add(a, value);
	return st ? st : grammar_made(g, a, at);
}

/* Whether a record is to be spread into this one, as other languages write it. */
static bool
grammar_spreads(const struct grammar *g, size_t at)
{
	const char *s = g->t.src->text + at;
	size_t left = g->t.src->len - at;

	return (left > 2 && !memcmp(s, "...", 3)) || (left > 1 && !memcmp(s, "**", 2));
}

/* Reads name, name: value or "any text": value. */
static enum status
grammar_pair(struct grammar *g, struct expr_ast *a, struct hash *keys)
{
	struct token *now = &g->t.now;
	size_t at = now->at, len = now->len;
	const char *s = g->t.src->text + at;
	bool word = now->kind == TOKEN_NAME || (len && ast_is_word(s, len));
	struct expr_ast *key = NULL, *value = NULL;
	const char *unused;
	size_t n;

	if (word)
		key = grammar_text_lit(s, len);
	else if (now->kind == TOKEN_VALUE || now->kind == TOKEN_PARAM)
		key = ast_new(AST_LIT, 0, now->value.data, now->value.len);
	if (!key || !ast_lit_text(key, &unused, &n)) {
		expr_ast_free(&key);
		token_fault(&g->t, at, len ? len : 1, "a record needs a field's name here");
		if (grammar_spreads(g, at))
			err_help(g->t.e, "merge(x, {size: 1}) gives all fields of x, and size");
		else
			err_help(g->t.e, "as in {id, size: len(.body), \"odd name\": 1, (.key): .value}");
		return ST_DATA;
	}
	grammar_take(g);
	ast_place(key, at, len);
	enum status st = grammar_key_twice(g, keys, key);
	if (!st)
		st = grammar_next(g, false);
	if (!st && grammar_is(g, ':')) {
		st = grammar_pair_value(g, &value);
	} else if (!st && word) {
		value = grammar_field(grammar_x(at), s, len);
		st = grammar_made(g, value, at);
	} else if (!st) {
		st = token_fault(&g->t, at, len, "a `:` and a value are missing after this name");
	}
	if (st || !value) {
		expr_ast_free(&key);
		expr_ast_free(&value);
		return st;
	}
	ast_add(a, key);
	ast_add(a, value);
	g->nodes++;
	return ST_OK;
}

/* The node of a part of a record, which was not read as a node of its own. */
static struct expr_ast *
grammar_part(struct grammar *g, struct expr_ast *a, size_t at)
{
	ast_place(a, at, g->t.now.at > at ? g->t.now.at - at : 1);
	g->nodes++;
	return a;
}

/* Adds a field with a computed name: the record becomes the call merge({...}, pair(...), ...),
 * where *a is the part that goes on behind it. */
static enum status
grammar_record_computed(struct grammar *g, struct expr_ast **a, struct expr_ast **all)
{
	size_t at = g->t.now.at;
	struct expr_ast *pair;
	enum status st = grammar_pair_computed(g, &pair);

	if (!*all) {
		*all = ast_new(AST_CALL, 0, "merge", 5);
		ast_mark(*all, at, 1);
	}
	if ((*a)->n) {
		ast_add(*all, grammar_part(g, *a, at));
		*a = ast_new(AST_RECORD, 0, NULL, 0);
	}
	ast_add(*all, pair);
	return st;
}

static struct expr_ast *
grammar_record_end(struct grammar *g, struct expr_ast *all, struct expr_ast *a, size_t at)
{
	if (a->n)
		ast_add(all, grammar_part(g, a, at));
	else
		expr_ast_free(&a);
	return all;
}

static enum status
grammar_record(struct grammar *g, struct expr_ast **out)
{
	size_t at = g->t.now.at;
	struct expr_ast *a = ast_new(AST_RECORD, 0, NULL, 0), *all = NULL;
	struct hash keys = { 0 };

	grammar_open(g);
	enum status st = grammar_next(g, true);
	if (!st && !grammar_is(g, '}')) {
		while (!(st = grammar_is(g, '(') ? grammar_record_computed(g, &a, &all)
						 : grammar_pair(g, a, &keys)) && grammar_is(g, ',')) {
			grammar_take(g);
			st = grammar_next(g, true);
			if (st)
				break;
		}
	}
	hash_clear(&keys);
	*out = all ? grammar_record_end(g, all, a, at) : a;
	if (!st)
		st = grammar_close(g, '}', at);
	return st ? st : grammar_made(g, *out, at);
}

static struct expr_ast *grammar_of_value(struct grammar *g, const uint8_t **p, const uint8_t *end);

/* Makes a call with one text, for values that have no literal. */
static struct expr_ast *
grammar_text_call(const char *name, const char *text, size_t n)
{
	struct expr_ast *a = ast_new(AST_CALL, 0, name, strlen(name));

	ast_add(a, grammar_text_lit(text, n));
	return a;
}

static struct expr_ast *
grammar_of_items(struct grammar *g, const struct mp *h, const uint8_t **p, const uint8_t *end)
{
	bool record = h->kind == MP_RECORD;
	struct expr_ast *a = ast_new(record ? AST_RECORD : AST_LIST, 0, NULL, 0);
	uint64_t n = record ? 2ull * h->n : h->n;
	const char *unused;
	size_t len;

	for (uint64_t i = 0; i < n; i++) {
		struct expr_ast *kid = g->nodes < AST_NODES ? grammar_of_value(g, p, end) : NULL;

		if (!kid || (record && i % 2 == 0 && !ast_lit_text(kid, &unused, &len))) {
			expr_ast_free(&kid);
			expr_ast_free(&a);
			return NULL;
		}
		ast_add(a, kid);
	}
	return a;
}

/* Makes the tree of a parameter's value, as if it had been written out. NULL: it cannot be. */
static struct expr_ast *
grammar_of_value(struct grammar *g, const uint8_t **p, const uint8_t *end)
{
	const uint8_t *start = *p;
	struct mp h;
	struct expr_ast *a;

	g->nodes++;
	*p = mp_head(start, end, &h);
	switch (h.kind) {
	case MP_LIST:
	case MP_RECORD:
		*p = h.p;
		return grammar_of_items(g, &h, p, end);
	case MP_FLOAT:
		if (isnan(h.f))
			return grammar_text_call("float", "nan", 3);
		if (isinf(h.f))
			return grammar_text_call("float", h.f < 0 ? "-inf" : "inf",
						 h.f < 0 ? 4 : 3);
		break;
	case MP_BYTES: {
		struct buf hex = { 0 };

		for (uint32_t i = 0; i < h.n; i++)
			buf_printf(&hex, "%02x", h.p[i]);
		a = grammar_text_call("unhex", hex.data ? (char *)hex.data : "", hex.len);
		buf_clear(&hex);
		return a;
	}
	case MP_EXT:
	case MP_BAD:
		return NULL;
	default:
		break;
	}
	return ast_new(AST_LIT, 0, start, (size_t)(*p - start));
}

static void
grammar_place_all(struct expr_ast *a, size_t at, size_t len)
{
	ast_place(a, at, len);
	for (uint32_t i = 0; i < a->n; i++)
		grammar_place_all(a->kids[i], at, len);
}

static enum status
grammar_param(struct grammar *g, struct expr_ast **out)
{
	struct token *now = &g->t.now;
	const uint8_t *p = now->value.data, *end = buf_end(&now->value);

	if (mp_check(now->value.data, now->value.len))
		*out = grammar_of_value(g, &p, end);
	grammar_take(g);
	if (!*out)
		return token_fault(&g->t, now->at, now->len,
				   "the value of this parameter cannot stand in an expression");
	grammar_place_all(*out, now->at, now->len);
	return grammar_made(g, *out, now->at);
}

static enum status
grammar_call(struct grammar *g, size_t at, size_t n, struct expr_ast **out)
{
	size_t open_at = g->t.now.at;
	struct expr_ast *a = ast_new(AST_CALL, 0, g->t.src->text + at, n);

	*out = a;
	ast_mark(a, at, n);
	grammar_open(g);
	enum status st = grammar_items(g, a, ')', open_at);
	return st ? st : grammar_made(g, a, at);
}

static enum status
grammar_unknown(struct grammar *g, size_t at, size_t n)
{
	const char *s = g->t.src->text + at;
	int shown = (int)(n < 60 ? n : 60);
	const struct fn *f = fn_find(s, n);

	token_fault(&g->t, at, n, "unknown name `%.*s`", shown, s);
	if (n == 2 && !memcmp(s, "if", 2))
		err_help(g->t.e, "a choice is written CONDITION ? VALUE : OTHER");
	else if (f)
		err_help(g->t.e, "the function is written %s(%s)", f->name, f->args);
	else
		err_help(g->t.e, "a field of the element is written .%.*s; text is written \"%.*s\"",
			 shown, s, shown, s);
	return ST_DATA;
}

static enum status
grammar_name(struct grammar *g, struct expr_ast **out)
{
	static const struct { const char *word; uint8_t value; } lits[] = {
		{ "null", 0xc0 }, { "true", 0xc3 }, { "false", 0xc2 }
	};
	size_t at = g->t.now.at, n = g->t.now.len;
	const char *s = g->t.src->text + at;

	grammar_take(g);
	for (size_t i = 0; i < sizeof lits / sizeof *lits; i++)
		if (strlen(lits[i].word) == n && !memcmp(s, lits[i].word, n)) {
			*out = ast_new(AST_LIT, 0, &lits[i].value, 1);
			return grammar_made(g, *out, at);
		}
	for (unsigned i = 0; i <= AST_IT; i++)
		if (strlen(ast_name_word(i)) == n && !memcmp(s, ast_name_word(i), n)) {
			*out = ast_new(AST_NAME, i, NULL, 0);
			return grammar_made(g, *out, at);
		}
	enum status st = grammar_next(g, true);
	if (st)
		return st;
	return grammar_is(g, '(') ? grammar_call(g, at, n, out) : grammar_unknown(g, at, n);
}

enum status
grammar_primary(struct grammar *g, struct expr_ast **out)
{
	struct token *now = &g->t.now;
	size_t at = now->at;
	enum status st;

	switch (now->kind) {
	case TOKEN_VALUE:
		*out = ast_new(AST_LIT, 0, now->value.data, now->value.len);
		break;
	case TOKEN_REGEX:
		*out = ast_new(AST_REGEX, now->op, now->value.data, now->value.len);
		break;
	case TOKEN_FIELD:
		at--;
		*out = grammar_field(grammar_x(at), g->t.src->text + now->at, now->len);
		ast_mark(*out, at, now->len + 1);
		break;
	case TOKEN_PARAM:
		return grammar_param(g, out);
	case TOKEN_NAME:
		return grammar_name(g, out);
	default:
		if (grammar_is(g, '[')) {
			*out = ast_new(AST_LIST, 0, NULL, 0);
			grammar_open(g);
			st = grammar_items(g, *out, ']', at);
			return st ? st : grammar_made(g, *out, at);
		}
		if (grammar_is(g, '{'))
			return grammar_record(g, out);
		if (!grammar_is(g, '('))
			return grammar_missing(g);
		grammar_open(g);
		st = grammar_next(g, true);
		if (!st)
			st = grammar_expr(g, LEVEL_COALESCE, out);
		return st ? st : grammar_close(g, ')', at);
	}
	grammar_take(g);
	return grammar_made(g, *out, at);
}

