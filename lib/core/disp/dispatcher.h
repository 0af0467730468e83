/* SPDX-License-Identifier: MIT
 *
 * The dispatcher as a state machine: messages and the time come in, messages
 * and rows for the durable state come out. No socket, clock, thread or file.
 *
 * The program's loop:
 *
 *	message, peer gone or deadline  ->  disp_message, disp_peer_gone, disp_tick
 *	nothing more to read            ->  disp_changes: write the rows, commit
 *	committed                       ->  disp_outbox until false: send
 *	wait until disp_next_deadline
 *
 * A message in the outbox may promise what the rows record, so the outbox may
 * be emptied only after the rows since the last time are safe. Without a
 * durable state disp_changes is called with cb NULL, which drops them.
 *
 * Coming back: disp_new with the same instance (or 0: it is in the rows), disp_load for every row
 * in any order, disp_loaded. Peers of before are waited for as if just heard.
 *
 * Limits are those of wire/msg.h. Requests are idempotent; unknown peers that
 * send anything but HELLO are answered WHO.
 */
#ifndef DISP_DISPATCHER_H
#define DISP_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/msg.h"
#include "wire/role.h"

struct disp;
struct disp_row;

/* The costs of the durable state, for reports. `within[i]`: of the commits of this process, those that
 * took no longer than disp_commit_seconds[i]. */
enum { DISP_COMMIT_STEPS = 10 };
extern const double disp_commit_seconds[DISP_COMMIT_STEPS];
struct disp_costs { uint64_t bytes, commits, commit_ns, within[DISP_COMMIT_STEPS]; };

struct disp_opts {
	uint64_t instance;      /* random; a durable one keeps it (rows win) */
	uint64_t seed;          /* for the seeds of iterations and all other random numbers */
	const char *version;    /* the program's, for reports; lent; NULL: "" */
	struct secret secret;   /* all tickets are made of it; a durable one keeps it (rows win); none: from the seed */
	bool durable;           /* sent in WELCOME */
	bool strangers;         /* others than its user may reach it; sent in WELCOME */
	uint32_t beat_ms, loss_ms; /* 0: 1000 and 5000 */
	int64_t job_gc_ns;      /* jobs without readers that are over or anonymous; 0: 5 min; INT64_MAX: never */
	int64_t unfinished_gc_ns; /* other jobs without readers; 0: 7 days; INT64_MAX: never */
	int64_t group_gc_ns;    /* groups of shared jobs without readers; 0: 30 s; INT64_MAX: never */
	int64_t dataset_gc_ns;  /* datasets without a name that nobody uses; 0: 7 days */
	/* The dataset id of a canonical spec: a hash, as text, NUL-terminated. */
	void (*spec_id)(const char *spec, size_t n, char *out, size_t out_size);
	uint32_t block;         /* order stable: elements from each stream in turn; 0: the usual */
	bool small_splits;      /* cut as small as possible: tests */
	uint32_t report_part;   /* bytes of a report in one message; 0: WIRE_REPORT_PART */
	uint32_t datasets_max;  /* 0: 10000 */
	uint32_t lost_max;      /* workers that a stream may cost without getting on; 0: 3 */
	uint32_t units_part;    /* units in one durable row; 0: WIRE_UNITS_PART */
	/* Gives the bytes of a row that was given out by disp_changes, or loaded, and is needed again:
	 * large ones are not kept in memory then. False: it cannot be read, and the program ends
	 * before it sends what comes out after that. NULL: all are kept in memory. */
	bool (*read_row)(void *arg, const struct disp_row *key, struct buf *out);
	void *read_arg;
	/* Fills what the durable state costs; NULL: there is none, or nobody knows. */
	void (*costs)(void *arg, struct disp_costs *out);
	void *costs_arg;
};

struct disp *disp_new(const struct disp_opts *o, int64_t now_ns); /* gives */
void disp_free(struct disp **d);

/* Tells how much is to be added to now_ns for the time since 1970: for reports alone. */
void disp_wall(struct disp *d, int64_t ns);
/* A decoded message from a peer (its routing id). May take parts out of *m
 * (left empty): the caller clears *m as always. */
void disp_message(struct disp *d, int64_t now_ns, uint64_t peer, struct msg *m);
/* Answers a request that is not to be handled with ERROR. */
void disp_deny(struct disp *d, int64_t now_ns, uint64_t peer, uint64_t req, const struct err *e);
/* Likewise, of a sender about whom something is known: what its key may, and whose it is. A
 * peer keeps the user of its HELLO; what another user says in its name is dropped. */
