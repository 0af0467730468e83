/* SPDX-License-Identifier: MIT
 *
 * The file of --joblog: a line of columns for each element that a program has worked on, the last column
 * being how large the output was then. Lines are appended by one write each time, whole ones only.
 *
 * Any thread may call.
 */
#ifndef CLI_JOBLOG_H
#define CLI_JOBLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct joblog;

/* Opens the log. columns: the names of those that rows are added with, with tabs between them; lent, as path is.
 * keep: it is a regular file that goes on; else it is emptied. Another process that writes it is an error
 * (ST_TEMP). Gives. */
enum status joblog_open(const char *path, const char *columns, bool keep, struct joblog **out, struct err *e);
/* Reads the rows of a log that goes on. `row` gets the columns as added, which it may change, and the last one;
 * false: it is no row. A last line without an end was torn, and is cut off. */
enum status joblog_read(struct joblog *log, bool (*row)(void *arg, char *columns, uint64_t output), void *arg,
			struct err *e);
/* Cuts off what a log that goes on has behind so many bytes. ST_DATA: it is shorter. */
enum status joblog_cut(struct joblog *log, uint64_t length, struct err *e);

/* Adds a row with the output that the last row had, and writes it. False here and below: the file cannot be written;
 * joblog_close tells. */
bool joblog_add(struct joblog *log, const void *columns, size_t n);
/* Adds a row that waits until its answer has been written: joblog_commit tells so, and the bytes of its file. */
void joblog_wait(struct joblog *log, const void *columns, size_t n);
bool joblog_commit(struct joblog *log, uint64_t output);
/* Likewise for the first n of the rows that wait, if these are `of`, and so one for each of as many answers; else
 * for none. */
bool joblog_commit_first(struct joblog *log, size_t n, size_t of, uint64_t output);
/* Adds a row that the next joblog_flush writes. */
void joblog_put(struct joblog *log, const void *columns, size_t n, uint64_t output);
bool joblog_flush(struct joblog *log);
/* Puts what was written down to the disk. */
bool joblog_sync(struct joblog *log);
/* Gives the first error of writing; ST_OK: there was none. */
enum status joblog_why(struct joblog *log, struct err *e);

uint64_t joblog_rows(struct joblog *log);   /* number of rows that were written */
uint64_t joblog_length(struct joblog *log); /* bytes of the file, with what it had */
/* Drops the rows that wait. Gives the first error of writing. Frees and nulls; takes a null one. */
enum status joblog_close(struct joblog **log, struct err *e);

#endif
