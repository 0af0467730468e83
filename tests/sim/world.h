/* SPDX-License-Identifier: MIT
 *
 * A service in one process, for the simulation: the state machines of core,
 * virtual time, and a network, disk and programs that fail by a seed.
 *
 *	connections   keep order, as the real ones do; between connections there
 *	              is none. They delay, stand still, break: what was on its way
 *	              is lost, what the client sends meanwhile waits, what the
 *	              server sends is dropped.
 *	programs      crash at any event, stand still for a while, come back as
 *	              others (workers), with their state (dispatcher) or with
 *	              their checkpoint (readers)
 *	disk          rows as of the last commit; commits take time, and messages
 *	              leave after them
 *
 * Everything a run does follows from its seed.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/hash.h"
#include "base/rng.h"
#include "core/disp/dispatcher.h"
#include "core/intervals.h"
#include "core/read/reader.h"
#include "core/work/worker.h"
#include "value/where.h"

#define MS 1000000ll
#define SEC 1000000000ll
/* The first is longer than the others: what only ends because a job is collected
 * has no end for whoever waits for it. */
#define SIM_GC_NS (200 * SEC)
#define SIM_END_NS (100 * SEC)   /* after the last fault, or after the last element */
#define SIM_TRIALS_NS (190 * SEC) /* likewise, where many streams are suspected, each of which is tried by itself */
#define SIM_TRY_NS (7 * SEC)     /* until a reader says that it cannot reach a worker, which goes on to be tried */
#define SIM_REST UINT64_MAX /* offset of a chunk that is told only when it is sent */
#define SIM_THIEF 7 /* peer that is none of the nodes */
enum { PLACES_MAX = 4, NODES_MAX = 1000, DATASETS = 4, ELEM_BYTES = 16 };

struct world;
struct node;
struct conn;

/* An element of the stand-in datasets: where it comes from, and what a state
 * kept along the stream makes of it. */
struct element { uint32_t leaf, sub; uint64_t pos, carry; };
struct sim_chunk { int refs; uint32_t n; struct element *e; uint64_t offset; };
struct sim_chunk *chunk_new(struct world *w, uint64_t offset, const struct element *e, uint32_t n);
void chunk_unref(struct sim_chunk *c);

enum node_kind { NODE_DISP, NODE_WORKER, NODE_READER };
struct node {
	struct world *w;
	enum node_kind kind;
	unsigned index;
	uint64_t peer;
	bool alive, leaving;
	bool struck, out;       /* its key is struck out; and the dispatcher has seen that, */
	int64_t out_at;         /* then */
	int64_t born;
	bool cut;               /* its connection to the dispatcher, or that itself, has failed some time */
	uint64_t life;          /* counts up at each death */
	int64_t paused_until, tick_at, tick_now;
	unsigned ticks_at_once;
	struct conn *ctl;       /* to the dispatcher */
	char name[16];
	char host[8];
	struct words tags;      /* a worker has them */
	union {
		struct sim_disp *d;
		struct sim_worker *k;
		struct sim_reader *r;
	};
};

struct frame { uint8_t *p; size_t n; struct sim_chunk *chunk; struct frame *next; };
struct conn {
	struct node *client, *server;
	bool up, closed;
	uint64_t epoch;
	int64_t blocked_until, last[2];
	struct frame *q[2], **tail[2]; /* 0: to the server */
	struct frame *stash, **stash_tail;
	struct conn *next;
};

/* One of the stand-in pipelines. */
struct sim_dataset {
	char spec[32];
	unsigned units;
	uint64_t size[8], times;
	bool cuttable, stateful, fan, whole;
	bool files;             /* its units are files, of two sources: from unit `second` on of the other */
	bool nothing;           /* nothing comes of any element, before they are repeated for ever */
	uint64_t period;        /* passes over the units that are one repetition */
	bool grows;             /* nobody knows how long unit 0 will be */
	unsigned second;
	uint64_t key;
};

/* A consumer: what it has on its standard output, over all its readers. */
struct got { uint32_t stream; uint64_t offset; struct element e; }; /* offset: counted in its view */
struct consumer {
	unsigned index;
	uint32_t place;         /* in each round; or number of its group */
	uint64_t missed;        /* by its group, as it was told at its end */
	struct got *out;
	size_t n, cap;
	size_t saved;           /* length of `out` in the saved position */
	size_t all;             /* lag: the pass was over, with so many, and all was acknowledged without a position */
	struct buf position;    /* saved; len 0: none */
	bool has_position, has_own; /* own: it was not given the one of another */
	bool finished, dead;    /* ended with code 0; ended otherwise for good */
	uint64_t rounds;        /* its place had, at its end */
	uint32_t code;
	uint64_t iteration;     /* that it read last */
	uint32_t epoch;
	bool old;               /* another number of consumers has gone on */
	unsigned heir;          /* the new one with its place that has its position, from 1; 0: none */
	struct bytes given[PLACES_MAX]; /* positions of old ones, lent */
	size_t n_given;
	struct node *node;      /* its reader now */
	unsigned lives;
};

