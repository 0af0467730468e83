/* SPDX-License-Identifier: MIT */
#include "op/table/table_as.h"

#include <string.h>

#include "base/mem.h"
#include "op/file/file_source.h"
#include "value/mp.h"

enum { TABLE_COLUMNS_MAX = 65536 };

void
table_as_clear(struct table_as *as)
{
	for (size_t i = 0; i < as->n_names; i++)
		mem_free(as->names[i]);
	mem_free(as->names);
	*as = (struct table_as){ 0 };
}

enum status
table_as_read(const struct table_said *s, struct table_as *as, struct err *e)
{
	const uint8_t *p = s->columns.data, *end = p ? p + s->columns.len : NULL;
	struct mp list, m;

	*as = (struct table_as){ .as = { (enum arrow_times)s->times, (enum arrow_decimals)s->decimals } };
	if (!s->columns.len)
		return ST_OK;
	p = mp_head(p, end, &list);
	bool good = p && list.kind == MP_LIST && list.n && list.n <= TABLE_COLUMNS_MAX;
	as->names = mem_array(good ? list.n : 1, sizeof *as->names);
	while (good && as->n_names < list.n) {
		p = mp_head(p, end, &m);
		good = p && m.kind == MP_TEXT && !memchr(m.p, 0, m.n);
		if (good)
			as->names[as->n_names++] = mem_strndup((const char *)m.p, m.n);
	}
	if (good)
		return ST_OK;
	table_as_clear(as);
	err_set(e, ST_DATA, "columns= needs a list of names");
	err_help(e, "columns=[\"id\", \"name\"]");
	return ST_DATA;
}

enum status
table_as_open(const struct op_inst *self, const struct table_said *said, const struct type *want,
	      struct file_source *src, struct table_as *as, struct err *e)
{
	enum status st = table_as_read(said, as, e);

	src->counts = "record";
	as->want = want;
	as->project = self->node->project;
	/* The fields that with_name adds are none of the file's, which must be known before. */
	as->tests = want || !file_named_is(&src->with_name) ? self->node->tests : NULL;
	return st;
}

enum status
table_same(const struct arrow_rows *rows, const struct type *want, struct err *e)
{
	struct types *arena = types_new();
	const struct type *has = arrow_rows_type(rows, arena);
	struct buf a = { 0 }, b = { 0 };
	enum status st = ST_OK;

	for (size_t i = 0; i < want->n_fields && st == ST_OK; i++) {
		const char *name = want->fields[i].name;
		const struct type *t = type_field_get(has, name, strlen(name));

		if (t && type_holds(want->fields[i].type, t))
			continue;
		if (t)
			type_print(t, &a);
		type_print(want->fields[i].type, &b);
		st = err_set(e, ST_DATA, t ? "its column `%.100s` is %s, that of the first file is %s"
			     : "it has no column `%.100s`%.0s, which the first file has as %s", name,
			     t ? (const char *)a.data : "", (const char *)b.data);
	}
	for (size_t i = 0; i < has->n_fields && st == ST_OK && has->n_fields > want->n_fields; i++)
		if (!type_field_get(want, has->fields[i].name, strlen(has->fields[i].name)))
			st = err_set(e, ST_DATA, "it has a column `%.100s`, which the first file has not",
				     has->fields[i].name);
	if (st != ST_OK)
		err_help(e, "name the columns that all files have: columns=[\"a\", \"b\"]");
	buf_clear(&a);
	buf_clear(&b);
	types_free(&arena);
	return st;
}

char **
table_as_projected(const struct table_as *as, const struct type *has, size_t *n)
{
	char **names = mem_array(has->n_fields + 1, sizeof *names);

	*n = 0;
	for (size_t i = 0; i < has->n_fields; i++)
		for (size_t k = 0; k < as->project->n; k++)
			if (!strcmp(has->fields[i].name, as->project->names[k]))
				names[(*n)++] = (char *)has->fields[i].name;
	return names;
}
