/* SPDX-License-Identifier: MIT
 *
 * Statements: let, param, include, options, the version line, the pipeline.
 */
#include "lang/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/str.h"
#include "lang/constant.h"
#include "op/table.h"

enum { PARSE_INCLUDES = 16 };

const struct param spec_option_rows[] = {
	{ .name = "seed", .kind = PARAM_INT, .offset = offsetof(struct spec_options, seed),
	  .def = "auto", .flags = PARAM_ALLOW_AUTO, .help = "seed of the random operators" },
	{ .name = "element_max", .kind = PARAM_SIZE,
	  .offset = offsetof(struct spec_options, element_max), .def = "256Mi", .min = 1,
	  .max = 4294967295, .help = "the size limit of an element in bytes" },
	{ .name = "on_error", .kind = PARAM_WORD, .offset = offsetof(struct spec_options, on_error),
	  .flags = PARAM_OPTIONAL, .help = "default of on_error for all operators" },
	{ .name = "nulls", .kind = PARAM_WORD, .offset = offsetof(struct spec_options, nulls),
	  .flags = PARAM_OPTIONAL, .help = "default of nulls for all operators with expressions" },
	{ .name = "nonfinite", .kind = PARAM_CHOICE, .offset = offsetof(struct spec_options, json.nonfinite),
	  .choices = JSON_NONFINITE_CHOICES, .def = "null", .help = "what JSON gets for infinity and NaN" },
	{ .name = "invalid_utf8", .kind = PARAM_CHOICE, .offset = offsetof(struct spec_options, json.invalid_utf8),
	  .choices = JSON_INVALID_CHOICES, .def = "error", .help = "what JSON gets for texts that are not UTF-8" },
	{ .name = "threads", .kind = PARAM_INT, .offset = offsetof(struct spec_options, threads),
	  .def = "1", .flags = PARAM_ALLOW_AUTO, .min = 1, .max = 256,
	  .help = "threads of dsvc-run, unless -j is given" },
	{ .name = "deterministic", .kind = PARAM_BOOL,
	  .offset = offsetof(struct spec_options, deterministic), .def = "true",
	  .help = "default of ordered for all operators" },
	{ .name = "autotune", .kind = PARAM_BOOL, .offset = offsetof(struct spec_options, autotune),
	  .def = "false",
	  .help = "default of parallel for operators on single elements: true means auto" },
	{ .kind = PARAM_NONE },
};

static const char *
parse_option_word(void *arg, size_t i)
{
	(void)arg;
	return spec_option_rows[i].kind == PARAM_NONE ? NULL : spec_option_rows[i].name;
}

static enum status
parse_no_option(struct parse *p, size_t at, size_t n)
{
	char word[64], near[128];
	struct buf all = { 0 };

	snprintf(word, sizeof word, "%.*s", n > 60 ? 60 : (int)n, p->lx.text->data + at);
	lex_fail(&p->lx, at, n, p->e, "unknown option `%s`", word);
	for (const struct param *r = spec_option_rows; r->kind != PARAM_NONE; r++)
		buf_printf(&all, "%s%s", all.len ? ", " : "", r->name);
	if (str_suggest(word, parse_option_word, NULL, near, sizeof near))
		err_help(p->e, "did you mean %s? options: %s", near, (char *)all.data);
	else
		err_help(p->e, "options: %s", (char *)all.data);
	buf_clear(&all);
	return ST_DATA;
}

static enum status parse_file(struct parse *p, struct spectext *t, bool included);

static bool
parse_word_is(const struct parse *p, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(p->lx.text->data + p->lx.at, word, n);
}

/* Reads the name after `let` or `param`; gives. */
static char *
parse_new_name(struct parse *p, const char *what)
{
	lex_blanks(&p->lx);
	size_t n = lex_name_len(&p->lx);

	if (n == 0) {
		lex_fail(&p->lx, p->lx.at, 1, p->e, "`%s` needs a name here", what);
		return NULL;
	}
	char *name = mem_strndup(p->lx.text->data + p->lx.at, n);
	lex_note(&p->lx, "name", p->lx.at, n, NULL);
	p->lx.at += n;
	return name;
}