struct event { int64_t at; uint64_t seq; void (*fn)(struct world *, void *, uint64_t); void *arg; uint64_t tag; };

struct world {
	uint64_t seed;
	struct rng r;
	int64_t now;
	struct event *heap;
	size_t n_heap, cap_heap;
	uint64_t seq, events;
	struct node *nodes[NODES_MAX];
	unsigned n_nodes;
	struct conn *conns;
	struct node *disp;
	bool verbose, failed;
	bool all_groups;         /* the job is shared whatever the seed says */
	char why[512];
	/* properties of this run */
	bool durable, local, checkpoint, calm; /* calm: no faults */
	bool poison;             /* an element kills whoever makes it; else workers die of themselves */
	uint32_t poison_leaf;
	uint64_t poison_pos;
	unsigned poisoned;       /* workers that died of it */
	bool stuck;              /* making an element sometimes takes long */
	bool keys;               /* each program has a key of its own, some of which are struck out */
	unsigned walls;          /* so many thirds of the workers a reader cannot reach, which the dispatcher can */
	bool stops;              /* the only faults: programs stand still */
	bool anonymous;          /* the job is the reader's own */
	uint32_t epochs;         /* passes of the job, one after another */
	bool twice, holes;       /* messages come twice; get lost */
	uint32_t sharding, order, shards, block, readers, workers;
	uint32_t found;          /* shards: as the dispatcher said how many there are */
	bool only;               /* each reader has shards of its own */
	int tail, tail_of;       /* rounds: elements that do not fill one */
	uint32_t groups;         /* that share the job; 1: it is not shared */
	int share;               /* enum job_share */
	uint64_t share_window;
	bool stands;             /* the last group takes nothing before the others are done */
	int64_t late;           /* so late come those of the last group; 0: as early as others */
	uint64_t told_missed;    /* elements in MISSED, as often as it was said */
	uint32_t round;          /* places in a round, each read by others; 1: there are no rounds */
	bool whole;              /* rounds: each consumer gets all elements */
	bool lag;                /* rounds: acknowledged behind positions that count rounds; seats are not kept */
	unsigned stops_early;    /* rounds: some consumer asks for an agreed end, about once in so many writes; 0: none */
	uint64_t every;          /* rounds: another number of consumers can go on after multiples of it; 0: none */
	bool renumbered, begun;  /* it came; and was told where it begins: */
	uint32_t old_round;
	uint64_t begin;
	uint64_t *base;          /* elements of each stream that the old ones had; NULL: none */
	uint32_t n_base;
	bool own_end;            /* programs see to it themselves */
	bool fenced;             /* there is one: */
	uint64_t fence, fence_of; /* rounds; a number that it is a multiple of */
	size_t memory, budget;
	uint32_t window, splits_small;
	uint32_t units_part;    /* units in one part of their list; 0: as in reality */
	int64_t delay_max, faults_until, fault_gap;
	int64_t gc;              /* for jobs without a position; others are kept for SIM_GC_NS */
	double slow;             /* speed of readers */
	unsigned stop_after;     /* a consumer that closes early after so many; 0: none */
	struct rng places;      /* chooses hosts and tags */
	unsigned n_hosts, target;
	const char *where;
	struct where fit;       /* `where`, parsed */
	struct sim_dataset set;
	struct consumer consumers[200];
	unsigned n_consumers;
	/* books */
	struct hash *made_index; /* elements made, by address */
	uint64_t last_iteration;
	bool one_iteration;
	uint64_t crashes[3], strikes, breaks, pauses, resumes, fences, produced, repeated, disp_made_again, yields;
	uint64_t disp_dropped, disp_rounds; /* by the audit */
	bool disp_counted;
	size_t kept_max, held_max;
	int64_t delivered;       /* when an element was written last */
	bool closing;            /* all is over: only waits until nothing is left */
	bool disp_lost;          /* a dispatcher without state was killed */
	int64_t disp_up;         /* when the dispatcher began last */
};

/* Time and chance */
void world_at(struct world *w, int64_t at, void (*fn)(struct world *, void *, uint64_t), void *arg, uint64_t tag);
uint64_t chance(struct world *w, uint64_t limit);       /* [0, limit) */
bool one_in(struct world *w, uint64_t n);
int64_t some_time(struct world *w, int64_t most);       /* (0, most], often short */
/* For how long nothing may happen before it is taken for hung. Where the seat of a consumer that has gone for good
 * holds up the others, the end is that it is collected. */
