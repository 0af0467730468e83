/* SPDX-License-Identifier: MIT */
#include "expr/compile/compile.h"

#include <string.h>

#include "base/mem.h"
#include "expr/pattern.h"
#include "expr/run/column.h"
#include "value/mp.h"

int
compile_result(struct compile *c, int base, int dst)
{
	c->next = base;
	if (dst != COMPILE_ANY)
		return dst;
	c->next = base + 1;
	if (c->next > c->x->n_regs)
		c->x->n_regs = c->next;
	return base;
}

/* Moves the value in `reg` to dst, if it is wanted there. */
static bool
compile_placed(struct compile *c, int reg, int dst, struct operand *out)
{
	out->reg = reg;
	if (dst != COMPILE_ANY && dst != reg) {
		emit(c, CODE_MOVE, dst, reg, 0, 0);
		out->reg = dst;
	}
	return true;
}

static bool
compile_name_missing(struct compile *c, const struct expr_ast *a)
{
	static const char *const why[] = {
		[EXPR_X] = "there is no element here: a constant is expected",
		[EXPR_S] = "s is the state, which only scan and reduce have",
		[EXPR_I] = "i is the element's number, which is not at hand here",
		[EXPR_XX] = "xx is the outer element, which only inner pipelines have",
		[AST_IT] = "it is the item, inside map, filter, any, all and sorted"
	};

	compile_fault(c, a, "there is no `%s` here", ast_name_word(a->op));
	err_help(c->e, "%s", why[a->op]);
	return false;
}

static bool
compile_name(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	if (a->op == AST_IT) {
		if (!c->it)
			return compile_name_missing(c, a);
		out->type = c->it;
		out->deps = DEP_ITEM;
		return compile_placed(c, c->it_reg, dst, out);
	}
	out->type = c->env->types[a->op];
	if (!out->type)
		return compile_name_missing(c, a);
	c->x->uses[a->op] = true;
	c->x->traits |= a->op == EXPR_I ? EXPR_COUNTS : 0;
	out->deps = DEP_ELEMENT;
	return compile_placed(c, a->op, dst, out);
}

/* Puts nested literals together; they need no code, however deep. */
static bool
compile_literal(const struct expr_ast *a, unsigned depth, struct buf *out)
{
	uint32_t n = a->kind == AST_RECORD ? a->n / 2 : a->n;

	if (a->kind == AST_LIT) {
		buf_put(out, a->text, a->text_len);
		return true;
	}
	if ((a->kind != AST_LIST && a->kind != AST_RECORD) || depth >= MP_DEPTH_MAX)
		return false;
	uint8_t *p = buf_room(out, MP_HEAD_MAX);
	out->len += (size_t)((a->kind == AST_LIST ? mp_put_list_head(p, n)
			      : mp_put_record_head(p, n)) - p);
	for (uint32_t i = 0; i < a->n; i++)
		if (!compile_literal(a->kids[i], depth + 1, out))
			return false;
	return true;
}

static bool
compile_value(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct buf value = { 0 };
	bool ok = compile_literal(a, 0, &value);

	if (ok) {
		out->deps = 0;
		out->type = type_of_value(c->env->arena, value.data, value.len);
		compile_placed(c, emit_const_encoded(c, value.data, value.len), dst, out);
	}
	buf_clear(&value);
	return ok;
}

static bool
compile_field(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct expr *x = c->x;
	struct operand base;
	int from = c->next;
	int32_t key = emit_key(c, a->text, a->text_len);
	bool own = a->kids[0]->kind == AST_NAME && a->kids[0]->op == EXPR_X
		&& !memchr(a->text, 0, a->text_len);

	if (own && c->env->types[EXPR_X]) {
		/* Not through compile_node, which would note that the whole of x is used. */
		if (!compile_name(c, a->kids[0], COMPILE_ANY, &base))
			return false;
		size_t i = 0;
		while (i < x->n_fields && strcmp(x->fields[i], a->text) != 0)
			i++;
		if (i == x->n_fields) {
			x->fields = mem_grow(x->fields, &x->cap_fields, i + 1, sizeof *x->fields);
			x->fields[x->n_fields++] = mem_strdup(a->text);
		}
	} else if (!compile_node(c, a->kids[0], COMPILE_ANY, &base)) {
		return false;
	}
	out->type = rule_field(c, a, base.type);
	if (!out->type)
		return false;
	out->deps = base.deps;
	out->reg = compile_result(c, from, dst);
	emit(c, CODE_FIELD, out->reg, base.reg, 0, key);
	return true;
}

