/* SPDX-License-Identifier: MIT */
#include "ops.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "cli/help.h"
#include "cli/mdoc.h"
#include "expr/expr.h"
#include "lang/usage.h"
#include "op/op.h"
#include "op/table.h"

enum { OPS_COLUMN = 16, OPS_CALL_COLUMN = 26, OPS_WIDTH = 80 };

static void
ops_row(struct buf *out, const char *name, const char *text, int indent, int column)
{
	size_t start = out->len;

	buf_printf(out, "%*s%s", indent, "", name);
	size_t col = out->len - start;
	if (col + 1 >= (size_t)column) {
		buf_byte(out, '\n');
		col = 0;
	}
	buf_printf(out, "%*s", column - (int)col, "");
	help_wrap(out, text, column, column, OPS_WIDTH);
}

void
ops_list(struct buf *out)
{
	static const char *const heads[] = { "Sources, which stand first:", "Transforms:",
					     "From several pipelines:" };

	for (int kind = OP_SOURCE; kind <= OP_COMBINE; kind++) {
		buf_printf(out, "%s%s\n", kind ? "\n" : "", heads[kind]);
		for (size_t i = 0; op_at(i); i++)
			if ((int)op_at(i)->kind == kind)
				ops_row(out, op_at(i)->name, op_at(i)->brief, 2, OPS_COLUMN);
	}
}

/* "round(x)" into text. */
static const char *
ops_call(const struct expr_fn_doc *f, struct buf *text)
{
	buf_reset(text);
	buf_printf(text, "%s(%s)", f->name, f->args ? f->args : "");
	return (const char *)text->data;
}

void
ops_functions(struct buf *out)
{
	struct buf call = { 0 };

	for (const struct expr_fn_doc *f = expr_functions(); f->name; f++)
		ops_row(out, ops_call(f, &call), f->brief, 0, OPS_CALL_COLUMN);
	buf_clear(&call);
}

/* The parameters and the description of an operator, which are searched and not shown. */
static void
ops_searched(const struct op_desc *d, struct buf *out)
{
	buf_printf(out, "\t%s %s %s", d->aliases ? d->aliases : "", d->match ? d->match : "", d->doc ? d->doc : "");
	for (const struct param *r = d->params; r && r->kind; r++)
		buf_printf(out, " %s= %s", r->name, r->help ? r->help : "");
}

void
ops_names(struct buf *out)
{
	const struct op_call *c;
	struct buf line = { 0 };

	for (size_t i = 0; op_at(i); i++) {
		const struct op_desc *d = op_at(i);

		buf_reset(&line);
		buf_printf(&line, "%s\t%s", d->name, d->brief);
		ops_searched(d, &line);
		for (size_t k = 0; k < line.len; k++)
			line.data[k] = line.data[k] == '\n' ? ' ' : line.data[k];
		buf_put(out, line.data, line.len);
		buf_byte(out, '\n');
		for (size_t k = 0; d->calls && (c = d->calls(k)); k++)
			buf_printf(out, "%s(%s)\tin %s: %s\n", c->name, c->args, d->name, c->brief);
	}
	for (const struct expr_fn_doc *f = expr_functions(); f->name; f++)
		buf_printf(out, "%s\t%s\n", ops_call(f, &line), f->brief);
	buf_clear(&line);
}

/* "choices; default 4" after a parameter's clause. */
static void
ops_param_text(const struct param *r, struct buf *out)
{
	buf_str(out, r->help ? r->help : "");
	if (r->kind == PARAM_CHOICE) {
		buf_str(out, " (");
		for (const char *c = r->choices; *c; c++)
			buf_str(out, *c == '|' ? ", " : (char[]){ *c, 0 });
		buf_byte(out, ')');
	}
	if (r->def && *r->def)
		buf_printf(out, "; default %s", r->def);
}