int64_t world_patience(const struct world *w);
void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void world_say(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Nodes and connections */
struct node *node_new(struct world *w, enum node_kind kind);
void node_tick_later(struct node *n, int64_t at);
struct conn *conn_new(struct node *client, struct node *server);
struct conn *conn_find(struct world *w, const struct node *client, const struct node *server);
void conn_send(struct conn *c, int to_client, const struct msg *m, struct sim_chunk *chunk);
void conn_break(struct conn *c);
void conn_block(struct conn *c, int64_t until);
void conn_free(struct conn *c);
void world_drop_events(struct world *w);                /* at the end */
void conn_close(struct conn *c);                        /* by the client */
void node_break_all(struct node *n);
struct node *node_by_peer(struct world *w, uint64_t peer);
void node_kill(struct node *n);

/* Programs: dispatch.c, work.c, read.c. */
void sim_disp_start(struct node *n);
void sim_disp_stop(struct node *n);                     /* crash */
void sim_disp_frame(struct node *n, struct node *from, struct msg *m);
void sim_disp_peer_gone(struct node *n, uint64_t peer);
void sim_disp_tick(struct node *n);
void sim_disp_free(struct node *n);
void sim_disp_dump(struct node *n);
/* Jobs and rows of theirs that the dispatcher has, in memory and on its disk; 0 while it is dead and has no disk. */
size_t sim_disp_left(const struct node *n);
/* The rights of each key are looked at anew. */
void sim_disp_review(struct node *n);
bool sim_disp_books(struct node *n, const char *job);

void sim_work_start(struct node *n);
void sim_work_stop(struct node *n);
void sim_work_ctl(struct node *n, struct msg *m);
void sim_work_data(struct node *n, struct node *from, struct msg *m);
void sim_work_gone(struct node *n, struct node *from);  /* NULL: the dispatcher */
void sim_work_tick(struct node *n);
void sim_work_drain(struct node *n);
void sim_work_rest(struct node *n, struct stream_key key, struct sim_chunk *c, bool pad);
void sim_work_produced(struct node *n, struct stream_key key, uint32_t view, struct sim_chunk *c, uint64_t split);

void sim_read_start(struct node *n, struct consumer *c);
void sim_read_stop(struct node *n);
void sim_read_ctl(struct node *n, struct msg *m);
void sim_read_data(struct node *n, struct node *from, struct msg *m, struct sim_chunk *chunk);
void sim_read_gone(struct node *n, struct node *from);
void sim_read_tick(struct node *n);
void sim_read_up(struct node *n, struct node *worker);

/* books.c */
void book_made(struct world *w, uint64_t iteration, uint32_t stream, uint64_t offset, const struct element *e);
void book_check(struct world *w);
void book_check_faults(struct world *w, const struct reader_action *a);
void book_free(struct world *w);
uint32_t set_fan(const struct sim_dataset *s, uint32_t leaf, uint64_t pos);
bool set_kills(const struct world *w, uint32_t leaf, uint64_t pos);
bool set_fails(uint32_t leaf, uint64_t pos);
/* The number of the unit among those of its source. */
unsigned set_place(const struct sim_dataset *s, unsigned unit);
bool world_takes(const struct world *w, const struct consumer *c, uint32_t shard);
void world_choose_rounds(struct world *w);
uint32_t world_places(const struct world *w);  /* that divide a round among consumers: 1 if each gets all */
bool world_shares(const struct world *w);      /* whether each view has all elements */
void book_check_rounds(struct world *w);
bool rounds_place_over(const struct world *w, const struct consumer *c);
/* Streams of the last pass, as far as something was made of them. */
uint32_t book_streams(const struct world *w);
/* number.c: another number of consumers */
void world_choose_number(struct world *w);
void number_begins(struct world *w, struct consumer *c, const struct msg_job *m, const struct reader_stats *st);
void book_check_number(struct world *w);
struct consumer *world_new_consumer(struct world *w, uint32_t place); /* NULL: there are enough */
/* NULL: nobody made it. */
const struct element *book_element(const struct world *w, uint32_t stream, uint64_t offset);
struct round_part world_part(const struct world *w, uint32_t place);

/* strike.c: keys */
void world_choose_keys(struct world *w);
/* A dispatcher that begins reads who is struck out. */
void world_keys_read(struct world *w);
struct disp_who world_who(const struct node *n);
unsigned world_may(void *w, const char *user);
/* The key of a program is struck out, as dsvc-allow --remove does. */
void world_strike(struct world *w, struct node *n);

/* walls.c: half-open networks */
void world_choose_walls(struct world *w);
/* Whether the reader and the worker cannot talk to each other. */
bool world_walled(const struct node *reader, const struct node *worker);
/* A worker that every reader reaches. */
bool world_open(const struct node *worker);
/* A reader says that it can reach no worker: only where that is so. */
void world_unreached(struct node *n);

/* world.c */
/* Whether the consumer takes nothing for now. */
void world_prepare_groups(struct world *w); /* leaves out what does not go with them, if there are to be some */
void world_choose_groups(struct world *w);
bool world_stands(const struct world *w, const struct consumer *c);
/* A program says that it has lost the dispatcher: only if something came between them. */
void world_lost_contact(struct node *n, const char *text);
/* Whether it may make streams for the readers of the job, or for this one. */
bool world_fits(const struct node *worker, const struct node *reader);
/* arg: NULL, or a reader's node, which the worker is to fit */
void world_new_worker(struct world *w, void *arg, uint64_t tag);
/* groups: the job is shared in all worlds, which are others then. */
bool world_run(uint64_t seed, bool verbose, bool groups, char *why, size_t why_size, struct world *out);

#endif
