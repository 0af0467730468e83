/* SPDX-License-Identifier: MIT
 *
 * What the files of the dispatcher share: its objects and who may do what with
 * them. Nobody outside includes this.
 *
 *	dispatcher.c  messages, handed to the others; the outbox handed out
 *	disp_time.c, disp_load.c  silence, and what is due; durable rows, read back
 *	disp_report.c, disp_service.c, disp_events.c, disp_tap.c  reports; what happened lately; elements looked at
 *	disp_peer.c, disp_role.c  peers, and the loss of one; who may say what
 *
 *	disp_job.c    jobs, OPEN
 *	disp_iter.c   iterations: units, streams, workers for them, the end
 *	disp_waiting.c OPENs that wait for an answer; how many of a key (disp_pending.c)
 *	disp_stream.c one stream: fence, hold, assign, ledger, end
 *	disp_failure.c what ends it, and its iteration
 *	disp_seat.c   readers in an iteration: acknowledgements, leaving
 *	disp_news.c, disp_takes.c  STREAMS; which streams a reader has had chunks of
 *	disp_gc.c, disp_rest.c, disp_forget.c  jobs without readers: how long they are kept; in little memory; FORGET
 *	disp_group.c, disp_group_book.c, disp_window.c  groups that share a job
 *	disp_yield.c  streams that move to slots with nothing to do
 *	disp_place.c, disp_shards.c  where streams may be made: hosts and tags of workers; shards
 *	disp_dataset.c datasets
 *	disp_view.c   the ledgers of a stream
 *	disp_base.c, disp_round.c  rounds: which one a pass begins with; consumers, and what does not fill one
 *	disp_ask.c    what was asked of a peer and is asked again until answered
 *	disp_assign.c what a worker is told of a stream
 *	disp_blame.c, disp_void.c  streams that kill their workers; a repeat of nothing
 *	disp_split.c, disp_past.c  splits and restart points of a stream; those that nobody can need any more
 *	disp_fault.c, disp_units.c  elements that failed; lists of units, in parts
 *	disp_row.c, disp_wanted.c  durable rows, written; where time goes, and how many slots that asks for
 *	disp_find.c, disp_dirty.c  objects by name; what the durable state lacks
 *	disp_out.c, ring.c  the outbox; lists
 *
 * Files call those below them. Only the seven of the second group call each other: a job
 * ends with its iterations, an iteration with its streams and seats, and each of them
 * may end the one before it.
 *
 *	dataset <- job <- iteration <- stream    (each knows the one before)
 *	                            <- seat -> peer (a reader)
 *	                  stream -> peer (a worker)
 *
 * A stream's life in one generation:
 *
 *	fence -> HOLDING -(all readers answered)-> ORPHAN -(a worker)-> ASSIGNED
 *	  ^                                                      | ASSIGNED message
 *	  |   worker lost, what a lost reader held is missing    v
 *	  +-------------------------------------------------- RUNNING
 *
 * `ended` (its length is known) and `finished` (all acknowledged) come on top:
 * a length stays known over generations.
 */
#ifndef DISP_DISP_INNER_H
#define DISP_DISP_INNER_H

#include "base/hash.h"
#include "base/rng.h"
#include "core/cut.h"
#include "core/disp/disp_place.h"
#include "core/disp/disp_reach.h"
#include "core/disp/disp_service.h"
#include "core/disp/disp_dirty.h"
#include "core/disp/disp_events.h"
#include "core/disp/disp_fence.h"
#include "core/disp/disp_group.h"
#include "core/disp/disp_base.h"
#include "core/disp/disp_blame.h"
#include "core/disp/disp_round.h"
#include "core/disp/disp_shards.h"
#include "core/disp/disp_spent.h"
#include "core/disp/disp_view.h"
#include "core/disp/disp_waiting.h"
#include "core/disp/disp_window.h"
#include "core/disp/dispatcher.h"
#include "core/disp/ring.h"
#include "core/intervals.h"
#include "core/wanted.h"
#include "value/where.h"

