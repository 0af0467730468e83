/* SPDX-License-Identifier: MIT
 *
 * One Arrow file or stream, record batch by record batch:
 *
 *	arrow_file_open --> arrow_file_more, until ST_END --> arrow_rows_put(at.rows, at.row) for each row of the batch
 *
 * Between these, table_batch_pass leaves out rows that a filter will not let through. Errors name the record batch.
 *
 * A file in the file format can be read from any batch on. Its end says how many there are, but Arrow does not tell
 * where they lie, so batch I of N in a file of S bytes counts as beginning at byte S * I / N: whoever has a range of
 * bytes reads the batches that begin there, and each is in one range.
 */
#ifndef TABLE_ARROW_FILE_H
#define TABLE_ARROW_FILE_H

#include "op/table/table_batch.h"
#include "op/table/table_from.h"

struct arrow_bytes;

struct arrow_file {
	struct table_from in;       /* file format */
	struct arrow_bytes *bytes;  /* stream; NULL: it is none */
	const struct arrow_plugin *plugin;
	struct arrow_ipc *file;
	int64_t batch, next, end;   /* the batch at hand, -1: none; the next one; the first that is none of ours */
	struct table_batch at;      /* rows of the one at hand */
};

void arrow_file_init(struct arrow_file *f);
/* Reads what the file says of itself; batches that begin in [start, end) will be given. ST_UNAVAIL: the plugin is
 * missing. */
enum status arrow_file_open(struct arrow_file *f, const char *path, const char *tag, const struct table_as *as,
			    const struct op_ctx *ctx, uint64_t start, uint64_t end, struct err *e);
/* Tells the object from what may be there later; NULL: nothing does. Lent. */
const char *arrow_file_tag(const struct arrow_file *f);
/* The number of rows; -1: it is not known. */
int64_t arrow_file_rows(struct arrow_file *f);
/* Goes to a row of a batch, of a file that was just opened. */
enum status arrow_file_seek(struct arrow_file *f, int64_t batch, int64_t row, struct err *e);
/* Makes sure that there is a row; ST_END: there are no more. */
enum status arrow_file_more(struct arrow_file *f, struct err *e);
/* Leaves the rest of the batch. False: what comes behind it cannot be read. */
bool arrow_file_leave(struct arrow_file *f);
void arrow_file_close(struct arrow_file *f);

#endif