static bool
compile_index(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct operand v[3];
	int from = c->next;
	bool slice = a->kind == AST_SLICE;
	char name[64];

	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->kids[i])
			v[i] = (struct operand){ emit_nil(c), 0, type_scalar(TYPE_NIL) };
		else if (!compile_node(c, a->kids[i], COMPILE_ANY, &v[i]))
			return false;
		if (slice && i && !(rule_kinds(v[i].type) & (VAL_BIT(VAL_INT) | VAL_BIT(VAL_NIL))))
			return compile_fault(c, a->kids[i], "a slice goes from int to int, not %s",
					     rule_name(v[i].type, name));
	}
	out->type = rule_index(c, a, v[0].type, v[1].type);
	if (!out->type)
		return false;
	out->deps = v[0].deps | v[1].deps | (slice ? v[2].deps : 0);
	out->reg = compile_result(c, from, dst);
	emit(c, slice ? CODE_SLICE : CODE_INDEX, out->reg, v[0].reg, v[1].reg,
	     slice ? v[2].reg : 0);
	return true;
}

int
compile_pattern(struct compile *c, const struct expr_ast *a)
{
	struct expr *x = c->x;
	const char *s = a->text;
	size_t n = a->text_len, bad;
	unsigned flags = a->op;

	if (a->kind != AST_REGEX) {
		flags = 0;
		if (!ast_lit_text(a, &s, &n)) {
			compile_fault(c, a, "a regular expression is a constant");
			err_help(c->e, "it is written /.../ or as a text; `in`, contains() and find() "
				 "look for a text that is not constant");
			return -1;
		}
	}
	struct pattern *p = n > PATTERN_MAX ? NULL : pattern_new(s, n, flags, &bad, c->e);
	if (!p) {
		if (n > PATTERN_MAX)
			err_set(c->e, ST_DATA, "this regular expression is too long");
		else if (c->env->text)
			err_place(c->e, c->env->file, c->env->text, c->env->text_len,
				  a->kind == AST_REGEX && bad < n ? a->at + 1 + bad : a->at,
				  a->kind == AST_REGEX && bad < n ? 1 : a->len);
		return -1;
	}
	x->patterns = mem_grow(x->patterns, &x->cap_patterns, x->n_patterns + 1,
			       sizeof(*x->patterns));
	x->patterns[x->n_patterns] = p;
	return (int)x->n_patterns++;
}

static bool
compile_match(struct compile *c, const struct expr_ast *a, bool negated, int dst,
	      struct operand *out)
{
	struct operand v;
	int from = c->next;
	char name[64];

	if (!compile_node(c, a->kids[0], COMPILE_ANY, &v))
		return false;
	if (!(rule_kinds(v.type) & (VAL_BIT(VAL_TEXT) | VAL_BIT(VAL_BYTES)))) {
		compile_fault(c, a, "`%s` of %s, which is not text", ast_ops[a->op].sign,
			      rule_name(v.type, name));
		if (v.type->kind == TYPE_RECORD)
			err_help(c->e, "one of its fields, as in .name ~ /re/, or to_json(x) ~ /re/");
		else
			err_help(c->e, "str(x) ~ /re/ looks at it as text");
		return false;
	}
	int re = compile_pattern(c, a->kids[1]);
	if (re < 0)
		return false;
	out->type = type_scalar(TYPE_BOOL);
	out->deps = v.deps;
	out->reg = compile_result(c, from, dst);
	emit(c, negated == (a->op == AST_MATCH) ? CODE_NMATCH : CODE_MATCH, out->reg, v.reg, 0, re);
	return true;
}

