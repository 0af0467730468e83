/* SPDX-License-Identifier: MIT
 *
 * The parser cannot read half a spec. This follows brackets, quotes and `|` to the
 * operator that is being written. A pattern such as /a|b/ misleads it, until the next `|`.
 */
#include "lang/offer.h"

#include <ctype.h>
#include <glob.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "lang/lex.h"
#include "lang/offer_fields.h"
#include "op/table.h"

enum { OFFER_DEPTH = 32 };

struct offer_stage {
	const struct op_desc *op; /* NULL: not yet written, or unknown */
	size_t at;                /* where its arguments begin */
	size_t pipe;              /* inner: where the | before it is */
	size_t values;            /* number of values without a name */
	bool named, let;          /* it has a first word; that is `let` */
	bool keyed;               /* name=value was seen: no value without a name may follow */
	bool inner;               /* not the first of its pipeline */
	bool brackets;            /* not a stage: brackets of an expression */
};

struct offer {
	struct offer_stage stack[OFFER_DEPTH], *stage;
	const char *text, *word; /* word: the last one */
	bool quoted;             /* the text ends within a string */
	struct buf *out;
	size_t n;                /* answers */
};

/* The text that the program would get: without the shell's quote and escapes. */
static char *
offer_unquote(const char *text)
{
	struct buf b = { 0 };
	char quote = *text == '\'' || *text == '"' ? *text++ : '\0';

	for (; *text; text++) {
		if (quote && *text == '\\' && (text[1] == quote || (quote == '"' && text[1] && strchr("\\$`", text[1]))))
			text++;
		buf_byte(&b, (uint8_t)*text);
	}
	return buf_take(&b);
}

static bool
offer_takes_pipes(const struct op_desc *op)
{
	for (const struct param *r = op ? op->params : NULL; r && r->kind; r++)
		if (r->kind == PARAM_PIPE || r->kind == PARAM_PIPES || r->kind == PARAM_FRAGMENT)
			return true;
	return false;
}

/* Whether it is name=value; x==3 is not. */
static bool
offer_is_key(const char *word, size_t n)
{
	size_t at = 0;

	while (at < n && (isalnum((unsigned char)word[at]) || word[at] == '_'))
		at++;
	return at > 0 && at < n && word[at] == '=' && (at + 1 == n || word[at + 1] != '=');
}

/* The last word ends at `end`, and is counted. */
static void
offer_end_word(struct offer *o, const char *end)
{
	struct offer_stage *s = o->stage;
	size_t n = (size_t)(end - o->word);

	if (n == 0 || s->brackets)
		return;
	if (s->named) {
		if (s->let && n == 1 && *o->word == '=')
			*s = (struct offer_stage){ 0 };
		else if (offer_is_key(o->word, n))
			s->keyed = true;
		else
			s->values++;
		return;
	}
	s->named = true;
	s->let = n == 3 && !memcmp(o->word, "let", 3);
	s->op = op_find(o->word, n);
	s->at = (size_t)(end - o->text);
}

static void
offer_open(struct offer *o)
{
	struct offer_stage *s = o->stage;
	bool pipe = !s->brackets && (!s->named || s->let || offer_takes_pipes(s->op));

	if (s + 1 < o->stack + OFFER_DEPTH)
		*++o->stage = (struct offer_stage){ .brackets = !pipe };
}

static void
offer_close(struct offer *o)
{
	if (o->stage > o->stack)
		o->stage--;
	if (!o->stage->brackets)
		o->stage->values++;
}

/* A blank or a mark, which ends a word. Returns its last character. */
static const char *
offer_mark(struct offer *o, const char *c)
{
	offer_end_word(o, c);
	if (*c == '(')
		offer_open(o);
	else if (*c == ')')
		offer_close(o);
	else if (*c == '|' && c[1] == '|')
		c++;
	else if (*c == '|' && !o->stage->brackets)
		*o->stage = (struct offer_stage){ .inner = true, .pipe = (size_t)(c - o->text) };
	else if (*c == ';' || (*c == '\n' && o->stage == o->stack && !strchr(" \t|)", c[1])))
		*o->stage = (struct offer_stage){ 0 };
	o->word = c + 1;
	return c;
}

static void
offer_scan(struct offer *o)
{
	char quote = '\0';

	for (const char *c = o->text; *c; c++) {
		if (*c == '\\' && c[1])
			c++;
		else if (quote)
			quote = *c == quote ? '\0' : quote;
		else if ((*c == '\'' || *c == '"') && (c == o->text || !isalnum((unsigned char)c[-1])))
			quote = *c;
		else if (lex_space(*c) || strchr("|();", *c))
			c = offer_mark(o, c);
	}
	o->quoted = quote;
}

