/* SPDX-License-Identifier: MIT */
#include "lang/setting.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expr/expr.h"
#include "lang/constant.h"
#include "value/mp.h"
#include "value/type.h"

static struct setting *
settings_add(struct settings *s, const char *name, size_t n)
{
	struct setting *one = hash_get(&s->names, name, n);

	if (!one) {
		one = mem_zalloc(sizeof *one);
		one->name = mem_strndup(name, n);
		hash_put(&s->names, name, n, one);
	}
	return one;
}

enum status
settings_init(struct settings *s, const struct words *sets, struct err *e)
{
	*s = (struct settings){ 0 };
	for (size_t i = 0; sets && i < sets->n; i++) {
		const char *text = sets->v[i], *eq = strchr(text, '=');
		size_t n = 0;

		while (isalnum((unsigned char)text[n]) || text[n] == '_')
			n++;
		if (!eq || n == 0 || text + n != eq) {
			err_set(e, ST_USAGE, "--set %.80s: it is written --set NAME=VALUE", text);
			settings_clear(s);
			return ST_USAGE;
		}
		settings_add(s, text, n)->given = eq + 1;
	}
	return ST_OK;
}

void
settings_operands(struct settings *s, char *const *values, size_t n)
{
	s->values = values;
	s->n_values = n;
}

void
settings_clear(struct settings *s)
{
	for (size_t i = 0; i < s->names.n; i++) {
		struct setting *one = s->names.items[i].value;
		mem_free(one->name);
		buf_clear(&one->value);
		mem_free(one);
	}
	hash_clear(&s->names);
	*s = (struct settings){ 0 };
}

static void
setting_put_text(struct buf *out, const char *text, size_t n)
{
	uint8_t *p = buf_room(out, n + MP_HEAD_MAX);
	out->len += (size_t)(mp_put_text(p, text, (uint32_t)n) - p);
}

/* Reads an undeclared value as what it looks like: a number, a truth value, else a text. */
static void
setting_guess(const char *text, size_t n, struct buf *out)
{
	uint8_t *p = buf_room(out, MP_INT_MAX + MP_FLOAT_MAX);
	bool truth = n == 4 ? !memcmp(text, "true", 4) : n == 5 && !memcmp(text, "false", 5);
	bool digit = n && (isdigit((unsigned char)text[n - 1]) || text[n - 1] == '.');
	int64_t i;
	double d;

	if (truth)
		out->len += (size_t)(mp_put_bool(p, n == 4) - p);
	else if (digit && str_int(text, n, &i))
		out->len += (size_t)(mp_put_int(p, i) - p);
	else if (digit && str_float(text, n, &d))
		out->len += (size_t)(mp_put_float(p, d) - p);
	else
		setting_put_text(out, text, n);
}

/* Reads a value of any other type: a constant expression whose value must fit. */
static enum status
setting_read_typed(const char *type, const char *text, size_t n, struct buf *out, struct err *e)
{
	struct types *arena = types_new();
	size_t before = out->len;
	const struct type *want = type_parse(arena, type, strlen(type), e);
	enum status st = want ? constant_read(text, n, out, e) : ST_DATA;

	if (!st) {
		const struct type *got = type_of_value(arena, out->data + before, out->len - before);
		if (!type_fits(got, want)) {
			out->len = before;
			st = err_set(e, ST_DATA, "'%.*s' is not a value of the type %s",
				     n > 80 ? 80 : (int)n, text, type);
		}
	}
	types_free(&arena);
	return st;
}

enum status
setting_read(const char *type, const char *text, size_t n, struct buf *out, struct err *e)
{
	uint8_t *p = buf_room(out, MP_INT_MAX + MP_FLOAT_MAX);
	bool special = (n == 3 && !memcmp(text, "inf", 3)) || (n == 4 && !memcmp(text, "auto", 4));
	int show = n > 80 ? 80 : (int)n;
	int64_t i;
	double d;
	bool b;

	if (!*type) {
		setting_guess(text, n, out);
		return ST_OK;
	}
	if (!strcmp(type, "text")) {
		if (str_utf8_valid(text, n) != n)
			return err_set(e, ST_DATA, "the value is not valid UTF-8");
		setting_put_text(out, text, n);
	} else if (!strcmp(type, "int") || !strcmp(type, "size")) {
		bool size = type[0] == 's';
		if (special && !size)
			setting_put_text(out, text, n);
		else if (size ? str_size(text, n, &i) : str_int(text, n, &i))
			out->len += (size_t)(mp_put_int(p, i) - p);
		else
			return err_set(e, ST_DATA, "'%.*s' is not a %s (try %s)", show, text,
				       size ? "size" : "number", size ? "64k, 10M" : "12, 12k");
	} else if (!strcmp(type, "float")) {
		if (!str_float(text, n, &d))
			return err_set(e, ST_DATA, "'%.*s' is not a number (try 0.5)", show, text);
		out->len += (size_t)(mp_put_float(p, d) - p);
	} else if (!strcmp(type, "bool")) {
		if (!str_bool(text, n, &b))
			return err_set(e, ST_DATA, "'%.*s' is neither true nor false", show, text);
		out->len += (size_t)(mp_put_bool(p, b) - p);
	} else if (!strcmp(type, "duration")) {
		if (!str_duration_ns(text, n, &i))
			return err_set(e, ST_DATA, "'%.*s' is not a duration (try 500ms, 10s, 2m)",
				       show, text);
		setting_put_text(out, text, n);
	} else {
		return setting_read_typed(type, text, n, out, e);
	}
	return ST_OK;
}

