/* SPDX-License-Identifier: MIT
 *
 * What the files of dsvc-read share: its options, and where elements go.
 */
#ifndef DSVC_READ_READ_H
#define DSVC_READ_READ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"
#include "cli/endpoint.h"
#include "cli/faults.h"
#include "cli/format_rows.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "host/reader_host.h"
#include "lang/spec.h"
#include "logged.h"
#include "marks.h"
#include "save.h"

enum { READ_CLOSE_MS = 1000 };

struct read_options {
	bool insecure;
	char *join, *dispatcher, *context, *expression, *file, *output, *wait_workers, *errors, *type, *joblog, *halt, *trace;
	struct words set, include, checkpoints;
	struct job_opts job;    /* main.c completes what the options say in another way */
	int64_t connect_timeout, tmp_max, trace_max, epochs, count, verbose, ack_fd, timeout, give_up;
	int format, progress, on_missed;
	struct format_opts form;
	struct json_rules json; /* said by the user, for json_rules_say */
	bool nul, tag, stats, quiet, fail_empty;
	const char *checkpoint;  /* the first of `checkpoints`; the others are of consumers that are gone */
};

extern const struct program read_program;

/* Whether it asks for records of programs' runs (logged.h): by which option; NULL: it does not. */
static inline const char *
read_records(const struct read_options *o)
{
	return o->joblog ? "--joblog" : o->halt ? "--halt" : NULL;
}

struct what;

/* Where elements go, and what ends it. */
struct delivery {
	const struct read_options *o;
	struct output *out;
	struct json_rules json; /* for the output */
	struct blocked blocked; /* the time for which it took nothing */
	const char *job;        /* that is read; NULL: one of its own */
	int gone_fd;            /* readable once nobody reads our output */
	atomic_bool gone;
	uint64_t left;          /* elements left of --count */
	uint64_t elements, bytes;
	const struct what *what; /* that is read; NULL: not known yet */
	uint64_t all;           /* elements that will come, earlier runs included; 0: unknown. Once progress is shown */
	bool counted;           /* it has been worked out */
	uint64_t told;          /* elements of streams told to the reader as written, or finished; */
	uint64_t safe;          /* those of the output that came of them */
	struct logged *logged;  /* --joblog, --halt; open once the output is */
	bool unbuffered;        /* the format puts nothing into the buffer */
	struct saved saved;     /* --checkpoint: what an earlier run left, then ours */
	uint64_t begun;         /* elements of earlier runs */
	bool settled;           /* it is known where we begin */
	struct given given;     /* positions of consumers that are gone */
	struct marks_due marks; /* --checkpoint-rounds */
	uint64_t told_saved, bytes_saved; /* told and bytes when it was saved last */
	int64_t saved_ns;
	struct acks acks;
	struct faults *faults;  /* --errors */
	uint64_t failed;
	uint64_t missed;        /* by our group, of a job that is shared */
	struct progress progress;
};

enum status delivery_init(struct delivery *p, const struct read_options *o, struct err *e);
/* Opens the output once the type is known (NULL: unknown). */
enum status delivery_open(struct delivery *p, const struct type *type, struct err *e);
/* Everything a reader gives. ST_OK: all, or as much as was asked for; ST_AGAIN:
 * told to stop (a signal, or nobody reads). */
enum status delivery_take_all(struct delivery *p, struct reader_host *c, struct err *e);
/* Like delivery_take_all, through the part of a plan that runs in this process. */
enum status delivery_plan(struct delivery *p, const struct plan *plan, const struct endpoint *ep,
			  struct err *e);
/* Waits until fd is readable. ST_AGAIN: told to stop. */
enum status delivery_wait(struct delivery *p, int fd, struct err *e);
/* The last part of the output, and the line of --stats. */
enum status delivery_close(struct delivery *p, bool complete, struct err *e);

void show_begin(struct delivery *p);
/* A line of progress. s NULL: what only a job knows is left out. */
void show_progress(struct delivery *p, const struct reader_stats *s);
void show_stats(struct delivery *p);

#endif
