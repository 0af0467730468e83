/* SPDX-License-Identifier: MIT */
#include "cli/opt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/complete.h"
#include "cli/descriptors.h"
#include "cli/help.h"
#include "cli/mdoc.h"
#include "cli/opt_elsewhere.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "net/patience.h"

/* One reading of a command line. */
struct opt_scan {
	const struct program *p;
	void *options;
	struct opt *o;
	int argc, at; /* at: the word being read */
	char **argv;
	struct err *e;
};

static bool
opt_is_switch(const struct param *row)
{
	return row->arg == NULL;
}

/* Gives a row its value. `name` is the option as it was written. */
static enum status
opt_apply(struct opt_scan *s, const struct param *row, const char *name, const char *value)
{
	size_t i = (size_t)(row - s->p->rows);
	void *field = (char *)s->options + row->offset;

	/* The first on the command line replaces defaults and environment. */
	if (row->kind == PARAM_WORDS && (!s->o->from[i] || s->o->from[i][0] != '-'))
		words_clear(field);
	if (!*value && row->complete && (!strcmp(row->complete, "file") || !strcmp(row->complete, "dir")))
		return err_set(s->e, ST_USAGE, "'' is not the name of a %s", !strcmp(row->complete, "dir") ? "folder" : "file");
	if (param_set(row, s->options, value, strlen(value), s->e)) {
		if (!strcmp(row->name, "to") && strpbrk(value, "%{"))
			err_help(s->e, "for a form of your own put an operator at the end: | template \"{.name}: {.ms:%%.2f}\"");
		return ST_USAGE;
	}
	mem_free(s->o->from[i]);
	s->o->from[i] = mem_strdup(name);
	return ST_OK;
}

static enum status
opt_apply_switch(struct opt_scan *s, const struct param *row, const char *name, bool on)
{
	size_t i = (size_t)(row - s->p->rows);
	void *field = (char *)s->options + row->offset;

	if (row->kind == PARAM_BOOL)
		*(bool *)field = on;
	else
		*(int64_t *)field = on ? *(int64_t *)field + 1 : 0;
	mem_free(s->o->from[i]);
	s->o->from[i] = mem_strdup(name);
	return ST_OK;
}

static enum status
opt_environment(struct opt_scan *s)
{
	char name[128];

	for (const struct param *row = s->p->rows; row && row->kind != PARAM_NONE; row++) {
		const char *value = NULL;
		if (row->flags & (PARAM_HIDDEN | PARAM_BY_HAND))
			continue;
		for (int own = 1; own >= 0 && (!value || !*value); own--) {
			opt_env_name(s->p, row, own, name, sizeof name);
			value = getenv(name);
		}
		/* Set and empty is how a shell unsets for one command. */
		if (!value || !*value)
			continue;
		if (opt_apply(s, row, name, value))
			return err_wrap(s->e, "%s=%.100s (environment)", name, value);
	}
	return ST_OK;
}

static const char *
opt_next_name(void *arg, size_t i)
{
	struct words *names = arg;

	return i < names->n ? names->v[i] : NULL;
}

/* Whether what operands would say has been said by an option. */
static bool
opt_instead(const struct opt_scan *s)
{
	return s->p->instead && opt_from(s->o, s->p, s->p->instead);
}

/* The option is unknown: says so, with those that would be near. */
static enum status
opt_unknown(struct opt_scan *s, const char *word)
{
	char near[256];
	struct words names = { 0 };
	struct buf b = { 0 };

	for (const struct param *row = s->p->rows; row && row->kind != PARAM_NONE; row++) {
		if (row->flags & PARAM_HIDDEN)
			continue;
		buf_reset(&b);
		buf_printf(&b, "--%s", row->name);
		words_add(&names, (char *)b.data, b.len);
	}
	words_add(&names, "--help", 6);
	words_add(&names, "--version", 9);
	err_set(s->e, ST_USAGE, "unknown option `%.100s`", word);
	const char *here = opt_elsewhere(word, s->p->rows);
	if (here)
		err_help(s->e, "%s", here);
	else if (str_starts(word, "--") &&
	    str_suggest(word, opt_next_name, &names, near, sizeof near))
		err_help(s->e, "did you mean %s? `%s --help` shows all", near, s->p->name);
	else
		err_help(s->e, "`%s --help` shows all options", s->p->name);
	words_clear(&names);
	buf_clear(&b);
	return ST_USAGE;
}

static enum status
opt_needs(struct opt_scan *s, const struct param *row, const char *name)
{
	err_set(s->e, ST_USAGE, "option `%s` needs an argument: %s", name, row->arg);
	err_help(s->e, "`%s --help` says more", s->p->name);
	return ST_USAGE;
}

