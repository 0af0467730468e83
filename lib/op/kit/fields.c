/* SPDX-License-Identifier: MIT */
#include "op/kit/fields.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "op/kit/expr_run.h"
#include "value/mp.h"

static enum status
fields_one(const char *word, bool pairs, struct field_name *out, struct err *e)
{
	const char *colon;

	*out = (struct field_name){ 0 };
	if (*word == '.')
		word++;
	out->name = word;
	out->len = (uint32_t)strlen(word);
	if (pairs) {
		colon = strchr(word, ':');
		if (!colon || colon == word || !colon[1]) {
			err_set(e, ST_DATA, "'%.60s' does not say which field gets which name", word);
			err_help(e, "write old:new, as in rename usr:user");
			return ST_DATA;
		}
		out->len = (uint32_t)(colon - word);
		out->to = colon[1] == '.' ? colon + 2 : colon + 1;
		out->to_len = (uint32_t)strlen(out->to);
	}
	if (out->len == 0)
		return err_set(e, ST_DATA, "a field without a name");
	return ST_OK;
}

enum status
fields_read(const struct words *w, bool pairs, struct fields *out, struct err *e)
{
	enum status st = ST_OK;

	*out = (struct fields){ 0 };
	if (w->n > FIELDS_MAX)
		return err_set(e, ST_DATA, "more than %d fields", FIELDS_MAX);
	out->v = mem_array(w->n + 1, sizeof *out->v);
	for (size_t i = 0; st == ST_OK && i < w->n; i++) {
		struct field_name *f = &out->v[out->n];

		st = fields_one(w->v[i], pairs, f, e);
		if (st == ST_OK && fields_find(out, (const uint8_t *)f->name, f->len, 0) >= 0)
			st = err_set(e, ST_DATA, "`%.*s` is named twice", (int)f->len, f->name);
		out->n += st == ST_OK;
	}
	if (st != ST_OK)
		fields_forget(out);
	return st;
}

enum status
fields_read_one(char *name, struct fields *out, struct err *e)
{
	const struct words one = { .v = &name, .n = 1 };

	return fields_read(&one, false, out, e);
}

void
fields_forget(struct fields *f)
{
	mem_free(f->v);
	*f = (struct fields){ 0 };
}

int
fields_find(const struct fields *f, const uint8_t *name, uint32_t len, uint32_t near)
{
	if (near < f->n && f->v[near].len == len && !memcmp(f->v[near].name, name, len))
		return (int)near;
	for (uint32_t i = 0; i < f->n; i++)
		if (f->v[i].len == len && !memcmp(f->v[i].name, name, len))
			return (int)i;
	return -1;
}

static const char *
fields_next_name(void *arg, size_t i)
{
	const struct type *t = arg;

	return i < t->n_fields ? t->fields[i].name : NULL;
}

enum status
fields_typing(struct op_node *n, struct op_typing *t, const struct fields *f, bool must,
	      struct err *e)
{
	const struct type *x = n->in[0]->type;
	struct buf name = { 0 };
	char near[200];

	if (x->kind != TYPE_RECORD && x->kind != TYPE_ANY && x->kind != TYPE_NEVER) {
		type_print(x, &name);
		typed_fail(t, n, e, "`%s` needs records, this is %s", n->desc->name,
			   (char *)name.data);
		buf_clear(&name);
		return ST_DATA;
	}
	if (x->kind != TYPE_RECORD || !must)
		return ST_OK;
	for (uint32_t i = 0; i < f->n; i++) {
		if (type_field_get(x, f->v[i].name, f->v[i].len))
			continue;
		char *word = mem_strndup(f->v[i].name, f->v[i].len);

		typed_fail(t, n, e, "the elements have no field `%.60s`", word);
		if (str_suggest(word, fields_next_name, (void *)x, near, sizeof near))
			err_help(e, "did you mean %s?", near);
		mem_free(word);
		return ST_DATA;
	}
	return ST_OK;
}

const uint8_t *
fields_pair(const uint8_t *p, const uint8_t *end, struct field_name *name, const uint8_t **value)
{
	struct mp key;

	*value = mp_head(p, end, &key);
	name->name = key.kind == MP_TEXT ? (const char *)key.p : "";
	name->len = key.kind == MP_TEXT ? key.n : 0;
	if (key.kind == MP_LIST || key.kind == MP_RECORD)
		*value = mp_skip(p, end);
	return mp_skip(*value, end);
}

bool
fields_record(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
	      uint32_t *pairs, const uint8_t **p, enum status *st, struct err *e)
{
	struct mp m;
	const struct elem *x = &in->e[i];

	mp_head(x->p, x->p + x->len, &m);
	if (m.kind == MP_RECORD) {
		*pairs = m.n;
		*p = m.p;
		return true;
	}
	*st = expr_run_wrong(self, in, i, out, e, "this element is not a record");
	return false;
}