/* Adds the answer KEY VALUE END, if the last word begins so. */
static void
offer_add(struct offer *o, const char *key, const char *value, size_t n, const char *end, const char *say)
{
	struct buf b = { 0 };

	buf_printf(&b, "%s%.*s%s", key, (int)n, value, end);
	buf_byte(&b, '\0');
	if (str_starts((const char *)b.data, o->word)) {
		buf_printf(o->out, "%s\t%s\n", (const char *)b.data, say ? say : "");
		o->n++;
	}
	buf_clear(&b);
}

static void
offer_operators(struct offer *o)
{
	const struct op_desc *d;

	for (size_t i = 0; (d = op_at(i)); i++)
		if ((d->kind == OP_TRANSFORM) == o->stage->inner)
			offer_add(o, "", d->name, strlen(d->name), " ", d->brief);
}

/* Whether a file's name is read as it stands in a spec and in a shell's quotes. */
static bool
offer_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	return !strpbrk(name, "|();#=*?[]{}~'\"\\$@`!");
}

/* Adds the files with plain names. */
static void
offer_files(struct offer *o, const char *key)
{
	const char *start = o->word + strlen(key);
	glob_t found = { 0 };
	struct buf b = { 0 };

	if (!str_starts(o->word, key) || !offer_plain(start))
		return;
	buf_printf(&b, "%s*", start);
	buf_byte(&b, '\0');
	if (!glob((const char *)b.data, GLOB_MARK, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *name = found.gl_pathv[i];
			size_t n = strlen(name);
			if (offer_plain(name))
				offer_add(o, key, name, n, name[n - 1] == '/' ? "" : " ", "file");
		}
	globfree(&found);
	buf_clear(&b);
}

/* Adds the values of a parameter that can be listed. */
static void
offer_values(struct offer *o, const struct param *r, const char *key)
{
	const char *words = r->kind == PARAM_CHOICE ? r->choices : r->kind == PARAM_BOOL ? "true|false" : "";

	for (const char *w = words; *w; w += *w == '|') {
		size_t n = strcspn(w, "|");
		offer_add(o, key, w, n, " ", r->help);
		w += n;
	}
	if (r->flags & PARAM_ALLOW_AUTO)
		offer_add(o, key, "auto", 4, " ", r->help);
	if (r->flags & PARAM_ALLOW_INF)
		offer_add(o, key, "inf", 3, " ", r->help);
	if (r->flags & PARAM_ALLOW_ALL)
		offer_add(o, key, "all", 3, " ", r->help);
	if (r->flags & PARAM_PATH)
		offer_files(o, key);
}

static bool
offer_given(const struct offer *o, const char *name)
{
	size_t n = strlen(name);

	for (const char *c = o->text + o->stage->at; c < o->word; c++)
		if (lex_space(c[-1]) && !strncmp(c, name, n) && c[n] == '=')
			return true;
	return false;
}

/* Adds `name=`, or once that is written its values. */
static void
offer_key(struct offer *o, const struct param *r)
{
	struct buf b = { 0 };

	if (r->flags & PARAM_HIDDEN || offer_given(o, r->name))
		return;
	buf_printf(&b, "%s=", r->name);
	buf_byte(&b, '\0');
	const char *key = (const char *)b.data;
	if (str_starts(o->word, key))
		offer_values(o, r, key);
	else
		offer_add(o, key, "", 0, "", r->help);
	buf_clear(&b);
}

static bool
offer_takes_exprs(const struct op_desc *op)
{
	for (const struct param *r = op ? op->params : NULL; r && r->kind; r++)
		if (r->kind == PARAM_EXPR || r->kind == PARAM_NAMED)
			return true;
	return false;
}

static void
offer_arguments(struct offer *o)
{
	static const struct param common[] = {
		{ .name = "on_error", .kind = PARAM_CHOICE, .choices = "fail|skip|keep",
		  .help = "what to do with an element that fails" },
		{ .name = "nulls", .kind = PARAM_CHOICE, .choices = "skip|fail",
		  .help = "what an expression does with an element that fails because of null" },
		{ .name = "per_stream", .kind = PARAM_BOOL,
		  .help = "run on each stream separately" },
		{ 0 } };
	const struct offer_stage *s = o->stage;
	size_t place = 0;

	for (const struct param *r = s->op->params; r && r->kind; r++) {
		bool here = false, rest = r->flags & PARAM_REST || r->kind == PARAM_EXPR;
		if (r->kind == PARAM_COMMAND && s->values)
			return;
		if (!(r->flags & PARAM_KEY_ONLY)) {
			here = place == s->values || (rest && s->values > place);
			if (here && !s->keyed && (r->flags & PARAM_PATH || r->kind == PARAM_CHOICE))
				offer_values(o, r, "");
			here = place++ < s->values || rest;
		}
		if (!here && r->kind <= PARAM_EXPR)
			offer_key(o, r);
	}
	for (const struct param *r = common; r->kind; r++)
		if (strcmp(r->name, "nulls") || offer_takes_exprs(s->op))
			offer_key(o, r);
}

/* Where the name of a field begins that the word ends with, as in .st and 2*x.st; NULL: it does not. */
static const char *
offer_field(const char *word)
{
	const char *s = word + strlen(word);

	while (s > word && (isalnum((unsigned char)s[-1]) || s[-1] == '_'))
		s--;
	if (s == word || s[-1] != '.')
		return NULL;
	const char *dot = s - 1, *before = dot - (dot > word && dot[-1] == 'x');
	/* .a.b has a field of another record, and 1.5 none */
	return before == word || !(isalnum((unsigned char)before[-1]) || strchr("_.)]}\"'?", before[-1])) ? s : NULL;
}

/* Adds the fields of the elements that come to the stage of the whole pipeline. */
static void
offer_field_names(struct offer *o)
{
	const struct offer_stage *whole = o->stack;
	const char *name = offer_field(o->word);
	struct words fields = { 0 };
	struct buf key = { 0 };

	for (const struct offer_stage *s = o->stack + 1; s <= o->stage; s++)
		if (!s->brackets)
			return;
	if (!name || !whole->inner || !offer_takes_exprs(whole->op))
		return;
	offer_fields(o->text, whole->pipe, &fields);
	buf_put(&key, o->word, (size_t)(name - o->word));
	buf_byte(&key, '\0');
	for (size_t i = 0; i < fields.n; i++)
		offer_add(o, (const char *)key.data, fields.v[i], strlen(fields.v[i]), o->stage->brackets ? "" : " ", "field");
	/* Two lines at least, so that no shell closes the quote. */
	if (o->n == 1 && o->stage->brackets)
		for (size_t i = 0; i < fields.n; i++)
			offer_add(o, (const char *)key.data, fields.v[i], strlen(fields.v[i]), ")", "field");
	buf_clear(&key);
	words_clear(&fields);
}

/* Adds the parameters that the spec declares, for @NAME. */
static void
offer_param_names(struct offer *o)
{
	const char *at = strrchr(o->word, '@');
	struct words names = { 0 };
	struct buf key = { 0 };

	if (!at || o->stack->let)
		return;
	offer_params(o->text, &names);
	buf_put(&key, o->word, (size_t)(at + 1 - o->word));
	buf_byte(&key, '\0');
	for (size_t i = 0; i < names.n; i++)
		offer_add(o, (const char *)key.data, names.v[i], strlen(names.v[i]), o->stage->brackets ? "" : " ", "parameter");
	buf_clear(&key);
	words_clear(&names);
}

/* Returns the number of answers; *word is where the last word begins. */
static size_t
offer_here(const char *text, struct buf *out, const char **word)
{
	struct offer o = { .text = text, .word = text, .out = out };

	o.stage = o.stack;
	offer_scan(&o);
	*word = o.word;
	if (o.quoted)
		return 0;
	if (o.stage->brackets || o.stage->named) {
		offer_field_names(&o);
		offer_param_names(&o);
	}
	if (o.stage->brackets || o.n)
		return o.n;
	if (!o.stage->named)
		offer_operators(&o);
	else if (o.stage->op)
		offer_arguments(&o);
	return o.n;
}

/* Writes the word of the only answer, "WORD \tHELP", with each word that may follow it. */
static void
offer_on(const char *before, int n_before, const char *answer, struct buf *out)
{
	int n = (int)strcspn(answer, "\t");
	struct buf text = { 0 }, rest = { 0 };
	const char *word;

	buf_printf(&text, "%.*s%.*s", n_before, before, n, answer);
	buf_byte(&text, '\0');
	if (offer_here((const char *)text.data, &rest, &word) < 2)
		buf_str(&rest, "| \tanother operator\n");
	buf_byte(&rest, '\0');
	for (const char *line = (const char *)rest.data; *line; line = strchr(line, '\n') + 1)
		buf_printf(out, "%.*s%.*s", n, answer, (int)strcspn(line, "\n") + 1, line);
	buf_clear(&text);
	buf_clear(&rest);
}

void
offer_words(const char *typed, struct buf *out)
{
	char *text = offer_unquote(typed);
	struct buf found = { 0 };
	const char *word;
	size_t n = offer_here(text, &found, &word);

	buf_byte(&found, '\0');
	const char *answer = (const char *)found.data;
	if (n == 1 && strstr(answer, " \t"))
		offer_on(text, (int)(word - text), answer, out);
	else
		buf_str(out, answer);
	buf_clear(&found);
	mem_free(text);
}
