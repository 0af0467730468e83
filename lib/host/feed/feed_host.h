/* SPDX-License-Identifier: MIT
 *
 * dsvc-feed on a host, one of several or the only one: the feeding machine (core/feed) on sockets, pipes,
 * processes and shared memory. One thread does all of it; a second one makes the elements (feed_source.h).
 *
 * Cores are children that it starts, each with a socket of its own or with steps on its stdin; or
 * processes that come to a socket by themselves.
 */
#ifndef HOST_FEED_HOST_H
#define HOST_FEED_HOST_H

#include "host/feed/feed_fill.h"
#include "host/feed/feed_place.h"

/* How a core gets its steps: in shared memory, or on stdin in a format. */
enum feed_as { FEED_AS_MEMORY, FEED_AS_NDJSON, FEED_AS_MSGPACK, FEED_AS_NPY };

/* Positions: after some step, the last of a loop, the last of all; or before their time, for the sake of the service.
 * FEED_KEEP_NOT: none. */
enum feed_keep { FEED_KEEP_NOT, FEED_KEEP_SOME, FEED_KEEP_LOOP, FEED_KEEP_LAST, FEED_KEEP_EARLY };

struct feed_host_conf {
	struct feed_conf machine;    /* from and until are worked out here */
	struct feed_fill_conf fill;
	struct feed_source_conf source; /* position and epoch are worked out here */
	struct feed_what what;       /* dataset NULL: known once the job is */
	struct feed_place begin;     /* zero: at the beginning */
	bool placed;                 /* `begin` was asked for: cores bring none */
	uint64_t over;               /* steps behind it to be passed over */
	uint32_t host, hosts;        /* this one, of so many */
	uint64_t steps, until;       /* UINT64_MAX: not limited */
	uint64_t each;               /* steps of a whole pass; UINT64_MAX: not known */
	uint32_t epoch;              /* the pass to begin with, unless `begin` or a core says another */
	enum feed_as as;
	char *const *argv;           /* to be started for each core; NULL: nothing is */
	const char *listen;          /* path of a socket; NULL: none */
	const char *tail_word, *type_text;
	int stop_fd;                 /* readable: stop softly; -1: none */
	/* Callbacks; `arg` goes along. results: answers of one core to a step, count elements end to end, in order.
	 * done: all cores have done as many steps, with so many rows; rows UINT64_MAX: they are not counted, for there are
	 * no positions. keep: the position of a step, once `due` has asked for it; place is lent. */
	enum status (*ready)(void *arg, const char *endpoint, struct err *e);   /* may be NULL */
	enum status (*results)(void *arg, uint64_t step, uint32_t core, const uint8_t *p, size_t len, uint64_t count,
			       struct err *e);
	void (*done)(void *arg, uint64_t step, uint64_t rows);
	enum status (*keep)(void *arg, const struct feed_place *place, const struct feed_what *what, enum feed_keep when,
			    struct err *e); /* NULL without due */
	bool (*due)(void *arg, uint64_t step, enum feed_keep when); /* whether its position is to be kept; may be NULL */
	void (*say)(void *arg, const char *text);
	void (*heard)(void *arg, uint32_t core, const char *line, size_t n); /* a line of its stderr, with its newline */
	void *arg;
};

struct feed_host_end {
	uint64_t steps, rows, tail, tail_of, dropped;
	int64_t starved_ns;          /* time for which the cores waited for data */
	int64_t full_ns;             /* time for which the ring was full */
	struct feed_end end;         /* its text is in `why` */
	char why[256];
	int signal;                  /* the cause is a core that was killed by it, or 0 */
	struct err *then;            /* further reports; n_then of them, owned by the caller: mem_free */
	size_t n_then;
};

/* Runs to the end. e->kind is the exit code of a failure; a core's own status may be any number, so ST_NO is
 * returned for every failure, and ST_OK otherwise. */
enum status feed_host_run(const struct feed_host_conf *c, struct feed_host_end *end, struct err *e);

#endif
