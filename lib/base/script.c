/* SPDX-License-Identifier: MIT */
#include "base/script.h"

#include <stdint.h>
#include <string.h>

enum { SCRIPT_DEPTH = 64, SCRIPT_HERES = 8 };

enum script_in {
	SCRIPT_PLAIN,    /* the script itself, $(...) and (...) */
	SCRIPT_DOUBLE,   /* "..." */
	SCRIPT_BRACE,    /* ${...} */
	SCRIPT_SUM       /* $((...)) */
};

/* Open groups of a level, the latest in the lowest bit: 1 a `(`, 0 a `case`, in which a `)`
 * ends a pattern. */
struct script_level {
	enum script_in in;
	uint64_t open;
	unsigned n_open;
};

struct script_here {
	const char *end;  /* the word that ends the document, including its quotes */
	size_t n;
	bool tabs;        /* <<-: leading tabs do not count */
};

struct script_scan {
	const char *s;
	size_t n, at;
	const struct script_spot *spots;
	size_t n_spots, next;
	struct script_level levels[SCRIPT_DEPTH];
	unsigned depth;
	struct script_here heres[SCRIPT_HERES];
	unsigned n_heres;
	bool word;        /* in the middle of a word */
	bool command;     /* a word that begins here is a command, or a keyword */
	const char *unsure; /* why quoting cannot be told from here on */
};

static bool
script_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The character k places ahead; 0 after the end. */
static char
script_ahead(const struct script_scan *x, size_t k)
{
	return x->at + k < x->n ? x->s[x->at + k] : '\0';
}

/* Whether a value stands before `to`. */
static bool
script_spot_before(const struct script_scan *x, size_t to)
{
	return x->next < x->n_spots && x->spots[x->next].at < to;
}

static void
script_enter(struct script_scan *x, enum script_in in, size_t step)
{
	x->at += step;
	if (x->depth + 1 >= SCRIPT_DEPTH) {
		x->unsure = "in quotes and brackets too deep to follow";
		return;
	}
	x->levels[++x->depth] = (struct script_level){ .in = in };
	x->word = false;
	x->command = true;
}

static void
script_push(struct script_scan *x, bool paren)
{
	struct script_level *l = &x->levels[x->depth];

	if (l->n_open++ == 64)
		x->unsure = "in brackets too deep to follow";
	l->open = l->open << 1 | paren;
}

static void
script_pop(struct script_level *l)
{
	l->open >>= 1;
	l->n_open--;
}

static void
script_leave(struct script_scan *x, size_t step)
{
	x->at += step;
	if (x->depth)
		x->depth--;
	x->word = true;
	x->command = false;
}

/* Reads '...': a value inside is misplaced. */
static const char *
script_single(struct script_scan *x)
{
	const char *end = memchr(x->s + x->at + 1, '\'', x->n - x->at - 1);
	size_t to = end ? (size_t)(end - x->s) + 1 : x->n;

	if (script_spot_before(x, to))
		return "inside single quotes";
	x->at = to;
	x->word = true;
	x->command = false;
	return NULL;
}

/* Reads `...`, up to the next backquote. */
static const char *
script_back(struct script_scan *x)
{
	size_t to = x->at + 1;

	while (to < x->n && x->s[to] != '`')
		to += x->s[to] == '\\' ? 2 : 1;
	to = to < x->n ? to + 1 : x->n;
	if (script_spot_before(x, to))
		return "inside backquotes";
	x->at = to;
	x->word = true;
	x->command = false;
	return NULL;
}

static const char *
script_comment(struct script_scan *x)
{
	const char *end = memchr(x->s + x->at, '\n', x->n - x->at);
	size_t to = end ? (size_t)(end - x->s) : x->n;

	if (script_spot_before(x, to))
		return "in a comment";
	x->at = to;
	return NULL;
}

/* Reads `<<` and the word after it. */
static const char *
script_here_begin(struct script_scan *x)
{
	bool tabs = script_ahead(x, 2) == '-';

	if (script_ahead(x, 2) == '<') { /* <<< of some shells takes a word */
		x->at += 3;
		return NULL;
	}
	size_t from = x->at + 2 + tabs, to;

	while (from < x->n && script_blank(x->s[from]))
		from++;
	for (to = from; to < x->n && !strchr(" \t\n;&|<>()", x->s[to]); to++) {
		if (x->s[to] == '\'' || x->s[to] == '"') {
			const char *end = memchr(x->s + to + 1, x->s[to], x->n - to - 1);
			to = end ? (size_t)(end - x->s) : x->n - 1;
		}
	}
	if (script_spot_before(x, to))
		return "where a here-document's end is named";
	x->at = to;
	x->word = x->command = false;
	if (x->n_heres == SCRIPT_HERES)
		x->unsure = "after more here-documents than can be followed";
	else
		x->heres[x->n_heres++] = (struct script_here){ x->s + from, to - from, tabs };
	return NULL;
}

