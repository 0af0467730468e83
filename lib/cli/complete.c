/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

#include <string.h>

/* The words that complete an argument, besides what complete_what says. */
static const char *(*complete_more(const struct program *p, const struct param *row))(size_t i)
{
	return row->complete && !strcmp(row->complete, "operand") ? p->operand_word : NULL;
}

/* The completion of an argument: "file", "dir", words joined by |, or NULL. */
static const char *
complete_what(const struct param *row)
{
	if (row->complete && strcmp(row->complete, "operand"))
		return row->complete;
	return row->kind == PARAM_CHOICE ? row->choices : NULL;
}

static bool
complete_is(const char *what, const char *kind)
{
	return what && !strcmp(what, kind);
}

/* Names that the shell asks for: the functions _dsvc_names of tools/complete.* know how. */
static bool
complete_is_name(const char *what)
{
	return complete_is(what, "job") || complete_is(what, "dataset") || complete_is(what, "context") ||
	       complete_is(what, "param");
}

static bool
complete_is_words(const char *what)
{
	return what && strcmp(what, "file") && strcmp(what, "dir") && strcmp(what, "spec") && !complete_is_name(what);
}

/* Text inside single quotes of a shell; `also` are characters that the place
 * reads itself and that a backslash takes the meaning from. */
static void
complete_quoted(struct buf *out, const char *s, const char *also)
{
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(out, "'\\''");
		else if (strchr(also, *s))
			buf_printf(out, "\\%c", *s);
		else
			buf_byte(out, (uint8_t)*s);
	}
}

/* The words of "a|b" and of the callback with blanks between. */
static void
complete_words(struct buf *out, const char *what, const char *(*more)(size_t i))
{
	const char *lead = "", *word;

	if (complete_is_words(what)) {
		for (const char *c = what; *c; c++)
			buf_byte(out, *c == '|' ? ' ' : (uint8_t)*c);
		lead = " ";
	}
	for (size_t i = 0; more && (word = more(i)); i++) {
		buf_printf(out, "%s%s", lead, word);
		lead = " ";
	}
}

static void
complete_name(struct buf *out, const struct program *p)
{
	for (const char *c = p->name; *c; c++)
		buf_byte(out, *c == '-' ? '_' : (uint8_t)*c);
}

static const struct param *
complete_next(const struct param *row)
{
	while (row && row->kind != PARAM_NONE && (row->flags & PARAM_HIDDEN))
		row++;
	return row && row->kind != PARAM_NONE ? row : NULL;
}

static void
complete_bash_reply(struct buf *out, const char *what, const char *(*more)(size_t i))
{
	if (complete_is(what, "spec")) {
		buf_str(out, "_dsvc_spec \"$1\" \"$2\"");
		return;
	}
	if (complete_is_name(what)) {
		buf_printf(out, "_dsvc_names %s \"$1\" \"$cur\"", what);
		return;
	}
	if (complete_is(what, "file") || complete_is(what, "dir")) {
		buf_printf(out, "compopt -o filenames; mapfile -t COMPREPLY < <(compgen %s",
			   complete_is(what, "file") ? "-f" : "-d");
		if (more) {
			buf_str(out, " -W '");
			complete_words(out, NULL, more);
			buf_str(out, "'");
		}
	} else {
		buf_str(out, "mapfile -t COMPREPLY < <(compgen -W '");
		complete_words(out, what, more);
		buf_str(out, "'");
	}
	buf_str(out, " -- \"$cur\")");
}

