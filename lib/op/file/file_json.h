/* SPDX-License-Identifier: MIT
 *
 * JSON values in a text, wherever they begin and end: one after the other, over
 * several lines, or as the items of arrays. An array's items are found one by one, so
 * that it need not fit in memory. Only the places of values are found here; value/json
 * decides what is JSON.
 */
#ifndef FILE_FILE_JSON_H
#define FILE_FILE_JSON_H

#include "op/file/file_source.h"

/* Where the next byte of the text is, when it belongs to no value. */
enum json_place {
	JSON_OUTSIDE,
	JSON_BEGUN,  /* behind the [ of an array */
	JSON_ITEM,   /* behind an item */
	JSON_COMMA   /* behind a comma */
};

struct file_json {
	struct file_source src;
	int arrays;            /* parameter: enum file_json_arrays */
	/* state */
	int place;             /* saved with the position */
	/* the value that the unread bytes begin with: of it, src.searched bytes were examined */
	bool inside, text, escaped;
	uint32_t depth;        /* number of brackets open in it; 0: a text or a word */
	bool drops;            /* it is too large, and passed over */
};

enum file_json_arrays { FILE_JSON_ITEMS, FILE_JSON_WHOLE };

file_decode file_json;
enum status file_json_open(struct op_inst *self, struct err *e);
void file_json_save(struct op_inst *self, struct buf *out);
enum status file_json_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
