/* SPDX-License-Identifier: MIT
 *
 * The canonical text, printed from the plan: what the plan does not know
 * (layout, comments, names of lets and parameters) cannot get in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "fetch/url.h"
#include "lang/constant.h"
#include "lang/lex.h"
#include "lang/spec.h"
#include "value/num.h"

static void
canon_duration(int64_t ns, struct buf *out)
{
	static const struct {
		int64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (units[i].ns > 1 && ns % units[i].ns)
		i++;
	buf_printf(out, "%lld%s", (long long)(ns / units[i].ns), units[i].unit);
}

static bool
canon_plain(const char *s)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				      "_./*?[]{}:,+%^~-";
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (!((unsigned char)s[i] & 0x80) && !strchr(allowed, s[i]))
			return false;
	return n && strcmp(s, "--") && !lex_is_outer(s, n);
}

/* Writes a word so that lex_word reads it again, in any place and after any other word. */
static void
canon_word(const char *s, struct buf *out)
{
	bool control = false;

	for (const char *c = s; *c; c++)
		control |= (unsigned char)*c < ' ';
	if (canon_plain(s)) {
		buf_str(out, s);
	} else if (!control && !strchr(s, '\'')) {
		buf_printf(out, "'%s'", s);
	} else {
		buf_byte(out, '"');
		for (; *s; s++) {
			if (*s == '"' || *s == '\\')
				buf_printf(out, "\\%c", *s);
			else if ((unsigned char)*s < ' ' || ((*s == '@' || *s == '$') && s[1] == '{'))
				buf_printf(out, "\\x%02x", (unsigned char)*s);
			else
				buf_byte(out, (uint8_t)*s);
		}
		buf_byte(out, '"');
	}
}

/* Writes a path; characters of the current folder that mean something in a glob are escaped. */
static void
canon_path(const struct param *row, const char *s, unsigned flags, struct buf *out)
{
	if (!(row->flags & PARAM_PATH) || !strcmp(s, "-") || !(flags & (url_is(s) ? CANON_SHOWN : CANON_ABSOLUTE))) {
		canon_word(s, out);
		return;
	}
	struct buf b = { 0 };
	if (flags & CANON_SHOWN)
		url_show(s, &b);
	else
		path_absolute(s, "*?[{\\", &b);
	canon_word((char *)b.data, out);
	buf_clear(&b);
}

static void
canon_scalar(const struct param *row, const void *base, struct buf *out)
{
	const void *field = (const char *)base + row->offset;
	char text[128];
	int64_t i;

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
	case PARAM_DURATION:
		i = *(const int64_t *)field;
		if (row->flags & PARAM_ALLOW_AUTO && i != INT64_MAX && !param_given(row, base))
			buf_str(out, "auto");
		else if (i == INT64_MAX && (row->flags & PARAM_ALLOW_INF))
			buf_str(out, "inf");
		else if (i == INT64_MAX && (row->flags & PARAM_ALLOW_ALL))
			buf_str(out, "all");
		else if (i == INT64_MAX && (row->flags & PARAM_ALLOW_NEVER))
			buf_str(out, "never");
		else if (row->kind == PARAM_DURATION)
			canon_duration(i, out);
		else
			buf_printf(out, "%lld", (long long)i);
		break;
	case PARAM_FLOAT:
		buf_put(out, text, num_print_float(*(const double *)field, text));
		break;
	case PARAM_BOOL:
		buf_str(out, *(const bool *)field ? "true" : "false");
		break;
	default:
		if (param_choice(row->choices, *(const int *)field, text, sizeof text))
			canon_word(text, out);
	}
}

static void
canon_pipe(const char *name, const struct op_node *n, unsigned flags, struct buf *out)
{
	if (name)
		buf_printf(out, "%s=", name);
	buf_byte(out, '(');
	canon_print(n, flags, out);
	buf_byte(out, ')');
}

