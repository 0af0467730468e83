/* SPDX-License-Identifier: MIT */
#include "axes.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { AXES_ELEMENT_HOST = 1, AXES_ELEMENT_STEP = 2 };

static enum status
axes_one(const char *t, struct column_axis *v, size_t n, struct err *e)
{
	const char *eq = strrchr(t, '='), *number = eq ? eq + 1 : t;
	int64_t axis;

	if (!str_int(number, strlen(number), &axis) || axis < 0 || axis >= TYPE_DIMS_MAX) {
		err_set(e, ST_USAGE, "--axis: '%.100s' does not end in an axis, from 0 to %d", t, TYPE_DIMS_MAX - 1);
		err_help(e, "write FIELD=K, x=1; or K alone where elements are not records");
		return ST_USAGE;
	}
	v[n] = (struct column_axis){ .field = eq ? mem_strndup(t, (size_t)(eq - t)) : mem_strdup(""), .axis = (int)axis };
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].field, v[n].field)) {
			mem_free((char *)(uintptr_t)v[n].field);
			return err_set(e, ST_USAGE, "--axis says two axes of the field `%.100s`", v[i].field);
		}
	return ST_OK;
}

enum status
axes_parse(struct feed_opts *o, struct err *e)
{
	enum status st = ST_OK;

	if (!o->axis_texts.n)
		return ST_OK;
	if (o->batched || (o->element != AXES_ELEMENT_HOST && o->element != AXES_ELEMENT_STEP)) {
		err_set(e, ST_USAGE, "--axis says along which axis batches are cut, and none are cut");
		err_help(e, "--element host or step cuts them");
		return ST_USAGE;
	}
	o->axes = mem_array(o->axis_texts.n, sizeof *o->axes);
	while (o->n_axes < o->axis_texts.n && (st = axes_one(o->axis_texts.v[o->n_axes], o->axes, o->n_axes, e)) == ST_OK)
		o->n_axes++;
	return st;
}

void
axes_clear(struct feed_opts *o)
{
	for (size_t i = 0; i < o->n_axes; i++)
		mem_free((char *)(uintptr_t)o->axes[i].field);
	mem_free(o->axes);
	o->axes = NULL;
	o->n_axes = 0;
}
