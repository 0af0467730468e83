/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/beside.h"
#include "cli/help.h"
#include "cli/quit.h"
#include "verbs.h"

enum { HELP_COLUMN = 24, HELP_WIDTH = 80 };

#define HELP_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

void
help_overview(struct buf *out)
{
	buf_str(out, "Usage: dsvc VERB [ARG]...\n\n");
	verb_list(VERB_BRIEFS, out);
	buf_str(out, "\nA first try:   dsvc run 'range 5 | map x*x'\n"
		     "A service:     dsvc up; dsvc read -e 'range 5 | map x*x'; dsvc stop\n"
		     "More:          dsvc help VERB, dsvc help OPERATOR, dsvc help -k WORD, man dsvc\n");
}

/* The manual of dsvc-VERB, if this machine has it. */
static bool
help_manual(const char *page, struct err *e)
{
	struct buf where = { 0 };
	bool found = beside_ask(HELP_ARGS("man", "-w", page), true, &where) && where.len;

	buf_clear(&where);
	if (found) {
		execvp("man", (char *const *)HELP_ARGS("man", page));
		err_errno(e, "cannot run man");
	}
	return found;
}

static bool
help_word(const char *line, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= n; i++)
		if (!strncasecmp(line + i, word, len))
			return true;
	return false;
}

static void
help_show(struct buf *out, const char *name, int n, const char *brief, int len)
{
	size_t start = out->len;
	char *text = mem_printf("%.*s", len, brief);

	buf_printf(out, "  %-20.*s  ", n, name);
	size_t col = out->len - start;
	help_wrap(out, text, HELP_COLUMN, (int)col, HELP_WIDTH);
	mem_free(text);
}

/* Appends the lines NAME, TAB, CLAUSE that have the word in them, or, if `more`, only in what follows a second tab. */
static void
help_filter(const struct buf *all, const char *word, bool more, struct buf *out)
{
	const char *p = (const char *)all->data, *end = p + all->len, *nl;

	for (; p && p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
		const char *tab = memchr(p, '\t', (size_t)(nl - p));
		const char *rest = tab ? memchr(tab + 1, '\t', (size_t)(nl - tab - 1)) : NULL;

		if (!tab)
			continue;
		if (!rest)
			rest = nl;
		if (help_word(p, (size_t)(rest - p), word) ? !more : more && help_word(rest, (size_t)(nl - rest), word))
			help_show(out, p, (int)(tab - p), tab + 1, (int)(rest - tab - 1));
	}
}

static enum status
help_find(const char *word, struct err *e)
{
	struct buf run = { 0 }, all = { 0 }, out = { 0 };
	enum status st = ST_NO;

	verb_list(VERB_TABS, &all);
	if (verb_find("run", &run))
		beside_ask(HELP_ARGS((const char *)run.data, "--print-names"), false, &all);
	help_filter(&all, word, false, &out);
	help_filter(&all, word, true, &out);
	if (out.len)
		st = quit_say(&out, e);
	buf_clear(&run);
	buf_clear(&all);
	buf_clear(&out);
	return st;
}

enum status
help_verb(char **arg, size_t n, struct err *e)
{
	struct buf file = { 0 }, out = { 0 };
	enum status st;

	if (n == 0) {
		help_overview(&out);
		st = quit_say(&out, e);
		buf_clear(&out);
		return st;
	}
	bool find = !strcmp(arg[0], "-k");
	if (n != (find ? 2 : 1)) {
		err_set(e, ST_USAGE, find && n < 2 ? "-k needs a word" : "help takes one word");
		err_help(e, "dsvc help VERB, dsvc help OPERATOR, dsvc help FUNCTION, dsvc help -k WORD");
		return ST_USAGE;
	}
	if (find)
		return help_find(arg[1], e);
	if (verb_find(arg[0], &file)) {
		const char *page = strrchr((char *)file.data, '/') + 1;
		st = help_manual(page, e) ? e->kind :
			verb_exec((char *)file.data, HELP_ARGS((const char *)file.data, "--help"), e);
	} else if (verb_find("run", &file)) {
		st = verb_exec((char *)file.data, HELP_ARGS((const char *)file.data, "--help-op", arg[0]), e);
	} else {
		st = err_set(e, ST_USAGE, "there is no verb `%.60s`", arg[0]);
	}
	buf_clear(&file);
	return st;
}
