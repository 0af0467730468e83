/* SPDX-License-Identifier: MIT */
#include "value/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

static int
tag_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the tags; those that occur again are dropped. */
static void
tags_sort(struct words *w)
{
	size_t n = 0;

	if (w->n)
		qsort(w->v, w->n, sizeof *w->v, tag_order);
	for (size_t i = 0; i < w->n; i++)
		if (n && !strcmp(w->v[n - 1], w->v[i]))
			mem_free(w->v[i]);
		else
			w->v[n++] = w->v[i];
	w->n = n;
}

static bool
tags_have(const struct words *w, const char *tag)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->v[i], tag))
			return true;
	return false;
}

enum status
tag_check(const char *tag, struct err *e)
{
	const char *wrong = !*tag ? "is empty" : *tag == '!' ? "begins with `!`" : strchr(tag, ',') ? "has a comma" :
		tag[strcspn(tag, " \t\r\n\v\f")] ? "has a blank" : strlen(tag) > PARAM_NAME_MAX ? "is too long" : NULL;

	if (!wrong)
		return ST_OK;
	err_set(e, ST_USAGE, "tag `%.*s` %s", PARAM_NAME_MAX, tag, wrong);
	err_help(e, "a tag is one word, as in gpu; dsvc-read --where gpu,!spot asks for one and refuses another");
	return ST_USAGE;
}

static enum status
where_add(struct where *w, const char *tag, size_t n, struct err *e)
{
	bool lacks = n && *tag == '!';
	char *word = mem_strndup(tag + lacks, n - lacks);
	enum status st = tag_check(word, e);

	if (st == ST_OK && tags_have(lacks ? &w->has : &w->lacks, word)) {
		st = err_set(e, ST_USAGE, "tag `%s` is asked for and refused", word);
		err_help(e, "leave out one of them");
	}
	if (st == ST_OK)
		words_add(lacks ? &w->lacks : &w->has, word, n - lacks);
	mem_free(word);
	return st;
}

enum status
where_parse(const char *text, struct where *out, struct err *e)
{
	enum status st = ST_OK;

	*out = (struct where){ 0 };
	text = str_or_empty(text);
	for (const char *end = text; st == ST_OK && *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ",");
		st = where_add(out, text, (size_t)(end - text), e);
		if (st == ST_OK && *end && !end[1]) /* nothing behind the last comma */
			st = tag_check("", e);
	}
	if (st != ST_OK)
		where_clear(out);
	tags_sort(&out->has);
	tags_sort(&out->lacks);
	return st;
}

void
where_clear(struct where *w)
{
	words_clear(&w->has);
	words_clear(&w->lacks);
	*w = (struct where){ 0 };
}

bool
where_fits(const struct where *w, const struct words *tags)
{
	for (size_t i = 0; i < w->has.n; i++)
		if (!tags_have(tags, w->has.v[i]))
			return false;
	for (size_t i = 0; i < w->lacks.n; i++)
		if (tags_have(tags, w->lacks.v[i]))
			return false;
	return true;
}

char *
where_text(const struct where *w)
{
	struct buf b = { 0 };

	if (!w->has.n && !w->lacks.n)
		return NULL;
	for (size_t i = 0; i < w->has.n; i++)
		buf_printf(&b, "%s%s", b.len ? "," : "", w->has.v[i]);
	for (size_t i = 0; i < w->lacks.n; i++)
		buf_printf(&b, "%s!%s", b.len ? "," : "", w->lacks.v[i]);
	return buf_take(&b);
}

char *
where_clause(const struct where *w)
{
	struct buf b = { 0 };

	if (!w->has.n && !w->lacks.n)
		return mem_strdup("");
	buf_str(&b, w->has.n ? "have " : "do not have ");
	for (size_t i = 0; i < w->has.n; i++)
		buf_printf(&b, "%stag %s", i ? " and " : "", w->has.v[i]);
	for (size_t i = 0; i < w->lacks.n; i++)
		buf_printf(&b, "%stag %s", i ? " or " : w->has.n ? " and not " : "", w->lacks.v[i]);
	return buf_take(&b);
}

char *
tags_text(const struct words *tags)
{
	struct words sorted = { 0 };
	struct where w;
	char *text;

	for (size_t i = 0; i < tags->n; i++)
		words_add(&sorted, tags->v[i], strlen(tags->v[i]));
	tags_sort(&sorted);
	w = (struct where){ .has = sorted };
	text = where_text(&w);
	words_clear(&sorted);
	return text ? text : mem_strdup("");
}
