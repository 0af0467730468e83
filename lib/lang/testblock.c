/* SPDX-License-Identifier: MIT */
#include "lang/testblock.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct testblock_reader {
	const char *file, *text;
	size_t len;
	size_t at, end;      /* the current line */
	unsigned line;
	struct testblocks *out;
	struct testblock *now; /* the test that lines are added to; NULL: none */
	struct err *e;
};

static enum status
testblock_fail(struct testblock_reader *r, size_t at, size_t n, const char *text, const char *help)
{
	err_set(r->e, ST_DATA, "%s", text);
	err_place(r->e, r->file, r->text, r->len, at, n ? n : 1);
	if (help)
		err_help(r->e, "%s", help);
	return ST_DATA;
}

/* Reads one word of the options: quotes are removed, and brackets hold blanks together. */
static enum status
testblock_word(struct testblock_reader *r, size_t *at)
{
	struct buf word = { 0 };
	size_t from = *at, i = from;
	unsigned depth = 0;
	char quote = 0;

	for (; i < r->end; i++) {
		char c = r->text[i];
		if (quote) {
			if (c == quote)
				quote = 0;
			if (!quote && !depth)
				continue;
		} else if (c == '\'' || c == '"') {
			quote = c;
			if (!depth)
				continue;
		} else if (strchr("([{", c)) {
			depth++;
		} else if (strchr(")]}", c)) {
			depth -= depth > 0;
		} else if (!depth && isblank((unsigned char)c)) {
			break;
		}
		buf_byte(&word, (uint8_t)c);
	}
	*at = i;
	if (quote || depth) {
		buf_clear(&word);
		return testblock_fail(r, from, i - from, quote ? "this quote is not closed" :
				      "this bracket is not closed", NULL);
	}
	words_add(&r->now->args, word.data ? (char *)word.data : "", word.len);
	buf_clear(&word);
	return ST_OK;
}

/* Whether a test may use the option: those that say what it reads and how it prints, but none
 * that leave traces. */
static bool
testblock_takes(const char *word, bool *with_value)
{
	static const char *const names[] = { "set", "with", "count", "to", "seed", "jobs" };
	static const char letters[] = "sntj";

	*with_value = false;
	if (word[0] == '-' && word[1] && strchr(letters, word[1])) {
		*with_value = !word[2];
		return true;
	}
	if (!strcmp(word, "-0") || !strcmp(word, "--null"))
		return true;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (strncmp(word, "--", 2) || strncmp(word + 2, names[i], n))
			continue;
		*with_value = !word[2 + n];
		if (!word[2 + n] || word[2 + n] == '=')
			return true;
	}
	return false;
}

static enum status
testblock_begin(struct testblock_reader *r, size_t at)
{
	struct testblocks *t = r->out;
	bool value = false;

	if (t->n >= TESTBLOCK_MAX)
		return testblock_fail(r, r->at, r->end - r->at, "too many tests in one file", NULL);
	t->v = mem_grow(t->v, &t->cap, t->n + 1, sizeof *t->v);
	r->now = &t->v[t->n++];
	*r->now = (struct testblock){ .line = r->line, .title = mem_strndup(r->text + at, r->end - at) };
	for (;;) {
		while (at < r->end && isblank((unsigned char)r->text[at]))
			at++;
		if (at >= r->end)
			break;
		size_t from = at;
		if (r->now->args.n >= TESTBLOCK_WORDS)
			return testblock_fail(r, from, r->end - from, "too many options", NULL);
		if (testblock_word(r, &at))
			return ST_DATA;
		if (value)
			value = false;
		else if (!testblock_takes(r->now->args.v[r->now->args.n - 1], &value))
			return testblock_fail(r, from, at - from, "a test does not take this option",
				"options of a test: --set NAME=VALUE, --with NAME=(PIPELINE), -n, -t, -0, "
				"-j, --seed");
	}
	if (value)
		return testblock_fail(r, r->end, 1, "the option needs a value here", NULL);
	return ST_OK;
}

static enum status
testblock_code(struct testblock_reader *r, size_t at)
{
	size_t end = at;
	int64_t code;

	while (end < r->end && !isblank((unsigned char)r->text[end]))
		end++;
	if (!str_int(r->text + at, end - at, &code) || code < 1 || code > 255)
		return testblock_fail(r, at, end - at, "an exit code is needed here",
				      "for example: # fail: 65 unknown operator");
	if (r->now->code)
		return testblock_fail(r, at, r->end - at, "a test fails once", NULL);
	r->now->code = (int)code;
	while (end < r->end && isblank((unsigned char)r->text[end]))
		end++;
	if (end < r->end)
		r->now->says = mem_strndup(r->text + end, r->end - end);
	return ST_OK;
}

/* Handles a comment that is a line of a test. */
static enum status
testblock_comment(struct testblock_reader *r)
{
	const char *s = r->text;
	size_t word = r->at + 1, end, at;

	while (word < r->end && isblank((unsigned char)s[word]))
		word++;
	for (end = word; end < r->end && islower((unsigned char)s[end]); end++)
		;
	if (end == word || end >= r->end || s[end] != ':')
		return ST_OK;
	size_t n = end - word;
	at = end + 1 + (end + 1 < r->end && isblank((unsigned char)s[end + 1]));
	bool in = n == 2 && !memcmp(s + word, "in", 2), out = n == 3 && !memcmp(s + word, "out", 3);
	bool fails = n == 4 && !memcmp(s + word, "fail", 4);

	if (n == 4 && !memcmp(s + word, "test", 4))
		return testblock_begin(r, at);
	if (!r->now && (in || out || fails))
		return testblock_fail(r, word, n, "this line belongs to no test",
				      "a test begins with `# test:`");
	if (!r->now)
		return ST_OK;
	if (!in && !out && !fails)
		return testblock_fail(r, word, n, "no such line in a test",
				      "a test has the lines test, in, out and fail; "
				      "an empty line ends it");
	if (fails)
		return testblock_code(r, at);
	struct buf *lines = in ? &r->now->in : &r->now->out;
	buf_put(lines, s + at, r->end - at);
	buf_byte(lines, '\n');
	return ST_OK;
}

enum status
testblocks_read(const char *file, const char *text, size_t len, struct testblocks *out, struct err *e)
{
	struct testblocks list = { 0 };
	struct testblock_reader r = { .file = file, .text = text, .len = len, .out = &list, .e = e };
	enum status st = ST_OK;

	for (; !st && r.at < len; r.at = r.end + 1) {
		const char *nl = memchr(text + r.at, '\n', len - r.at);
		r.end = nl ? (size_t)(nl - text) : len;
		r.line++;
		if (text[r.at] == '#')
			st = testblock_comment(&r);
		else
			r.now = NULL;
	}
	if (st)
		testblocks_clear(&list);
	*out = list;
	return st;
}

void
testblocks_clear(struct testblocks *t)
{
	for (size_t i = 0; i < t->n; i++) {
		mem_free(t->v[i].title);
		mem_free(t->v[i].says);
		words_clear(&t->v[i].args);
		buf_clear(&t->v[i].in);
		buf_clear(&t->v[i].out);
	}
	mem_free(t->v);
	*t = (struct testblocks){ 0 };
}