static bool
compile_unary(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	const struct expr_ast *kid = a->kids[0];
	struct operand v;
	int from = c->next;

	if (a->op == AST_NOT && kid->kind == AST_BINARY
	    && (kid->op == AST_MATCH || kid->op == AST_NMATCH))
		return compile_match(c, kid, true, dst, out);
	if (!compile_node(c, kid, COMPILE_ANY, &v))
		return false;
	out->type = rule_unary(c, a, v.type);
	if (!out->type)
		return false;
	out->deps = v.deps;
	out->reg = compile_result(c, from, dst);
	emit(c, a->op == AST_NOT ? CODE_NOT : CODE_NEG, out->reg, v.reg, 0, 0);
	return true;
}

/* Compiles and, or: the right side is not evaluated when the left one decides. */
static bool
compile_logic(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct operand l, r;
	int from = c->next;
	const char *whose = a->op == AST_AND ? "`and`" : "`or`";

	if (dst == COMPILE_ANY)
		dst = compile_result(c, from, COMPILE_ANY);
	if (!compile_node(c, a->kids[0], dst, &l) || !rule_test(c, a->kids[0], whose, l.type))
		return false;
	size_t jump = emit(c, a->op == AST_AND ? CODE_JFALSE : CODE_JTRUE, a->op, dst, 0, 0);
	if (!compile_node(c, a->kids[1], dst, &r) || !rule_test(c, a->kids[1], whose, r.type))
		return false;
	if (r.type->kind != TYPE_BOOL || r.type->nullable)
		emit(c, CODE_TEST, a->op, dst, 0, 0);
	emit_land(c, jump);
	out->reg = dst;
	out->type = type_scalar(TYPE_BOOL);
	out->deps = l.deps | r.deps;
	return true;
}

static bool
compile_coalesce(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct operand l, r;
	int from = c->next;
	size_t start = c->x->n_code;

	if (dst == COMPILE_ANY)
		dst = compile_result(c, from, COMPILE_ANY);
	if (!compile_node(c, a->kids[0], dst, &l))
		return false;
	size_t jump = emit(c, CODE_JVALUE, 0, dst, 0, 0);
	emit_guard(c, start, jump);
	if (!compile_node(c, a->kids[1], dst, &r))
		return false;
	emit_land(c, jump);
	out->reg = dst;
	out->type = rule_coalesce(c, l.type, r.type);
	out->deps = l.deps | r.deps;
	return true;
}

static bool
compile_cond(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	struct operand test, yes, no;
	int from = c->next;

	if (dst == COMPILE_ANY)
		dst = compile_result(c, from, COMPILE_ANY);
	int inner = c->next;
	if (!compile_node(c, a->kids[0], COMPILE_ANY, &test)
	    || !rule_test(c, a->kids[0], "the condition of `?:`", test.type))
		return false;
	c->next = inner;
	size_t jump = emit(c, CODE_JFALSE, AST_OPS, test.reg, 0, 0);
	if (!compile_node(c, a->kids[1], dst, &yes))
		return false;
	size_t over = emit(c, CODE_JUMP, 0, 0, 0, 0);
	emit_land(c, jump);
	if (!compile_node(c, a->kids[2], dst, &no))
		return false;
	emit_land(c, over);
	out->reg = dst;
	out->type = type_join(c->env->arena, yes.type, no.type);
	out->deps = test.deps | yes.deps | no.deps;
	return true;
}

