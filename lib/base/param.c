/* SPDX-License-Identifier: MIT */
#include "base/param.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/machine.h"
#include "base/mem.h"
#include "base/processors.h"
#include "base/str.h"

enum { PARAM_SHOWN = 80 }; /* bytes of a wrong value that a message repeats */

size_t
param_count(const struct param *rows)
{
	size_t n = 0;

	while (rows && rows[n].kind != PARAM_NONE)
		n++;
	return n;
}

const struct param *
param_find(const struct param *rows, const char *name, size_t n)
{
	for (; rows && rows->kind != PARAM_NONE; rows++)
		if (!strncmp(rows->name, name, n) && rows->name[n] == '\0')
			return rows;
	return NULL;
}

/* The value as a message shows it: short, printable, whole characters. */
static const char *
param_show(const char *text, size_t n, char shown[PARAM_SHOWN + 4])
{
	size_t len = n < PARAM_SHOWN ? n : PARAM_SHOWN;

	len = str_utf8_valid(text, len);
	memcpy(shown, text, len);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)shown[i] < ' ')
			shown[i] = ' ';
	strcpy(shown + len, len < n ? "..." : "");
	return shown;
}

static bool
param_is(const char *text, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(text, word, n);
}

/* Prints a number of this row's kind for people: 5, 2s, 64k. */
static void
param_print(const struct param *row, int64_t value, char *out, size_t size)
{
	static const struct {
		int64_t factor;
		const char *name;
	} sizes[] = { { 1LL << 30, "G" }, { 1LL << 20, "M" }, { 1LL << 10, "k" }, { 1, "" } },
	  times[] = { { 3600000000000, "h" }, { 60000000000, "m" }, { 1000000000, "s" },
		      { 1000000, "ms" },      { 1000, "us" },       { 1, "ns" } };
	size_t i = 0;

	if (row->kind == PARAM_SIZE) {
		while (sizes[i].factor > 1 && (value == 0 || value % sizes[i].factor))
			i++;
		snprintf(out, size, "%lld%s", (long long)(value / sizes[i].factor), sizes[i].name);
	} else if (row->kind == PARAM_DURATION) {
		while (times[i].factor > 1 && (value == 0 || value % times[i].factor))
			i++;
		snprintf(out, size, "%lld%s", (long long)(value / times[i].factor),
			 value ? times[i].name : "s");
	} else {
		snprintf(out, size, "%lld", (long long)value);
	}
}

static enum status
param_out_of_range(const struct param *row, const char *shown, bool low, struct err *e)
{
	char limit[32];

	param_print(row, low ? row->min : row->max, limit, sizeof limit);
	return err_set(e, ST_USAGE, "'%s' is too %s: it must be at %s %s", shown,
		       low ? (row->kind == PARAM_DURATION ? "short" : "small") :
			     (row->kind == PARAM_DURATION ? "long" : "large"),
		       low ? "least" : "most", limit);
}

static enum status
param_no_int(const struct param *row, const char *text, size_t n, struct err *e)
{
	char shown[PARAM_SHOWN + 4];
	double d;

	param_show(text, n, shown);
	if (!str_float(text, n, &d))
		return err_set(e, ST_USAGE, "'%s' is not a number (try 12, 12k%s)", shown,
			       (row->flags & PARAM_ALLOW_ALL) ? ", all" :
			       (row->flags & PARAM_PROCESSORS) ? ", 50%, +2, -1" : "");
	return err_set(e, ST_USAGE, d > -9.2e18 && d < 9.2e18 ? "'%s' is not written as a whole number" :
		       "'%s' does not fit 64 bits", shown);
}

static void
param_store(const struct param *row, void *base, int64_t value, bool given)
{
	*(int64_t *)(void *)((char *)base + row->offset) = given || !(row->flags & PARAM_ZERO) ? value : 0;
	if (row->given)
		*((bool *)base + row->given) = given;
}

/* Reads a number that the processors say; the row's limits cut it. */
static bool
param_processors(const struct param *row, const char *text, size_t n, int64_t *value)
{
	if (!processors_read(text, n, machine_cpus(), value))
		return false;
	if (*value > row->max)
		*value = row->max;
	return true;
}