void
complete_bash(struct buf *out, const struct program *p)
{
	buf_str(out, "_");
	complete_name(out, p);
	/* --name=value is three words to bash. */
	buf_str(out, "()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		     "\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
		     "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		     "\tCOMPREPLY=()\n\tcase $prev in\n");
	for (const struct param *r = p->rows; (r = complete_next(r)); r++) {
		if (!r->arg || r->flags & PARAM_BARE)
			continue;
		if (r->letter)
			buf_printf(out, "\t-%c | ", r->letter);
		else
			buf_str(out, "\t");
		buf_printf(out, "--%s) ", r->name);
		if (complete_what(r) || complete_more(p, r)) {
			complete_bash_reply(out, complete_what(r), complete_more(p, r));
			buf_str(out, "; ");
		}
		buf_str(out, "return ;;\n");
	}
	buf_str(out, "\tesac\n\tcase $cur in\n\t-*) mapfile -t COMPREPLY < <(compgen -W '");
	for (const struct param *r = p->rows; (r = complete_next(r)); r++) {
		if (r->letter)
			buf_printf(out, "-%c ", r->letter);
		buf_printf(out, "--%s ", r->name);
	}
	buf_str(out, "-h --help -V --version' -- \"$cur\") ;;\n\t*) ");
	if (p->spec_words)
		buf_str(out, "_dsvc_spec \"$1\" \"$2\" && return; ");
	if (p->operand || p->operand_word)
		complete_bash_reply(out, p->operand, p->operand_word);
	else if (!p->operand_name)
		buf_byte(out, ':');
	if (p->operand_name) {
		buf_str(out, p->operand || p->operand_word ? "; " : "");
		complete_bash_reply(out, p->operand_name, NULL);
	}
	buf_str(out, " ;;\n\tesac\n}\ncomplete -F _");
	complete_name(out, p);
	buf_printf(out, " %s\n", p->name);
}

static void
complete_zsh_action(struct buf *out, const struct program *p, const char *what,
		    const char *(*more)(size_t i))
{
	if (complete_is(what, "spec")) {
		buf_str(out, "_dsvc_spec");
	} else if (complete_is_name(what)) {
		buf_printf(out, " _dsvc_%ss", what);
	} else if (complete_is(what, "file") && !more) {
		buf_str(out, "_files");
	} else if (complete_is(what, "file")) {
		buf_printf(out, "{%s_alternative \"words:word:(", p->spec_words ? "_dsvc_spec || " : "");
		complete_words(out, NULL, more);
		buf_str(out, ")\" \"files:file:_files\"");
		if (p->operand_name)
			buf_printf(out, " \"names:name: _dsvc_%ss\"", p->operand_name);
		buf_byte(out, '}');
	} else if (complete_is(what, "dir")) {
		buf_str(out, "_files -/");
	} else if (what || more) {
		buf_byte(out, '(');
		complete_words(out, what, more);
		buf_byte(out, ')');
	}
}

/* '(-n --count)'{-n+,--count=}'[clause]:N:action' */
static void
complete_zsh_row(struct buf *out, const struct program *p, const struct param *r)
{
	const char *eq = !r->arg ? "" : r->flags & PARAM_BARE ? "=-" : "=";

	if (r->flags & PARAM_REPEAT && r->letter)
		buf_printf(out, "\\*{-%c+,--%s%s}'", r->letter, r->name, eq);
	else if (r->flags & PARAM_REPEAT)
		buf_printf(out, "'*--%s%s", r->name, eq);
	else if (r->letter)
		buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", r->letter, r->name, r->letter,
			   r->arg ? "+" : "", r->name, eq);
	else
		buf_printf(out, "'--%s%s", r->name, eq);
	buf_byte(out, '[');
	complete_quoted(out, r->help ? r->help : "", "[]:\\");
	buf_byte(out, ']');
	if (r->arg) {
		buf_str(out, r->flags & PARAM_BARE ? "::" : ":");
		complete_quoted(out, r->arg, ":\\");
		buf_byte(out, ':');
		complete_zsh_action(out, p, complete_what(r), complete_more(p, r));
	}
	buf_byte(out, '\'');
}

void
complete_zsh(struct buf *out, const struct program *p)
{
	buf_printf(out, "_%s()\n{\n\t_arguments -s %s", p->name,
		   p->flags & PROGRAM_STOP_AT_OPERAND ? "-A '-*'" : "-S");
	for (const struct param *r = p->rows; (r = complete_next(r)); r++) {
		buf_str(out, " \\\n\t\t");
		complete_zsh_row(out, p, r);
	}
	buf_str(out, " \\\n\t\t'(- *)-h[one screen of help]' \\\n\t\t'(- *)--help[everything]' \\\n"
		     "\t\t'(- *)'{-V,--version}'[the version]'");
	if (p->operand || p->operand_word || p->operand_name) {
		buf_str(out, " \\\n\t\t'*:operand:");
		complete_zsh_action(out, p, p->operand ? p->operand : p->operand_name, p->operand_word);
		buf_byte(out, '\'');
	}
	buf_str(out, "\n}\n");
}

static void
complete_fish_action(struct buf *out, const struct program *p, const char *what,
		     const char *(*more)(size_t i))
{
	if (complete_is(what, "spec"))
		buf_printf(out, " -f -a '(__dsvc_spec %s)'", p->name);
	else if (complete_is_name(what))
		buf_printf(out, " -f -a '(__dsvc_names %s %s)'", what, p->name);
	else if (complete_is(what, "file"))
		buf_str(out, " -F");
	else if (complete_is(what, "dir"))
		buf_str(out, " -f -a '(__fish_complete_directories)'");
	else
		buf_str(out, " -f");
	if (more || complete_is_words(what)) {
		buf_str(out, " -a '");
		complete_words(out, what, more);
		buf_byte(out, '\'');
	}
}

void
complete_fish(struct buf *out, const struct program *p)
{
	for (const struct param *r = p->rows; (r = complete_next(r)); r++) {
		buf_printf(out, "complete -c %s", p->name);
		if (r->letter)
			buf_printf(out, " -s %c", r->letter);
		buf_printf(out, " -l %s", r->name);
		if (r->arg && !(r->flags & PARAM_BARE)) {
			buf_str(out, " -r");
			complete_fish_action(out, p, complete_what(r), complete_more(p, r));
		}
		buf_str(out, " -d '");
		complete_quoted(out, r->help ? r->help : "", "\\");
		buf_str(out, "'\n");
	}
	buf_printf(out, "complete -c %s -s h -d 'one screen of help'\n", p->name);
	buf_printf(out, "complete -c %s -l help -d 'all options, examples, exit codes'\n", p->name);
	buf_printf(out, "complete -c %s -s V -l version -d 'show the version'\n", p->name);
	if (p->spec_words) {
		buf_printf(out, "complete -c %s -n __dsvc_in_spec", p->name);
		complete_fish_action(out, p, "spec", NULL);
		buf_byte(out, '\n');
	}
	buf_printf(out, "complete -c %s%s", p->name, p->spec_words ? " -n 'not __dsvc_in_spec'" : "");
	complete_fish_action(out, p, p->operand, p->operand_word);
	if (p->operand_name)
		buf_printf(out, " -a '(__dsvc_names %s %s)'", p->operand_name, p->name);
	buf_byte(out, '\n');
}