static bool
compile_binary(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	static const uint8_t codes[AST_OPS] = {
		[AST_EQ] = CODE_EQ, [AST_NE] = CODE_NE, [AST_LT] = CODE_LT, [AST_LE] = CODE_LE,
		[AST_GT] = CODE_GT, [AST_GE] = CODE_GE, [AST_IN] = CODE_IN, [AST_CAT] = CODE_CAT,
		[AST_ADD] = CODE_ADD, [AST_SUB] = CODE_SUB, [AST_MUL] = CODE_MUL,
		[AST_DIV] = CODE_DIV, [AST_FLOOR] = CODE_FLOOR, [AST_MOD] = CODE_MOD,
		[AST_POW] = CODE_POW
	};
	struct operand l, r;
	int from = c->next;

	switch ((enum ast_op)a->op) {
	case AST_AND:
	case AST_OR:
		return compile_logic(c, a, dst, out);
	case AST_COALESCE:
		return compile_coalesce(c, a, dst, out);
	case AST_MATCH:
	case AST_NMATCH:
		return compile_match(c, a, false, dst, out);
	default:
		break;
	}
	if (!compile_node(c, a->kids[0], COMPILE_ANY, &l)
	    || !compile_node(c, a->kids[1], COMPILE_ANY, &r))
		return false;
	out->type = rule_binary(c, a, l.type, r.type);
	if (!out->type)
		return false;
	out->deps = l.deps | r.deps;
	out->reg = compile_result(c, from, dst);
	emit(c, (enum code_op)codes[a->op], out->reg, l.reg, r.reg, 0);
	return true;
}

/* Compiles lists and records: the values side by side in registers, then one instruction. */
static bool
compile_group(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	bool record = a->kind == AST_RECORD;
	int from = c->next, first = from;
	uint32_t n = record ? a->n / 2 : a->n;
	const struct type *item = type_scalar(TYPE_NEVER);
	struct type_field *fields = mem_array(n + 1, sizeof *fields);
	struct operand v;
	bool ok = true, open = false;

	out->deps = 0;
	for (uint32_t i = 0; ok && i < n; i++) {
		int reg = compile_result(c, first + (int)i, COMPILE_ANY);
		const char *name;
		size_t len;

		ok = compile_node(c, a->kids[record ? 2 * i + 1 : i], reg, &v);
		if (!ok)
			break;
		out->deps |= v.deps;
		if (!record) {
			item = type_join(c->env->arena, item, v.type);
		} else if (ast_lit_text(a->kids[2 * i], &name, &len)) {
			fields[i] = (struct type_field){ name, v.type };
			open = open || memchr(name, 0, len);
		}
	}
	if (ok && record)
		out->type = type_record(c->env->arena, fields, open ? 0 : n, open);
	else if (ok)
		out->type = type_list(c->env->arena, item);
	mem_free(fields);
	if (!ok)
		return false;
	out->reg = compile_result(c, from, dst);
	emit(c, record ? CODE_RECORD : CODE_LIST, out->reg, first, 0,
	     record ? emit_shape(c, a) : (int32_t)n);
	return true;
}

static bool
compile_by_kind(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	switch ((enum ast_kind)a->kind) {
	case AST_LIT:
		return compile_value(c, a, dst, out);
	case AST_NAME:
		if (a->op == EXPR_X)
			c->x->whole = true;
		return compile_name(c, a, dst, out);
	case AST_REGEX:
		compile_fault(c, a, "a regular expression is not a value");
		err_help(c->e, "it belongs after ~ or !~, or in match(), captures(), replace(), "
			 "find() and split()");
		return false;
	case AST_UNARY:
		return compile_unary(c, a, dst, out);
	case AST_BINARY:
		return compile_binary(c, a, dst, out);
	case AST_COND:
		return compile_cond(c, a, dst, out);
	case AST_FIELD:
		return compile_field(c, a, dst, out);
	case AST_INDEX:
	case AST_SLICE:
		return compile_index(c, a, dst, out);
	case AST_CALL:
		return compile_call(c, a, dst, out);
	case AST_LIST:
	case AST_RECORD:
		return compile_value(c, a, dst, out) || compile_group(c, a, dst, out);
	}
	return false;
}

bool
compile_node(struct compile *c, const struct expr_ast *a, int dst, struct operand *out)
{
	size_t start = c->x->n_code;

	if (!emit_room(c, a) || !compile_by_kind(c, a, dst, out))
		return false;
	emit_fold(c, start, dst, out);
	return true;
}

