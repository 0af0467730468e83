/* SPDX-License-Identifier: MIT
 *
 * Rounds from which another number of consumers can go on (--checkpoint-rounds), and the positions of
 * consumers that are gone (--checkpoint, given again).
 */
#ifndef DSVC_READ_MARKS_H
#define DSVC_READ_MARKS_H

#include "base/param.h"
#include "host/reader_host.h"

/* Rounds that are not all written yet: after so many elements of this run, when the file has so many bytes. */
struct marks_due {
	struct mark_due { uint64_t at, bytes; } *v;
	size_t first, n, cap;
};
void marks_add(struct marks_due *m, uint64_t at, uint64_t bytes);
/* `told` elements were said to be written, and now `good` are: says so, round after round. */
void marks_tell(struct marks_due *m, struct reader_host *c, uint64_t told, uint64_t good, uint64_t begun);
void marks_clear(struct marks_due *m);

struct given { struct bytes *positions; size_t n; };
/* All but the first; ST_NOINPUT: one is not there. */
enum status given_load(const struct words *files, struct given *out, struct err *e);
void given_clear(struct given *g);

#endif