static enum status
param_set_number(const struct param *row, void *base, const char *text, size_t n, struct err *e)
{
	char shown[PARAM_SHOWN + 4];
	int64_t value;
	bool ok;

	if ((row->flags & PARAM_ALLOW_AUTO) && param_is(text, n, "auto")) {
		param_store(row, base, PARAM_AUTO, false);
		return ST_OK;
	}
	if (((row->flags & PARAM_ALLOW_INF) && param_is(text, n, "inf")) ||
	    ((row->flags & PARAM_ALLOW_ALL) && param_is(text, n, "all")) ||
	    ((row->flags & PARAM_ALLOW_NEVER) && param_is(text, n, "never"))) {
		param_store(row, base, INT64_MAX, false);
		return ST_OK;
	}
	param_show(text, n, shown);
	switch (row->kind) {
	case PARAM_SIZE:
		if ((row->flags & PARAM_ALLOW_PERCENT) && n && text[n - 1] == '%' && str_int(text, n - 1, &value) && value >= 1 &&
		    value <= 100) {
			param_store(row, base, -value, true);
			return ST_OK;
		}
		ok = str_size(text, n, &value);
		if (!ok)
			return err_set(e, ST_USAGE, "'%s' is not a size (try 64k, 10M, 1.5G%s)", shown,
				       row->flags & PARAM_ALLOW_PERCENT ? ", 25%" : "");
		break;
	case PARAM_DURATION:
		ok = str_duration_ns(text, n, &value);
		if (!ok)
			return err_set(e, ST_USAGE, "'%s' is not a duration (try 500ms, 10s, 2m%s)", shown,
				       row->flags & PARAM_ALLOW_NEVER ? ", never" : "");
		break;
	default:
		ok = ((row->flags & PARAM_PROCESSORS) && param_processors(row, text, n, &value)) ||
		     str_int(text, n, &value);
		if (!ok)
			return param_no_int(row, text, n, e);
	}
	if ((row->min || row->max) && (value < row->min || value > row->max))
		return param_out_of_range(row, shown, value < row->min, e);
	param_store(row, base, value, true);
	return ST_OK;
}

static enum status
param_set_float(const struct param *row, double *field, const char *text, size_t n, struct err *e)
{
	char shown[PARAM_SHOWN + 4];
	double value;

	param_show(text, n, shown);
	if (!str_float(text, n, &value))
		return err_set(e, ST_USAGE, "'%s' is not a number (try 0.5)", shown);
	if ((row->min || row->max) && (value < (double)row->min || value > (double)row->max))
		return param_out_of_range(row, shown, value < (double)row->min, e);
	*field = value;
	return ST_OK;
}

/* `arg` is a list of words, each ended by a NUL, with an empty one at the end, since
 * str_suggest keeps pointers to the words. */
static const char *
param_next_choice(void *arg, size_t i)
{
	const char *at = arg;

	for (; i > 0 && *at; i--)
		at += strlen(at) + 1;
	return *at ? at : NULL;
}