static bool
parse_char(struct parse *p, char c)
{
	lex_blanks(&p->lx);
	if (p->lx.at >= p->lx.end || p->lx.text->data[p->lx.at] != c)
		return false;
	lex_note(&p->lx, "mark", p->lx.at, 1, NULL);
	p->lx.at++;
	return true;
}

/* Reads let NAME = pipeline | fragment. */
static enum status
parse_let(struct parse *p)
{
	lex_blanks(&p->lx);
	size_t at = p->lx.at;
	char *name = parse_new_name(p, "let");
	struct tree_pipe *pipe = NULL;

	if (!name)
		return ST_DATA;
	size_t n = p->lx.at - at;
	if (op_find(name, n)) {
		lex_fail(&p->lx, at, n, p->e, "`%s` is an operator; a let needs another name", name);
		goto fail;
	}
	if (hash_get_str(&p->tree->lets, name)) {
		lex_fail(&p->lx, at, n, p->e, "`%s` is defined twice", name);
		goto fail;
	}
	if (!parse_char(p, '=')) {
		lex_fail(&p->lx, p->lx.at, 1, p->e, "`let %s` needs `=` here", name);
		goto fail;
	}
	enum lex_mark m = lex_look(&p->lx);
	if (m == LEX_PIPE)
		lex_step(&p->lx, m);
	pipe = parse_pipe(p, m == LEX_PIPE);
	if (pipe)
		pipe = parse_with(p, name, pipe);
	if (!pipe)
		goto fail;
	pipe->name = name;
	hash_put_str(&p->tree->lets, name, pipe);
	p->pipe = pipe;
	return ST_OK;
fail:
	mem_free(name);
	return ST_DATA;
}

/* Reads the type after `param NAME:`, up to `=` or the end of the statement; gives. */
static char *
parse_type(struct parse *p)
{
	static const char *const words[] = { "int", "float", "bool", "text", "size", "duration" };
	const char *s = p->lx.text->data;
	struct types *arena;

	lex_blanks(&p->lx);
	size_t at = p->lx.at, end = at;
	while (end < p->lx.end && !strchr("=\n;#", s[end]))
		end++;
	p->lx.at = end;
	while (end > at && lex_space(s[end - 1]))
		end--;
	char *type = mem_strndup(s + at, end - at);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(type, words[i]))
			return type;
	arena = types_new();
	bool ok = end > at && type_parse(arena, type, end - at, p->e);
	types_free(&arena);
	if (ok) {
		lex_note(&p->lx, "type", at, end - at, NULL);
		return type;
	}
	lex_fail(&p->lx, at, end > at ? end - at : 1, p->e, "unknown type `%.60s`", type);
	err_help(p->e, "types: int, float, bool, text, size, duration, any, [int], {id: int}");
	mem_free(type);
	return NULL;
}

/* Reads the default: a value in brackets or quotes, or a word. */
static enum status
parse_default(struct parse *p, const char *type, struct buf *out)
{
	struct lex *lx = &p->lx;

	lex_blanks(lx);
	size_t at = lx->at;
	if (lex_ends(lex_look(lx))) {
		lex_fail(lx, at, 1, p->e, "a default value is needed after `=`");
		return ST_DATA;
	}
	char c = lx->text->data[at];
	if (c == '(' || c == '[' || c == '{') {
		struct expr_ast *a = lex_expr(lx, lex_group_end(lx), p->e);
		if (!a)
			return ST_DATA;
		enum status st = constant_value(a, lx->text->file, lx->text->data, lx->text->len,
						out, p->e);
		expr_ast_free(&a);
		return st;
	}
	struct lex_word w = { 0 };
	enum status st = lex_word(lx, &w, p->e);
	if (!st) {
		bool quoted = c == '"' || c == '\'';
		st = setting_read(quoted && !*type ? "text" : type, (char *)w.text.data, w.text.len,
				  out, p->e);
		if (st)
			err_place(p->e, lx->text->file, lx->text->data, lx->text->len, w.at, w.len);
	}
	buf_clear(&w.text);
	return st;
}