static void
canon_pipes(const struct op_pipes *p, unsigned flags, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		if (i)
			buf_byte(out, ' ');
		canon_pipe(p->names ? p->names[i] : NULL, p->v[i], flags, out);
	}
}

static void
canon_named(const struct op_named *named, struct buf *out)
{
	for (size_t i = 0; i < named->n; i++) {
		buf_printf(out, "%s%s=", i ? " " : "", named->v[i].name);
		expr_print(named->v[i].ast, out);
	}
}

/* Writes the value of a parameter in the state; nothing when it is absent. */
static void
canon_value(const struct param *row, const void *base, unsigned flags, struct buf *out)
{
	const void *field = (const char *)base + row->offset;
	const struct words *w;
	const struct op_fragment *f;

	switch (row->kind) {
	case PARAM_WORD:
		if (*(char *const *)field)
			canon_path(row, *(char *const *)field, flags, out);
		break;
	case PARAM_WORDS:
	case PARAM_COMMAND:
		w = field;
		if (row->kind == PARAM_COMMAND && w->n)
			buf_str(out, "-- ");
		for (size_t i = 0; i < w->n; i++) {
			if (i)
				buf_byte(out, ' ');
			canon_path(row, w->v[i], flags, out);
		}
		break;
	case PARAM_VALUE:
		if (((const struct buf *)field)->len)
			constant_print(((const struct buf *)field)->data,
				       ((const struct buf *)field)->len, out);
		break;
	case PARAM_EXPR:
		if (((const struct op_expr *)field)->ast)
			expr_print(((const struct op_expr *)field)->ast, out);
		break;
	case PARAM_PIPE:
		if (*(struct op_node *const *)field)
			canon_pipe(NULL, *(struct op_node *const *)field, flags, out);
		break;
	case PARAM_PIPES:
		canon_pipes(field, flags, out);
		break;
	case PARAM_NAMED:
		canon_named(field, out);
		break;
	case PARAM_FRAGMENT:
		f = field;
		if (f->tail) {
			buf_byte(out, '(');
			canon_print(f->tail, flags, out);
			buf_byte(out, ')');
		}
		break;
	default:
		canon_scalar(row, base, out);
	}
}

static const struct op_bind *
canon_bind(const struct op_node *n, const struct param *row)
{
	for (size_t i = 0; i < n->n_binds; i++)
		if (n->binds[i].row == row)
			return &n->binds[i];
	return NULL;
}

static void
canon_bound(const struct op_bind *b, struct buf *out)
{
	struct buf text = { 0 };

	expr_print(b->value.ast, &text);
	if (lex_is_outer((char *)text.data, text.len))
		buf_put(out, text.data, text.len);
	else
		buf_printf(out, "(%s)", (char *)text.data);
	buf_clear(&text);
}

/* Writes the text of the default in the form in which a value is written. */
static void
canon_default(const struct op_node *n, const struct param *row, const void *defaults,
	      struct buf *out)
{
	struct expr_src src = { .file = "<default>", .text = row->def,
				.len = row->def ? strlen(row->def) : 0 };
	struct expr_ast *a;

	(void)n;
	if (row->kind == PARAM_EXPR && row->def && (a = expr_parse(&src, NULL))) {
		expr_print(a, out);
		expr_ast_free(&a);
	} else if (row->kind == PARAM_VALUE && row->def) {
		struct buf b = { 0 };
		if (!constant_read(row->def, src.len, &b, NULL))
			constant_print(b.data, b.len, out);
		buf_clear(&b);
	} else {
		canon_value(row, defaults, 0, out);
	}
}

