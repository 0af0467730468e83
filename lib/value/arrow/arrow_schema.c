/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "value/arrow/arrow_inner.h"
#include "value/mp.h"

struct schema_walk {
	struct arrow_as as;
	size_t nodes;
};

static const struct { char letter; enum arrow_kind kind; int width; } schema_numbers[] = {
	{ 'n', ARROW_NULL, 0 }, { 'b', ARROW_BOOL, 0 }, { 'c', ARROW_I8, 1 }, { 'C', ARROW_U8, 1 },
	{ 's', ARROW_I16, 2 }, { 'S', ARROW_U16, 2 }, { 'i', ARROW_I32, 4 }, { 'I', ARROW_U32, 4 },
	{ 'l', ARROW_I64, 8 }, { 'L', ARROW_U64, 8 }, { 'e', ARROW_F16, 2 }, { 'f', ARROW_F32, 4 },
	{ 'g', ARROW_F64, 8 },
};

static const struct { const char *format; enum arrow_kind kind; bool text; } schema_heaps[] = {
	{ "u", ARROW_HEAP32, true }, { "U", ARROW_HEAP64, true }, { "vu", ARROW_VIEW, true },
	{ "z", ARROW_HEAP32, false }, { "Z", ARROW_HEAP64, false }, { "vz", ARROW_VIEW, false },
};

void
arrow_node_free(struct arrow_node **at)
{
	struct arrow_node *n = *at;

	if (!n)
		return;
	for (size_t i = 0; i < n->n_kids; i++)
		arrow_node_free(&n->kids[i]);
	mem_free(n->kids);
	mem_free(n->name);
	mem_free(n->key);
	mem_free(n);
	*at = NULL;
}

static enum status
schema_refuse(const char *format, struct err *e)
{
	const char *what = strncmp(format, "ti", 2) == 0 ? "intervals" : !strncmp(format, "+u", 2) ? "unions"
		: !strcmp(format, "+r") ? "runs" : !strncmp(format, "+v", 2) ? "list views" : NULL;

	if (what)
		err_set(e, ST_DATA, "columns of %s cannot be read", what);
	else
		err_set(e, ST_DATA, "a column of the unknown type `%.40s`", format);
	err_help(e, "name the others: columns=[\"a\", \"b\"]");
	return ST_DATA;
}

static bool
schema_int(const char *s, char **end, long least, long most, int *out)
{
	errno = 0;
	long v = strtol(s, end, 10);

	*out = (int)v;
	return *end != s && !errno && v >= least && v <= most;
}

/* Reads the format of a time: tdD, ttu, tsn:Europe/Berlin, tDm. */
static bool
schema_time(struct arrow_node *n, const char *format)
{
	static const char letters[] = "smun";
	static const int64_t units[] = { 1, 1000, 1000000, 1000000000 };
	char sort = format[1], letter = format[1] ? format[2] : 0;
	const char *found = letter ? strchr(letters, letter) : NULL;

	n->width = 8;
	if (sort == 'd' && (letter == 'D' || letter == 'm')) {
		n->kind = ARROW_DATE;
		n->width = letter == 'D' ? 4 : 8;
		n->unit = letter == 'D' ? 0 : 1000;
		return true;
	}
	if (!found || !strchr("tsD", sort))
		return false;
	n->unit = units[found - letters];
	n->kind = sort == 't' ? ARROW_TIME : sort == 's' ? ARROW_STAMP : ARROW_SPAN;
	n->text = sort == 's' && format[3] == ':' && format[4];
	if (sort == 't' && n->unit <= 1000)
		n->width = 4;
	return true;
}

/* Decimals: d:19,10 or d:19,10,256. */
static bool
schema_decimal(struct arrow_node *n, const char *format)
{
	int digits, bits = 128;
	char *end;

	if (!schema_int(format + 2, &end, 1, 76, &digits) || *end != ',')
		return false;
	if (!schema_int(end + 1, &end, -76, 76, &n->scale))
		return false;
	if (*end == ',' && !schema_int(end + 1, &end, 32, 256, &bits))
		return false;
	n->kind = ARROW_DECIMAL;
	n->width = bits / 8;
	return !*end && (bits == 32 || bits == 64 || bits == 128 || bits == 256);
}