/* Reads param NAME [: TYPE] [= value]. */
static enum status
parse_param(struct parse *p)
{
	lex_blanks(&p->lx);
	size_t at = p->lx.at;
	char *name = parse_new_name(p, "param"), *type = NULL;
	struct buf value = { 0 };
	enum status st = ST_DATA;

	if (!name)
		return ST_DATA;
	if (parse_char(p, ':'))
		type = parse_type(p);
	else
		type = mem_strdup("");
	if (!type)
		goto out;
	bool has = parse_char(p, '=');
	if (has && parse_default(p, type, &value))
		goto out;
	st = settings_declare(&p->tree->settings, name, type, has ? &value : NULL,
			      p->lx.text == p->tree->texts, p->e);
	if (st && p->e && !p->e->line)
		err_place(p->e, p->lx.text->file, p->lx.text->data, p->lx.text->len, at, strlen(name));
out:
	mem_free(name);
	mem_free(type);
	buf_clear(&value);
	return st;
}

/* Whether a line has ended between the statement's end and here: what follows is then the next
 * statement, even if it is indented. */
static bool
parse_on_next_line(const struct parse *p, size_t end)
{
	return !p->lx.words && memchr(p->lx.text->data + end, '\n', p->lx.at - end) != NULL;
}

/* Reads options key=value ... */
static enum status
parse_options(struct parse *p)
{
	struct lex *lx = &p->lx;
	size_t n, end = lx->at;

	while (!lex_ends(lex_look(lx))) {
		size_t at = lx->at;
		struct lex_word w = { 0 };
		if (!(n = lex_key_len(lx)) && parse_on_next_line(p, end)) {
			lx->at = end;
			return ST_OK;
		}
		if (!n)
			return lex_fail(lx, at, 1, p->e, "options are written name=value");
		const struct param *row = param_find(spec_option_rows, lx->text->data + at, n);
		if (!row) {
			return parse_no_option(p, at, n);
		}
		lx->at += n + 1;
		enum status st = lex_word(lx, &w, p->e);
		if (!st && param_set(row, &p->tree->options, (char *)w.text.data, w.text.len, p->e)) {
			err_wrap(p->e, "%s", row->name);
			err_place(p->e, lx->text->file, lx->text->data, lx->text->len, w.at, w.len);
			st = p->e ? (p->e->kind = ST_DATA) : ST_DATA;
		}
		buf_clear(&w.text);
		if (st)
			return st;
		end = lx->at;
	}
	return ST_OK;
}

static enum status
parse_version(struct parse *p)
{
	struct lex_word w = { 0 };
	int64_t v;

	lex_blanks(&p->lx);
	enum status st = lex_word(&p->lx, &w, p->e);
	if (!st && !str_int((char *)w.text.data, w.text.len, &v))
		st = lex_fail(&p->lx, w.at, w.len, p->e, "the version of the language is needed here: "
			      "dsvc %d", SPEC_VERSION);
	else if (!st && v != SPEC_VERSION)
		st = lex_fail(&p->lx, w.at, w.len, p->e, "version %lld of the language; this program "
			      "knows version %d", (long long)v, SPEC_VERSION);
	buf_clear(&w.text);
	return st;
}

/* The path of the included file: beside the including file, or in the -I folders. */
static char *
parse_find(const struct parse *p, const char *name)
{
	const char *dir = p->lx.text->dir;
	char *path = *name == '/' || !dir ? mem_strdup(name) : mem_printf("%s/%s", dir, name);
	struct stat there;

	for (size_t i = 0; *name != '/' && gate_stat(path, &there) && p->dirs && i < p->dirs->n; i++) {
		mem_free(path);
		path = mem_printf("%s/%s", p->dirs->v[i], name);
	}
	if (!gate_stat(path, &there))
		return path;
	mem_free(path);
	return NULL;
}

