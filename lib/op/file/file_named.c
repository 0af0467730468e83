/* SPDX-License-Identifier: MIT */
#include "op/file/file_named.h"

#include <string.h>

#include "base/mem.h"
#include "value/mp.h"

enum { NAMED_MAX = 2, NAMED_LEN = 255 };
static const char NAMED_VALUE[] = "value"; /* the field of a value that is no record */

struct named_field {
	const uint8_t *name; /* lent from the parameter */
	uint32_t n;
};

struct file_named {
	struct named_field fields[NAMED_MAX];
	size_t n;
	struct buf head;     /* the fields of the file at hand but for the line's number */
	struct run plain;
};

static struct named_field
named_usual(const char *name)
{
	return (struct named_field){ (const uint8_t *)name, (uint32_t)strlen(name) };
}

/* Reads the parameter: the number of fields, 0 for none; -1: it is neither. */
static int
named_read(const struct buf *with_name, const char *counts, struct named_field fields[NAMED_MAX])
{
	const uint8_t *p = with_name->data, *end = p ? p + with_name->len : NULL;
	struct mp list, m;

	if (!with_name->len)
		return 0;
	p = mp_head(p, end, &list);
	if (p && list.kind == MP_BOOL) {
		fields[0] = named_usual("file");
		fields[1] = named_usual(counts ? counts : "line");
		return list.b ? NAMED_MAX : 0;
	}
	if (!p || list.kind != MP_LIST || list.n < 1 || list.n > NAMED_MAX)
		return -1;
	for (uint32_t i = 0; i < list.n; i++) {
		p = mp_head(p, end, &m);
		if (!p || m.kind != MP_TEXT || !m.n || m.n > NAMED_LEN || memchr(m.p, 0, m.n))
			return -1;
		fields[i] = (struct named_field){ m.p, m.n };
	}
	return list.n == 2 && fields[0].n == fields[1].n && !memcmp(fields[0].name, fields[1].name, fields[0].n)
		? -1 : (int)list.n;
}

bool
file_named_lines(const struct buf *with_name)
{
	struct named_field fields[NAMED_MAX];

	return named_read(with_name, NULL, fields) == NAMED_MAX;
}

bool
file_named_is(const struct buf *with_name)
{
	struct named_field fields[NAMED_MAX];

	return named_read(with_name, NULL, fields) > 0;
}

static enum status
named_wrong(struct err *e)
{
	err_set(e, ST_DATA, "with_name is true, false, or a list of one or two different names");
	err_help(e, "with_name=[\"source\", \"row\"]; with_name=[\"source\"] leaves out the number");
	return ST_DATA;
}

enum status
file_named_new(const struct buf *with_name, const char *counts, struct file_named **out, struct err *e)
{
	struct named_field fields[NAMED_MAX];
	int n = named_read(with_name, counts, fields);

	*out = NULL;
	if (n < 0)
		return named_wrong(e);
	if (!n)
		return ST_OK;
	*out = mem_zalloc(sizeof **out);
	(*out)->n = (size_t)n;
	memcpy((*out)->fields, fields, sizeof fields);
	run_init(&(*out)->plain);
	return ST_OK;
}

void
file_named_free(struct file_named **n)
{
	if (*n) {
		buf_clear(&(*n)->head);
		run_clear(&(*n)->plain);
	}
	mem_free(*n);
	*n = NULL;
}

struct run *
file_named_plain(struct file_named *n)
{
	run_reset(&n->plain);
	return &n->plain;
}

/* The first field of n that the record has as well; NULL: none. */
static const struct named_field *
named_twice(const struct file_named *n, const struct elem *x)
{
	const uint8_t *value;
	size_t len;

	for (size_t i = 0; i < n->n; i++)
		if (mp_field(x->p, x->p + x->len, (const char *)n->fields[i].name, n->fields[i].n, &value, &len))
			return &n->fields[i];
	return NULL;
}

static enum status
named_has(const struct named_field *f, struct err *e)
{
	err_set(e, ST_DATA, "with_name adds a field `%.*s`, but the record has one", (int)f->n, (const char *)f->name);
	err_help(e, "with_name=[\"source_file\", \"source_line\"] gives the fields these names");
	return ST_DATA;
}