/* Whether the line ends the document: it equals the word without its quotes. */
static bool
script_here_ends(const struct script_here *h, const char *line, size_t n)
{
	size_t k = 0, at = 0;

	for (; h->tabs && at < n && line[at] == '\t'; at++)
		;
	for (; k < h->n; k++) {
		if (h->end[k] == '\'' || h->end[k] == '"' || h->end[k] == '\\')
			continue;
		if (at == n || line[at++] != h->end[k])
			return false;
	}
	return at == n;
}

/* Reads the documents that begin after this end of a line. */
static const char *
script_heres(struct script_scan *x)
{
	for (unsigned k = 0; k < x->n_heres; k++) {
		bool ended = false;

		while (!ended && x->at < x->n) {
			const char *end = memchr(x->s + x->at, '\n', x->n - x->at);
			size_t to = end ? (size_t)(end - x->s) : x->n;

			ended = script_here_ends(&x->heres[k], x->s + x->at, to - x->at);
			if (script_spot_before(x, to))
				return "in a here-document";
			x->at = to + (to < x->n);
		}
	}
	x->n_heres = 0;
	return NULL;
}

/* Reads a run of letters at the start of a word; recognizes `case`, `esac`, and the keywords
 * after which a command may follow. */
static void
script_letters(struct script_scan *x)
{
	static const char *const before[] = { "if", "then", "else", "elif", "do", "while", "until",
					      "time" };
	struct script_level *l = &x->levels[x->depth];
	size_t n = 0;

	while (x->at + n < x->n && (unsigned char)(x->s[x->at + n] - 'a') < 26 &&
	       !script_spot_before(x, x->at + n + 1))
		n++;
	char after = script_ahead(x, n);
	bool whole = !after || strchr(" \t\n;&|()<>", after), command = false;
	if (script_spot_before(x, x->at + n + 1))
		whole = false;
	if (whole && n == 4 && !memcmp(x->s + x->at, "case", 4)) {
		script_push(x, false);
	} else if (whole && n == 4 && !memcmp(x->s + x->at, "esac", 4)) {
		if (l->n_open && !(l->open & 1))
			script_pop(l);
	} else {
		for (size_t k = 0; whole && k < sizeof before / sizeof *before; k++)
			command |= n == strlen(before[k]) && !memcmp(x->s + x->at, before[k], n);
	}
	x->at += n;
	x->word = !whole;
	x->command = command;
}

/* Reads $ and what it begins, outside single quotes. */
static void
script_dollar(struct script_scan *x)
{
	char c = script_ahead(x, 1);
	bool plain = x->levels[x->depth].in == SCRIPT_PLAIN;

	if (script_spot_before(x, x->at + 2)) {
		x->unsure = "behind a $";
		x->at++;
	} else if (c == '(' && script_ahead(x, 2) == '(') {
		script_enter(x, SCRIPT_SUM, 3);
	} else if (c == '(') {
		script_enter(x, SCRIPT_PLAIN, 2);
	} else if (c == '{') {
		script_enter(x, SCRIPT_BRACE, 2);
	} else {
		if (c == '\'' && plain)
			x->unsure = "behind $'...', which not every sh takes for quotes";
		x->at += c == '#' || c == '$' ? 2 : 1; /* `$#` does not begin a comment */
		x->word = true;
		x->command = false;
	}
}

/* Does one step in $((...)). `$((a); b)` begins the same way, but is something else. */
static void
script_step_sum(struct script_scan *x, char c)
{
	struct script_level *l = &x->levels[x->depth];

	if (c == '(') {
		script_push(x, true);
	} else if (c == ')' && l->n_open) {
		script_pop(l);
	} else if (c == ')' && script_ahead(x, 1) == ')') {
		script_leave(x, 2);
		return;
	} else if (strchr(")'\";\n", c)) {
		x->unsure = "behind $((, where it is not arithmetic";
	}
	x->at++;
}

/* Does one step in "...", ${...} or $((...)). */
static const char *
script_step_quoted(struct script_scan *x, char c)
{
	enum script_in in = x->levels[x->depth].in;

	if (c == '\\') {
		if (script_spot_before(x, x->at + 2))
			return "behind a backslash";
		x->at += 2;
	} else if (c == '$') {
		script_dollar(x);
	} else if (c == '`') {
		return script_back(x);
	} else if (in == SCRIPT_SUM) {
		script_step_sum(x, c);
	} else if (c == '"') {
		if (in == SCRIPT_DOUBLE)
			script_leave(x, 1);
		else
			script_enter(x, SCRIPT_DOUBLE, 1);
	} else if (c == '}' && in == SCRIPT_BRACE) {
		script_leave(x, 1);
	} else if (c == '\'' && in == SCRIPT_BRACE) {
		if (x->levels[x->depth - 1].in == SCRIPT_PLAIN)
			return script_single(x);
		x->unsure = "behind single quotes in \"${...}\", which not every sh takes for quotes";
		x->at++;
	} else {
		x->at++;
	}
	return NULL;
}