/* Reads an included file. If it was read before, its text is taken from there: the file may
 * have changed, or be a FIFO, which gives its text only once. */
static enum status
parse_load(struct parse *p, const char *path, struct spectext **out)
{
	for (const struct spectext *k = p->known; k; k = k->next)
		if (!strcmp(k->file, path))
			return spectext_of(k->data, k->len, k->file, k->dir, out, p->e);
	return spectext_load(path, out, p->e);
}

static enum status
parse_include_file(struct parse *p, const char *path, size_t at, size_t len)
{
	struct spectext *t;

	for (t = p->tree->texts; t; t = t->next) {
		if (strcmp(t->file, path))
			continue;
		if (t->done)
			return ST_OK;
		return lex_fail(&p->lx, at, len, p->e, "%s includes itself", path);
	}
	if (p->includes >= PARSE_INCLUDES)
		return lex_fail(&p->lx, at, len, p->e, "more than %d files include one another",
				PARSE_INCLUDES);
	enum status st = parse_load(p, path, &t);
	if (st) {
		err_place(p->e, p->lx.text->file, p->lx.text->data, p->lx.text->len, at, len);
		return st;
	}
	p->last->next = t;
	p->last = t;
	p->bytes += t->len;
	if (p->bytes > SPEC_BYTES)
		return lex_fail(&p->lx, at, len, p->e, "the spec with its includes is longer than "
				"%d bytes", SPEC_BYTES);
	struct lex saved = p->lx;
	p->includes++;
	st = parse_file(p, t, true);
	p->includes--;
	p->lx = saved;
	p->pipe = NULL; /* the lets of the included file do not belong to this one */
	return st;
}

static enum status
parse_include(struct parse *p)
{
	struct lex_word w = { 0 };
	enum status st;

	lex_blanks(&p->lx);
	if (lex_ends(lex_look(&p->lx)))
		return lex_fail(&p->lx, p->lx.at, 1, p->e, "`include` needs a file name here");
	st = lex_word(&p->lx, &w, p->e);
	if (!st) {
		char *path = parse_find(p, (char *)w.text.data);
		if (path) {
			st = parse_include_file(p, path, w.at, w.len);
		} else {
			lex_fail(&p->lx, w.at, w.len, p->e, "cannot find the file %.200s",
				 (char *)w.text.data);
			err_help(p->e, "it is looked for beside this file and in the folders of -I");
			st = p->e ? (p->e->kind = ST_NOINPUT) : ST_NOINPUT;
		}
		mem_free(path);
	}
	buf_clear(&w.text);
	return st;
}

static enum status
parse_result(struct parse *p, bool included)
{
	size_t at = p->lx.at;
	enum lex_mark m = lex_look(&p->lx);

	if (included || p->tree->result) {
		size_t n = lex_name_len(&p->lx);
		if (n && !op_find(p->lx.text->data + at, n) &&
		    !hash_get(&p->tree->lets, p->lx.text->data + at, n))
			return parse_say_unknown(p, at, n);
		lex_fail(&p->lx, at, n ? n : 1, p->e, included ?
			 "an included file has only let and param, no pipeline" :
			 "a second pipeline: a spec has exactly one");
		if (!included)
			err_help(p->e, "to continue the line above, begin this one with a blank or `|`; "
				 "to name a pipeline, write let NAME = ...");
		return ST_DATA;
	}
	if (m == LEX_PIPE) {
		lex_fail(&p->lx, at, 1, p->e, "a pipeline begins with a source");
		err_help(p->e, "for example: range 10 | ...");
		return ST_DATA;
	}
	p->pipe = p->tree->result = parse_pipe(p, false);
	return p->tree->result ? ST_OK : ST_DATA;
}

/* Notes a statement, so that the spec can be laid out again. */
static void
parse_note_part(struct parse *p, size_t at)
{
	struct tree *t = p->tree;
	size_t end = lex_trim(&p->lx, at, p->lx.at);

	t->parts = mem_grow(t->parts, &t->cap_parts, t->n_parts + 1, sizeof *t->parts);
	t->parts[t->n_parts++] = (struct tree_part){ at, end, p->pipe };
}

