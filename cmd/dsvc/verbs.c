/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/beside.h"

static const struct {
	const char *verb, *brief;
} ours[] = {
#define VERB(name, text) { name, text },
#include "verb_list.h"
#undef VERB
};

struct verbs {
	char **v;
	size_t n, cap;
};

/* The folders to look in: that of this program, then those of PATH. each() returns whether to go on. */
static void
verb_folders(bool (*each)(const char *dir, void *arg), void *arg)
{
	struct buf own = { 0 };
	const char *path = getenv("PATH");
	bool more = !path_own_folder(&own) || each((const char *)own.data, arg);

	buf_clear(&own);
	for (size_t len; more && path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		char *dir = len ? mem_strndup(path, len) : mem_strdup(".");
		more = each(dir, arg);
		mem_free(dir);
	}
}

struct verb_sought {
	const char *verb;
	struct buf *out;
	bool found;
};

static bool
verb_look(const char *dir, void *arg)
{
	struct verb_sought *s = arg;

	buf_reset(s->out);
	buf_printf(s->out, "%s/" BESIDE_PREFIX "%s", dir, s->verb);
	s->found = access((const char *)s->out->data, X_OK) == 0;
	return !s->found;
}

bool
verb_find(const char *verb, struct buf *out)
{
	struct verb_sought s = { .verb = verb, .out = out };

	if (*verb && !strchr(verb, '/'))
		verb_folders(verb_look, &s);
	return s.found;
}

static void
verb_add(void *arg, const char *file, const char *verb)
{
	struct verbs *all = arg;

	(void)file;
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i], verb))
			return;
	all->v = mem_grow(all->v, &all->cap, all->n + 1, sizeof *all->v);
	all->v[all->n++] = mem_strdup(verb);
}

static bool
verb_collect(const char *dir, void *arg)
{
	beside_each(dir, verb_add, arg);
	return true;
}

static int
verb_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
verb_all(struct verbs *all)
{
	verb_folders(verb_collect, all);
	if (all->n)
		qsort(all->v, all->n, sizeof *all->v, verb_compare);
}

static void
verb_free(struct verbs *all)
{
	for (size_t i = 0; i < all->n; i++)
		mem_free(all->v[i]);
	mem_free(all->v);
}

static const char *
verb_brief(const char *verb)
{
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!strcmp(ours[i].verb, verb))
			return ours[i].brief;
	return "";
}

void
verb_list(enum verb_form form, struct buf *out)
{
	struct verbs all = { 0 };

	verb_all(&all);
	for (size_t i = 0; i < all.n; i++) {
		const char *text = verb_brief(all.v[i]);
		if (form == VERB_TABS)
			buf_printf(out, "%s\t%s\n", all.v[i], text);
		else if (form == VERB_BRIEFS && *text)
			buf_printf(out, "  %-10s  %s\n", all.v[i], text);
		else
			buf_printf(out, "%s%s\n", form == VERB_BRIEFS ? "  " : "", all.v[i]);
	}
	verb_free(&all);
}

static const char *
verb_name(void *arg, size_t i)
{
	const struct verbs *all = arg;
	return i < all->n ? all->v[i] : NULL;
}

bool
verb_suggest(const char *word, char *out, size_t size)
{
	struct verbs all = { 0 };

	verb_all(&all);
	verb_add(&all, NULL, "help");
	bool near = str_suggest(word, verb_name, &all, out, size);
	verb_free(&all);
	return near;
}

enum status
verb_exec(const char *file, const char *const *argv, struct err *e)
{
	execv(file, (char *const *)argv);
	return err_errno(e, "cannot run %s", file);
}
