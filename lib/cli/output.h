/* SPDX-License-Identifier: MIT
 *
 * Elements to standard output or a file: formatted into a buffer, written in
 * large pieces, and never held back when there is nothing more to add.
 *
 * When input runs dry cannot be told from inside a chain of operators that may
 * block anywhere. So with `watch` a second thread looks every OUTPUT_TICK_MS,
 * while there is something in the buffer and only then: what lies there and was
 * not added to since the last look is written, and what lies there for
 * OUTPUT_LATE_MS in any case. A busy chain pays one uncontended lock per run for
 * it, an idle program nothing: the thread sleeps until the buffer is not empty.
 *
 * The same thread notices, also while nothing is written, that the reader of
 * our pipe has gone: the program dies of SIGPIPE in silence, or `gone` is called.
 * And when INT or TERM came (cli/stop.h) and the program has not ended within
 * OUTPUT_GRACE_MS, for it is blocked in a read, it writes what there is and
 * dies of the signal.
 *
 * A file (path) gets a temporary name in its folder and its own when all is on the
 * disk (output_close with complete; base/replace.h); what is no regular file is written
 * directly. When the end does not come the file is removed; with `part` it stays,
 * as FILE.PID.part, and a warning says so: its elements cannot be had again.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/blocked.h"
#include "base/err.h"
#include "value/elem.h"
#include "value/format/format.h"
#include "value/type.h"

enum {
	OUTPUT_BYTES = 64 * 1024, /* a buffer this full is written */
	OUTPUT_TICK_MS = 1,
	OUTPUT_LATE_MS = 20,
	OUTPUT_GRACE_MS = 300
};

struct output;

struct output_conf {
	const char *path;         /* NULL or "-": standard output */
	bool in_place;            /* a file: not a temporary one, but itself from byte */
	uint64_t keep;            /* `keep` on; what it has behind that is cut off */
	bool part;                /* see above: what came is kept though the end does not come */
	const char *rest;         /* with part: how to get the rest, a clause; NULL: nothing to say */
	enum format_kind format;
	struct format_opts form;  /* options of the format; lent until it is open */
	const struct type *type;  /* type of the elements; NULL: unknown */
	bool watch;               /* see above; without it call output_flush when input is dry */
	struct blocked *blocked;  /* counts the time for which the output takes nothing; lent; NULL: nobody asks */
	void (*gone)(void *arg);  /* the reader has gone; NULL: die of SIGPIPE */
	/* a signal ends the program, from a thread of the output, since it does not end by itself; NULL: nothing
	 * is said */
	void (*stopped)(void *arg);
	void *arg;
};

/* Whether elements written to path (as above) would stand on a terminal, where a line of progress would mix with them.
 * format: enum format_kind. */
bool output_mixes(const char *path, int format);
/* Refuses binary formats on a terminal (ST_USAGE). Gives. */
enum status output_open(const struct output_conf *conf, struct output **out, struct err *e);
enum status output_run(struct output *o, const struct run *r, struct err *e);
/* Elements end to end, as they came in a chunk. */
enum status output_bytes(struct output *o, const uint8_t *p, size_t len, uint64_t count,
			 struct err *e);
enum status output_flush(struct output *o, struct err *e);
/* Flushes, and a file down to the disk. *length: of the file, with what was kept. */
enum status output_sync(struct output *o, uint64_t *length, struct err *e);
uint64_t output_elements(const struct output *o); /* added */
/* Elements that are written: for acknowledgements. */
uint64_t output_written(struct output *o);
/* Bytes of the file once all that was added is written, with what was kept; 0: it is no file. */
uint64_t output_length(struct output *o);
/* There is no rest: what ended it ended it for all. */
void output_no_rest(struct output *o);
/* complete: writes what comes at the end and all that is left, checks it, and
 * gives the file its name. Otherwise the elements so far are written to standard
 * output, and a file is removed, or kept as a part. Frees and nulls. */
enum status output_close(struct output **o, bool complete, struct err *e);

#endif
