/* SPDX-License-Identifier: MIT
 *
 * A file, or an object elsewhere, read from any byte on, as the plugin of Arrow does it (arrow_plugin.h). Errors do
 * not name the file.
 */
#ifndef TABLE_TABLE_FROM_H
#define TABLE_TABLE_FROM_H

#include "op/op.h"
#include "value/arrow/arrow_plugin.h"

struct fetch;

/* With fd -1 and everything else zero (table_from_init) it is closed. */
struct table_from {
	int fd;
	struct fetch *object;  /* NULL: it is no object */
	uint64_t size;         /* set by opening */
	char *tag;             /* tells the object from what may be there later; NULL: nothing does, or it is a file */
	const struct op_ctx *ctx;
	struct err failed;     /* why a read failed; kind ST_OK: none has; ST_AGAIN: stopped */
};

void table_from_init(struct table_from *f);
/* tag: an object must be this one; NULL: any. ctx NULL: nothing stops a read. */
enum status table_from_open(struct table_from *f, const char *path, const char *tag, const struct op_ctx *ctx,
			     struct err *e);
/* The callback of struct arrow_from. */
int64_t table_from_read(void *from, int64_t offset, int64_t n, void *to);
/* For what failed in the plugin: gives the error of the read that was behind it, if one was. */
enum status table_from_why(struct table_from *f, int code, const struct arrow_why *why, struct err *e);
void table_from_close(struct table_from *f);

#endif