enum {
	DISP_SHARDS = 8,          /* streams of a stable order, unless told */
	DISP_BLOCK = 64,          /* order stable: elements from each stream in turn */
	DISP_POINTS = 8,          /* restart points kept per stream */
	DISP_SPLITS_REPLY = 256,  /* old splits in one reply */
	DISP_ACKS_MS = 10,        /* ACKs a millisecond that all readers together may send, once they are many */
	DISP_LOST = 3,            /* workers that a stream may cost without getting on */
	DISP_DATASETS = 10000,
	DISP_DATASET_BYTES = 256 << 20, /* specs and types of all */
	DISP_ENDED_JOBS = 256,    /* finished anonymous jobs kept for audits */
	DISP_GROUPS = 64,         /* in an iteration */
	DISP_VIEWS = 1000000,     /* ledgers in an iteration: streams times views */
	DISP_DONE_JOBS = 10000,   /* finished jobs that have a position */
	DISP_FORGOTTEN = 256      /* iterations whose readers are told that they were forgotten */
};
#define DISP_ASK_NS 2000000000ll /* asked again after */
#define DISP_RATE_NS 1000000000ll
#define DISP_WIDEN_NS 200000000ll /* a pass that takes longer is worth a stream on every slot */
struct disp_key { uint64_t v[4]; }; /* any key of three numbers */

struct peer {
	struct buf report;      /* a tool's: what it has asked for, while parts are left */
	struct tap *tap;        /* a tool's: the elements that it looks at; NULL: none */
	uint64_t tap_turn;      /* worker: of disp.tap_turn, when it was asked for some last */
	uint64_t id;
	enum wire_role role;
	bool known;               /* said HELLO since this dispatcher began */
	bool lost;                /* being taken down: is asked nothing more */
	bool draining;
	bool leaves;              /* said BYE: its streams have not killed it */
	uint64_t bye_req;
	int64_t heard, came;      /* came: began to be known to this dispatcher */
	struct list_node by_heard;/* all peers, longest silent first */
	struct list_node asks;    /* struct ask.by_peer */
	char *name, *host, *hostname, *endpoint; /* hostname: for people; NULL: not told */
	char *user;               /* the host told that it is theirs, or its rows of before do; NULL: nobody was asked */
	bool all;                 /* may see all that STATUS tells */
	bool programs;            /* its pipelines may run programs, as of its last message */
	uint32_t pid, slots;
	uint64_t kept_bytes;
	int64_t beat, held_up;    /* worker: its last BEAT; since when it has only waited for readers, 0: it has not */
	uint64_t arena, leased;   /* worker: bytes of memory that it shares */
	bool shared;              /* reader: reads in such memory */
	uint32_t cores, last;     /* reader: feeds so many cores, the last of which is number last - 1; */
	uint64_t step;            /* all have done so many steps */
	struct list_node streams; /* worker: stream.by_worker */
	uint32_t n_streams, n_yields; /* n_yields: of those, are being handed over by order */
	struct list_node workers; /* worker: in disp.workers */
	struct words tags;        /* worker: as it told them */
	struct place *tagged, *at;/* worker that may be given streams: others with its tags, on its host */
	struct list_node by_tags, by_host;
	struct seat *seat;        /* reader: what it reads */
	struct waiting *waiting;  /* reader: its OPEN that is not answered yet */
	uint32_t lists;           /* worker: LISTs under way */
	uint64_t call_ns, call_job; /* worker: the longest call of an operator, at its last BEAT, and the number of its job; */
	uint32_t call_place;      /* the operator */
};

enum ask_kind { ASK_LIST = 1, ASK_ASSIGN, ASK_REVOKE, ASK_HOLD, ASK_GONE, ASK_DONE, ASK_YIELD, ASK_HALT, ASK_VIEW };
struct ask {
	enum ask_kind kind;
	struct peer *peer;
	struct stream_key key;
	uint64_t seat;            /* or the number of a request, or view */
	int64_t due;
	struct list_node by_due, by_peer;
};

#define DATASET_NO_KEY "-"
struct dataset {
	struct dirty dirty;
	uint64_t number;
	char *id, *spec, *type;
	bool registered;          /* by itself, not only by an OPEN */
	struct dataset_facts facts;/* a worker found them */
	char *vouched;            /* a user that gave it and may have programs run, or DATASET_NO_KEY; "": none */
	uint32_t jobs;
	struct spent spent;       /* told by BEATs */
	struct list_node idle;    /* in disp.idle_datasets: registered, without a name or a job */
	int64_t idle_since;
};