static void
canon_params(const struct op_node *n, unsigned flags, struct buf *out)
{
	const struct param *rows = n->desc->params, *command = NULL;
	void *defaults = mem_zalloc(n->desc->state_size);
	bool keyed = false;
	struct buf value = { 0 }, usual = { 0 };

	param_defaults(rows, defaults);
	for (const struct param *r = rows; r && r->kind; r++) {
		const struct op_bind *b = canon_bind(n, r);
		bool required = !r->def && !(r->flags & PARAM_OPTIONAL);
		if (r->kind == PARAM_COMMAND)
			command = r;
		if (r->kind == PARAM_COMMAND || r->flags & PARAM_HIDDEN)
			continue;
		buf_reset(&value);
		buf_reset(&usual);
		if (b)
			canon_bound(b, &value);
		else
			canon_value(r, n->params, flags, &value);
		canon_default(n, r, defaults, &usual);
		if (!value.len || (!b && !required && value.len == usual.len &&
				   !memcmp(value.data, usual.data, value.len))) {
			keyed = true;
			continue;
		}
		buf_byte(out, ' ');
		if (r->kind != PARAM_NAMED && ((keyed && r->kind != PARAM_PIPES) || r->flags & PARAM_KEY_ONLY))
			buf_printf(out, "%s=", r->name);
		buf_put(out, value.data, value.len);
	}
	param_clear(rows, defaults);
	mem_free(defaults);
	buf_clear(&value);
	buf_clear(&usual);
	const char *after = n->on_error == OP_SKIP ? "skip" : n->on_error == OP_KEEP ? "keep" : "";
	if (n->retries)
		buf_printf(out, " on_error=retry:%d%s%s", n->retries, *after ? "," : "", after);
	else if (*after)
		buf_printf(out, " on_error=%s", after);
	if (n->skips_nulls)
		buf_str(out, " nulls=skip");
	if (n->per_stream && op_scope_of(n) == OP_GLOBAL)
		buf_str(out, " per_stream=true");
	if (command) {
		buf_byte(out, ' ');
		canon_value(command, n->params, flags, out);
	}
}

void
canon_print_stage(const struct op_node *n, unsigned flags, struct buf *out)
{
	buf_str(out, n->desc->name);
	canon_params(n, flags, out);
}

void
canon_print(const struct op_node *n, unsigned flags, struct buf *out)
{
	/* Written from the top down, so that a long chain needs no deep stack. */
	size_t n_chain = 0, cap = 0;
	const struct op_node **chain = NULL;

	for (; n; n = n->desc->kind == OP_TRANSFORM && n->n_in ? n->in[0] : NULL) {
		chain = mem_grow(chain, &cap, n_chain + 1, sizeof *chain);
		chain[n_chain++] = n;
	}
	/* The part before a border exists as text only, and comes after its options. */
	const char *ahead = n_chain ? chain[n_chain - 1]->remote_spec : NULL, *next;
	while (ahead && !strncmp(ahead, "options ", 8) && (next = strstr(ahead, "; ")))
		ahead = next + 2;
	if (ahead)
		buf_printf(out, "%s | ", ahead);
	for (size_t i = n_chain; i-- > 0;) {
		/* The source of a fragment has no text; the mark `|` remains. */
		if (*chain[i]->desc->name == '|') {
			buf_str(out, i ? "| " : "|");
			continue;
		}
		canon_print_stage(chain[i], flags, out);
		if (i)
			buf_str(out, " | ");
	}
	mem_free(chain);
}

void
plan_canonical(const struct plan *p, unsigned flags, struct buf *out)
{
	if (p->options.seed != PARAM_AUTO)
		buf_printf(out, "options seed=%lld; ", (long long)p->options.seed);
	if (p->options.element_max != SPEC_ELEMENT_MAX)
		buf_printf(out, "options element_max=%lld; ", (long long)p->options.element_max);
	if (p->options.json.nonfinite == JSON_NONFINITE_ERROR || p->options.json.nonfinite == JSON_NONFINITE_STRING)
		buf_printf(out, "options nonfinite=%s; ",
			   p->options.json.nonfinite == JSON_NONFINITE_ERROR ? "error" : "string");
	if (p->options.json.invalid_utf8 == JSON_INVALID_REPLACE)
		buf_str(out, "options invalid_utf8=replace; ");
	canon_print(p->top, flags, out);
}