struct disp_who {
	unsigned may;           /* MAY_ of wire/role.h */
	const char *user;       /* lent; NULL: nobody was asked, on a private socket */
	const char *jobs;       /* glob of names of the jobs that it may open; NULL or "": any */
};
void disp_message_of(struct disp *d, int64_t now_ns, uint64_t peer, const struct disp_who *who, struct msg *m);
/* Asks again what each user may, also those that are awaited since a restart. Peers whose users
 * may not be what they are any more are lost at once, and what they had goes to others, also what
 * was kept for the return of a reader; cut is called for each peer. Gives their number. */
size_t disp_review(struct disp *d, int64_t now_ns, unsigned (*may)(void *arg, const char *user), void *arg,
		   void (*cut)(void *arg, uint64_t peer));
/* A frame that could not be decoded: answers with ERROR or REFUSED. */
void disp_bad_message(struct disp *d, int64_t now_ns, uint64_t peer, const struct err *e);
/* The peer's connection broke and is known not to come back. */
void disp_peer_gone(struct disp *d, int64_t now_ns, uint64_t peer);
void disp_tick(struct disp *d, int64_t now_ns);
int64_t disp_next_deadline(const struct disp *d); /* ns; INT64_MAX: none */

/* For a disk that is full: while on, REGISTER, OPEN and FORGET are answered with
 * ERROR 74 in these words and change nothing. What else changes goes on in
 * memory; the program tries the commit again and again, and sends meanwhile
 * only messages that promise nothing (disp_promises), so that peers do not
 * take it for lost. why NULL: off. */
void disp_refuse_new(struct disp *d, const char *why);
bool disp_promises(enum msg_type t);

/* The next message to send, given (msg_clear); false: none. */
bool disp_outbox(struct disp *d, uint64_t *peer, struct msg *out);

/* One row of durable state. Rows are found by kind and key; a delete with
 * n_key < 3 means all rows of that kind whose first n_key keys are these, one with
 * `below` those whose first two are and whose third is less. */
enum disp_row_kind {
	ROW_META = 1, ROW_DATASET, ROW_JOB, ROW_ITERATION, ROW_UNITS, ROW_STREAM,
	ROW_SPLIT, ROW_POINT, ROW_LEDGER, ROW_READER, ROW_KINDS
};
struct disp_row {
	enum disp_row_kind kind;
	unsigned n_key;         /* 3, but for deletes of many */
	bool below;             /* only a delete, with n_key 3 */
	uint64_t key[3];
	const uint8_t *blob;    /* lent during the callback; NULL: delete */
	size_t n;
};
/* Calls back with what changed since the last call; deletes come before the
 * upserts of the same key. Gives the number of rows. */
size_t disp_changes(struct disp *d, void (*cb)(void *arg, const struct disp_row *row), void *arg);
enum status disp_load(struct disp *d, const struct disp_row *row, struct err *e);
/* After the last disp_load; checks that the rows fit together. */
enum status disp_loaded(struct disp *d, int64_t now_ns, struct err *e);

/* The service ends for good: all that are there are told, in the outbox. */
void disp_end(struct disp *d);
/* Whether it is to end since a tool asked for that, and nobody is waited for. */
bool disp_ends(const struct disp *d);
/* No worker and no reader is there (any more). */
bool disp_alone(const struct disp *d);

/* The kinds of REPORT, each one MessagePack record (doc/protocol.md lists its fields). */
enum disp_report { REPORT_ALL = 0, REPORT_AUDIT = 1, REPORT_BRIEF = 2, REPORT_EVENTS = 3 };
/* job: its name, or "" for all; false: no such job. */
bool disp_status(struct disp *d, int64_t now_ns, enum disp_report what, const char *job, struct buf *out);

/* Since when there has been no reader and no unfinished anonymous job and no
 * tool: for --exit-when-idle. INT64_MAX: busy. */
int64_t disp_idle_since(const struct disp *d);
/* Where it stands, in one line for people: "2 workers with 4 slots; 4 streams; 1 reader; 1 job". */
enum { DISP_STANDS = 200 };
void disp_stands(const struct disp *d, char out[DISP_STANDS]);
uint32_t disp_workers(const struct disp *d); /* live ones */
uint64_t disp_instance(const struct disp *d);

#endif