enum gc_kind { /* jobs that nobody reads, by why they are kept */
	GC_AUDIT,      /* anonymous, without a position: kept for audits */
	GC_OVER,       /* a named one that is over, or has not given anything */
	GC_DONE,       /* over, and some reader has a position in it */
	GC_UNFINISHED, /* not over: it has a position, or is named and has given elements */
	GC_KINDS
};

struct job {
	struct dirty dirty;
	uint64_t number;
	struct job_opts opts;     /* options of its first reader; name "": anonymous */
	char *owner;              /* the user of that reader, who may see it in STATUS; NULL or "": none */
	struct dataset *dataset;
	uint64_t dataset_number;
	uint32_t places;          /* in each round; 1: there are no rounds */
	uint32_t shards;          /* number found by its first pass, when opts.shards leaves it open; 0: not yet */
	bool keep;                /* waits for the return of a reader */
	struct where where;       /* opts.where */
	struct places fit;        /* sets of tags with workers that fit it */
	size_t turn;              /* which of them is looked at first */
	struct iteration **iters; /* by epoch, not all there; none of a job at rest: */
	struct iter_rest *rest;   /* they are packed here */
	size_t n_iters, cap_iters;
	struct list_node node;    /* in disp.jobs */
	struct list_node idle;    /* in disp.idle[idle_kind], or disp.busy */
	enum gc_kind idle_kind;   /* GC_KINDS: somebody reads it */
	int64_t idle_since;       /* no reader; INT64_MAX: has some */
	uint32_t users;           /* seats and waiting OPENs */
};

/* A list of units, as far as it has come. */
struct units_listed {
	uint64_t listing;
	uint32_t parts;
	bool last;                /* the last part; only in rows */
	struct split_list units;
};

enum iter_state { ITER_LISTING = 0, ITER_RUNNING = 1, ITER_FINISHED = 2, ITER_FAILED = 3 };
struct iteration {
	struct dirty dirty;
	uint64_t id;
	struct job *job;
	uint64_t job_number;
	uint32_t epoch;
	uint64_t seed;
	int sharding;             /* the job's; file_or_data only until its units are known */
	enum iter_state state;
	uint32_t code;            /* ITER_FAILED */
	char *text, *help;
	uint64_t times;
	struct round_part *views; /* in each stream: which elements belong to each */
	size_t n_views, cap_views; /* at least one */
	struct base base;         /* rounds: where they begin */
	struct groups groups;     /* if the job is shared; each has the view of its number */
	bool gathered;            /* rounds: the views are those of the consumers that came */
	struct fence fence;       /* rounds: an end that is agreed on */
	bool by_one;              /* rounds: streams take turns by one element, since theirs may be alike, or are large */
	int64_t moved;            /* rounds: when a consumer last got on, came or left */
	struct list_node rounds_node;
	struct shard_sums shards; /* over: each of them */
	uint64_t in_rounds, dropped; /* in finished streams: elements in whole rounds, and those that did not fill one */
	struct units_listed listed; /* until all of it is there */
	struct cut cut;
	bool by_split, units_loaded;
	bool fixed;               /* split k belongs to stream k mod shards; of sharding file: k counts files */
	bool all_known;           /* no more streams */
	uint32_t next_fixed;      /* fixed: whose the next split is */
	bool short_;              /* a stream ended of itself, or all is void: what is left is not wanted */
	uint64_t period;          /* disp_void.c: passes over the units that make a repetition; 0: nothing to look for */
	bool reached, marked; uint32_t void_at; /* an element came to it; marks are set; so many streams are at theirs */
	struct stream **streams;
	uint32_t n_streams, had_streams; /* had_streams: over: so many it had */
	size_t cap_streams, n_finished, n_ended;
	struct list_node orphans; /* stream.orphan */
	struct list_node versions;/* streams, the one that changed last at the end */
	uint64_t version;
	bool notify; int64_t told_at; /* in disp.notify; when its readers had STREAMS */
	struct list_node notify_node, running_node;
	int64_t ran;              /* when it began to run */
	struct list_node young;   /* in disp.young */
	struct list_node seats;
	uint32_t n_seats;
	uint64_t next_seat;
	uint64_t *given_up;       /* seats whose elements went to others, not those that were closed */
	size_t n_given_up, cap_given_up;
	struct intervals closed;  /* seats that left in order */
	struct list_node waiting; /* OPENs */
	size_t n_unreached;       /* over all seats: workers that their readers cannot connect to */
	struct hash hosts;        /* seats and waiting OPENs by host: name -> struct iter_host */
	size_t host_turn;         /* which of them is looked at first */
	struct peer *lister;
	uint32_t list_lost;       /* workers lost while listing */
	uint64_t list_req;
	uint64_t elements, acked, made, again, suppressed, repeated;
	struct msg_stored stored; /* by all streams */
	uint64_t failed, max_errors; /* sum over streams; at most, UINT64_MAX: any number */
	struct msg_faults_list faults; /* the first WIRE_FAULTS_MAX */
	size_t cap_faults;
	int64_t started, finished;
	int64_t rate_at;          /* since when rate_n counts what was acknowledged */
	uint64_t rate_n, rate;    /* rate: in a second, before that */
	struct wanted_clock *clock; /* NULL once it is over; then: */
	struct wanted_totals spent; /* the sums that it had */
	struct lately *lately;      /* told by BEATs; NULL: none has come, or it is over */
};

