/* SPDX-License-Identifier: MIT
 *
 * Telling whoever started a program that it can serve, so that nobody sleeps.
 */
#ifndef CLI_READY_H
#define CLI_READY_H

#include <stdint.h>

#include "base/err.h"

/* The values of OPT_READY_FD and OPT_READY_FILE. */
struct ready {
	int64_t fd;  /* -1: none */
	char *file;  /* NULL: none */
	/* the file that was written, 0 and 0 for none */
	uint64_t device, inode;
};

/* The file beside FILE that has the dispatcher's public key: FILE.dsvc-key. Gives (mem_free). */
char *ready_key_path(const char *file);
/* At the start: removes a file of an earlier run, which would say that this one is
 * ready, and the key beside it. What is no plain file (a FIFO, /dev/stdout) is left. */
enum status ready_begin(const struct ready *r, struct err *e);
/* Writes endpoint and newline to the descriptor, which is then closed, and to the
 * file, which appears whole; into what is no plain file it is written as it is. */
enum status ready_say(struct ready *r, const char *endpoint, struct err *e);
/* At the end: removes the file, unless it is another by now. */
void ready_end(const struct ready *r);
/* For hosts to call when they can serve: `ready on ENDPOINT` in the log, and
 * ready_say. ready: a struct ready. */
enum status ready_told(void *ready, const char *endpoint, struct err *e);
/* Likewise, with more words in the log, and with the public key of a dispatcher that has one, or NULL: it stands
 * in a file beside the file, which nobody else may write. */
enum status ready_told_with(void *ready, const char *endpoint, const char *key, const char *words, struct err *e);

#endif
