/* SPDX-License-Identifier: MIT
 *
 * --joblog FILE: a row for each element that a program has worked on, in GNU
 * parallel's columns and four more; and --resume, which reads it.
 *
 *	Seq Host Starttime JobRuntime Send Receive Exitval Signal Command Argument Key Output
 *
 * Rows are appended by one write each time, whole lines only. A row of an element
 * of which something came out is written once that has been written itself, so that what the log calls
 * done is not lost with the program. Key names the element by its contents: the same
 * element has the same key in every run. Output is the size of the file of -o with the row's
 * answer in it: where the file is cut to go on.
 */
#ifndef RUN_JOBLOG_H
#define RUN_JOBLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "op/programs.h"

struct joblog;

enum joblog_resume { JOBLOG_NEW, JOBLOG_RESUME, JOBLOG_FAILED }; /* FAILED: runs again what failed, too */

struct joblog_past {
	uint64_t done, failed;  /* elements that the log says were worked on; failed: their last run failed */
	uint64_t output;        /* bytes of the output that its last row counts */
};

/* Opens the log, and for a resume reads it; one that is not there is empty. Another run that writes it
 * is an error. Gives. */
enum status joblog_open(const char *path, enum joblog_resume how, struct joblog **out, struct err *e);
const struct joblog_past *joblog_past(const struct joblog *log);
/* Whether the element, given to the operator number `op` of those that run programs, is to be left out.
 * Any thread, like the two below. */
bool joblog_before(struct joblog *log, uint32_t op, const struct elem *x);
/* Adds a row; it waits if the run has answered. False: a row could not be written; joblog_close tells. */
bool joblog_add(struct joblog *log, uint32_t op, const struct op_program_run *r);
/* Writes the rows that wait: what they are about has been written; output: the bytes of its file. */
bool joblog_commit(struct joblog *log, uint64_t output);
uint64_t joblog_rows(struct joblog *log); /* number of rows that this run has written */
/* Drops the rows that wait. Gives the first error of writing. Frees and nulls. */
enum status joblog_close(struct joblog **log, struct err *e);

#endif
