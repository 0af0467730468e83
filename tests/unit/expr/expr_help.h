/* SPDX-License-Identifier: MIT
 * What the tests of this room share. */
#ifndef EXPR_HELP_H
#define EXPR_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "expr/expr.h"
#include "value/format/format.h"
#include "value/json/json.h"
#include "value/mp.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A parameter for the parser: name, and its value as an expression. */
struct help_param {
	const char *name, *value;
};

/* A compiled expression and what it needs. */
struct help {
	struct types *types;
	struct expr_ast *ast;
	struct expr *code;
	struct err e;
	size_t rest; /* where the expression ended */
};

static inline void
help_clear(struct help *h)
{
	expr_free(&h->code);
	expr_ast_free(&h->ast);
	types_free(&h->types);
}

/* x: the type of the element, "any" when NULL. False: h->e says why. */
static inline bool
help_compile(struct help *h, const char *text, const char *x)
{
	struct expr_src src = { .file = "<arg>", .text = text, .len = strlen(text) };

	memset(h, 0, sizeof *h);
	h->types = types_new();
	h->ast = expr_parse(&src, &h->e);
	h->rest = src.at;
	if (!h->ast)
		return false;
	struct expr_env env = { .arena = h->types, .file = "<arg>", .text = text,
				.text_len = strlen(text) };
	env.types[EXPR_X] = x ? type_parse(h->types, x, strlen(x), &h->e) : type_scalar(TYPE_ANY);
	if (!env.types[EXPR_X])
		fail_msg("%s is no type", x ? x : "");
	env.types[EXPR_S] = env.types[EXPR_XX] = type_scalar(TYPE_ANY);
	env.types[EXPR_I] = type_scalar(TYPE_INT);
	h->code = expr_compile(h->ast, &env, &h->e);
	return h->code;
}

/* The encoding of JSON text, or of an expression when it begins with =. */
static inline void
help_encode(const char *text, struct buf *out)
{
	struct err e = { 0 };

	if (*text == '=') {
		struct help h;

		if (!help_compile(&h, text + 1, NULL) || !expr_constant(h.code, out))
			fail_msg("%s is no constant", text + 1);
		help_clear(&h);
		return;
	}
	struct json *j = json_new();
	if (json_value(j, (const uint8_t *)text, strlen(text), out, &e))
		fail_msg("%s: %s", text, e.text);
	json_free(&j);
}

/* The value for one element as JSON, "SKIP", or "error: ..."; freed by the caller. */
static inline char *
help_eval_typed(const char *text, const char *json, const char *x)
{
	struct help h;
	struct buf in = { 0 }, out = { 0 };
	const uint8_t *p;
	size_t n;

	if (!help_compile(&h, text, x)) {
		buf_printf(&out, "error: %s", h.e.text);
	} else if (text[h.rest]) {
		buf_printf(&out, "rest: %s", text + h.rest);
	} else {
		help_encode(json, &in);
		struct expr_vm *vm = expr_vm_new(h.code, 1);
		struct elem e = { in.data, NULL, (uint32_t)in.len, 0 };
		enum status st = expr_value(vm, &e, &p, &n, &h.e);

		if (st == ST_SKIP)
			buf_str(&out, "SKIP");
		else if (st)
			buf_printf(&out, "error: %s", h.e.text);
		else if (!mp_check(p, n))
			buf_str(&out, "malformed");
		else
			json_print(p, n, &out);
		expr_vm_free(&vm);
		buf_clear(&in);
	}
	help_clear(&h);
	return buf_take(&out);
}

/* A row of a table: expression, element, what comes out. */
struct help_row {
	const char *text, *json, *want;
};

static inline void
help_rows(const struct help_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *got = help_eval_typed(rows[i].text, rows[i].json, NULL);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s of %s gives\n  %s, not\n  %s", rows[i].text, rows[i].json, got,
				 rows[i].want);
		mem_free(got);
	}
}

static inline char *
help_print(const struct expr_ast *a)
{
	struct buf b = { 0 };

	expr_print(a, &b);
	return buf_take(&b);
}

#endif