enum status
settings_declare(struct settings *s, const char *name, const char *type, const struct buf *value,
		 bool own, struct err *e)
{
	struct setting *one = settings_add(s, name, strlen(name));
	struct types *arena;

	if (one->declared)
		return err_set(e, ST_DATA, "the parameter `%s` is declared twice", name);
	one->declared = true;
	buf_reset(&one->value);
	s->n_own += own;
	if (own && !one->given && s->n_values) {
		one->given = *s->values++;
		s->n_values--;
		one->operand = true;
	}
	if (one->given) {
		/* Without a type, the default's type counts: `param n = 10` wants an int. */
		char kind[16] = "";
		if (!*type && value) {
			struct buf b = { 0 };
			arena = types_new();
			type_print(type_of_value(arena, value->data, value->len), &b);
			types_free(&arena);
			if (b.len < sizeof kind &&
			    (!strcmp((char *)b.data, "int") || !strcmp((char *)b.data, "float") ||
			     !strcmp((char *)b.data, "bool") || !strcmp((char *)b.data, "text")))
				memcpy(kind, b.data, b.len + 1);
			buf_clear(&b);
		}
		if (setting_read(*type ? type : kind, one->given, strlen(one->given), &one->value, e)) {
			err_wrap(e, one->operand ? "%s %.80s" : "--set %s=%.80s", name, one->given);
			e->kind = ST_DATA;
			return ST_DATA;
		}
	} else if (value) {
		buf_put(&one->value, value->data, value->len);
	}
	return ST_OK;
}

bool
settings_value(void *settings, const char *name, size_t n, struct buf *out)
{
	struct settings *s = settings;
	struct setting *one = hash_get(&s->names, name, n);

	if (!one)
		return false;
	one->used = true;
	if (!one->declared && one->value.len == 0)
		setting_guess(one->given, strlen(one->given), &one->value);
	if (one->value.len == 0) {
		s->lacking = one->name;
		return false;
	}
	buf_put(out, one->value.data, one->value.len);
	return true;
}

const char *
settings_name(void *settings, size_t i)
{
	struct settings *s = settings;

	return i < s->names.n ? ((struct setting *)s->names.items[i].value)->name : NULL;
}

bool
settings_given(const struct settings *s, const char *name, size_t n)
{
	const struct setting *one = hash_get(&s->names, name, n);

	return one && one->given;
}

/* The i-th name that the spec itself declares, for suggestions. */
static const char *
settings_own_name(void *settings, size_t i)
{
	struct settings *s = settings;

	for (size_t k = 0; k < s->names.n; k++) {
		struct setting *one = s->names.items[k].value;
		if ((one->declared || one->used) && i-- == 0)
			return one->name;
	}
	return NULL;
}

static enum status
settings_surplus(const struct settings *s, struct err *e)
{
	struct buf names = { 0 };
	const char *name;

	err_set(e, ST_USAGE, "unexpected argument `%.80s`: the spec has %u parameter%s%s", *s->values,
		s->n_own, s->n_own == 1 ? "" : "s", s->n_own ? " for words" : "");
	for (size_t i = 0; (name = settings_own_name((void *)s, i)) && i < 12; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", name);
	if (names.len)
		err_help(e, "parameters of this spec: %s", names.data);
	else
		err_help(e, "words after -f FILE are the values of its parameters");
	buf_clear(&names);
	return ST_USAGE;
}

enum status
settings_check(const struct settings *s, struct err *e)
{
	struct buf names = { 0 };
	const char *name;
	char near[128];

	if (s->n_values)
		return settings_surplus(s, e);
	for (size_t k = 0; k < s->names.n; k++) {
		const struct setting *one = s->names.items[k].value;
		if (one->declared || one->used)
			continue;
		err_set(e, ST_DATA, "--set %s: the spec has no parameter `%s`", one->name, one->name);
		for (size_t i = 0; (name = settings_own_name((void *)s, i)) && i < 12; i++)
			buf_printf(&names, "%s%s", i ? ", " : "", name);
		if (!names.len)
			err_help(e, "a parameter is declared by `param %s = ...` or used as @%s",
				 one->name, one->name);
		else if (str_suggest(one->name, settings_own_name, (void *)s, near, sizeof near))
			err_help(e, "did you mean %s? parameters of this spec: %s", near, names.data);
		else
			err_help(e, "parameters of this spec: %s", names.data);
		buf_clear(&names);
		return ST_DATA;
	}
	return ST_OK;
}
