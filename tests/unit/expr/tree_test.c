/* SPDX-License-Identifier: MIT
 * Random trees: printed and parsed they are the same. Random expressions: the
 * value is the same whether it is worked out before the run or in it, with
 * types known or not. */
#include "expr_help.h"

#include <stdlib.h>

#include "base/rng.h"
#include "expr/ast.h"
#include "expr/val.h"

static uint64_t
tree_below(struct rng *r, uint64_t n)
{
	return rng_below(r, n);
}

static struct expr_ast *
tree_lit(struct val v)
{
	struct buf b = { 0 };

	val_put(&v, &b);
	struct expr_ast *a = ast_new(AST_LIT, 0, b.data, b.len);
	buf_clear(&b);
	return a;
}

static struct expr_ast *
tree_random_text(struct rng *r)
{
	static const char *const parts[] = { "a", "Z", "_", "9", " ", "\"", "'", "\\", "\n", "\t",
	  "@{", "@", "$n", "\x01", "\x7f", "é", "😀", "/", "\r", "{", "" };
	struct buf b = { 0 };

	for (uint64_t n = tree_below(r, 5); n; n--)
		buf_str(&b, parts[tree_below(r, COUNT(parts))]);
	struct expr_ast *a = tree_lit(val_text(b.data ? (char *)b.data : "", b.len));
	buf_clear(&b);
	return a;
}

static struct expr_ast *
tree_random_lit(struct rng *r)
{
	static const double floats[] = { 0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1, -1e16,
	  123456789012345680.0 };
	static const uint64_t ints[] = { 0, 1, 7, 100, 1ull << 31, INT64_MAX, 1ull << 63,
	  (1ull << 63) + 1, UINT64_MAX };

	switch (tree_below(r, 6)) {
	case 0: return tree_lit(val_nil());
	case 1: return tree_lit(val_bool(tree_below(r, 2)));
	case 2: return tree_lit(val_uint(ints[tree_below(r, COUNT(ints))]));
	case 3: return tree_lit(val_int((int64_t)(0 - ints[tree_below(r, 7)])));
	case 4: return tree_lit(val_float(floats[tree_below(r, COUNT(floats))]));
	default: return tree_random_text(r);
	}
}

static struct expr_ast *tree_random(struct rng *r, unsigned depth);

static void
tree_fill(struct expr_ast *a, struct rng *r, unsigned depth, uint64_t n)
{
	while (n--)
		ast_add(a, tree_random(r, depth - 1));
}

static struct expr_ast *
tree_random_record(struct rng *r, unsigned depth)
{
	struct expr_ast *a = ast_new(AST_RECORD, 0, NULL, 0);

	for (uint64_t n = tree_below(r, 4); n; n--) {
		struct expr_ast *key = tree_random_text(r);
		bool twice = false;

		for (uint32_t i = 0; i < a->n; i += 2)
			twice = twice || expr_ast_equal(a->kids[i], key);
		if (twice) {
			expr_ast_free(&key);
			continue;
		}
		ast_add(a, key);
		ast_add(a, tree_random(r, depth - 1));
	}
	return a;
}

static struct expr_ast *
tree_random_field(struct rng *r, unsigned depth)
{
	static const char *const names[] = { "a", "in", "x", "not", "odd key", "", "q\"", "true" };
	const char *name = names[tree_below(r, COUNT(names))];
	struct expr_ast *a = ast_new(AST_FIELD, 0, name, strlen(name));

	tree_fill(a, r, depth, 1);
	return a;
}

/* The parser makes a literal of - and a number: such a node cannot come about. */
static bool
tree_folds(const struct expr_ast *kid)
{
	struct val v = { 0 };

	if (kid->kind != AST_LIT)
		return false;
	val_load((const uint8_t *)kid->text, &v);
	return (v.kind == VAL_INT && v.i >= 0) || (v.kind == VAL_BIG && v.u == 1ull << 63)
		|| (v.kind == VAL_FLOAT && !(v.u >> 63));
}

static struct expr_ast *
tree_random_operator(struct rng *r, unsigned depth)
{
	unsigned op = (unsigned)tree_below(r, AST_OPS);
	bool unary = op == AST_NOT || op == AST_NEG;
	struct expr_ast *a = ast_new(unary ? AST_UNARY : AST_BINARY, op, NULL, 0);

	tree_fill(a, r, depth, unary ? 1 : 2);
	if (op == AST_NEG && tree_folds(a->kids[0])) {
		expr_ast_free(&a);
		return tree_random_lit(r);
	}
	return a;
}