struct split_place { uint32_t unit; uint64_t start, count, times, weight; };
struct point { uint64_t offset, split, failed; struct bytes state; bool has_state, saved, stored; };
struct stream_held { uint64_t seat; struct intervals got; uint32_t view; };
struct stream_gone { uint64_t seat; uint32_t view; };
/* The element that ends a stream, and with it the iteration: when all before it is
 * delivered. It is not durable: a worker repeats it until the iteration is over. */
struct stream_failure {
	uint32_t code;            /* 0: none */
	char *text, *help;
	uint64_t length, split;   /* elements before it; the split that was being read */
};
enum stream_place { STREAM_HOLDING = 0, STREAM_ORPHAN = 1, STREAM_ASSIGNED = 2 };

struct stream {
	struct dirty dirty;
	struct iteration *iter;
	uint32_t index, gen;
	enum stream_place place;
	bool running, told_end;   /* the worker said ASSIGNED; STREAM_END */
	bool loaded, yields, stays; /* its row was there; its worker is to hand it over; it cannot be */
	int64_t yielded_at;       /* when a worker was asked to last; 0: never */
	bool closed;              /* gets no splits any more */
	uint64_t through, mark, sent; /* disp_void.c: so many splits are through, are of the first repetition, were sent */
	bool ended, finished;
	uint64_t length;          /* ended */
	uint64_t base;            /* rounds: the element with which the first begins */
	bool tail_known;          /* rounds: where those elements go that do not fill one */
	uint64_t tail_at;         /* the first of them to this place, mod the places of a round */
	uint64_t tail_all;        /* so many of all streams together, the last of which are spread; 0: they are not */
	uint32_t tail_n;          /* so many of them go somewhere, those that are added included */
	struct stream_failure failure;
	struct peer *worker;
	struct stream_worker { uint64_t id; char *endpoint, *user, *name; }
		row_worker;       /* set only while a row is written or read */
	struct split_place *splits; /* the first is number first_split; those before are forgotten */
	uint64_t n_splits, saved_splits, first_split, first_row; /* numbers; first_row: of the first that may have a row */
	uint64_t asked;           /* its worker asks for none before this one; 0: not known since a restart */
	size_t cap_splits;
	int64_t split_at;         /* when the last of them was cut; 0: before a restart */
	uint64_t split_given;     /* elements it had given then */
	double split_silent;      /* weight of the splits cut since it gave something last */
	struct { double sum, span, taken; int64_t began; } pace; /* disp_split.c: weight and ns of late; all, and since when */
	struct point points[DISP_POINTS];
	unsigned n_points;
	struct view one, *views;  /* one for each of the iteration: `one` if that is all */
	uint64_t window;          /* elements that its worker keeps for groups behind; 0: not known, or all */
	size_t n_done;            /* ended: so many of them, from the first on, have all */
	struct stream_held *held; /* elements held by live readers when this generation began */
	size_t n_held, cap_held;
	struct stream_gone *gone; /* seats that READER_GONE is not answered for yet */
	size_t n_gone, cap_gone;
	uint64_t *owing;          /* seats whose answer to HOLD is missing, also once it is made without */
	size_t n_owing, cap_owing;
	uint64_t from, skipped;   /* in the ASSIGN: first offset; number of elements in skip */
	uint64_t failed;          /* elements that failed: the most any generation has told */
	struct msg_stored stored; /* in files: the most any generation has told */
	char *waits;              /* why it stands still; NULL: it does not */
	uint64_t high, made;      /* elements known to have been made at least; sum over generations */
	bool began;               /* its worker has begun to make it */
	int64_t given;            /* to this worker, when */
	uint32_t lost;            /* workers lost while making it, since it got on last */
	uint32_t blame, blamed;   /* how much that counts; the generation that was counted last */
	uint64_t lost_at, lost_count; /* how far it was then; so many elements were acknowledged */
	uint32_t losses;          /* in a row, further or not */
	struct stream_step step;  /* the last that its worker said */
	uint64_t renewed;         /* restart points that took the place of one at the same element */
	uint64_t version;
	struct list_node by_worker, orphan, by_version;
};

