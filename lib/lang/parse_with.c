/* SPDX-License-Identifier: MIT
 *
 * --with NAME=(PIPELINE): another pipeline in place of a let's, so that a test
 * needs none of the files of the real one.
 */
#include <string.h>

#include "base/mem.h"
#include "lang/parse.h"

enum { PARSE_WITHS = 64 };

/* Index of the --with for this name, or -1. */
static int
parse_with_find(const struct parse *p, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; p->with && i < p->with->n && i < PARSE_WITHS; i++)
		if (!strncmp(p->with->v[i], name, n) && p->with->v[i][n] == '=')
			return (int)i;
	return -1;
}

/* Reads ( pipeline ) or (| fragment) from the text of --with. */
static struct tree_pipe *
parse_with_read(struct parse *p, const struct spectext *t, bool fragment)
{
	struct param row = { .kind = fragment ? PARAM_FRAGMENT : PARAM_PIPE };
	struct lex saved = p->lx;

	lex_init(&p->lx, t, &p->tree->settings, NULL);
	struct tree_pipe *pipe = parse_group(p, &row, false);
	if (pipe && lex_look(&p->lx) != LEX_END) {
		lex_fail(&p->lx, p->lx.at, 1, p->e, "unexpected text after `)`");
		tree_pipe_free(&pipe);
	}
	p->lx = saved;
	return pipe;
}

struct tree_pipe *
parse_with(struct parse *p, const char *name, struct tree_pipe *own)
{
	int i = parse_with_find(p, name);
	struct spectext *t;

	if (i < 0)
		return own;
	const char *text = p->with->v[i] + strlen(name) + 1;
	bool fragment = own->fragment;
	char *file = mem_printf("--with %.60s", name);
	tree_pipe_free(&own);
	enum status st = spectext_of(text, strlen(text), file, NULL, &t, p->e);
	mem_free(file);
	if (st)
		return NULL;
	p->last->next = t;
	p->last = t;
	t->done = true;
	p->bytes += t->len;
	p->with_done |= (uint64_t)1 << i;
	if (p->bytes > SPEC_BYTES) {
		lex_fail(&p->lx, p->lx.at, 1, p->e, "the spec with the pipelines of --with is longer than %d bytes",
			 SPEC_BYTES);
		return NULL;
	}
	return parse_with_read(p, t, fragment);
}

enum status
parse_with_check(const struct parse *p)
{
	for (size_t i = 0; p->with && i < p->with->n; i++) {
		if (i < PARSE_WITHS && p->with_done >> i & 1)
			continue;
		const char *text = p->with->v[i];
		size_t n = strcspn(text, "=");
		if (i >= PARSE_WITHS)
			err_set(p->e, ST_USAGE, "more than %d --with", PARSE_WITHS);
		else if (!text[n])
			err_set(p->e, ST_USAGE, "--with is written NAME=(PIPELINE)");
		else
			err_set(p->e, ST_USAGE, "--with: the spec has no let `%.*s`",
				n > 60 ? 60 : (int)n, text);
		return ST_USAGE;
	}
	return ST_OK;
}