static struct expr_ast *
tree_random(struct rng *r, unsigned depth)
{
	static const char *const patterns[] = { "a|b", "\\/[a-c]+", "\\d{2}", "é" };
	struct expr_ast *a;
	const char *name;
	size_t n;

	if (depth == 0 || tree_below(r, 8) == 0)
		return tree_below(r, 2) ? tree_random_lit(r)
			: ast_new(AST_NAME, (unsigned)tree_below(r, 5), NULL, 0);
	switch (tree_below(r, 10)) {
	case 0:
		a = ast_new(AST_LIST, 0, NULL, 0);
		tree_fill(a, r, depth, tree_below(r, 4));
		return a;
	case 1:
		return tree_random_record(r, depth);
	case 2:
		a = ast_new(AST_CALL, 0, "f_1", 3);
		tree_fill(a, r, depth, tree_below(r, 4));
		return a;
	case 3:
		return tree_random_field(r, depth);
	case 4:
		a = ast_new(AST_INDEX, 0, NULL, 0);
		tree_fill(a, r, depth, 2);
		if (!ast_lit_text(a->kids[1], &name, &n))
			return a;
		expr_ast_free(&a); /* that would be a field */
		return tree_random_field(r, depth);
	case 5:
		a = ast_new(AST_SLICE, 0, NULL, 0);
		tree_fill(a, r, depth, 1);
		ast_add(a, tree_below(r, 2) ? tree_random(r, depth - 1) : NULL);
		ast_add(a, tree_below(r, 2) ? tree_random(r, depth - 1) : NULL);
		return a;
	case 6:
		a = ast_new(AST_COND, 0, NULL, 0);
		tree_fill(a, r, depth, 3);
		return a;
	case 7:
		name = patterns[tree_below(r, COUNT(patterns))];
		return ast_new(AST_REGEX, (unsigned)tree_below(r, 16), name, strlen(name));
	default:
		return tree_random_operator(r, depth);
	}
}

static void
print_then_parse_gives_the_same_tree(void **state)
{
	struct rng r = { 11, 0 };
	struct err e;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct expr_ast *a = tree_random(&r, 1 + (unsigned)tree_below(&r, 5));
		char *text = help_print(a);
		struct expr_src src = { .text = text, .len = strlen(text) };
		struct expr_ast *b = expr_parse(&src, &e);

		if (!b || src.at != src.len)
			fail_msg("%s: %s at %zu", text, b ? "" : e.text, src.at);
		char *again = help_print(b);
		assert_string_equal(again, text);
		assert_true(expr_ast_equal(a, b));
		assert_true(expr_ast_equal(b, a));
		mem_free(text);
		mem_free(again);
		expr_ast_free(&a);
		expr_ast_free(&b);
	}
}

/* Fields of the element of the second test, and what the parser may be given
 * in their place. */
static const struct { const char *name, *value, *type; } tree_fields[] = {
	{ "a", "3", "int" }, { "b", "-7", "int" }, { "c", "2.5", "float" },
	{ "d", "\"text é\"", "text" }, { "e", "true", "bool" },
	{ "f", "[1, 2, 3]", "[int]" },
	{ "g", "{\"k\": 1, \"l\": [\"t\"]}", "{k: int, l: [text]}" }, { "h", "null", "null" },
	{ "m", "9223372036854775807", "int" }, { "n", "[\"b\", \"a\"]", "[text]" }, { "z", "0", "int" },
};

static bool
tree_value(void *arg, const char *name, size_t n, struct buf *out)
{
	(void)arg;
	for (size_t i = 0; i < COUNT(tree_fields); i++)
		if (n == 1 && tree_fields[i].name[0] == *name) {
			help_encode(tree_fields[i].value, out);
			return true;
		}
	return false;
}

/* Appends an expression, `.` standing for a field and `@` for its value. */
static void
tree_text(struct rng *r, unsigned depth, struct buf *out)
{
	static const char *const forms[] = {
		"(% + %)", "(% - %)", "(% * %)", "(% / %)", "(% // %)", "(% % %)", "(% == %)",
		  "(% < %)", "(% >= %)", "(% and %)", "(% or %)", "(not %)",
		"(% ?? %)", "(% ? % : %)", "(% ++ %)", "(% in %)", "(% ~ /t|b/)", "(-%)", "[%, %]",
		  "{p: %, q: %}", "len(%)", "str(%)", "int(%)",
		"(%)[%]", "(%)[%:%]", "(%)[:%]", "map(%, it)", "map(%, [it, %])",
		  "filter(%, it != %)", "any(%, it == %)", "sorted(%)", "sum(%)",
		"(%).k", "min(%, %)", "(% ** 2)", "upper(%)", "split(%, \"t\")", "range(%)",
		  "merge(%, {k: %})", "type(%)", "all(%, % or it > 0)",
		"fail(%)", "(% != %)", "keys(%)", "uniq(%)", "zip(%, %)", "join(%, %)",
		  "replace(%, /[a-e]/, %)", "round(%)", "abs(%)", "to_json(%)",
	};

	if (depth == 0 || tree_below(r, 5) == 0) {
		buf_printf(out, "#%s", tree_fields[tree_below(r, COUNT(tree_fields))].name);
		return;
	}
	const char *form = forms[tree_below(r, COUNT(forms))];
	for (const char *s = form; *s; s++) {
		/* " % " between blanks is the operator when the form begins with (% % */
		if (*s == '%' && s > form && s[-1] == ' ' && s[1] == ' ' && strstr(form, "% % %"))
			buf_byte(out, '%');
		else if (*s == '%')
			tree_text(r, depth - 1, out);
		else
			buf_byte(out, (uint8_t)*s);
	}
}

