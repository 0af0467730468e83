/* SPDX-License-Identifier: MIT
 *
 * What is left to do when a pass, and when the reading, is over.
 */
#ifndef READ_FINISH_H
#define READ_FINISH_H

#include "read.h"

/* Counts and writes down what failed in a pass; done may be NULL. */
void finish_pass(struct delivery *p, struct reader_host *reader);
/* Says so when a pass that ended well had been read to its end before; last: no other
 * follows. */
void finish_empty(const struct delivery *p, struct reader_host *reader, const struct reader_host_conf *c, bool last);
/* Elements that the group was not given, as an error; ST_DATA. */
enum status finish_missed(uint64_t n, struct err *e);
/* Closes the outputs. What was written counts only when that went well. */
enum status finish_close(struct delivery *p, enum status st, struct err *e);

#endif