/* Writes the fields that go in front of an element. */
static uint8_t *
named_head(const struct file_named *n, uint8_t *w, uint64_t line)
{
	memcpy(w, n->head.data, n->head.len);
	w += n->head.len;
	return n->n < NAMED_MAX ? w : line ? mp_put_uint(w, line) : mp_put_nil(w);
}

static void
named_one(const struct file_named *n, const struct elem *x, const struct mp *m, const uint8_t *rest, uint64_t line,
	  struct run *out)
{
	bool record = m->kind == MP_RECORD;
	uint8_t *w = run_room(out, (size_t)x->len + n->head.len + 2 * MP_HEAD_MAX + MP_INT_MAX + sizeof NAMED_VALUE);
	size_t len = record ? (size_t)(x->p + x->len - rest) : x->len;

	w = mp_put_record_head(w, (uint32_t)n->n + (record ? m->n : 1));
	w = named_head(n, w, line);
	if (!record)
		w = mp_put_text(w, NAMED_VALUE, sizeof NAMED_VALUE - 1);
	memcpy(w, record ? rest : x->p, len);
	run_done(out, w + len, x->pos);
}

enum status
file_named_put(struct file_named *n, struct op_inst *self, const char *path, struct run *out, struct err *e)
{
	struct run *in = &n->plain;
	const struct named_field *f;
	size_t len = strlen(path);

	buf_reset(&n->head);
	uint8_t *w = buf_room(&n->head, len + 3 * MP_HEAD_MAX + NAMED_MAX * NAMED_LEN), *start = w;
	w = mp_put_text(w, n->fields[0].name, n->fields[0].n);
	w = mp_put_text(w, path, (uint32_t)len);
	if (n->n == NAMED_MAX)
		w = mp_put_text(w, n->fields[1].name, n->fields[1].n);
	n->head.len = (size_t)(w - start);
	for (uint32_t i = 0; i < in->n; i++) {
		const struct elem *x = &in->e[i];
		uint64_t line = in->line ? in->line + x->pos : 0;
		struct mp m;
		const uint8_t *rest = mp_head(x->p, x->p + x->len, &m);

		if (m.kind == MP_RECORD && (f = named_twice(n, x))) {
			named_has(f, e);
			enum status st = op_source_fault(self, in->file, line, e);
			if (st != ST_OK)
				return st;
			continue;
		}
		named_one(n, x, &m, rest, line, out);
	}
	return ST_OK;
}

enum status
file_named_type(const struct buf *with_name, const char *counts, struct types *arena, const struct type **type,
		struct err *e)
{
	struct named_field fields[NAMED_MAX];
	int n = named_read(with_name, counts, fields);
	bool record = (*type)->kind == TYPE_RECORD;

	if (n < 0)
		return named_wrong(e);
	if (!n || (*type)->kind == TYPE_ANY)
		return ST_OK;
	size_t rest = record ? (*type)->n_fields : 1;
	struct type_field *all = mem_array((size_t)n + rest, sizeof *all);
	char *names[NAMED_MAX] = { NULL };
	enum status st = ST_OK;
	for (int i = 0; i < n && st == ST_OK; i++) {
		names[i] = mem_strndup((const char *)fields[i].name, fields[i].n);
		all[i].name = names[i];
		all[i].type = type_scalar(i ? TYPE_INT : TYPE_TEXT);
		for (size_t k = 0; record && k < rest && st == ST_OK; k++)
			if (!strcmp((*type)->fields[k].name, names[i]))
				st = named_has(&fields[i], e);
	}
	if (record)
		memcpy(all + n, (*type)->fields, rest * sizeof *all);
	else
		all[n] = (struct type_field){ .name = NAMED_VALUE, .type = *type };
	if (st == ST_OK)
		*type = type_record(arena, all, (size_t)n + rest, record && (*type)->open);
	for (int i = 0; i < NAMED_MAX; i++)
		mem_free(names[i]);
	mem_free(all);
	return st;
}