/* Handles characters that end a word. */
static const char *
script_step_mark(struct script_scan *x, char c)
{
	struct script_level *l = &x->levels[x->depth];

	if (c == '<' && script_ahead(x, 1) == '<')
		return script_here_begin(x);
	x->at++;
	x->word = false;
	if (c == '<' || c == '>') {
		x->command = false;
		return NULL;
	}
	if (!script_blank(c))
		x->command = true;
	if (c == '(')
		script_push(x, true);
	else if (c == ')' && l->n_open && l->open & 1)
		script_pop(l);
	else if (c == ')' && !l->n_open)
		script_leave(x, 0);
	return c == '\n' && x->n_heres ? script_heres(x) : NULL;
}

static const char *
script_step_plain(struct script_scan *x, char c)
{
	switch (c) {
	case '\\':
		if (script_spot_before(x, x->at + 2))
			return "behind a backslash";
		x->at += 2;
		x->word = true;
		return NULL;
	case '\'':
		return script_single(x);
	case '"':
		script_enter(x, SCRIPT_DOUBLE, 1);
		return NULL;
	case '`':
		return script_back(x);
	case '$':
		script_dollar(x);
		return NULL;
	case ' ': case '\t': case '\n': case ';': case '&': case '|': case '(': case ')':
	case '<': case '>':
		return script_step_mark(x, c);
	case '#':
		if (!x->word)
			return script_comment(x);
		break;
	case '!': case '{': case '}':
		if (!x->word && x->command) {
			x->at++;
			return NULL;
		}
		break;
	default:
		if (!x->word && x->command && c >= 'a' && c <= 'z') {
			script_letters(x);
			return NULL;
		}
	}
	x->at++;
	x->word = true;
	x->command = false;
	return NULL;
}

static const char *
script_spot_in(const struct script_scan *x)
{
	static const char *const names[] = {
		[SCRIPT_DOUBLE] = "inside double quotes", [SCRIPT_BRACE] = "inside ${...}",
		[SCRIPT_SUM] = "inside $((...))"
	};

	return x->unsure ? x->unsure : names[x->levels[x->depth].in];
}

const char *
script_misplaced(const char *script, size_t n, const struct script_spot *spots, size_t n_spots,
		 size_t *bad)
{
	struct script_scan x = { .s = script, .n = n, .spots = spots, .n_spots = n_spots,
				 .command = true };
	const char *why = NULL;

	while (!why && x.next < n_spots) {
		if (x.at == spots[x.next].at) {
			why = script_spot_in(&x);
			if (why)
				break;
			x.at += spots[x.next++].len;
			x.word = true;
			x.command = false;
		} else if (x.at >= n) {
			break;
		} else if (x.levels[x.depth].in == SCRIPT_PLAIN) {
			why = script_step_plain(&x, script[x.at]);
		} else {
			why = script_step_quoted(&x, script[x.at]);
		}
	}
	*bad = x.next;
	return why;
}

void
script_quote(const char *p, size_t n, struct buf *out)
{
	buf_byte(out, '\'');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\'')
			buf_str(out, "'\\''");
		else if (p[i] == '{')
			buf_str(out, "{''"); /* means {} to the shell, but is not a place */
		else
			buf_byte(out, (uint8_t)p[i]);
	}
	buf_byte(out, '\'');
}

static bool
script_is_shell(const char *program)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash",
					      "fish" };
	const char *slash = strrchr(program, '/');

	for (size_t k = 0; k < sizeof shells / sizeof *shells; k++)
		if (!strcmp(slash ? slash + 1 : program, shells[k]))
			return true;
	return false;
}

/* Whether the option takes the next word: `-o pipefail`, `-euo pipefail`, `--rcfile FILE`.
 * A long option that is not known counts as one that does, unless another option follows:
 * at worst the range that is refused is a word longer. */
static bool
script_takes_word(const char *option)
{
	static const char *const alone[] = { "--norc", "--noprofile", "--posix", "--login", "--restricted",
					     "--verbose", "--debugger", "--noediting", "--no-config" };

	if (strncmp(option, "--", 2))
		return strpbrk(option, "oO") != NULL;
	for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
		if (!strcmp(option, alone[k]))
			return false;
	return !strchr(option, '=');
}

/* Whether the option says that a script stands among the words. */
static bool
script_says_so(const char *option)
{
	return option[1] == '-' ? strstr(option, "command") != NULL : option[0] == '-' && strpbrk(option, "cC");
}

size_t
script_of_words(const struct words *words, size_t *from)
{
	bool given = false;
	size_t i = 0;

	/* Other commands may start the shell: timeout 5 sh -c '...'. */
	while (i < words->n && !script_is_shell(words->v[i]))
		i++;
	*from = ++i;
	for (; i < words->n && strchr("-+", *words->v[i]) && *words->v[i]; i++) {
		const char *option = words->v[i];

		given |= script_says_so(option);
		if (!strcmp(option, "--")) {
			i++;
			break;
		}
		if (script_takes_word(option) && i + 1 < words->n && words->v[i + 1][0] != '-')
			i++;
	}
	if (!given)
		*from = words->n;
	return !given ? words->n : i < words->n ? i + 1 : i;
}