static enum status
opt_value(struct opt_scan *s, const struct param *row, const char *name, const char *value)
{
	if (!value) {
		if (s->at + 1 >= s->argc)
			return opt_needs(s, row, name);
		value = s->argv[++s->at];
	}
	if (opt_apply(s, row, name, value))
		return err_wrap(s->e, "%s", name);
	return ST_OK;
}

enum opt_answer { OPT_HELP_SHORT, OPT_HELP, OPT_VERSION };

/* Shows what was asked for instead of a run. ST_END when that succeeded. */
static enum status
opt_show(struct opt_scan *s, struct buf *b)
{
	enum status st = quit_say(b, s->e);

	buf_clear(b);
	return st == ST_OK ? ST_END : st;
}

static enum status
opt_answer(struct opt_scan *s, enum opt_answer what)
{
	struct buf b = { 0 };

	if (what == OPT_HELP_SHORT)
		help_short(&b, s->p);
	else if (what == OPT_HELP)
		help_full(&b, s->p);
	else
		help_version(&b, s->p);
	return opt_show(s, &b);
}

static void
opt_late(int signal)
{
	(void)signal;
	_exit(0);
}

/* Nobody waits for a completion longer than this, whatever file it looks into. */
static void
opt_offer(void (*offer)(const char *text, struct buf *out), const char *text, struct buf *out)
{
	signal(SIGALRM, opt_late);
	alarm(2);
	offer(text, out);
	alarm(0);
}

/* --print-completion SHELL, --print-mdoc WHAT and what the program adds: for
 * `make gen`, not for users; --print-words TEXT and --print-params LINE, for completion. ST_OK: it is none of them. */
static enum status
opt_print(struct opt_scan *s, const char *word)
{
	const char *what = word + strlen("--print-");
	const char *arg = s->at + 1 < s->argc ? s->argv[s->at + 1] : "";
	struct buf b = { 0 };

	if (!str_starts(word, "--print-"))
		return ST_OK;
	for (const struct program_print *x = s->p->prints; x && x->name; x++) {
		if (!strcmp(what, x->name)) {
			x->print(&b);
			return opt_show(s, &b);
		}
	}
	if (!strcmp(what, "completion") && !strcmp(arg, "bash"))
		complete_bash(&b, s->p);
	else if (!strcmp(what, "completion") && !strcmp(arg, "zsh"))
		complete_zsh(&b, s->p);
	else if (!strcmp(what, "completion") && !strcmp(arg, "fish"))
		complete_fish(&b, s->p);
	else if (!strcmp(what, "words") && s->p->spec_words)
		opt_offer(s->p->spec_words, arg, &b);
	else if (!strcmp(what, "params") && s->p->spec_params)
		opt_offer(s->p->spec_params, arg, &b);
	else if (!strcmp(what, "mdoc") && !strcmp(arg, "options"))
		mdoc_options(&b, s->p);
	else if (!strcmp(what, "mdoc") && !strcmp(arg, "exits"))
		mdoc_exits(&b, s->p);
	else
		return ST_OK;
	return opt_show(s, &b);
}

/* --name, --name=value, --no-name */
static enum status
opt_long(struct opt_scan *s, char *word)
{
	const char *eq = strchr(word, '=');
	size_t n = (eq ? (size_t)(eq - word) : strlen(word)) - 2;
	char name[128];
	const struct param *row = param_find(s->p->rows, word + 2, n);
	bool on = true;

	if (!strcmp(word, "--help"))
		return opt_answer(s, OPT_HELP);
	if (!strcmp(word, "--version"))
		return opt_answer(s, OPT_VERSION);
	if (!row && n > 3 && !strncmp(word + 2, "no-", 3)) {
		row = param_find(s->p->rows, word + 5, n - 3);
		on = false;
		if (row && !opt_is_switch(row))
			row = NULL;
	}
	if (!row) {
		enum status st = opt_print(s, word);
		return st ? st : opt_unknown(s, word);
	}
	size_t shown = n + 2 < sizeof name ? n + 2 : sizeof name - 1;
	memcpy(name, word, shown);
	name[shown] = '\0';
	if (row->flags & PARAM_BARE && !eq) {
		char first[64];

		param_choice(row->choices, 0, first, sizeof first);
		return opt_apply(s, row, name, first);
	}
	if (!opt_is_switch(row))
		return opt_value(s, row, name, eq ? eq + 1 : NULL);
	if (eq) {
		err_set(s->e, ST_USAGE, "option `%s` takes no argument", name);
		err_help(s->e, "write `--%s` or `--no-%s`", row->name, row->name);
		return ST_USAGE;
	}
	return opt_apply_switch(s, row, name, on);
}