struct seat {
	struct dirty dirty;
	uint64_t number;
	struct iteration *iter;
	struct peer *peer;        /* NULL: away, and to come back with its position */
	uint64_t peer_id;
	bool is_away;             /* set only while a row is written or read */
	int64_t away_since;
	struct list_node away;    /* in one of disp.away */
	uint32_t view;            /* the one of each stream that it takes from */
	uint64_t seq;             /* number of the last ACK recorded */
	uint64_t sent_version, beat_version; /* beat: sent_version at its last BEAT */
	bool opened;              /* JOB was sent since this dispatcher began */
	uint64_t begun; bool halted; /* halted: it begins no more rounds than these, before it is told an end */
	uint64_t from;            /* the seat of the position it began with; 0: none */
	char *host, *user;        /* its reader's; user: as in struct peer, or "" */
	bool struck;              /* its key was struck out: it is not waited for */
	bool checkpoint;
	char *shard;              /* its list of shards as a text; `only`: the same as numbers */
	struct job_shards only;
	uint64_t had;             /* elements of those of them that are finished */
	uint64_t *took;           /* a bit for each stream of which a worker has sent it chunks, of n_took words */
	size_t n_took;
	struct reaches unreached; /* workers that its reader cannot connect to */
	struct list_node node;    /* in iteration.seats */
	uint64_t acked;           /* elements */
};

struct out_msg { uint64_t peer; struct msg msg; };

struct disp {
	struct disp_opts o;
	uint32_t row_version;     /* ROW_VERSION, or what the meta row says that is read */
	struct rng rng;
	int64_t now, wall_ns;     /* wall_ns: to be added to `now` for the time since 1970 */
	struct service service;
	uint64_t next_id;         /* next number for a dataset, job or iteration */
	bool meta_dirty;
	char *refuse;             /* why nothing new is taken; NULL: it is */
	struct hash peers;        /* by id */
	uint64_t tap_turn;        /* counts how often workers were asked for elements to look at */
	struct list_node by_heard, workers, tools;
	uint32_t n_workers, n_readers, n_tools, slots, ends; /* ends: enum wire_end, what a tool has asked for */
	uint32_t n_awaited;       /* workers that have not said HELLO to this dispatcher */
	struct list_node asks;    /* by due */
	struct hash ask_index;    /* struct disp_key -> struct ask */
	struct hash tagged, hosts;/* struct place, by key */
	struct hash datasets;     /* by id */
	struct list_node idle_datasets; /* the one used last at the end */
	size_t dataset_bytes;     /* size of all specs and types */
	struct hash jobs;         /* by name */
	struct list_node job_list;
	struct list_node busy;    /* jobs that somebody reads, or is about to */
	struct list_node idle[GC_KINDS]; /* jobs that nobody reads, by when that began */
	uint32_t n_jobs, n_idle[GC_KINDS];
	struct list_node away[GC_KINDS]; /* seats, by the kind of their job and when they were left */
	uint64_t forgotten[DISP_FORGOTTEN], n_forgotten; /* iterations, in a circle */
	struct hash iters, rests; /* by id; rests: struct iter_rest */
	struct hash seats;        /* by iteration and number */
	struct list_node running; /* iterations LISTING or RUNNING */
	struct list_node young;   /* those that have just begun to run, oldest first */
	struct list_node notify, waiting;
	int64_t notify_due;       /* when readers of the first of `notify` are told */
	struct list_node dirty;
	struct disp_row *deletes;
	size_t n_deletes, cap_deletes;
	struct out_msg *out;
	size_t out_first, n_out, cap_out;
	struct hash *by_number;   /* the output by number */
	struct row_loads *loads;  /* between disp_load and disp_loaded */
	int64_t idle_since;       /* INT64_MAX: busy */
	int64_t group_due;        /* when groups without readers are looked at */
	int64_t yield_due;        /* when streams are looked at that may have to move */
	struct list_node rounds;  /* running iterations in rounds */
	int64_t rounds_due;       /* when one of them may have waited too long */
	int64_t trial_due;        /* when streams that want a worker of their own look again */
	uint64_t assign_count;
	struct disp_events *events;    /* NULL: none yet */
};

