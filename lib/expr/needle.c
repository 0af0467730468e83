/* SPDX-License-Identifier: MIT */
#include "expr/needle.h"

#include <ctype.h>
#include <string.h>

/* A walk through one pattern. A run of literal characters that must be there grows in `run`;
 * the longest of an alternative is kept in `best`. */
struct needle_walk {
	const char *s;
	size_t n, at;
	struct needle run, best;
	size_t cuts; /* how often a run ended in this alternative */
};

static void
needle_cut(struct needle_walk *w)
{
	if (w->run.n > w->best.n)
		w->best = w->run;
	w->run.n = 0;
	w->cuts++;
}

static void
needle_add(struct needle_walk *w, char c)
{
	if (w->run.n == NEEDLE_LEN)
		needle_cut(w);
	w->run.s[w->run.n++] = (uint8_t)c;
}

/* Drops the last character, which turned out to be optional. */
static void
needle_drop(struct needle_walk *w)
{
	while (w->run.n && (w->run.s[w->run.n - 1] & 0xc0) == 0x80)
		w->run.n--;
	if (w->run.n)
		w->run.n--;
	needle_cut(w);
}

/* Steps over an escape. False: this walk does not know it. */
static bool
needle_escape(struct needle_walk *w, bool counts)
{
	char c = w->at + 1 < w->n ? w->s[w->at + 1] : '\0';

	w->at += 2;
	if (c == '\0' || (isalnum((unsigned char)c) && !strchr("dDwWsSbBAzZhHvVtnrfae", c)))
		return false;
	if (counts && !isalnum((unsigned char)c))
		needle_add(w, c);
	else if (counts)
		needle_cut(w);
	return true;
}

/* Steps over a character class. */
static bool
needle_class(struct needle_walk *w)
{
	w->at++;
	if (w->at < w->n && w->s[w->at] == '^')
		w->at++;
	if (w->at < w->n && w->s[w->at] == ']')
		w->at++;
	while (w->at < w->n && w->s[w->at] != ']') {
		if (w->s[w->at] == '[')
			return false;
		if (w->s[w->at] == '\\') {
			if (!needle_escape(w, false))
				return false;
		} else {
			w->at++;
		}
	}
	return w->at++ < w->n;
}

/* Steps over a group, whose contents are not examined. */
static bool
needle_group(struct needle_walk *w)
{
	unsigned depth = 0;

	do {
		if (w->at >= w->n)
			return false;
		switch (w->s[w->at]) {
		case '(':
			depth++;
			w->at++;
			if (w->at < w->n && w->s[w->at] == '*')
				return false;
			if (w->at < w->n && w->s[w->at] == '?'
			    && (w->at + 1 >= w->n || w->s[w->at + 1] != ':'))
				return false;
			break;
		case ')':
			depth--;
			w->at++;
			break;
		case '[':
			if (!needle_class(w))
				return false;
			break;
		case '\\':
			if (!needle_escape(w, false))
				return false;
			break;
		default:
			w->at++;
		}
	} while (depth);
	return true;
}

/* Steps over {2,3}; braces with other contents are literal. */
static void
needle_braces(struct needle_walk *w)
{
	size_t end = w->at;

	while (end < w->n && (isdigit((unsigned char)w->s[end]) || w->s[end] == ','))
		end++;
	if (end < w->n && w->s[end] == '}')
		w->at = end + 1;
}

/* Walks one alternative, up to `|` or the end. */
static bool
needle_alternative(struct needle_walk *w)
{
	bool known = true;

	w->run.n = w->best.n = w->cuts = 0;
	while (known && w->at < w->n && w->s[w->at] != '|') {
		char c = w->s[w->at];

		switch (c) {
		case '\\':
			known = needle_escape(w, true);
			break;
		case '[':
			needle_cut(w);
			known = needle_class(w);
			break;
		case '(':
			needle_cut(w);
			known = needle_group(w);
			break;
		case ')':
			known = false;
			break;
		case '*': case '?': case '{':
			needle_drop(w);
			w->at++;
			if (c == '{')
				needle_braces(w);
			break;
		case '.': case '^': case '$': case '+':
			needle_cut(w);
			w->at++;
			break;
		default:
			needle_add(w, c);
			w->at++;
		}
	}
	needle_cut(w);
	return known;
}

/* How often a byte occurs in texts, roughly: 0 is rare. */
static unsigned
needle_common(uint8_t c)
{
	if (strchr(" etaoinsr", c) && c)
		return 6;
	if (isdigit(c) || (strchr(".,:-=/\"_", c) && c))
		return 5;
	if (islower(c))
		return strchr("zqxjkvbpygw", c) ? 3 : 4;
	return isupper(c) ? 1 : 2;
}

/* Finds the two rarest bytes of the needle, in their order if they are equally rare. */
static void
needle_rare(struct needle *k)
{
	size_t first = 0, second = k->n - 1;

	for (size_t i = 1; i < k->n; i++)
		if (needle_common(k->s[i]) < needle_common(k->s[first]))
			first = i;
	if (second == first)
		second = 0;
	for (size_t i = 0; i < k->n; i++)
		if (i != first && needle_common(k->s[i]) < needle_common(k->s[second]))
			second = i;
	k->rare[0] = (uint8_t)first;
	k->rare[1] = (uint8_t)second;
}

static bool
needle_ascii(const struct needle *k)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->s[i] & 0x80)
			return false;
	return true;
}

void
needles_find(const char *s, size_t n, struct needles *out)
{
	struct needle_walk w = { .s = s, .n = n };

	out->n = 0;
	out->all = out->starts = true;
	for (;;) {
		bool start = w.at < n && s[w.at] == '^';

		if (!needle_alternative(&w) || w.best.n < NEEDLE_LEAST || out->n == NEEDLES_MAX) {
			out->n = 0;
			return;
		}
		needle_rare(&w.best);
		bool ascii = needle_ascii(&w.best);
		out->all = out->all && w.cuts == 1 && ascii;
		out->starts = out->starts && start && w.cuts == 2 && ascii;
		out->v[out->n++] = w.best;
		if (w.at >= n)
			return;
		w.at++;
	}
}
