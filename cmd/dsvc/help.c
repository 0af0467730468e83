/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <string.h>
#include <unistd.h>

#include "cli/beside.h"
#include "cli/quit.h"
#include "verbs.h"

#define HELP_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

void
help_overview(struct buf *out)
{
	buf_str(out, "Usage: dsvc VERB [ARG]...\n\n");
	verb_list(true, out);
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

/* Appends the lines with the word in them. */
static void
help_filter(const struct buf *all, const char *word, struct buf *out)
{
	const char *p = (const char *)all->data, *end = p + all->len;

	for (size_t n; p && p < end; p += n) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		n = (size_t)(nl ? nl + 1 - p : end - p);
		if (help_word(p, n, word))
			buf_put(out, p, n);
	}
}

static enum status
help_find(const char *word, struct err *e)
{
	struct buf run = { 0 }, all = { 0 }, out = { 0 };
	enum status st = ST_NO;

	verb_list(true, &all);
	if (verb_find("run", &run))
		beside_ask(HELP_ARGS((const char *)run.data, "--print-names"), false, &all);
	help_filter(&all, word, &out);
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