/* disp_out.c */
struct msg *disp_send(struct disp *d, const struct peer *p, enum msg_type t, uint64_t req); /* lends, to be filled */
void disp_error(struct disp *d, const struct peer *p, uint64_t req, uint32_t code, const char *text, const char *help);

/* disp_find.c */
struct job *job_named(struct disp *d, const char *name); /* is awake then; NULL: none, or no name */
struct job *job_look(struct disp *d, const char *name); /* by name or number; NULL: none */
struct iteration *iter_find(struct disp *d, uint64_t id);
struct stream *iter_stream(const struct iteration *it, uint32_t index);
bool iter_live(const struct iteration *it);
struct stream *stream_find(struct disp *d, struct stream_key key); /* any generation */
struct stream_key stream_key_of(const struct stream *s);

/* disp_peer.c */
struct peer *disp_peer(struct disp *d, uint64_t id);                 /* NULL: unknown */
/* A worker comes with this name: one of that name and key that is awaited since a restart will not come any more. */
void disp_peer_replaced(struct disp *d, const char *name, const char *user);
struct peer *disp_peer_new(struct disp *d, uint64_t id, enum wire_role role);
struct peer *disp_peer_await(struct disp *d, uint64_t id, enum wire_role role); /* after loading */
void disp_peer_lost(struct disp *d, struct peer *p, bool silent); /* or left; frees it */
void disp_peer_free(struct disp *d, struct peer *p);
void disp_busy(struct disp *d);

/* disp_time.c */
void disp_time(struct disp *d, int64_t now_ns);      /* it is now so late */

/* disp_ask.c */
void ask_put(struct disp *d, enum ask_kind kind, struct peer *p, struct stream_key key, uint64_t seat);
/* The answer came, or it does not matter any more; false: it was not asked. */
bool ask_drop(struct disp *d, enum ask_kind kind, const struct peer *p, struct stream_key key, uint64_t seat);
void ask_again(struct disp *d, struct peer *p);      /* all of this peer's, now */
void ask_forget(struct disp *d, struct peer *p);     /* the peer is gone */
void ask_tick(struct disp *d);
int64_t ask_deadline(const struct disp *d);

/* disp_dataset.c */
void dataset_register(struct disp *d, struct peer *p, struct msg *m);
void dataset_get(struct disp *d, struct peer *p, struct msg *m);
/* Takes the fields of its row out of `from`. */
struct dataset *dataset_new(struct disp *d, uint64_t number, struct dataset *from);
/* The dataset with this spec, made now if there was none; with this id. NULL: an error
 * was answered. Takes the texts as far as it empties them. */
struct dataset *dataset_of_spec(struct disp *d, struct peer *p, uint64_t req, char **id, char **spec, char **type,
				bool *known);
/* Whether its pipeline may run programs. */
bool dataset_programs(const struct dataset *s);
/* For disp_review: users whose pipelines may not, any more, have given it in vain. */
void dataset_review(struct disp *d, unsigned (*may)(void *arg, const char *user), void *arg);
struct dataset *dataset_find(struct disp *d, struct peer *p, uint64_t req, const char *id);
/* NULL unless *n, how many it may mean, is 1. */
struct dataset *dataset_look(struct disp *d, const char *id, size_t *n);
void dataset_free(struct disp *d, struct dataset *s);   /* no job has it */
void dataset_unused(struct disp *d, struct dataset *s); /* perhaps: if no job has it; may free s */
void dataset_loaded(struct disp *d);                    /* after the jobs */
void dataset_tick(struct disp *d);
int64_t dataset_deadline(const struct disp *d);