/* Reads the format of a column without columns below it. False: it is none that is known. */
static bool
schema_leaf(struct arrow_node *n, const char *format)
{
	char *end;

	for (size_t i = 0; i < sizeof schema_numbers / sizeof *schema_numbers; i++)
		if (format[0] == schema_numbers[i].letter && !format[1]) {
			n->kind = schema_numbers[i].kind;
			n->width = schema_numbers[i].width;
			n->most = MP_INT_MAX;
			return n->fixed = true;
		}
	for (size_t i = 0; i < sizeof schema_heaps / sizeof *schema_heaps; i++)
		if (!strcmp(format, schema_heaps[i].format)) {
			n->kind = schema_heaps[i].kind;
			n->text = schema_heaps[i].text;
			return true;
		}
	if (!strncmp(format, "w:", 2)) {
		n->kind = ARROW_FIXED_BYTES;
		n->fixed = schema_int(format + 2, &end, 0, 1 << 30, &n->width);
		n->most = (size_t)n->width + MP_HEAD_MAX;
		return n->fixed && !*end;
	}
	n->fixed = true;
	n->most = ARROW_TIME_MAX;
	if (format[0] == 't')
		return schema_time(n, format);
	n->most = ARROW_DECIMAL_MAX + MP_HEAD_MAX;
	return !strncmp(format, "d:", 2) && schema_decimal(n, format);
}

static bool
schema_nest(struct arrow_node *n, const char *format, int64_t kids)
{
	char *end;

	if (!strcmp(format, "+l") || !strcmp(format, "+L")) {
		n->kind = format[1] == 'l' ? ARROW_LIST32 : ARROW_LIST64;
		return kids == 1;
	}
	if (!strncmp(format, "+w:", 3)) {
		n->kind = ARROW_LIST_FIXED;
		return schema_int(format + 3, &end, 0, 1 << 30, &n->width) && !*end && kids == 1;
	}
	n->kind = !strcmp(format, "+m") ? ARROW_MAP : ARROW_STRUCT;
	return n->kind == ARROW_MAP ? kids == 1 : !strcmp(format, "+s");
}

static enum status schema_make(const struct ArrowSchema *s, struct schema_walk *w, int depth, struct arrow_node **out,
			       struct err *e);

static enum status
schema_kids(const struct ArrowSchema *s, struct schema_walk *w, int depth, struct arrow_node *n, struct err *e)
{
	enum status st = ST_OK;

	n->kids = mem_array((size_t)s->n_children + 1, sizeof *n->kids);
	if (s->n_children && !s->children)
		return err_set(e, ST_DATA, "the columns in it are missing");
	for (int64_t i = 0; i < s->n_children && st == ST_OK; i++) {
		if (!s->children[i])
			return err_set(e, ST_DATA, "a column in it is missing");
		st = schema_make(s->children[i], w, depth + 1, &n->kids[i], e);
		n->n_kids += st == ST_OK;
		for (size_t k = 0; st == ST_OK && depth > 0 && n->kind == ARROW_STRUCT && k < (size_t)i; k++)
			if (!strcmp(n->kids[k]->name, n->kids[i]->name))
				st = err_set(e, ST_DATA, "two fields are called `%.100s`", n->kids[i]->name);
		if (st != ST_OK && s->children[i]->name && *s->children[i]->name)
			err_wrap(e, "%.100s", s->children[i]->name);
	}
	bool map = n->kind == ARROW_MAP;
	if (st == ST_OK && map && (n->kids[0]->kind != ARROW_STRUCT || n->kids[0]->n_kids != 2))
		return err_set(e, ST_DATA, "a malformed map");
	return st;
}

static void
schema_key(struct arrow_node *n, const char *name)
{
	size_t len = strlen(name);

	n->name = mem_strdup(name);
	n->key = mem_alloc(len + MP_HEAD_MAX);
	n->key_len = (uint32_t)(mp_put_text(n->key, name, (uint32_t)len) - n->key);
}

static enum status
schema_make(const struct ArrowSchema *s, struct schema_walk *w, int depth, struct arrow_node **out, struct err *e)
{
	struct arrow_node *n = mem_zalloc(sizeof *n), *values;
	const char *format = s->format ? s->format : "";
	enum status st = ST_OK;

	n->times = w->as.times;
	n->decimals = w->as.decimals;
	n->nullable = s->flags & ARROW_FLAG_NULLABLE || !strcmp(format, "n");
	schema_key(n, s->name ? s->name : "");
	if (depth > ARROW_DEPTH_MAX || ++w->nodes > ARROW_NODES_MAX || s->n_children < 0
	    || s->n_children > ARROW_NODES_MAX || strlen(n->name) > UINT16_MAX)
		st = err_set(e, ST_DATA, "it has more than %d columns, or nests deeper than %d", ARROW_NODES_MAX,
			     ARROW_DEPTH_MAX);
	else if (format[0] == '+' && !schema_nest(n, format, s->n_children))
		st = schema_refuse(format, e);
	else if (format[0] != '+' && !schema_leaf(n, format))
		st = schema_refuse(format, e);
	if (st == ST_OK && format[0] == '+')
		st = schema_kids(s, w, depth, n, e);
	if (st == ST_OK && s->dictionary) {
		n->index = n->kind;
		if (n->kind < ARROW_I8 || n->kind > ARROW_U64)
			st = err_set(e, ST_DATA, "a malformed dictionary");
		if (st == ST_OK)
			st = schema_make(s->dictionary, w, depth + 1, &values, e);
		if (st == ST_OK) {
			n->kind = ARROW_DICTIONARY;
			n->fixed = false;
			n->kids = mem_array(1, sizeof *n->kids);
			n->kids[n->n_kids++] = values;
			n->nullable |= values->nullable;
		}
	}
	if (st == ST_OK)
		*out = n;
	else
		arrow_node_free(&n);
	return st;
}