static char *
tree_spell(const char *text, char sign)
{
	char *s = mem_strdup(text);

	for (char *p = s; *p; p++)
		if (*p == '#')
			*p = sign;
	return s;
}

/* The value as text, "SKIP" or "error"; NULL: it does not compile. */
static char *
tree_result(const char *text, const struct buf *element, const char *x)
{
	struct expr_src src = { .text = text, .len = strlen(text), .param = tree_value };
	struct types *types = types_new();
	struct expr_env env = { .arena = types };
	struct err e = { 0 };
	struct expr_ast *a = expr_parse(&src, &e);
	struct buf out = { 0 };

	if (!a || src.at != src.len)
		fail_msg("%s: %s", text, e.text);
	env.types[EXPR_X] = type_parse(types, x, strlen(x), &e);
	struct expr *code = expr_compile(a, &env, &e);
	if (code) {
		struct expr_vm *vm = expr_vm_new(code, 0);
		struct elem el = { element->data, NULL, (uint32_t)element->len, 0 };
		const uint8_t *p;
		size_t n;
		enum status st = expr_value(vm, &el, &p, &n, &e);

		if (st == ST_OK && mp_check(p, n)) {
			struct type *found = (struct type *)(uintptr_t)type_of_value(types, p, n);
			struct buf was = { 0 }, is = { 0 };

			type_print(expr_type(code), &was);
			type_print(found, &is);
			if (!type_fits(found, expr_type(code)))
				fail_msg("%s is said to be %s and is %s", text, (char *)was.data, (char *)is.data);
			buf_clear(&was);
			buf_clear(&is);
			json_print(p, n, &out);
		} else {
			buf_str(&out, st == ST_SKIP ? "SKIP" : st == ST_DATA ? "error" : "malformed");
		}
		expr_vm_free(&vm);
	}
	expr_free(&code);
	expr_ast_free(&a);
	types_free(&types);
	return code || out.data ? buf_take(&out) : NULL;
}

/* Whether all parts of it are evaluated, and a wrong one is an error. */
static bool
tree_is_strict(const char *text)
{
	static const char *const lazy[] = {
		"?", " or ", " and ", "(.h)", "map(", "filter(", "any(", "all(", ").k"
	};

	for (size_t i = 0; i < COUNT(lazy); i++)
		if (strstr(text, lazy[i]))
			return false;
	return true;
}

static void
the_value_does_not_depend_on_when_it_is_known(void **state)
{
	struct rng r = { 3, 0 };
	struct buf element = { 0 }, type = { 0 }, json = { 0 };
	size_t good = 0, typed = 0;

	(void)state;
	buf_str(&json, "{");
	buf_str(&type, "{");
	for (size_t i = 0; i < COUNT(tree_fields); i++) {
		buf_printf(&json, "%s\"%s\": %s", i ? ", " : "", tree_fields[i].name, tree_fields[i].value);
		buf_printf(&type, "%s%s: %s", i ? ", " : "", tree_fields[i].name, tree_fields[i].type);
	}
	buf_str(&json, "}");
	buf_str(&type, "}");
	help_encode((char *)json.data, &element);
	for (int i = 0; i < 15000; i++) {
		struct buf text = { 0 };

		tree_text(&r, 1 + (unsigned)tree_below(&r, 4), &text);
		char *late = tree_spell((char *)text.data, '.'), *early = tree_spell((char *)text.data, '@');
		char *a = tree_result(late, &element, "any");
		char *b = tree_result(early, &element, "any");
		char *c = tree_result(late, &element, (char *)type.data);

		if (a && b && strcmp(a, b) != 0)
			fail_msg("%s: %s, when constant %s", late, a, b);
		if (a && c && strcmp(a, c) != 0)
			fail_msg("%s: %s, with types %s", late, a, c);
		/* an expression refused for its types could not have worked */
		if (a && !c && strcmp(a, "error") != 0 && tree_is_strict(late))
			fail_msg("%s: %s, but is refused with types", late, a);
		good += a && strcmp(a, "error") != 0;
		typed += c != NULL;
		mem_free(late);
		mem_free(early);
		mem_free(a);
		mem_free(b);
		mem_free(c);
		buf_clear(&text);
	}
	assert_true(good > 1500 && typed > 1500);
	buf_clear(&element);
	buf_clear(&type);
	buf_clear(&json);
}
