/* SPDX-License-Identifier: MIT
 *
 * Completion of --set: the parameters that the specs of a command line declare.
 */
#include <string.h>

#include "base/param.h"
#include "expr/ast.h"
#include "lang/offer.h"
#include "lang/spectext.h"

enum { OFFER_SET_MOST = 200 };

struct offer_set {
	struct words words, given; /* the line; names that have a value in it */
	struct words names;
	struct buf *out;
};

/* Splits a line as a shell would, with quotes and backslashes, but without expanding anything. */
static void
offer_set_split(const char *line, struct words *out)
{
	struct buf b = { 0 };
	char quote = '\0';
	bool word = false;

	for (const char *c = line;; c++) {
		bool blank = !quote && (*c == ' ' || *c == '\t' || *c == '\n');

		if (!*c || blank) {
			if (word)
				words_add(out, (const char *)b.data, b.len);
			buf_reset(&b);
			word = false;
			if (!*c)
				break;
			continue;
		}
		if (!word)
			buf_reset(&b);
		word = true;
		if (*c == '\\' && quote != '\'' && c[1])
			buf_byte(&b, (uint8_t)*++c);
		else if (quote ? *c == quote : *c == '\'' || *c == '"')
			quote = quote ? '\0' : *c;
		else
			buf_byte(&b, (uint8_t)*c);
	}
	buf_clear(&b);
}

static bool
offer_set_has(const struct words *w, const char *name, size_t n)
{
	for (size_t i = 0; i < w->n; i++)
		if (strlen(w->v[i]) == n && !memcmp(w->v[i], name, n))
			return true;
	return false;
}

/* Whether a statement may begin at `at`: after the end of a line, a `;` or nothing, so not in a comment. */
static bool
offer_set_begins(const char *text, const char *at)
{
	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return at == text || at[-1] == ';' || at[-1] == '\n';
}

/* Offers the parameters that a spec declares. */
static void
offer_set_spec(struct offer_set *o, const char *text)
{
	static const char word[] = "param";

	for (const char *s = text; (s = strstr(s, word)); s++) {
		const char *name = s + sizeof word - 1 + strspn(s + sizeof word - 1, " \t");
		size_t n = strcspn(name, " \t:=;\n"), more = strcspn(name, ";\n");

		if (name == s + sizeof word - 1 || !offer_set_begins(text, s) || !ast_is_word(name, n) ||
		    o->names.n >= OFFER_SET_MOST || offer_set_has(&o->names, name, n))
			continue;
		words_add(&o->names, name, n);
		if (offer_set_has(&o->given, name, n))
			continue;
		buf_printf(o->out, "%.*s=\t", (int)n, name);
		buf_plain(o->out, name, more, '?');
		buf_byte(o->out, '\n');
	}
}

static void
offer_set_file(struct offer_set *o, const char *path)
{
	struct spectext *t;
	struct err e;

	if (strcmp(path, "-") && spectext_load(path, &t, &e) == ST_OK) {
		offer_set_spec(o, t->data);
		spectext_free(&t);
	}
}

/* The argument of the option -L or --NAME that word k is or has; NULL: it is another. */
static const char *
offer_set_arg(const struct words *w, size_t k, char letter, const char *name)
{
	const char *word = w->v[k];
	size_t n = strlen(name);

	if (word[0] != '-')
		return NULL;
	if (word[1] == letter && word[2])
		return word + 2;
	if (word[1] == '-' && !strncmp(word + 2, name, n) && word[2 + n] == '=')
		return word + 3 + n;
	return (word[1] == letter || !strcmp(word + 1 + (word[1] == '-'), name)) && k + 1 < w->n ? w->v[k + 1] : NULL;
}

void
offer_set(const char *line, struct buf *out)
{
	struct offer_set o = { .out = out };
	const char *arg;

	offer_set_split(line, &o.words);
	for (size_t k = 0; k < o.words.n; k++)
		if ((arg = offer_set_arg(&o.words, k, 's', "set")) && strchr(arg, '='))
			words_add(&o.given, arg, strcspn(arg, "="));
	for (size_t k = 0; k < o.words.n; k++) {
		if ((arg = offer_set_arg(&o.words, k, 'f', "file")))
			offer_set_file(&o, arg);
		offer_set_spec(&o, o.words.v[k]);
	}
	words_clear(&o.words);
	words_clear(&o.given);
	words_clear(&o.names);
}