enum status
arrow_rows_new(const struct ArrowSchema *schema, struct arrow_as as, struct arrow_rows **out, struct err *e)
{
	struct arrow_rows *r = mem_zalloc(sizeof *r);
	struct schema_walk w = { .as = as };
	enum status st = schema_make(schema, &w, 0, &r->root, e);

	if (st == ST_OK && r->root->kind != ARROW_STRUCT)
		st = err_set(e, ST_DATA, "it has no columns");
	r->fixed = MP_HEAD_MAX;
	r->all_fixed = true;
	for (size_t i = 0; st == ST_OK && i < r->root->n_kids; i++) {
		const struct arrow_node *n = r->root->kids[i];

		r->fixed += n->key_len + (n->fixed ? n->most : 0);
		r->all_fixed &= n->fixed;
		for (size_t k = 0; k < i && st == ST_OK && r->root->n_kids < 1000; k++)
			if (!strcmp(r->root->kids[k]->name, n->name))
				st = err_set(e, ST_DATA, "two columns are called `%.100s`", n->name);
	}
	if (st != ST_OK)
		arrow_rows_free(&r);
	*out = r;
	return st;
}

void
arrow_rows_free(struct arrow_rows **r)
{
	if (*r)
		arrow_node_free(&(*r)->root);
	mem_free(*r);
	*r = NULL;
}

static const struct type *schema_type(const struct arrow_node *n, struct types *arena);

static const struct type *
schema_record(const struct arrow_node *n, struct types *arena)
{
	struct type_field *f = mem_array(n->n_kids + 1, sizeof *f);

	for (size_t i = 0; i < n->n_kids; i++)
		f[i] = (struct type_field){ n->kids[i]->name, schema_type(n->kids[i], arena) };
	const struct type *t = type_record(arena, f, n->n_kids, false);
	mem_free(f);
	return t;
}

static enum type_kind
schema_scalar(const struct arrow_node *n)
{
	switch (n->kind) {
	case ARROW_NULL: return TYPE_NIL;
	case ARROW_BOOL: return TYPE_BOOL;
	case ARROW_F16: case ARROW_F32: case ARROW_F64: return TYPE_FLOAT;
	case ARROW_HEAP32: case ARROW_HEAP64: case ARROW_VIEW: return n->text ? TYPE_TEXT : TYPE_BYTES;
	case ARROW_FIXED_BYTES: return TYPE_BYTES;
	case ARROW_DECIMAL: return n->decimals == ARROW_DECIMALS_TEXT ? TYPE_TEXT : TYPE_FLOAT;
	case ARROW_DATE: case ARROW_TIME: case ARROW_STAMP: case ARROW_SPAN:
		return n->times == ARROW_TIMES_INT ? TYPE_INT : n->times == ARROW_TIMES_TEXT ? TYPE_TEXT : TYPE_FLOAT;
	default: return TYPE_INT;
	}
}

static const struct type *
schema_type(const struct arrow_node *n, struct types *arena)
{
	const struct type *t;

	switch (n->kind) {
	case ARROW_STRUCT:
		t = schema_record(n, arena);
		break;
	case ARROW_LIST32: case ARROW_LIST64: case ARROW_LIST_FIXED:
		t = type_list(arena, schema_type(n->kids[0], arena));
		break;
	case ARROW_MAP:
		t = arrow_map_is_record(n) ? type_record(arena, NULL, 0, true)
			: type_list(arena, schema_record(n->kids[0], arena));
		break;
	case ARROW_DICTIONARY:
		t = schema_type(n->kids[0], arena);
		break;
	default:
		t = type_scalar(schema_scalar(n));
	}
	return n->nullable && t->kind != TYPE_NIL ? type_nullable(arena, t) : t;
}

const struct type *
arrow_rows_type(const struct arrow_rows *r, struct types *arena)
{
	return schema_record(r->root, arena);
}
