/* SPDX-License-Identifier: MIT
 *
 * A plan as a picture, for --graph: a box for each operator, lines with the types of the
 * elements between them, and which of them run on workers.
 *
 *	+------------+     Boxes stand below their inputs. The second input of an operator and
 *	| range 3    |     those behind it are moved to the right; so are pipelines inside of an
 *	+--+---------+     operator, such as the rows of join.
 *	   | int
 */
#ifndef LANG_GRAPH_H
#define LANG_GRAPH_H

#include "lang/spec.h"

enum graph_form { GRAPH_TEXT, GRAPH_DOT, GRAPH_SVG };

/* Appends the picture; blocks: lines of Unicode in GRAPH_TEXT, else ASCII. The service tells types of datasets. */
enum status plan_graph(const struct plan *p, enum graph_form form, bool blocks, const struct op_service *service,
		       struct buf *out, struct err *e);

#endif