/* A word like -qn5: switches, and at last one with an argument. */
static enum status
opt_short(struct opt_scan *s, char *word)
{
	for (char *c = word + 1; *c; c++) {
		const struct param *row = s->p->rows;
		char name[3] = { '-', *c, '\0' };

		if (*c == 'h')
			return opt_answer(s, OPT_HELP_SHORT);
		if (*c == 'V')
			return opt_answer(s, OPT_VERSION);
		while (row && row->kind != PARAM_NONE && row->letter != *c)
			row++;
		if (!row || row->kind == PARAM_NONE)
			return opt_unknown(s, (unsigned char)*c < 0x80 ? name : word);
		if (!opt_is_switch(row))
			return opt_value(s, row, name, c[1] ? c + 1 : NULL);
		opt_apply_switch(s, row, name, true);
	}
	return ST_OK;
}

/* A request for help further on is stronger than a mistake: who makes one is
 * helped by it. */
static enum status
opt_mistake(struct opt_scan *s, enum status st)
{
	if (st != ST_USAGE)
		return st;
	for (int i = s->at + 1; i < s->argc && strcmp(s->argv[i], "--"); i++)
		if (!strcmp(s->argv[i], "--help") || !strcmp(s->argv[i], "-h"))
			return opt_answer(s, s->argv[i][1] == 'h' ? OPT_HELP_SHORT : OPT_HELP);
	return st;
}

static enum status
opt_words(struct opt_scan *s)
{
	struct opt *o = s->o;

	for (s->at = 1; s->at < s->argc; s->at++) {
		char *word = s->argv[s->at];
		enum status st;
		if (!strcmp(word, "--")) {
			s->at++;
			break;
		}
		if (word[0] != '-' || word[1] == '\0') {
			if ((s->p->flags & PROGRAM_STOP_AT_OPERAND) &&
			    !(s->p->whole && (o->n || s->p->whole(word))) && !opt_instead(s))
				break;
			o->operand[o->n++] = word;
			continue;
		}
		st = word[1] == '-' ? opt_long(s, word) : opt_short(s, word);
		if (st != ST_OK)
			return opt_mistake(s, st);
	}
	while (s->at < s->argc)
		o->operand[o->n++] = s->argv[s->at++];
	return ST_OK;
}

enum status
opt_parse(const struct program *p, int argc, char **argv, void *options, struct opt *o,
	  struct err *e)
{
	struct err other = { 0 }; /* an error in the environment */
	struct opt_scan s = { p, options, o, argc, 0, argv, &other };
	enum status st, env;

	descriptors_hold();
	*o = (struct opt){
		.operand = mem_array((size_t)argc + 1, sizeof *o->operand),
		.from = mem_array(param_count(p->rows) + 1, sizeof *o->from),
		.n_rows = param_count(p->rows),
	};
	param_defaults(p->rows, options);
	/* A bad variable does not keep --help from being shown. */
	env = opt_environment(&s);
	s.e = e;
	st = opt_words(&s);
	if (st == ST_OK && env != ST_OK) {
		if (e)
			*e = other;
		st = env;
	}
	if (st != ST_OK)
		opt_clear(p, options, o);
	return st;
}

/* A number, or how often a switch was given; 0: the program has none of that name. */
static int64_t
opt_given(const struct program *p, const void *options, const char *name)
{
	const struct param *row = param_find(p->rows, name, strlen(name));
	const char *field = row ? (const char *)options + row->offset : NULL;

	if (!row)
		return 0;
	return row->kind == PARAM_BOOL ? *(const bool *)field : *(const int64_t *)field;
}

bool
opt_start(const struct program *p, int argc, char **argv, void *options, enum log_level usual,
	  struct opt *o, struct err *e, int *code)
{
	enum status st = opt_parse(p, argc, argv, options, o, e);

	*code = st == ST_OK || st == ST_END ? 0 : report(p->name, e);
	if (st != ST_OK)
		return false;
	if (param_find(p->rows, "connect-timeout", strlen("connect-timeout")))
		patience_set(opt_given(p, options, "connect-timeout"));
	const struct param *format = param_find(p->rows, "log-format", strlen("log-format"));
	if (format)
		log_set_format((enum log_format)*(const int *)((const char *)options + format->offset));
	int64_t level = (int64_t)usual + opt_given(p, options, "verbose");
	log_init(p->name, opt_given(p, options, "quiet") ? LOG_ERROR :
		 level > LOG_DEBUG ? LOG_DEBUG : (enum log_level)level);
	return true;
}

enum status
opt_at_most(const struct opt *o, size_t operands, struct err *e)
{
	return o->n <= operands ? ST_OK : err_set(e, ST_USAGE, "unexpected argument `%s`", o->operand[operands]);
}

const char *
opt_from(const struct opt *o, const struct program *p, const char *name)
{
	const struct param *row = param_find(p->rows, name, strlen(name));

	return row && o->from ? o->from[row - p->rows] : NULL;
}

void
opt_clear(const struct program *p, void *options, struct opt *o)
{
	for (size_t i = 0; i < o->n_rows; i++)
		mem_free(o->from[i]);
	mem_free(o->from);
	mem_free(o->operand);
	*o = (struct opt){ 0 };
	param_clear(p->rows, options);
}