/* disp_job.c */
void job_open(struct disp *d, struct peer *p, struct msg *m);
void job_used(struct disp *d, struct job *j);
void job_left(struct disp *d, struct job *j);        /* may free the job */
void job_left_since(struct disp *d, struct job *j, int64_t since); /* likewise; the last one was gone since then */
void job_free(struct disp *d, struct job *j);
bool job_over(const struct job *j);                  /* none of its iterations is under way */
struct job *job_new(struct disp *d, uint64_t number, const struct job_opts *opts, struct dataset *s); /* copies opts */
void job_add_iter(struct job *j, struct iteration *it);
void job_drop_iter(struct disp *d, struct iteration *it); /* and the job, if it was all */

/* disp_iter.c */
struct iteration *iter_new(struct disp *d, struct job *j, uint64_t id, uint32_t epoch);
void iter_start(struct disp *d, struct iteration *it); /* asks for its units, once all consumers are there */
void iter_units(struct disp *d, struct peer *p, struct msg *m);
void iter_free(struct disp *d, struct iteration *it);
void iter_release(struct disp *d, struct iteration *it); /* only its memory: it is over, and nobody reads it */
void iter_fail(struct disp *d, struct iteration *it, uint32_t code, char *text, char *help); /* takes texts */
void iter_worker_joined(struct disp *d, struct peer *w);
void iter_worker_left(struct disp *d, struct peer *w);               /* it is not in the list any more */
void iter_place(struct disp *d, struct iteration *it);               /* workers for its orphans */
void iter_readers_moved(struct disp *d, struct iteration *it);       /* a host has got readers, or has none any more */
void iter_check(struct disp *d, struct iteration *it);               /* is it over? */
void iter_open_cut(struct iteration *it, struct split_list *units);
/* The view that has just this part; false: there is none. */
bool iter_view_of(const struct iteration *it, const struct round_part *part, uint32_t *view);
void iter_young(struct disp *d, struct iteration *it); /* begins to run, also after a restart */
/* A stream takes no more splits, for its worker leaves: if none of the others does, one more stream is to. */
void iter_go_on(struct disp *d, struct iteration *it);
void iter_widen(struct disp *d, struct iteration *it); /* a young one: every slot gets a stream */
void iter_tick(struct disp *d);
int64_t iter_deadline(const struct disp *d);
void iter_trial_tick(struct disp *d);

/* disp_units.c */
/* Takes a part's units; true: the list is whole. Parts that do not follow the one before
 * are ignored: the worker is asked again. */
bool units_add(struct iteration *it, struct msg_units *u);
void units_forget(struct iteration *it);

/* disp_stream.c */
struct stream *stream_new(struct disp *d, struct iteration *it);
void stream_free(struct disp *d, struct stream *s);
void stream_changed(struct disp *d, struct stream *s);  /* its readers are to be told */
void stream_fence(struct disp *d, struct stream *s);
void stream_hold(struct disp *d, struct stream *s);     /* (again) asks all readers what they hold */
void stream_orphan(struct disp *d, struct stream *s);   /* wants a worker */
void stream_held(struct disp *d, struct stream *s, const struct seat *r, const struct ranges *got);
void stream_hold_check(struct disp *d, struct stream *s); /* have all answered? */
void stream_give(struct disp *d, struct stream *s, struct peer *w);
void stream_detach(struct disp *d, struct stream *s);
/* Records offsets of one view; by NULL: from elsewhere than an ACK. May free s. */
void stream_acked(struct disp *d, struct stream *s, uint32_t view, const struct ranges *r, struct seat *by);
void stream_finish_check(struct disp *d, struct stream *s);
void stream_tell_gone(struct disp *d, struct stream *s, uint64_t seat, uint32_t view); /* its worker */
/* took: its worker is to be told, for the reader may have chunks of it. */
void stream_seat_gone(struct disp *d, struct stream *s, const struct seat *r, bool took);
void stream_message(struct disp *d, struct peer *p, struct msg *m);
void stream_revoke(struct disp *d, struct peer *w, struct stream_key key);

