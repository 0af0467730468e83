/* SPDX-License-Identifier: MIT
 *
 * Element specs as text, both ways.
 */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "value/type.h"

enum { TYPE_DEPTH_MAX = 160, TYPE_FIELDS_MAX = 8192 };

static const char *const type_words[] = { /* by enum type_kind */
	[TYPE_ANY] = "any", [TYPE_NIL] = "null", [TYPE_BOOL] = "bool", [TYPE_INT] = "int",
	[TYPE_FLOAT] = "float", [TYPE_TEXT] = "text", [TYPE_BYTES] = "bytes",
	[TYPE_LIST] = "", [TYPE_RECORD] = "", [TYPE_TENSOR] = "", [TYPE_NEVER] = "never"
};

static bool
type_name_char(char c, bool first)
{
	return c == '_' || isalpha((unsigned char)c) || (!first && isdigit((unsigned char)c));
}

static void
type_print_name(const char *name, struct buf *out)
{
	size_t n = strlen(name), i = 0;

	while (i < n && type_name_char(name[i], i == 0))
		i++;
	if (n && i == n) {
		buf_str(out, name);
		return;
	}
	/* in quotes, with the quote and the backslash escaped */
	buf_byte(out, '"');
	for (i = 0; i < n; i++) {
		if (name[i] == '"' || name[i] == '\\')
			buf_byte(out, '\\');
		buf_byte(out, (uint8_t)name[i]);
	}
	buf_byte(out, '"');
}

static void
type_print_record(const struct type *a, struct buf *out)
{
	buf_byte(out, '{');
	for (size_t i = 0; i < a->n_fields; i++) {
		if (i)
			buf_str(out, ", ");
		type_print_name(a->fields[i].name, out);
		buf_str(out, ": ");
		type_print(a->fields[i].type, out);
	}
	if (a->open)
		buf_str(out, a->n_fields ? ", ..." : "...");
	buf_byte(out, '}');
}

static void
type_print_tensor(const struct type *a, struct buf *out)
{
	buf_printf(out, "%s[", dtype_name(a->dtype));
	if (a->n_dims < 0)
		buf_str(out, "...");
	for (int i = 0; i < a->n_dims; i++) {
		if (i)
			buf_byte(out, ',');
		if (a->dims[i] < 0)
			buf_byte(out, '?');
		else
			buf_printf(out, "%lld", (long long)a->dims[i]);
	}
	buf_byte(out, ']');
}

void
type_print(const struct type *a, struct buf *out)
{
	switch (a->kind) {
	case TYPE_LIST:
		buf_byte(out, '[');
		type_print(a->item, out);
		buf_byte(out, ']');
		break;
	case TYPE_RECORD: type_print_record(a, out); break;
	case TYPE_TENSOR: type_print_tensor(a, out); break;
	default: buf_str(out, type_words[a->kind]); break;
	}
	if (a->nullable)
		buf_byte(out, '?');
}

/* The text being parsed. */
struct type_src {
	struct types *types;
	const char *text;
	size_t n, at;
	int depth;
	size_t fields; /* number of fields in all records */
	struct err *e;
};

static const struct type *type_parse_one(struct type_src *s);

static char
type_peek(struct type_src *s)
{
	while (s->at < s->n && isspace((unsigned char)s->text[s->at]))
		s->at++;
	return s->at < s->n ? s->text[s->at] : '\0';
}

static bool
type_take(struct type_src *s, const char *token)
{
	size_t n = strlen(token);

	type_peek(s);
	if (s->n - s->at < n || memcmp(s->text + s->at, token, n))
		return false;
	s->at += n;
	return true;
}

static const struct type *
type_wrong(struct type_src *s, const char *wanted)
{
	if (type_peek(s))
		err_set(s->e, ST_DATA, "%s expected at '%.*s' in the type", wanted,
			(int)(s->n - s->at < 16 ? s->n - s->at : 16), s->text + s->at);
	else
		err_set(s->e, ST_DATA, "%s expected at the end of the type", wanted);
	return NULL;
}

static size_t
type_word(struct type_src *s, const char **word)
{
	type_peek(s);
	size_t start = s->at;
	*word = s->text + start;
	while (s->at < s->n && type_name_char(s->text[s->at], s->at == start))
		s->at++;
	return s->at - start;
}

/* Puts the name, which may be quoted, into `name`. */
static bool
type_parse_name(struct type_src *s, struct buf *name)
{
	const char *word;
	size_t n;

	buf_reset(name);
	if (!type_take(s, "\"")) {
		n = type_word(s, &word);
		buf_put(name, word, n);
		return n || type_wrong(s, "a field name");
	}
	for (; s->at < s->n && s->text[s->at] != '"'; s->at++) {
		if (s->text[s->at] == '\\' && s->at + 1 < s->n)
			s->at++;
		if (!s->text[s->at])
			break; /* no NUL within a name */
		buf_byte(name, (uint8_t)s->text[s->at]);
	}
	if (s->at < s->n && s->text[s->at++] == '"') {
		buf_put(name, "", 0);
		return true;
	}
	type_wrong(s, "the end of the quoted name");
	return false;
}

