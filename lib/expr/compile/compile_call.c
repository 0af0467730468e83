/* SPDX-License-Identifier: MIT
 *
 * Calls of functions, and those that are loops over the items of a list.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/compile/compile.h"

static const char *
call_fn_name(void *arg, size_t i)
{
	const struct fn *f = fn_at(i);

	(void)arg;
	return f ? f->name : NULL;
}

static const char *
call_one_word(void *arg, size_t i)
{
	return i ? NULL : arg;
}

/* The name that a function from elsewhere has here; near: its name there is one like this. */
static const char *
call_elsewhere(const char *name, bool near_it)
{
	char near[100];
	static const struct { const char *there, *here; } words[] = {
		{ "length", "len" }, { "count", "len" }, { "size", "len" }, { "substr", "slice" },
		{ "substring", "slice" }, { "tolower", "lower" }, { "toupper", "upper" },
		{ "sub", "replace" }, { "gsub", "replace" }, { "strip", "trim" },
		{ "fromjson", "parse_json" }, { "json", "parse_json" }, { "tojson", "to_json" },
		{ "tostring", "str" }, { "string", "str" }, { "tonumber", "float" },
		{ "number", "float" }, { "startswith", "starts" }, { "endswith", "ends" },
		{ "index", "find" }, { "indexof", "find" }, { "includes", "contains" },
		{ "select", "filter" }, { "sort", "sorted" }, { "sort_by", "sorted" },
		{ "reverse", "reversed" }, { "unique", "uniq" }, { "avg", "mean" },
		{ "average", "mean" }, { "typeof", "type" }, { "del", "without" },
		{ "capture", "captures" }, { "strptime", "parse_time" },
		{ "strftime", "fmt_time" }, { "error", "fail" },
		{ "random", "rand" }, { "ln", "log" },
		{ "get", "has" }, { "strlen", "len" }, { "ascii_downcase", "lower" },
		{ "ascii_upcase", "upper" }, { "downcase", "lower" }, { "upcase", "upper" }, { "ltrim", "trim" },
		{ "rtrim", "trim" }, { "date_trunc", "trunc_time" }, { "sec2gmt", "fmt_time" },
		{ "todate", "fmt_time" }, { "fromdate", "parse_time" }, { "splitax", "split" },
		{ "from_json", "parse_json" }, { "to_int", "int" }, { "to_float", "float" },
		{ "to_string", "str" }, { "lpad", "pad" }, { "rpad", "pad" },
		{ "regexp_replace", "replace" }, { "regex_replace", "replace" }, { "regexp_extract", "match" },
		{ "array_length", "len" }, { "splitlines", "split" }, { "strsplit", "split" }, { "str_split", "split" },
		{ "string_split", "split" }, { "format_time", "fmt_time" }, { "time_format", "fmt_time" },
		{ "date_format", "fmt_time" }, { "formatdatetime", "fmt_time" }, { "to_char", "fmt_time" },
		{ "to_timestamp", "parse_time" }, { "timestamp", "parse_time" }, { "to_date", "parse_time" },
		{ "to_datetime", "parse_time" }, { "parse_date", "parse_time" }, { "parse_datetime", "parse_time" },
		{ "ceiling", "ceil" }, { "power", "pow" }, { "toint", "int" }, { "toint64", "int" }, { "parseint", "int" },
		{ "parse_int", "int" }, { "atoi", "int" }, { "str2int", "int" }, { "trunc", "int" }, { "double", "float" },
		{ "tofloat", "float" }, { "parsefloat", "float" }, { "parse_float", "float" }, { "atof", "float" },
		{ "has_key", "has" }, { "haskey", "has" }, { "contains_key", "has" }, { "b64encode", "base64" },
		{ "base64_encode", "base64" }, { "to_base64", "base64" }, { "btoa", "base64" }, { "b64decode", "unbase64" },
		{ "base64_decode", "unbase64" }, { "from_base64", "unbase64" }, { "atob", "unbase64" },
		{ "to_hex", "hex" }, { "hexlify", "hex" }, { "from_hex", "unhex" }, { "unhexlify", "unhex" },
		{ "greatest", "max" }, { "least", "min" }, { "zfill", "pad" }, { "delete", "without" }, { "omit", "without" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words && !near_it; i++)
		if (!strcasecmp(words[i].there, name))
			return words[i].here;
	for (size_t i = 0; i < sizeof words / sizeof *words && near_it; i++)
		if (strlen(words[i].there) > 4
		    && str_suggest(name, call_one_word, (void *)(uintptr_t)words[i].there, near,
				   sizeof near))
			return words[i].here;
	return NULL;
}

/* A help for a function elsewhere that is an operator here. */
static const char *
call_written(const char *name)
{
	static const struct { const char *there, *written; } words[] = {
		{ "if", "CONDITION ? VALUE : OTHER" }, { "ifelse", "CONDITION ? VALUE : OTHER" },
		{ "iif", "CONDITION ? VALUE : OTHER" }, { "cond", "CONDITION ? VALUE : OTHER" },
		{ "coalesce", "VALUE ?? OTHER" }, { "ifnull", "VALUE ?? OTHER" }, { "nvl", "VALUE ?? OTHER" },
		{ "concat", "ONE ++ OTHER" }, { "strcat", "ONE ++ OTHER" }, { "mod", "ONE % OTHER" },
		{ "append", "LIST ++ [ITEM]" }, { "push", "LIST ++ [ITEM]" }, { "first", "LIST[0]" },
		{ "head", "LIST[0]" }, { "last", "LIST[-1]" }, { "isnull", "VALUE == null" },
		{ "is_null", "VALUE == null" }, { "not_null", "VALUE != null" }, { "notnull", "VALUE != null" },
		{ "isnotnull", "VALUE != null" }, { "to_entries", "zip(keys(x), values(x))" },
		{ "take", "LIST[:N]" }, { "tail", "LIST[-N:]" }, { "default", "VALUE ?? OTHER" }, { "test", "TEXT ~ /RE/" },
		{ "regex", "TEXT ~ /RE/" }, { "regexp", "TEXT ~ /RE/" }, { "rlike", "TEXT ~ /RE/" },
		{ "case", "CONDITION ? VALUE : OTHER" }, { "date", "fmt_time(SECONDS), or parse_time(TEXT)" },
		{ "year", "fmt_time(SECONDS, \"%Y\")" }, { "month", "fmt_time(SECONDS, \"%m\")" },
		{ "day", "fmt_time(SECONDS, \"%d\")" }, { "hour", "fmt_time(SECONDS, \"%H\")" },
		{ "env", "@NAME, with --set NAME=VALUE" }, { "getenv", "@NAME, with --set NAME=VALUE" },
		{ "printf", "pad(str(round(NUMBER, 2)), WIDTH); the operator `template` has %.2f and the like" },
		{ "sprintf", "pad(str(round(NUMBER, 2)), WIDTH); the operator `template` has %.2f and the like" },
		{ "format", "pad(str(round(NUMBER, 2)), WIDTH); the operator `template` has %.2f and the like" },
		{ "median", "sorted(LIST)[len(LIST) // 2]; group_by KEY m=median(EXPR) for that of all elements" },
		{ "stddev", "group_by KEY sd=stddev(EXPR), or stats EXPR" },
		{ "quantile", "group_by KEY q=quantile(EXPR, 0.95), or stats EXPR" },
		{ "percentile", "group_by KEY q=quantile(EXPR, 0.95), or stats EXPR" },
		{ "split_part", "split(TEXT, BY)[N]" }, { "left", "TEXT[:N]" }, { "right", "TEXT[-N:]" },
		{ "regexp_match", "TEXT ~ /RE/" }, { "regexp_matches", "TEXT ~ /RE/" }, { "regex_match", "TEXT ~ /RE/" },
		{ "matches", "TEXT ~ /RE/" }, { "search", "TEXT ~ /RE/" }, { "nth", "LIST[N]" }, { "div", "ONE // OTHER" },
		{ "json_extract", "parse_json(TEXT).FIELD" }, { "weekday", "fmt_time(SECONDS, \"%u\")" },
		{ "dayofweek", "fmt_time(SECONDS, \"%u\")" }, { "minute", "fmt_time(SECONDS, \"%M\")" },
		{ "datediff", "parse_time(ONE) - parse_time(OTHER)" }, { "pick", "{field: .field}" },
		{ "row_number", "enumerate, an operator" }, { "enumerate", "enumerate, an operator" },
		{ "unnest", "flat_map LIST, an operator" }, { "explode", "flat_map LIST, an operator" },
		{ "flatten", "flat_map LIST, an operator" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(words[i].there, name))
			return words[i].written;
	return NULL;
}

static bool
call_unknown(struct compile *c, const struct expr_ast *a)
{
	char near[200];
	const char *here;

	compile_fault(c, a, "unknown function `%.100s`", a->text);
	if ((here = call_written(a->text)))
		err_help(c->e, "it is written %s", here);
	else if ((here = call_elsewhere(a->text, false)))
		err_help(c->e, "it is called `%s` here", here);
	else if (str_suggest(a->text, call_fn_name, NULL, near, sizeof near))
		err_help(c->e, "did you mean %s?", near);
	else if ((here = call_elsewhere(a->text, true)))
		err_help(c->e, "it is called `%s` here", here);
	return false;
}

static bool
call_kind_fault(struct compile *c, const struct expr_ast *arg, const struct fn *f, unsigned k,
		const struct type *t)
{
	char name[64];
	char letter = fn_letter(f, k);

	compile_fault(c, arg, "%s() takes %s here, not %s", f->name, fn_letter_words(letter),
		      rule_name(t, name));
	if (t->kind == TYPE_NIL)
		err_help(c->e, "?? gives a default for null");
	else if (letter == 't' || letter == 's')
		err_help(c->e, "str() turns it into text");
	else if ((letter == 'i' || letter == 'n' || letter == 'N') && t->kind == TYPE_TEXT)
		err_help(c->e, "int() and float() turn text into numbers");
	return false;
}

/* Compiles the k-th argument into register reg. */
static bool
call_argument(struct compile *c, const struct fn *f, const struct expr_ast *arg, unsigned k,
	      int reg, struct operand *v)
{
	char letter = fn_letter(f, k);
	const char *text;
	size_t n;

	if (arg->kind == AST_REGEX ? letter == 'p' || letter == 'R' || letter == 'f'
	    : letter == 'R' && ast_lit_text(arg, &text, &n)) {
		int re = compile_pattern(c, arg);
		if (re < 0)
			return false;
		*v = (struct operand){ reg, 0, type_scalar(TYPE_ANY) };
		emit(c, CODE_MOVE, reg,
		     emit_const(c, (struct val){ .kind = VAL_REGEX, .re = c->x->patterns[re] }),
		     0, 0);
		return true;
	}
	if (!compile_node(c, arg, reg, v))
		return false;
	if (letter == 'R') {
		compile_fault(c, arg, "%s() takes a regular expression here", f->name);
		err_help(c->e, "it is a constant, written /.../");
		return false;
	}
	if (!(rule_kinds(v->type) & fn_accepts(f, k)))
		return call_kind_fault(c, arg, f, k, v->type);
	return true;
}

/* The constant that the code emitted last moves to reg; NULL: it does not move one. */
static const struct val *
call_constant(const struct compile *c, const struct operand *v, int reg)
{
	const struct expr *x = c->x;
	const struct ins *last = x->n_code ? &x->code[x->n_code - 1] : NULL;

	return !v->deps && last && last->op == CODE_MOVE && last->d == reg && last->a < 0
		? &x->consts[-1 - last->a] : NULL;
}

static const struct type *
call_type(struct compile *c, const struct fn *f, const struct type *const *types, unsigned n)
{
	const struct type *t = NULL;

	if (f->result)
		t = type_parse(c->env->arena, f->result, strlen(f->result), NULL);
	else if (f->type)
		t = f->type(c->env->arena, types, n);
	return t ? t : type_scalar(TYPE_ANY);
}

/* Checks types and constants together. NULL: the error is set. */
static const struct type *
call_check(struct compile *c, const struct expr_ast *a, const struct fn *f, struct fn_arg *args)
{
	char why[FN_WHY] = "";
	const struct type *t = f->check(c->env->arena, args, a->n, why);

	if (!t)
		compile_fault(c, a, "%s", why);
	return t;
}

static bool
call_plain(struct compile *c, const struct expr_ast *a, const struct fn *f, int dst,
	   struct operand *out)
{
	const struct type *types[FN_ARGS_MAX] = { 0 };
	struct fn_arg args[FN_ARGS_MAX];
	struct val values[FN_ARGS_MAX]; /* copies, since the constants may move */
	struct expr *x = c->x;
	int from = c->next;
	struct operand v;

	out->deps = f->flags & FN_VARIES ? DEP_VARIES : 0;
	x->traits |= f->flags & FN_VARIES ? EXPR_VARIES : 0;
	x->traits |= f->flags & FN_DRAWS ? EXPR_DRAWS : f->flags & FN_VARIES ? EXPR_TIMED : 0;
	for (uint32_t i = 0; i < a->n; i++) {
		int reg = compile_result(c, from + (int)i, COMPILE_ANY);

		if (!call_argument(c, f, a->kids[i], i, reg, &v))
			return false;
		out->deps |= v.deps;
		types[i] = v.type;
		args[i] = (struct fn_arg){ v.type, call_constant(c, &v, reg) };
		if (args[i].value) {
			values[i] = *args[i].value;
			args[i].value = &values[i];
		}
	}
	x->uses_of = mem_grow(x->uses_of, &x->cap_uses, x->n_uses + 1, sizeof *x->uses_of);
	fn_use_init(&x->uses_of[x->n_uses], f);
	out->type = f->check ? call_check(c, a, f, args) : call_type(c, f, types, a->n);
	if (!out->type)
		return false;
	out->reg = compile_result(c, from, dst);
	size_t at = emit(c, CODE_CALL, out->reg, from, 0, (int32_t)x->n_uses++);
	x->code[at].n = (uint8_t)a->n;
	return true;
}

/* Compiles the expression for each item, which may use `it`. */
static bool
call_body(struct compile *c, const struct expr_ast *body, const struct type *item, int it_reg,
	  struct operand *out)
{
	const struct type *outer = c->it;
	int outer_reg = c->it_reg;

	c->it = item->kind == TYPE_NEVER ? type_scalar(TYPE_ANY) : item;
	c->it_reg = it_reg;
	bool ok = true;
	if (body)
		ok = compile_node(c, body, COMPILE_ANY, out);
	else
		*out = (struct operand){ it_reg, DEP_ITEM, c->it };
	c->it = outer;
	c->it_reg = outer_reg;
	/* Outside the loop, only an outer item is still a dependency. */
	out->deps &= ~(unsigned)DEP_ITEM;
	return ok;
}

static const struct type *
call_loop_type(struct compile *c, const struct fn *f, const struct type *list,
	       const struct type *body)
{
	switch (f->special) {
	case FN_ANY:
	case FN_ALL:
		return type_scalar(TYPE_BOOL);
	case FN_MAP:
		return type_list(c->env->arena, body);
	default:
		return list->kind == TYPE_LIST ? type_list(c->env->arena, list->item)
			: type_list(c->env->arena, type_scalar(TYPE_ANY));
	}
}

/*	LOOP list
 *	NEXT it  ----------+
 *	body               |
 *	KEEP, or for any   |
 *	and all a jump out |
 *	JUMP to NEXT       |
 *	MADE  <------------+
 */
static bool
call_loop(struct compile *c, const struct expr_ast *a, const struct fn *f, int dst,
	  struct operand *out)
{
	struct operand list, body;
	int from = c->next, loop = c->x->n_loops++;
	int d = dst == COMPILE_ANY ? compile_result(c, from, dst) : dst;
	const struct expr_ast *expr = a->n > 1 ? a->kids[1] : NULL;
	bool decides = f->special == FN_ANY || f->special == FN_ALL;
	char name[32];

	if (!call_argument(c, f, a->kids[0], 0, compile_result(c, c->next, COMPILE_ANY), &list))
		return false;
	int it = list.reg;
	emit(c, CODE_LOOP, 0, list.reg, 0, loop);
	if (decides)
		emit(c, CODE_MOVE, d, emit_const(c, val_bool(f->special == FN_ALL)), 0, 0);
	size_t next = emit(c, CODE_NEXT, it, 0, loop, 0);
	if (!call_body(c, expr, list.type->kind == TYPE_LIST ? list.type->item
		       : type_scalar(TYPE_ANY), it, &body))
		return false;
	snprintf(name, sizeof name, "%s()", f->name);
	if ((decides || f->special == FN_FILTER)
	    && !rule_test(c, expr ? expr : a->kids[0], name, body.type))
		return false;
	size_t leave = 0;
	if (decides) {
		size_t stay = emit(c, f->special == FN_ANY ? CODE_JFALSE : CODE_JTRUE,
				   f->special == FN_ANY ? AST_OR : AST_AND, body.reg, 0, 0);
		emit(c, CODE_MOVE, d, emit_const(c, val_bool(f->special == FN_ANY)), 0, 0);
		leave = emit(c, CODE_JUMP, 0, 0, 0, 0);
		c->x->code[stay].c = (int32_t)next - (int32_t)stay;
	} else {
		emit(c, f->special == FN_MAP ? CODE_KEEP : f->special == FN_FILTER ? CODE_KEEPIF
		     : CODE_KEEPKEY, 0, body.reg, it, loop);
		size_t back = emit(c, CODE_JUMP, 0, 0, 0, 0);
		c->x->code[back].c = (int32_t)next - (int32_t)back;
	}
	emit_land(c, next);
	if (decides)
		emit_land(c, leave);
	else
		emit(c, f->special == FN_SORTED ? CODE_SORTED : CODE_MADE, d, 0, 0, loop);
	out->reg = d;
	out->deps = list.deps | body.deps;
	out->type = call_loop_type(c, f, list.type, body.type);
	compile_result(c, from, dst);
	return true;
}

static bool
call_end(struct compile *c, const struct expr_ast *a, const struct fn *f, struct operand *out)
{
	struct operand v;

	*out = (struct operand){ emit_nil(c), DEP_VARIES, type_scalar(TYPE_NEVER) };
	if (f->special == FN_SKIP) {
		c->x->traits |= EXPR_SKIPS;
		emit(c, CODE_SKIP, 0, 0, 0, 0);
		return true;
	}
	if (!compile_node(c, a->kids[0], COMPILE_ANY, &v))
		return false;
	if (!(rule_kinds(v.type) & fn_accepts(f, 0)))
		return call_kind_fault(c, a->kids[0], f, 0, v.type);
	emit(c, CODE_FAIL, 0, v.reg, 0, 0);
	return true;
}

bool
compile_call(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	const struct fn *f = fn_find(a->text, a->text_len);

	if (!f)
		return call_unknown(c, a);
	if (a->n < fn_least(f) || a->n > FN_ARGS_MAX || (a->n && !fn_letter(f, a->n - 1))) {
		compile_fault(c, a, "%s() takes other arguments than the %u given", f->name, a->n);
		err_help(c->e, "it is written %s(%s)", f->name, f->args);
		return false;
	}
	switch (f->special) {
	case FN_PLAIN:
		return call_plain(c, a, f, dst, out);
	case FN_FAIL:
	case FN_SKIP:
		return call_end(c, a, f, out);
	default:
		return call_loop(c, a, f, dst, out);
	}
}
