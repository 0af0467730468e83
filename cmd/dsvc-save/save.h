/* SPDX-License-Identifier: MIT
 *
 * What the files of dsvc-save share. It reads the job whose pipeline is the user's
 * with `save DIR` at its end: the workers write the files, and what comes here is a
 * record for each file that is complete. The job keeps running without its reader,
 * so dsvc-save may be killed at any time; DIR/.dsvc-position is where the next one
 * goes on.
 *
 *	main.c    options, and the order of things
 *	make.c    the pipeline that the workers run
 *	folder.c  what there is in DIR
 *	store.c   the same in an object store
 *	follow.c  the records, until the end
 */
#ifndef DSVC_SAVE_SAVE_H
#define DSVC_SAVE_SAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "cli/endpoint.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "host/reader_host.h"
#include "value/job_opts.h"

#define SAVE_CODECS "none|snappy|zstd"
enum { SAVE_CLOSE_MS = 1000 };

struct save_options {
	char *dispatcher, *context, *expression, *file, *wait_workers, *join;
	struct words set, include;
	int64_t connect_timeout, shards, seed, chunk, chunk_time, count, verbose, timeout, give_up;
	bool seeded, detach, overwrite, if_missing, fail, insecure, quiet;
	int progress, codec;
};

extern const struct program save_program;

/* Sums over everything saved so far, by all runs. */
struct save_sum { uint64_t chunks, elements, bytes; };

/* The folder, as it was found. */
struct folder {
	char *path;            /* absolute, without links; or an address without a slash at its end; owned */
	bool far;              /* it is an address */
	char job[PARAM_NAME_MAX + 1]; /* name of the job that saves to it */
	bool whole;            /* its save has ended */
	bool made, clean;      /* was made by us; nothing had been saved there */
	/* the pipeline that was saved: by seal_about_pipeline, and as text; NULL: not known; owned */
	char *pipeline, *saved;
	bool begun;            /* its job has: position and sum are those of an earlier run, if one was found */
	struct buf position;
	struct save_sum sum;
};

/* folder.c */
/* Makes the folder unless it is there, and looks into it. ST_DATA: a save there has failed. */
enum status folder_find(const char *dir, bool overwrite, struct folder *f, struct err *e);
/* Removes what an earlier save has left there. */
enum status folder_sweep(struct folder *f, struct err *e);
/* Nothing was begun: what there is of a save that did not become one, is removed. */
void folder_leave(struct folder *f);
/* Stores position and sum. ST_AGAIN: the disk is full; *e says so. */
enum status folder_keep(const struct folder *f, struct err *e);
/* Whether there is no room for more files. */
bool folder_full(const struct folder *f);
/* The save is over: ST_IO if the folder does not say so, because the workers' is another one. */
enum status folder_end(struct folder *f, struct err *e);
/* Leaves the words of the failure there, unless a worker has. */
void folder_fail(const struct folder *f, const struct err *why);
void folder_clear(struct folder *f);

/* store.c: for a place in an object store; *there and the like are set with ST_OK only */
/* Takes the address, and tries to write there. */
enum status store_find(const char *url, struct folder *f, struct err *e);
enum status store_there(const struct folder *f, const char *name, bool *there, struct err *e);
/* ST_NOINPUT: it is not there. */
enum status store_read(const struct folder *f, const char *name, size_t most, struct buf *out, struct err *e);
/* ST_AGAIN: a signal came; or the store does not answer, which may pass, and *e says so.
 * ST_NO: fresh, and it is there. */
enum status store_write(const struct folder *f, const char *name, const struct buf *b, bool fresh, struct err *e);
enum status store_remove(const struct folder *f, const char *name, struct err *e);
enum status store_sweep(const struct folder *f, struct err *e);

/* make.c */
/* Appends the pipeline that saves, and the type of what it gives. *other: the folder holds
 * another one. */
enum status make_spec(const struct save_options *o, const struct opt *opt, const struct endpoint *ep,
		      const struct folder *f, struct buf *spec, struct buf *type, bool *other, struct err *e);

/* follow.c */
/* Begins the job or joins it, and follows it to its end. ST_OK with *over false: it goes on
 * without us (--detach); ST_AGAIN: told to stop. */
enum status follow(const struct save_options *o, struct reader_host_conf *c, struct folder *f, bool *over,
		   struct err *e);

#endif
