/* SPDX-License-Identifier: MIT
 *
 * What SNAPSHOT tells of the elements that were saved. It stands in the last line, behind
 * the files:
 *
 *	], "elements": 4, "bytes": 120, "format": "msgpack", "compression": "none",
 *	   "type": "{id: int}", "spec": "range 4 | map {id: x}", "pipeline": "0a1b2c3d4e5f6071"}
 *
 * It comes from whoever wrote the folder: a type is a claim, as in a file of anybody.
 */
#ifndef KIT_SEAL_ABOUT_H
#define KIT_SEAL_ABOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct op_node;

/* Texts are NULL when nothing is known. */
struct seal_about {
	uint64_t elements, bytes;
	char *format, *compression, *type, *spec; /* owned */
	char *pipeline;                           /* owned; tells pipelines apart: seal_about_pipeline */
};

void seal_about_clear(struct seal_about *a);
/* Fills in what the operator that saves knows: type and pipeline of its input. */
void seal_about_node(struct seal_about *a, const struct op_node *saves);
/* A text that is the same for the same pipeline, in every process; gives. */
char *seal_about_pipeline(const struct op_node *n);
/* Appends the fields as JSON, without the brace before them. */
void seal_about_put(const struct seal_about *a, struct buf *out);
/* Reads them from the text of SNAPSHOT, or its end, which is changed; false: they are not there. The caller clears
 * *a. */
bool seal_about_parse(struct buf *text, struct seal_about *a);
/* Reads them from the folder's SNAPSHOT; false: it has none. The caller clears *a. */
bool seal_about_read(const char *dir, struct seal_about *a);

#endif
