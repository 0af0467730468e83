/* SPDX-License-Identifier: MIT
 *
 * Groups of readers that share a job: what is made once goes to each group. A group is a view
 * of every stream; within it readers divide the elements.
 */
#ifndef DISP_DISP_GROUP_H
#define DISP_DISP_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asked;
struct disp;
struct iteration;
struct job;
struct msg;
struct peer;
struct seat;
struct stream;
struct view;
struct msg_view_add;
struct msg_view_ok;
struct stream_key;

/* Its number in the iteration is that of its view. */
struct group {            /* durable up to `lacks` */
	char *name;
	bool ended;               /* holds nothing any more; it may come again */
	bool had_all;             /* ... of the pass, when it left: it may be on its way to the next one */
	uint64_t acked, missed;   /* elements of finished streams */
	uint64_t repeated;        /* elements of all streams that it was given once more */
	char *lacks;              /* which it missed there, for people; NULL: none */
	uint32_t seats;           /* also of readers that are away */
	uint32_t n_over;          /* so many streams, from the first on, are over for it */
	uint64_t last_seat;
	int64_t since;            /* when the last one left; INT64_MAX: there are some */
};

struct groups {
	struct group *v;
	size_t n, cap;
	bool settles;             /* some may have got all that they lacked: looked at in group_tick */
};

bool group_shares(const struct iteration *it);
bool group_live(const struct iteration *it, size_t view); /* whether elements are kept for it; true in other jobs */
bool group_meets(const struct seat *r, const struct asked *asked); /* false: other groups of a shared job */
/* Whether the OPEN may join now; false: an error was answered. */
bool group_admits(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it,
		  const struct asked *a);
bool group_view(const struct iteration *it, const char *name, uint32_t *view); /* false: there is none of that name */
/* The reader, that has just got its seat, joins its group, which may begin now. */
void group_enter(struct disp *d, struct seat *r, const char *name, bool from_start);
void group_begin(struct disp *d, struct iteration *it); /* after JOB was sent: streams that have to, go back for it */
void group_left(struct disp *d, struct seat *r, bool closed); /* before its streams are told */
void group_settle(struct disp *d, struct iteration *it); /* streams that only an ended group lacked; may free it */
/* A group has missed what it lacked, where the stream cannot be finished at once. */
void group_settle_soon(struct disp *d, struct iteration *it);
void group_copy(struct disp *d, struct iteration *it);  /* a new pass: the groups of the one before are there */
void group_add_seat(struct seat *r);                    /* it was loaded */
/* disp_group_join.c */
void group_skip(struct view *v, uint64_t to);           /* it misses all that it lacks before that offset */
bool group_join(struct disp *d, struct stream *s);      /* views that are new; true: it has to be made again for one */
void group_joins_again(struct disp *d, struct stream *s); /* after a restart */
bool group_fill_view(const struct stream *s, uint64_t view, struct msg_view_add *m); /* false: it is of no use now */
void group_joins_no_more(struct disp *d, struct stream *s);
void group_joined(struct disp *d, struct peer *p, struct stream *s, const struct msg_view_ok *m); /* may free s */

/* Groups that are new to the stream begin there. */
void group_assigned(struct disp *d, struct stream *s, uint64_t offset);
void group_finished(struct disp *d, struct stream *s);  /* its ledgers go to the books */
bool iter_dealt(const struct iteration *it); /* nothing is left that a new stream could get (disp_iter.c) */
/* Whether all that it gets is acknowledged; then its readers are done, though others are not. */
bool group_over(const struct iteration *it, uint32_t view);
bool group_had_all(const struct iteration *it, uint32_t view); /* it is over, and nothing of it passed the group by */
/* Readers of groups that have all are told that they are done. */
void group_tell_over(struct disp *d, struct iteration *it);
/* The ledger of a view has changed, or of all (UINT32_MAX): who is done is told; and what
 * stream_finish_check does. May free s. */
void group_check(struct disp *d, struct stream *s, uint32_t view);
void group_missed(struct group *g, struct stream *s, uint32_t view); /* it comes when the stream is finished */
uint64_t group_lost(const struct iteration *it, const struct group *g); /* finished: neither acknowledged nor missed */
void group_fill_done(const struct iteration *it, const char *name, struct msg *m); /* over: what the group missed */
void group_loaded(struct disp *d, struct iteration *it); /* before its streams */
void group_tick(struct disp *d);

#endif