static bool
type_parse_field(struct type_src *s, struct buf *fields, struct buf *name)
{
	struct type_field f;

	if (!type_parse_name(s, name))
		return false;
	for (size_t i = 0; i < fields->len / sizeof f; i++)
		if (!strcmp(((struct type_field *)(void *)fields->data)[i].name, (char *)name->data)) {
			err_set(s->e, ST_DATA, "field '%s' appears twice in the type",
				(char *)name->data);
			return false;
		}
	if (++s->fields > TYPE_FIELDS_MAX) {
		err_set(s->e, ST_DATA, "more than %d fields in the type", TYPE_FIELDS_MAX);
		return false;
	}
	/* type_record copies the name; until then it belongs to a record of its own */
	f.name = (char *)name->data;
	f.type = type_scalar(TYPE_ANY);
	f.name = type_record(s->types, &f, 1, false)->fields[0].name;
	if (!type_take(s, ":"))
		return type_wrong(s, "':'");
	f.type = type_parse_one(s);
	buf_put(fields, &f, sizeof f);
	return f.type;
}

static const struct type *
type_parse_record(struct type_src *s)
{
	struct buf fields = { 0 }, name = { 0 };
	const struct type *r = NULL;
	bool open = false, ok = true;

	while (ok && !type_take(s, "}")) {
		if (open || (fields.len && !type_take(s, ","))) {
			type_wrong(s, open ? "'}'" : "',' or '}'");
			ok = false;
		} else if (type_take(s, "...")) {
			open = true;
		} else {
			ok = type_parse_field(s, &fields, &name);
		}
	}
	if (ok)
		r = type_record(s->types, (struct type_field *)(void *)fields.data,
				fields.len / sizeof(struct type_field), open);
	buf_clear(&fields);
	buf_clear(&name);
	return r;
}

static const struct type *
type_parse_tensor(struct type_src *s, enum dtype d)
{
	int64_t dims[TYPE_DIMS_MAX];
	int n = 0;

	if (type_take(s, "...")) {
		if (!type_take(s, "]"))
			return type_wrong(s, "']'");
		return type_tensor(s->types, d, NULL, -1);
	}
	while (!type_take(s, "]")) {
		if (n && !type_take(s, ","))
			return type_wrong(s, "',' or ']'");
		if (n == TYPE_DIMS_MAX) {
			err_set(s->e, ST_DATA, "more than %d dimensions in the type", TYPE_DIMS_MAX);
			return NULL;
		}
		type_peek(s);
		size_t start = s->at;
		while (s->at < s->n && isdigit((unsigned char)s->text[s->at]))
			s->at++;
		if (!(s->at == start && type_take(s, "?"))
		    && !str_int(s->text + start, s->at - start, &dims[n]))
			return type_wrong(s, "a dimension or '?'");
		if (s->text[start] == '?')
			dims[n] = -1;
		n++;
	}
	return type_tensor(s->types, d, dims, n);
}

static const struct type *
type_parse_word(struct type_src *s)
{
	const char *word;
	size_t n = type_word(s, &word);

	for (int d = 0; d < DTYPE_COUNT && n; d++)
		if (strlen(dtype_name(d)) == n && !memcmp(dtype_name(d), word, n)
		    && type_take(s, "["))
			return type_parse_tensor(s, (enum dtype)d);
	for (int k = 0; k <= TYPE_NEVER && n; k++)
		if (strlen(type_words[k]) == n && !memcmp(type_words[k], word, n))
			return type_scalar((enum type_kind)k);
	s->at -= n;
	return type_wrong(s, "a type");
}

static const struct type *
type_parse_one(struct type_src *s)
{
	const struct type *a;

	if (s->depth == TYPE_DEPTH_MAX) {
		err_set(s->e, ST_DATA, "the type is nested deeper than %d", TYPE_DEPTH_MAX);
		return NULL;
	}
	s->depth++;
	if (type_take(s, "[")) {
		a = type_parse_one(s);
		if (a && !type_take(s, "]"))
			return type_wrong(s, "']'");
		a = a ? type_list(s->types, a) : NULL;
	} else if (type_take(s, "{")) {
		a = type_parse_record(s);
	} else {
		a = type_parse_word(s);
	}
	s->depth--;
	return a && type_take(s, "?") ? type_nullable(s->types, a) : a;
}

const struct type *
type_parse(struct types *t, const char *text, size_t n, struct err *e)
{
	struct type_src s = { .types = t, .text = text, .n = n, .e = e };
	const struct type *a = type_parse_one(&s);

	if (a && type_peek(&s)) {
		type_wrong(&s, "nothing more");
		return NULL;
	}
	return a;
}