static enum status
param_set_choice(const struct param *row, int *field, const char *text, size_t n, struct err *e)
{
	char word[64], shown[PARAM_SHOWN + 4], list[512] = "", cut[514] = "", near[128];
	size_t len = 0, at = 0;

	for (int k = 0; param_choice(row->choices, k, word, sizeof word); k++) {
		if (param_is(text, n, word)) {
			*field = row->values ? row->values[k] : k;
			return ST_OK;
		}
		if (len < sizeof list)
			len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", k ? ", " : "",
						word);
		if (at + strlen(word) + 2 < sizeof cut) {
			strcpy(cut + at, word);
			at += strlen(word) + 1;
			cut[at] = '\0';
		}
	}
	param_show(text, n, shown);
	err_set(e, ST_USAGE, "'%s' is not one of %s", shown, list);
	if (str_suggest(shown, param_next_choice, cut, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	return ST_USAGE;
}

static enum status
param_check_name(const struct param *row, const char *text, size_t n, struct err *e)
{
	if (row->flags & PARAM_NAME && !n)
		return err_set(e, ST_USAGE, "a name cannot be empty");
	if (row->flags & PARAM_NAME && n > PARAM_NAME_MAX)
		return err_set(e, ST_USAGE, "a name has at most %d bytes", PARAM_NAME_MAX);
	for (size_t i = 0; row->flags & PARAM_ONE_WORD && i < n; i++)
		if ((unsigned char)text[i] <= ' ')
			return err_set(e, ST_USAGE, "it is one word, without blanks");
	return ST_OK;
}

static enum status
param_read(const struct param *row, void *base, const char *text, size_t n, struct err *e)
{
	void *field = (char *)base + row->offset;
	char shown[PARAM_SHOWN + 4];

	switch (row->kind) {
	case PARAM_INT:
	case PARAM_SIZE:
	case PARAM_DURATION:
		return param_set_number(row, base, text, n, e);
	case PARAM_FLOAT:
		return param_set_float(row, field, text, n, e);
	case PARAM_BOOL:
		if (str_bool(text, n, field))
			return ST_OK;
		return err_set(e, ST_USAGE, "'%s' is neither true nor false",
			       param_show(text, n, shown));
	case PARAM_WORD:
		if (param_check_name(row, text, n, e))
			return ST_USAGE;
		if (memchr(text, '\0', n))
			return err_set(e, ST_USAGE, "a NUL byte in '%s'",
				       param_show(text, n, shown));
		mem_free(*(char **)field);
		*(char **)field = mem_strndup(text, n);
		return ST_OK;
	case PARAM_WORDS:
		if (param_check_name(row, text, n, e))
			return ST_USAGE;
		words_add(field, text, n);
		return ST_OK;
	case PARAM_CHOICE:
		return param_set_choice(row, field, text, n, e);
	case PARAM_NONE:
	case PARAM_VALUE:
	case PARAM_EXPR:
	case PARAM_PIPE:
	case PARAM_PIPES:
	case PARAM_FRAGMENT:
	case PARAM_COMMAND:
	case PARAM_NAMED:
		break;
	}
	return err_set(e, ST_BUG, "parameter `%s` is not set from a text", row->name);
}

enum status
param_set(const struct param *row, void *base, const char *text, size_t n, struct err *e)
{
	enum status st = param_read(row, base, text, n, e);

	if (row->said && st == ST_OK)
		*((bool *)base + row->said) = true;
	return st;
}

void
param_defaults(const struct param *rows, void *base)
{
	for (; rows && rows->kind != PARAM_NONE; rows++) {
		if (!rows->def || rows->kind > PARAM_CHOICE)
			continue;
		enum status st = param_read(rows, base, rows->def, strlen(rows->def), NULL);
		assert(st == ST_OK);
		(void)st;
	}
}

void
param_clear(const struct param *rows, void *base)
{
	for (; rows && rows->kind != PARAM_NONE; rows++) {
		void *field = (char *)base + rows->offset;
		if (rows->kind == PARAM_WORD) {
			mem_free(*(char **)field);
			*(char **)field = NULL;
		} else if (rows->kind == PARAM_WORDS || rows->kind == PARAM_COMMAND) {
			words_clear(field);
		}
	}
}

static const void *
param_field(const struct param *row, const void *base)
{
	return (const char *)base + row->offset;
}

bool
param_given(const struct param *row, const void *base)
{
	int64_t n = *(const int64_t *)param_field(row, base);

	if (row->given)
		return *((const bool *)base + row->given);
	return row->flags & PARAM_ZERO ? n != 0 : n != PARAM_AUTO && n != INT64_MAX;
}

static size_t
param_size(enum param_kind kind)
{
	switch (kind) {
	case PARAM_INT:
	case PARAM_SIZE:
	case PARAM_DURATION: return sizeof(int64_t);
	case PARAM_FLOAT: return sizeof(double);
	case PARAM_BOOL: return sizeof(bool);
	case PARAM_CHOICE: return sizeof(int);
	case PARAM_WORD: return sizeof(char *);
	default: return 0;
	}
}

bool
param_same(const struct param *row, const void *a, const void *b)
{
	if (row->kind == PARAM_WORD) {
		const char *wa = *(const char *const *)param_field(row, a), *wb = *(const char *const *)param_field(row, b);
		return wa && wb ? !strcmp(wa, wb) : wa == wb;
	}
	return !memcmp(param_field(row, a), param_field(row, b), param_size(row->kind)) &&
	       (!row->given || param_given(row, a) == param_given(row, b));
}

void
param_copy(const struct param *rows, void *to, const void *from)
{
	for (; rows && rows->kind != PARAM_NONE; rows++) {
		memcpy((char *)to + rows->offset, param_field(rows, from), param_size(rows->kind));
		if (rows->given)
			*((bool *)to + rows->given) = param_given(rows, from);
		if (rows->said)
			*((bool *)to + rows->said) = *((const bool *)from + rows->said);
	}
}

bool
param_choice(const char *choices, int k, char *out, size_t out_size)
{
	const char *at = choices;

	for (; k > 0; k--) {
		at = strchr(at, '|');
		if (!at)
			return false;
		at++;
	}
	size_t n = strcspn(at, "|");
	if (n >= out_size)
		n = out_size - 1;
	memcpy(out, at, n);
	out[n] = '\0';
	return true;
}

void
words_add(struct words *w, const char *s, size_t n)
{
	/* Leaves room for a NULL after the last. Grows one by one, since v may have been made
	 * elsewhere with no spare room; the C library doubles. */
	w->v = mem_realloc(w->v, (w->n + 2) * sizeof *w->v);
	w->v[w->n++] = mem_strndup(s, n);
	w->v[w->n] = NULL;
}

void
words_clear(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		mem_free(w->v[i]);
	mem_free(w->v);
	*w = (struct words){ 0 };
}
