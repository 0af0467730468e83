/* SPDX-License-Identifier: MIT
 *
 * Rows of Arrow arrays (the C Data Interface) as elements:
 *
 *	ArrowSchema --arrow_rows_new--> struct arrow_rows
 *	ArrowArray --arrow_rows_bind--> its rows --arrow_rows_put--> elements
 *
 *	null, bool, ints, floats of any width    null, bool, int, float
 *	utf8, binary, fixed-size binary          text, bytes
 *	date, time, timestamp, duration          seconds as float, ISO 8601 as text, or the int itself
 *	decimal of up to 256 bits                float, or all digits as text
 *	list of any kind; struct                 list; record
 *	map with keys of text                    record (of keys that come twice, the last); other maps: list of
 *	                                         {key, value}
 *	dictionary                               the value itself
 *
 * Seconds are since 1970 in UTC (timestamp, date), since midnight (time), or just that many. Intervals, unions,
 * run ends and list views are refused. What lengths and offsets say is checked here against each other, and by
 * whoever made the array against the sizes of its buffers, which the interface does not tell.
 */
#ifndef ARROW_ARROW_ROWS_H
#define ARROW_ARROW_ROWS_H

#include "base/err.h"
#include "value/arrow/arrow_plugin.h"
#include "value/elem.h"
#include "value/type.h"

#define ARROW_TIMES "seconds|text|int"
#define ARROW_DECIMALS "float|text"
enum arrow_times { ARROW_TIMES_SECONDS, ARROW_TIMES_TEXT, ARROW_TIMES_INT };
enum arrow_decimals { ARROW_DECIMALS_FLOAT, ARROW_DECIMALS_TEXT };

struct arrow_as { enum arrow_times times; enum arrow_decimals decimals; };

struct arrow_rows;

/* The schema must be that of a struct; it may be released afterwards. ST_DATA: it is malformed, or has what cannot
 * be an element, and e names the column. Gives. */
enum status arrow_rows_new(const struct ArrowSchema *schema, struct arrow_as as, struct arrow_rows **out,
			   struct err *e);
void arrow_rows_free(struct arrow_rows **r);
/* The type of the records. */
const struct type *arrow_rows_type(const struct arrow_rows *r, struct types *arena);
/* Has arrow_rows_put read from this array, which is lent until the next one. ST_DATA: it is none of the schema's. */
enum status arrow_rows_bind(struct arrow_rows *r, const struct ArrowArray *a, struct err *e);
/* Appends a row as an element. ST_DATA: it is malformed, or has more than `max` bytes; nothing is appended. */
enum status arrow_rows_put(struct arrow_rows *r, int64_t row, size_t max, struct run *out, uint32_t pos, struct err *e);

#endif
