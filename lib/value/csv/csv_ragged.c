/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "value/csv/csv_inner.h"
#include "value/mp.h"

enum { CSV_NUMBER_LEN = 6 }; /* digits of CSV_COLUMNS_MAX */

/* Whether fields behind the last column are given: not when the columns were chosen. */
static bool
csv_ragged_more(const struct csv *c)
{
	return !(c->conf.header && c->names);
}

enum status
csv_ragged_check(const struct csv *c, struct err *e)
{
	for (size_t i = 0; i < c->n_all && csv_ragged_more(c); i++) {
		size_t len, k = 0, number = 0;
		const char *name = csv_column(c, i, &len);

		for (; k < len && k < CSV_NUMBER_LEN && name[k] >= '0' && name[k] <= '9'; k++)
			number = 10 * number + (size_t)(name[k] - '0');
		if (!len || k < len || *name == '0' || number <= c->n_all)
			continue;
		err_set(e, ST_DATA, "ragged=true calls further fields by their number, but there is a column `%.*s`",
			(int)len, name);
		err_help(e, "columns=[\"a\", ...] chooses columns, and then further fields are left out");
		return ST_DATA;
	}
	return ST_OK;
}

size_t
csv_ragged_room(const struct csv *c)
{
	size_t more = c->row.n > c->n_all ? c->row.n - c->n_all : 0;

	return c->n_out + more * (CSV_NUMBER_LEN + MP_HEAD_MAX);
}

/* Whether the field is among those asked for; writes its name. */
static bool
csv_ragged_name(const struct csv *c, uint32_t i, char name[CSV_NUMBER_LEN + 1], size_t *len)
{
	const struct json_fields *f = c->fields;
	bool wanted = !f;

	*len = (size_t)snprintf(name, CSV_NUMBER_LEN + 1, "%u", (i + 1) % 1000000);
	for (size_t k = 0; f && k < f->n && !wanted; k++)
		wanted = f->lens[k] == *len && !memcmp(f->names[k], name, *len);
	return wanted;
}

uint8_t *
csv_put_ragged(const struct csv *c, csv_put_fn *put, uint8_t *w, const uint8_t *p)
{
	const struct csv_row *row = &c->row;
	uint32_t more = 0, last = csv_ragged_more(c) ? row->n : 0;
	char name[CSV_NUMBER_LEN + 1];
	size_t len;

	for (uint32_t i = (uint32_t)c->n_all; i < last; i++)
		more += csv_ragged_name(c, i, name, &len);
	w = mp_put_record_head(w, (uint32_t)c->n_out + more);
	for (size_t i = 0; i < c->n_out; i++) {
		const struct csv_column *o = &c->out[i];
		uint32_t begin = o->column && o->column < row->n ? row->ends[o->column - 1] + 1 : 0;

		memcpy(w, c->keys.data + o->key, o->key_len);
		w += o->key_len;
		if (o->column < row->n)
			w = put(&c->conf, w, p + begin, row->ends[o->column] - begin, row->quoted);
		else
			w = c->conf.text ? mp_put_text(w, "", 0) : mp_put_nil(w);
	}
	for (uint32_t i = (uint32_t)c->n_all; i < last; i++) {
		if (!csv_ragged_name(c, i, name, &len))
			continue;
		w = mp_put_text(w, name, (uint32_t)len);
		w = put(&c->conf, w, p + row->ends[i - 1] + 1, row->ends[i] - row->ends[i - 1] - 1, row->quoted);
	}
	return w;
}