/* Recognizes x ~ /re/ alone, as in most filters of lines, which runs in a loop of its own. */
static int
compile_quick(const struct expr_ast *a)
{
	bool not = a->kind == AST_UNARY && a->op == AST_NOT;

	if (not)
		a = a->kids[0];
	if (a->kind != AST_BINARY || (a->op != AST_MATCH && a->op != AST_NMATCH)
	    || a->kids[0]->kind != AST_NAME || a->kids[0]->op != EXPR_X)
		return 0;
	return not == (a->op == AST_NMATCH) ? 1 : -1;
}

/* Recognizes a field of x alone, as most keys are. */
static uint32_t
compile_part(const struct expr *x)
{
	const struct ins *i = x->code;

	if (x->n_code != 2 || i[0].op != CODE_FIELD || i[0].a != EXPR_X || i[1].op != CODE_RET || i[1].a != i[0].d)
		return 0;
	return (uint32_t)i[0].c + 1;
}

/* Whether elements of this type are never null, and have no parts that could be. */
static bool
compile_is_plain(const struct type *x)
{
	return x && !x->nullable && (x->kind == TYPE_BOOL || x->kind == TYPE_INT || x->kind == TYPE_FLOAT
				     || x->kind == TYPE_TEXT || x->kind == TYPE_BYTES);
}

struct expr *
expr_compile(const struct expr_ast *a, const struct expr_env *env, struct err *e)
{
	struct expr *x = mem_zalloc(sizeof *x);
	struct compile c = { .x = x, .env = env, .e = e, .next = CODE_FIRST_TEMP };
	struct operand v;

	x->n_regs = CODE_FIRST_TEMP;
	x->json = env->json;
	if (!compile_node(&c, a, COMPILE_ANY, &v)) {
		expr_free(&x);
		return NULL;
	}
	emit(&c, CODE_RET, 0, v.reg, 0, 0);
	x->type = v.type;
	x->quick = compile_quick(a);
	x->part = compile_part(x);
	x->skips_nulls = env->skips_nulls && !compile_is_plain(env->types[EXPR_X]);
	if (x->skips_nulls)
		x->traits |= EXPR_SKIPS;
	x->columns = column_plan_new(x, env->types[EXPR_X]);
	if (!v.deps && v.reg < 0 && x->n_code == 1) {
		x->constant = true;
		x->result = x->consts[-1 - v.reg];
	}
	return x;
}

void
expr_free(struct expr **xp)
{
	struct expr *x = *xp;

	if (!x)
		return;
	for (size_t i = 0; i < x->n_patterns; i++)
		pattern_free(&x->patterns[i]);
	for (size_t i = 0; i < x->n_owned; i++)
		mem_free(x->owned[i]);
	for (size_t i = 0; i < x->n_shapes; i++)
		mem_free(x->shapes[i].keys);
	for (size_t i = 0; i < x->n_fields; i++)
		mem_free((void *)(uintptr_t)x->fields[i]);
	mem_free(x->code);
	mem_free(x->guards);
	mem_free(x->consts);
	mem_free(x->keys);
	mem_free(x->shapes);
	mem_free(x->patterns);
	mem_free(x->uses_of);
	mem_free(x->owned);
	mem_free(x->fields);
	mem_free(x->columns);
	mem_free(x);
	*xp = NULL;
}

unsigned
expr_traits(const struct expr *x)
{
	return x->traits;
}

const struct type *
expr_type(const struct expr *x)
{
	return x->type;
}

bool
expr_constant(const struct expr *x, struct buf *out)
{
	if (x->constant)
		val_put(&x->result, out);
	return x->constant;
}

int
expr_fields(const struct expr *x, const char **names, int max)
{
	if (x->whole || x->n_fields > (size_t)(max < 0 ? 0 : max))
		return -1;
	for (size_t i = 0; i < x->n_fields; i++)
		names[i] = x->fields[i];
	return (int)x->n_fields;
}