/* disp_assign.c */
void stream_fill_assign(struct disp *d, struct stream *s, struct msg *m);

/* disp_failure.c */
void stream_no_failure(struct stream *s);               /* the next worker finds out anew */
void stream_give_up(struct stream *s);                  /* its pass has failed: what it gave goes to the books */
void stream_fails(struct disp *d, struct stream *s, struct msg_stream_end *e); /* may free s */
void stream_fail_check(struct disp *d, struct stream *s);  /* once all before the failure is acknowledged */
/* The reader stands before what failed; may free s. */
void stream_reached(struct disp *d, struct stream *s, const struct seat *r);
void stream_differs(struct disp *d, struct stream *s, uint64_t length); /* was made again, with another length */

/* Counts N failed elements of the stream, by one generation's count. False: those were
 * too many, and the iteration is over (s is gone). */
bool fault_count(struct disp *d, struct stream *s, uint64_t failed);
bool fault_check(struct disp *d, struct iteration *it); /* false: too many; it has failed */

/* disp_split.c */
char *disp_split_describe(const struct stream *s, size_t k); /* gives: for people */
void disp_split_request(struct disp *d, struct peer *p, struct stream *s, const struct msg *m);
void disp_split_add_point(struct disp *d, struct stream *s, uint64_t offset, uint64_t split, uint64_t failed,
			  struct bytes *state);
void disp_split_drop_point(struct disp *d, struct stream *s, unsigned i);
void disp_split_prune_points(struct disp *d, struct stream *s, size_t view); /* that view may have got on */

/* disp_fault.c */
void fault_keep(const struct peer *p, const struct stream *s, struct msg *m); /* the first of them; takes them */
void fault_limit(struct iteration *it, const struct job_opts *o);
void fault_fill(const struct iteration *it, struct msg *done);
void fault_clear(struct iteration *it);

/* disp_seat.c */
struct seat *seat_new(struct disp *d, struct iteration *it, struct peer *p, uint64_t number, const char *host);
void seat_free(struct disp *d, struct seat *r);
struct seat *seat_find(const struct disp *d, uint64_t iteration, uint64_t number);
/* Whether it is kept for its reader's return, who is lost; silent: and may be alive. */
bool seat_awaited(const struct seat *r, bool silent), seat_placed(const struct seat *r); /* placed: has a position */
/* Another reader comes, for these elements: who is away with some of them has lost its seat. */
void seat_make_way(struct disp *d, struct iteration *it, const struct asked *asked);
/* Answers that what this reader asks for has a reader already, as what keeps an order may have one only. */
void seat_taken(struct disp *d, struct peer *p, uint64_t req, const struct iteration *it, const struct asked *asked);
bool seat_meets(const struct seat *r, const struct asked *asked); /* whether it takes some of these elements */
void seat_finished(struct disp *d, const struct stream *s);   /* tells those who have nothing left */
bool seat_over(const struct seat *r);                  /* all its shards are finished, though others are not */
void seat_away(struct disp *d, struct seat *r);         /* lost, but will be back */
void seat_back(struct disp *d, struct seat *r, struct peer *p);
void seat_gone(struct disp *d, struct seat *r);         /* lost: gives it up, frees it */
void seat_tell_gone(struct disp *d, struct peer *p, uint64_t req, uint64_t iteration, uint64_t number); /* GONE */
void seat_message(struct disp *d, struct peer *p, struct msg *m);
void seat_open(struct disp *d, struct seat *r, uint64_t req); /* JOB, and STREAMS from the first */

/* disp_gc.c */
void gc_idle(struct disp *d, struct job *j, int64_t since); /* nobody reads it; may free it or another one */
void gc_busy(struct disp *d, struct job *j);            /* somebody does, or it is freed */
void gc_away(struct disp *d, struct seat *r);           /* left since r->away_since */
void gc_tick(struct disp *d);
int64_t gc_deadline(const struct disp *d);
int64_t gc_due(const struct disp *d, const struct job *j); /* when it is forgotten; INT64_MAX: it is read, or never */

#endif
