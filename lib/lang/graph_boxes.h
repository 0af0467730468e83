/* SPDX-License-Identifier: MIT
 *
 * The boxes of a picture, in the order in which they are drawn: each below its inputs.
 */
#ifndef LANG_GRAPH_BOXES_H
#define LANG_GRAPH_BOXES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "lang/spec.h"

enum { GRAPH_STEP = 4, GRAPH_RAIL = 3, GRAPH_TEXT_MAX = 60, GRAPH_BOXES = 500 };

struct graph_box {
	char *text, *type;    /* owned; shortened */
	size_t column;        /* the column of its left edge */
	size_t inputs;        /* how many boxes it has above it: they are the ones whose `to` it is */
	size_t to;            /* number of the box that takes its elements; its own: nobody */
	bool remote;          /* runs on workers */
};

struct graph_boxes {
	struct graph_box *v;
	size_t n, cap;
};

/* Fills *out, which is zero, with the boxes of a plan; what runs on workers is planned from its text.
 * ST_DATA: there are more than GRAPH_BOXES. */
enum status graph_boxes_of(const struct plan *p, const struct op_service *service, struct graph_boxes *out,
			   struct err *e);
void graph_boxes_clear(struct graph_boxes *b);

#endif