static enum status
parse_statement(struct parse *p, bool included)
{
	static const struct {
		const char *word;
		enum status (*parse)(struct parse *p);
	} words[] = { { "let", parse_let },	    { "param", parse_param },
		      { "include", parse_include }, { "options", parse_options },
		      { "dsvc", parse_version } };
	size_t n = p->lx.words ? 0 : lex_name_len(&p->lx);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (parse_word_is(p, n, words[i].word)) {
			lex_note(&p->lx, "word", p->lx.at, n, NULL);
			p->lx.at += n;
			return words[i].parse(p);
		}
	return parse_result(p, included);
}

static enum status
parse_file(struct parse *p, struct spectext *t, bool included)
{
	lex_init(&p->lx, t, &p->tree->settings, p->lx.log);
	for (;;) {
		enum lex_mark m = lex_look(&p->lx);
		if (m == LEX_END)
			break;
		if (m == LEX_NEWLINE || m == LEX_STOP) {
			lex_step(&p->lx, m);
			continue;
		}
		size_t end = p->lx.at;
		p->pipe = NULL;
		if (parse_statement(p, included))
			return p->e && p->e->kind ? p->e->kind : ST_DATA;
		if (!included)
			parse_note_part(p, end);
		end = p->lx.at;
		m = lex_look(&p->lx);
		if (m == LEX_OR)
			return parse_say_or(p, p->lx.at);
		if (m == LEX_CLOSE)
			return lex_fail(&p->lx, p->lx.at, 1, p->e, "this ) closes nothing");
		if (m != LEX_END && m != LEX_NEWLINE && m != LEX_STOP &&
		    !parse_on_next_line(p, end))
			return lex_fail(&p->lx, p->lx.at, 1, p->e, "the end of the statement is "
					"expected here");
	}
	t->done = true;
	return ST_OK;
}

static enum status
parse_open(const struct spec_src *src, struct spectext **out, struct err *e)
{
	enum status st;

	if (src->argv && src->argc == 1)
		return spectext_of(src->argv[0], strlen(src->argv[0]), NULL, src->base_dir, out, e);
	if (src->argv)
		return spectext_of_words(src->argv, src->argc, src->base_dir, out, e);
	if (src->text)
		return spectext_of(src->text, src->len, src->file, src->base_dir, out, e);
	st = spectext_load(src->file, out, e);
	if (!st && src->base_dir) {
		mem_free((*out)->dir);
		(*out)->dir = mem_strdup(src->base_dir);
	}
	return st;
}

enum status
tree_make(const struct spec_src *src, struct buf *log, struct tree **out, struct err *e)
{
	struct tree *t = mem_zalloc(sizeof *t);
	struct err none;
	struct parse p = { .tree = t, .dirs = src->dirs, .with = src->with,
			   .known = src->known, .e = e ? e : &none };

	*out = NULL;
	err_clear(p.e);
	param_defaults(spec_option_rows, &t->options);
	enum status st = settings_init(&t->settings, src->sets, p.e);
	settings_operands(&t->settings, src->values, src->n_values);
	if (!st)
		st = parse_open(src, &t->texts, p.e);
	if (!st) {
		p.last = t->texts;
		p.bytes = t->texts->len;
		p.lx.log = log;
		st = parse_file(&p, t->texts, false);
	}
	if (!st)
		st = parse_with_check(&p);
	if (!st && !t->result) {
		st = err_set(p.e, ST_DATA, "there is no pipeline in the spec");
		err_place(p.e, t->texts->file, t->texts->data, t->texts->len, t->texts->len, 0);
		err_help(p.e, "for example: range 10 | map x*x");
	}
	if (!st)
		st = settings_check(&t->settings, p.e);
	if (st) {
		tree_free(&t);
		return st;
	}
	*out = t;
	return ST_OK;
}