static void
ops_indented(struct buf *out, const char *text)
{
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		buf_printf(out, "    %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

static void
ops_example_input(const char *input, struct buf *out)
{
	buf_str(out, "  with this on standard input:\n");
	ops_indented(out, input);
	buf_str(out, "  it is:\n");
}

/* A blank in front of each sentence. */
static void
ops_other_words(const struct op_desc *d, struct buf *out)
{
	if (d->aliases) {
		buf_str(out, " Also known as ");
		for (const char *c = d->aliases; *c; c++)
			buf_str(out, *c == '|' ? ", " : (char[]){ *c, 0 });
		buf_byte(out, '.');
	}
	if (d->match)
		buf_printf(out, " `%s PATTERN` is `%s x ~ PATTERN`.", d->match, d->name);
	if (d->at)
		buf_str(out, " Its elements can be read by index.");
	else if (d->pick || d->groups || d->flags & (OP_EACH | OP_NUMBERS | OP_ALONGSIDE | OP_JOINS_SPLITS))
		buf_str(out, " Its elements can be read by index if those of its input can.");
}

static void
ops_help_op(const struct op_desc *d, struct buf *out)
{
	static const char *const scopes[] = { "each element alone", "one stream",
					      "all elements together" };
	struct buf text = { 0 };

	buf_printf(out, "%s: %s\n\n    ", d->name, d->brief);
	usage_print(d, out);
	buf_byte(out, '\n');
	if (d->doc) {
		buf_byte(out, '\n');
		help_wrap(out, d->doc, 0, 0, OPS_WIDTH);
	}
	if (d->params && d->params->kind)
		buf_str(out, "\nParameters:\n");
	for (const struct param *r = d->params; r && r->kind; r++) {
		buf_reset(&text);
		ops_param_text(r, &text);
		ops_row(out, r->name, text.data ? (char *)text.data : "", 2, OPS_COLUMN + 4);
	}
	const struct op_call *c;
	for (size_t i = 0; d->calls && (c = d->calls(i)); i++) {
		buf_reset(&text);
		buf_printf(&text, "%s(%s)", c->name, c->args);
		if (i == 0)
			buf_str(out, "\nCalls, for NAME=CALL:\n");
		ops_row(out, (char *)text.data, c->brief, 2, OPS_COLUMN + 4);
	}
	buf_reset(&text);
	ops_other_words(d, &text);
	if (d->kind == OP_TRANSFORM)
		buf_printf(&text, " It works on %s%s.", scopes[d->scope],
			   d->flags & OP_WHOLE ? ", and gives nothing before they have ended" : "");
	if (text.len) {
		buf_byte(out, '\n');
		help_wrap(out, (char *)text.data + 1, 0, 0, OPS_WIDTH);
	}
	if (d->example) {
		buf_str(out, "\nExample:\n");
		if (d->input)
			ops_example_input(d->input, out);
		buf_printf(out, "    dsvc-run '%s'\n", d->example);
		ops_indented(out, d->output ? d->output : "");
	}
	buf_clear(&text);
}

static const char *
ops_name(void *arg, size_t i)
{
	size_t n = 0;

	(void)arg;
	while (op_at(n))
		n++;
	if (i < n)
		return op_at(i)->name;
	const char *fn = expr_functions()[i - n].name;
	/* A name of both is suggested once. */
	return fn && op_find(fn, strlen(fn)) ? "" : fn;
}

/* Appends what operators do with a call of that name. */
static bool
ops_help_call(const char *name, struct buf *out)
{
	const struct op_call *c;
	bool found = false;

	for (size_t i = 0; op_at(i); i++)
		for (size_t k = 0; op_at(i)->calls && (c = op_at(i)->calls(k)); k++)
			if (!strcmp(c->name, name)) {
				buf_printf(out, "%s%s(%s): %s; in %s, as NAME=CALL\n", out->len ? "\n" : "", c->name, c->args,
					   c->brief, op_at(i)->name);
				found = true;
			}
	return found;
}

enum status
ops_help(const char *name, struct buf *out, struct err *e)
{
	const struct op_desc *d = op_find(name, strlen(name));
	char near[128];

	if (d)
		ops_help_op(d, out);
	for (const struct expr_fn_doc *f = expr_functions(); f->name; f++)
		if (!strcmp(f->name, name)) {
			if (d)
				buf_str(out, "\nIn expressions it is a function:\n\n");
			buf_printf(out, "%s(%s): %s\n", f->name, f->args ? f->args : "", f->brief);
			if (f->example)
				buf_printf(out, "\nExample:\n    %s    gives %s\n", f->example, f->output);
			ops_help_call(name, out);
			return ST_OK;
		}
	if (ops_help_call(name, out) || d)
		return ST_OK;
	err_set(e, ST_USAGE, "there is no operator or function `%.60s`", name);
	if (str_suggest(name, ops_name, NULL, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	else
		err_help(e, "`dsvc-run --ops` lists the operators, `dsvc-run --functions` the functions");
	return ST_USAGE;
}

/* The example as a literal block: without a prompt, for it is run by a unit test
 * of the table, with all that it needs, and not by the tests of the manual. */
static void
ops_mdoc_example(const struct op_desc *d, struct buf *out)
{
	struct buf text = { 0 };

	if (d->input) {
		buf_str(&text, "printf '");
		for (const char *c = d->input; *c; c++)
			buf_str(&text, *c == '\n' ? "\\n" : *c == '\t' ? "\\t" : *c == '\\' ? "\\\\" :
				       *c == '%' ? "%%" : *c == '\'' ? "'\\''" : (char[]){ *c, 0 });
		buf_str(&text, "' | ");
	}
	buf_printf(&text, "dsvc-run '%s'\n%s", d->example, d->output ? d->output : "");
	buf_str(out, ".Bd -literal -offset indent\n");
	for (const char *c = (char *)text.data; *c; c++) {
		/* A line must not begin as a macro. */
		if ((c == (char *)text.data || c[-1] == '\n') && (*c == '.' || *c == '\''))
			buf_str(out, "\\&");
		buf_str(out, *c == '\\' ? "\\e" : *c == '-' ? "\\-" : *c == '\'' ? "\\(aq" :
			     *c == '`' ? "\\(ga" : *c == '~' ? "\\(ti" : *c == '^' ? "\\(ha" :
			     (char[]){ *c, 0 });
	}
	if (out->data[out->len - 1] != '\n')
		buf_byte(out, '\n');
	buf_str(out, ".Ed\n");
	buf_clear(&text);
}

/* One line of plain text, which is no macro whatever it begins with. */
static void
ops_mdoc_line(const struct buf *text, struct buf *out)
{
	buf_str(out, "\\&");
	for (size_t i = 0; i < text->len; i++)
		buf_str(out, text->data[i] == '\\' ? "\\e" : (char[]){ (char)text->data[i], 0 });
	buf_byte(out, '\n');
}

static void
ops_mdoc_calls(const struct op_desc *d, struct buf *out)
{
	const struct op_call *c;

	buf_str(out, ".Pp\nThe calls:\n.Bl -tag -width Ds -compact\n");
	for (size_t i = 0; (c = d->calls(i)); i++)
		buf_printf(out, ".It Ic %s Ns Pq %s\n%s\n", c->name, c->args, c->brief);
	buf_str(out, ".El\n");
}

static void
ops_mdoc_op(const struct op_desc *d, struct buf *out)
{
	struct buf text = { 0 };

	buf_printf(out, ".Ss %s\n", d->name);
	usage_print(d, &text);
	buf_str(out, ".Bd -ragged -offset indent\n");
	ops_mdoc_line(&text, out);
	buf_str(out, ".Ed\n.Pp\n");
	buf_reset(&text);
	buf_printf(&text, "%c%s.", toupper((unsigned char)d->brief[0]), d->brief + 1);
	if (d->doc)
		buf_printf(&text, " %s", d->doc);
	ops_other_words(d, &text);
	mdoc_text(out, (char *)text.data);
	if (out->data[out->len - 1] != '\n')
		buf_byte(out, '\n');
	if (d->params && d->params->kind) {
		buf_str(out, ".Bl -tag -width Ds\n");
		for (const struct param *r = d->params; r->kind; r++) {
			buf_printf(out, ".It Cm %s\n", r->name);
			buf_reset(&text);
			ops_param_text(r, &text);
			buf_byte(&text, '.');
			mdoc_text(out, (char *)text.data);
			if (out->data[out->len - 1] != '\n')
				buf_byte(out, '\n');
		}
		buf_str(out, ".El\n");
	}
	if (d->calls)
		ops_mdoc_calls(d, out);
	if (d->example)
		ops_mdoc_example(d, out);
	buf_clear(&text);
}

/* Text within the quotes of a macro's argument. */
static void
ops_mdoc_quoted(struct buf *out, const char *s)
{
	for (; *s; s++)
		buf_str(out, *s == '"' ? "\\(dq" : (char[]){ *s, 0 });
}

static void
ops_mdoc_functions(struct buf *out)
{
	buf_str(out, ".Sh FUNCTIONS\nFunctions of expressions.\n.Bl -tag -width Ds\n");
	for (const struct expr_fn_doc *f = expr_functions(); f->name; f++) {
		struct buf text = { 0 };
		buf_printf(out, ".It Ic %s Ns Pq \"", f->name);
		ops_mdoc_quoted(out, f->args ? f->args : "");
		buf_str(out, "\"\n");
		buf_printf(&text, "%c%s.", toupper((unsigned char)f->brief[0]), f->brief + 1);
		mdoc_text(out, (char *)text.data);
		if (out->data[out->len - 1] != '\n')
			buf_byte(out, '\n');
		if (f->example && f->output) {
			buf_reset(&text);
			buf_printf(&text, "%s gives %s", f->example, f->output);
			buf_str(out, ".Pp\n");
			mdoc_text(out, (char *)text.data);
			if (out->data[out->len - 1] != '\n')
				buf_byte(out, '\n');
		}
		buf_clear(&text);
	}
	buf_str(out, ".El\n");
}

void
ops_mdoc(struct buf *out)
{
	static const char *const heads[] = { "SOURCES", "TRANSFORMS", "COMBINING PIPELINES" };

	buf_str(out, ".\\\" Generated by `make gen` from the table of operators: do not edit.\n"
		     ".Dd November 21, 2026\n.Dt DSVC-OPS 7\n.Os\n.Sh NAME\n.Nm dsvc-ops\n"
		     ".Nd operators and functions of dsvc pipelines\n.Sh DESCRIPTION\n"
		     "A pipeline is a source and operators after it, joined by\n.Ql | .\n"
		     "Its language is described in\n.Xr dsvc-pipeline 5 .\n"
		     "Every operator also takes\n.Cm on_error Ns = Ns Cm fail | skip | keep | retry:N | retry:N,skip | retry:N,keep\n"
		     "and\n.Cm per_stream Ns = Ns Cm true ,\nand those with expressions\n.Cm nulls Ns = Ns Cm skip | fail .\n");
	for (int kind = OP_SOURCE; kind <= OP_COMBINE; kind++) {
		buf_printf(out, ".Sh %s\n", heads[kind]);
		for (size_t i = 0; op_at(i); i++)
			if ((int)op_at(i)->kind == kind)
				ops_mdoc_op(op_at(i), out);
	}
	ops_mdoc_functions(out);
	buf_str(out, ".Sh SEE ALSO\n.Xr dsvc-run 1 ,\n.Xr dsvc-pipeline 5 ,\n.Xr dsvc 7\n");
}
