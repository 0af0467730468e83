/* SPDX-License-Identifier: MIT
 *
 * Messages of the service, as structs, and their encoding.
 *
 * A message is one header frame, a MessagePack list [type, request, fields...],
 * and for CHUNK one payload frame behind it, which this file does not touch.
 * What a message carries is a table of fields (wire/table_*.c): the table
 * gives encoding, decoding, limits, and the tables of doc/protocol.md.
 *
 *	control   worker, reader, tool  <->  dispatcher
 *	data      reader                <->  worker
 *
 * `req` of a request is echoed in its reply; 0 where there is no reply.
 *
 * Ownership: texts, bytes, ranges, splits and lists in a struct msg are owned
 * by it and freed by msg_clear. Texts may be NULL, which is "". A message that
 * is only to be encoded may lend what it points to: then do not clear it.
 * Decoding trusts nothing: every text, list and number has a limit in its
 * table, the field count must be exact, and a message that fails leaves *out
 * zeroed. Of a HELLO with another version only the version is read.
 */
#ifndef WIRE_MSG_H
#define WIRE_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "base/secret.h"
#include "value/dataset_facts.h"
#include "value/job_opts.h"
#include "value/round.h"
#include "value/split.h"

enum {
	WIRE_VERSION = 2,
	WIRE_FRAME_MAX = 1 << 20,        /* header frame of most messages */
	WIRE_FRAME_LARGE = 16 << 20,     /* limit of the types that msg_frame_max names */
	WIRE_NAME_MAX = 256,             /* bytes of names, ids, hosts */
	WIRE_PREFIX_MIN = 4,             /* digits of a dataset's hash that stand for all of it */
	WIRE_TEXT_MAX = 8192,            /* error texts, endpoints */
	WIRE_SPEC_MAX = 1 << 20,
	WIRE_REPORT_PART = 4 << 20,      /* bytes of a report in one message */
	WIRE_REPORT_PARTS = 64,
	WIRE_STATE_MAX = 12 << 20,       /* operator state in a restart point */
	WIRE_STREAMS_MAX = JOB_SHARDS_MAX,
	WIRE_RANGES_MAX = 65536,
	WIRE_UNITS_MAX = 200000,         /* units of a source, in all parts together */
	WIRE_UNITS_PART = 4096,          /* units in one part of their list, */
	WIRE_UNITS_BYTES = 512 << 10,    /* and what they may weigh once encoded */
	WIRE_TAGS_MAX = 64,
	WIRE_FORGET_MAX = 1000,          /* jobs, and datasets, in one FORGET */
	WIRE_SLOTS_MAX = 4096,
	WIRE_READERS_MAX = 10000,
	WIRE_VIEWS_MAX = ROUND_PLACES_MAX,/* views of a stream */
	WIRE_CLOCKS_MAX = 1000,          /* iterations whose clocks are in one BEAT */
	WIRE_OPS_MAX = 256,              /* operators of one of them whose time is told */
	WIRE_FAULTS_MAX = 1000,          /* failed elements told one by one */
	WIRE_MARKS_MAX = 128,            /* rounds that a consumer can go on from, */
	WIRE_MARKS_NUMBERS = 1 << 17,    /* and the numbers in them, unless they are two */
	WIRE_TAKES_MAX = 1000,           /* pairs in one TAKES */
	WIRE_FAULT_TEXT = 2048,          /* bytes of each of their texts */
	WIRE_TAP_MAX = 1000,             /* elements that one TAP asks for, */
	WIRE_TAP_BYTES = 512 << 10       /* and what they may weigh in one TAPPED */
};

enum wire_role { ROLE_WORKER = 1, ROLE_READER = 2, ROLE_TOOL = 3 };
enum wire_stream_state {
	STREAM_WAITING = 0, /* no worker yet, or being handed over */
	STREAM_RUNNING = 1,
	STREAM_ENDED = 2,   /* all made: length is known; its worker still delivers */
	STREAM_FINISHED = 3,/* all acknowledged */
	STREAM_FAILED = 4,  /* the element behind `length` failed; its worker still delivers those before */
	WIRE_STREAM_STATES
};
enum wire_codec { CODEC_NONE = 0, CODEC_SNAPPY = 1, WIRE_CODECS };

/* Elements [start, end) of a stream, by offset. */
struct range { uint64_t start, end; };
struct ranges { struct range *v; size_t n; }; /* sorted, disjoint, not touching */
struct bytes { uint8_t *p; size_t n; };

enum msg_type {
	/* any peer -> dispatcher */
	MSG_HELLO = 1, MSG_BEAT, MSG_BYE,
	/* dispatcher -> any peer (BEAT both ways) */
	MSG_WELCOME, MSG_REFUSED, MSG_WHO, MSG_BYE_OK, MSG_ERROR,
	/* tools and readers */
	MSG_REGISTER, MSG_GET, MSG_DATASET, MSG_STATUS, MSG_REPORT,
	/* reader <-> dispatcher */
	MSG_OPEN, MSG_JOB, MSG_STREAMS, MSG_HOLD, MSG_HELD, MSG_ACK, MSG_ACKED,
	MSG_CLOSE, MSG_CLOSED, MSG_DONE, MSG_GONE,
	/* worker <-> dispatcher */
	MSG_LIST, MSG_UNITS, MSG_ASSIGN, MSG_ASSIGNED, MSG_REVOKE, MSG_REVOKED,
	MSG_SPLIT_REQ, MSG_SPLIT, MSG_RESTART, MSG_STREAM_END, MSG_HANDOVER, MSG_END_OK,
	MSG_READER_GONE, MSG_GONE_OK,
	/* reader <-> worker */
	MSG_CREDIT, MSG_CHUNK, MSG_CHUNK_ACK, MSG_VOID,
	/* worker -> dispatcher */
	MSG_FAULTS,
	/* reader -> dispatcher */
	MSG_REACHED,
	/* reader <-> worker on one machine */
	MSG_ATTACH, MSG_ARENA,
	/* tool <-> dispatcher */
	MSG_FORGET, MSG_FORGOTTEN,
	/* dispatcher <-> worker */
	MSG_YIELD, MSG_YIELDED,
	/* tool <-> dispatcher; a key that is not known yet <-> dispatcher */
	MSG_INVITE, MSG_INVITED, MSG_JOIN, MSG_JOINED,
	/* worker <-> dispatcher */
	MSG_TAKES, MSG_TAKES_OK,
	/* reader <-> dispatcher, in rounds */
	MSG_STOP, MSG_HALT, MSG_FENCE,
	/* worker <-> dispatcher */
	MSG_MISSED, MSG_MISSED_OK, MSG_VIEW, MSG_VIEW_OK,
	/* reader -> dispatcher */
	MSG_UNREACHED,
	/* worker -> dispatcher */
	MSG_STORES,
	/* tool <-> dispatcher <-> worker */
	MSG_TAP, MSG_TAPPED,
	/* tool <-> dispatcher */
	MSG_END, MSG_ENDING,
	/* worker <-> dispatcher */
	MSG_STEP, MSG_STEP_OK,
	MSG_TYPES
};

/* Which stream, and which handing out of it: of every stream's message. */
struct stream_key {
	uint64_t iteration;
	uint32_t stream, gen;
};

/* An element that failed, and that a policy skipped or kept; or the one that ended its stream. */
struct msg_fault {
	/* number among its stream's failures, from 1; 0: it ended the stream */
	uint64_t nth;
	uint32_t op;            /* the operator's number in the spec */
	char *text, *error;     /* the operator's text; what was wrong */
	char *file;             /* file of the source */
	uint64_t line;          /* 0: unknown */
	char *element;          /* JSON, cut */
	char *worker;           /* the last two are filled in by the dispatcher */
	uint32_t stream;
	uint64_t offset;        /* elements the stream had given before, about */
};
struct msg_faults_list { struct msg_fault *v; size_t n; };

struct msg_stream_ref { struct stream_key key; };
struct msg_hello {
	uint32_t version;
	uint32_t role;          /* enum wire_role */
	uint64_t peer;          /* the sender's id, as in its routing id */
	char *name, *host;      /* for people; host: an id of the machine */
	char *hostname;         /* the machine's name, for people */
	uint32_t pid;
	char *endpoint;         /* worker: where readers connect; its key after a blank */
	uint32_t slots;         /* worker: streams it wants to run at once */
	struct words tags;
	uint64_t instance;      /* instance of the dispatcher it knew; 0: its first HELLO */
	struct { struct msg_stream_ref *v; size_t n; } streams; /* worker: what it runs */
};
struct msg_welcome {
	uint32_t version;
	uint64_t instance;      /* another one than before: all state is gone */
	bool durable;           /* comes back with its state when it is lost */
	uint32_t beat_ms, loss_ms;
	bool strangers;         /* others than its user may reach the dispatcher */
};
struct msg_refused { uint32_t version, code; char *text, *help; };
struct msg_error { uint32_t code; char *text, *help; };  /* reply to any request */
/* Time that the threads of an iteration spent in one operator, and the elements that came out of it. */
struct msg_op_time { uint32_t place; uint64_t ns, elements; }; /* place: the operator's number in the spec */
struct msg_op_times { struct msg_op_time *v; size_t n; };
/* Where time went since the last BEAT, for one iteration. Of a worker it is the time of
 * its slots: making elements, or held back since nobody took them. Of a reader: with
 * elements at hand, or without; out_ns: of the time with elements, while its output took nothing. */
struct msg_clock {
	uint64_t iteration, work_ns, wait_ns, out_ns;
	struct msg_op_times ops;
	uint64_t call_ns; uint32_t call_place; /* worker: the longest call that is under way, and its operator; 0: none */
	uint64_t raw, wire;     /* worker: bytes of elements that it sent; of them on sockets, as they were packed */
};
struct msg_clocks { struct msg_clock *v; size_t n; };
struct msg_beat {
	uint64_t kept_bytes;    /* worker: of chunks it keeps; others 0 */
	uint64_t streams;       /* worker: how many it has; reader: version of the last STREAMS */
	uint64_t arena, leased; /* worker: bytes of the memory it shares; of them, those lent to readers */
	bool shared;            /* reader: takes elements out of the memory of a worker */
	uint32_t cores;         /* reader: it feeds so many cores (dsvc-feed); 0: none */
	uint64_t step;          /* they have done so many steps, all of them */
	uint32_t last;          /* the core that the others are ahead of, from 1 on; 0: none */
	struct msg_clocks clocks;
};
struct msg_bye { bool drain; };                          /* worker: take my streams over */

struct msg_register { char *id, *spec, *type; };         /* id "": any */
struct msg_get { char *id; };
struct msg_dataset { char *id, *spec, *type; bool known; }; /* known: was there before */
/* kind of report: enum disp_report (core) */
struct msg_status { uint32_t what, part, recent; char *job; };
struct msg_report { uint32_t part; bool last; struct bytes value; }; /* a part of one MessagePack value */

struct msg_forget {
	struct words jobs;      /* names or numbers */
	struct words datasets;  /* ids */
	bool force;             /* although they are in use */
	bool again;             /* asked before: what is not there may have been forgotten then */
};
struct msg_forgotten { uint32_t jobs, datasets, readers; };
/* The service is to end: workers hand over what they have first, or at once. */
enum wire_end { END_ASK = 0, END_DRAIN = 1, END_NOW = 2, WIRE_ENDS };
struct msg_end { uint32_t how; };                        /* ASK: only say what is there */
struct msg_ending { uint32_t how, workers, readers; };   /* the largest so far; those that are there */

struct msg_stream_ranges { uint32_t stream; struct ranges ranges; };
struct ranges_list { struct msg_stream_ranges *v; size_t n; };

/* In rounds: a round of a pass from which it can go on with another number of consumers: the elements
 * that each of its streams has given by then. */
struct msg_number { uint64_t n; };
struct numbers { struct msg_number *v; size_t n; };
struct msg_mark { uint64_t rounds; struct numbers base; uint64_t bytes, elements; }; /* the last two: of an output */
struct marks { struct msg_mark *v; size_t n; };

struct msg_open {
	struct job_opts job;    /* but `window` and `transfer` */
	char *dataset;          /* id, or "" with spec and type */
	char *spec, *type;
	uint64_t iteration, seat; /* opened before: 0 or what JOB said */
	bool resume;            /* `have` is where to go on from */
	bool pass_seed;         /* with resume: the job's seed is that of the pass itself */
	struct ranges_list have;/* elements the consumer has had, in earlier runs */
	struct words took;      /* consumers of another number, as "2/4": their positions are given */
	struct marks marks;     /* it can go on from any of these; with resume: its pass began with the only one */
};
struct msg_job {
	uint64_t iteration, seat; /* seat: this reader's number in the iteration */
	struct job_opts opts;   /* options as opened, with the iteration's seed, epoch and number of streams */
	char *dataset, *spec, *type;
	bool shareless;         /* sharding hint of a pipeline that takes no share: each stream gives everything */
	uint32_t block;         /* order stable: elements taken from a stream in turn */
	uint32_t view;          /* the one of each stream that it takes from */
	uint32_t places;        /* in a round; 1: there are no rounds */
	bool fenced;            /* an agreed end: so many rounds of the pass are to be had by all */
	uint64_t fence;
	uint64_t begin;         /* rounds that earlier consumers had, of another number; and what these took of each stream */
	struct numbers base;
};
/* Rounds are counted from the begin of the pass, in all runs together. */
struct msg_stop { uint64_t iteration, seat, rounds, multiple; };
struct msg_halt { uint64_t iteration, seat, multiple; };
struct msg_fence { uint64_t iteration, rounds; };
struct msg_stream {
	uint32_t stream, gen;
	uint32_t state;         /* enum wire_stream_state */
	uint64_t worker;        /* peer id; 0: none */
	char *endpoint;
	uint64_t length;        /* when ended, or failed */
	uint64_t split;         /* when failed: the number, in the stream, of the split that was being read */
	uint64_t floor;         /* all offsets below are acknowledged */
	uint64_t missed;        /* elements that the reader's group was not given */
	bool local;             /* the worker is on the reader's host */
	bool made;              /* in rounds: `own` is known */
	uint64_t own;           /* elements in whole rounds of this stream */
	struct secret ticket;   /* for CREDIT and CHUNK_ACK of this reader and generation */
};
struct msg_streams {
	uint64_t iteration;
	uint64_t since, version; /* changes after `since` up to `version`; since 0: all anew */
	bool all_known;         /* no stream will be added any more */
	uint32_t total;         /* streams so far */
	struct { struct msg_stream *v; size_t n; } list; /* those that changed */
};
struct msg_held { struct stream_key key; uint64_t seat; struct ranges ranges; };
struct msg_ack { uint64_t iteration, seat, seq; struct ranges_list list; };
struct msg_floor { uint32_t stream; uint64_t floor; };
struct msg_acked {
	uint64_t iteration, seat, seq;
	struct { struct msg_floor *v; size_t n; } floors;
	uint32_t pace_ms;       /* how long acknowledgements are to wait for company; 0: as usual */
};
struct msg_close { uint64_t iteration, seat, seq; bool keep; struct ranges_list list; uint32_t view; };
struct msg_closed { uint64_t iteration, seat; };
struct msg_done {
	uint64_t iteration;
	uint32_t code;
	char *text, *help;
	uint64_t elements, failed; /* failed: elements that a policy skipped or kept */
	uint64_t dropped;       /* elements that did not fill a round, and went to nobody */
	uint64_t added;         /* nulls that filled up rounds */
	uint64_t missed;        /* elements that the reader's group was not given */
	char *lacks;            /* which, for people */
	struct msg_faults_list faults;
};
struct msg_gone { uint64_t iteration, seat; uint32_t code; char *text; };

struct msg_list {
	char *spec;
	uint32_t sharding;      /* enum job_sharding: what the units are for */
	bool in_order, seeded;  /* several streams are to give what one process gives; with its seed */
	bool programs;          /* it may run programs: struct msg_assign */
};
struct msg_units {
	uint64_t listing;       /* which listing of the worker this is a part of */
	uint32_t part;          /* counted from 0 */
	bool last;
	uint32_t code;          /* a failure comes in one part */
	char *text, *help;
	uint64_t times;
	uint64_t period;        /* so many of them are one repetition, and all ends with one that has no elements; 0: never */
	bool files;             /* each unit is a file */
	bool by_one;            /* rounds: streams take turns by one element, since theirs may be alike, or are large */
	struct dataset_facts facts;
	struct split_list units;/* those of this part */
};
/* A ledger and a queue of a stream, for readers that have a part of it. They count its
 * elements by themselves: all offsets below are those of the view. */
struct msg_view {
	uint32_t first, n;      /* places in each round */
	struct ranges skip;     /* made, but not to be sent: somebody has them */
};
struct msg_assign {
	struct stream_key key;
	char *job, *spec;
	uint64_t seed;
	bool by_split;          /* ask for splits; else the stream is the whole dataset */
	uint32_t sharding;      /* enum job_sharding: data, hint: the stream is that shard of `streams` */
	uint32_t compression;   /* enum job_compression, of its chunks */
	uint32_t order;
	uint64_t offset;        /* offset of the first element it will make */
	uint64_t split;         /* the split it begins in: the first to ask for */
	struct bytes state;     /* chain's state at `offset`; empty: begin of that split */
	bool has_state;
	uint32_t places;        /* places in a round; 1: each view gets every element */
	uint64_t base;          /* the element with which the first round begins */
	struct { struct msg_view *v; size_t n; } views; /* at least one */
	/* Elements that do not fill a round: the first goes to place tail_at mod `places`, so many in all. */
	bool tail_known, pad;   /* pad: null may have to be added */
	uint64_t tail_at;
	uint32_t tail_n;
	uint64_t tail_all;      /* spread: so many elements of all streams (value/round.h) */
	uint64_t failed;        /* elements of the stream that failed before `offset` */
	uint32_t streams;       /* streams of the iteration so far */
	bool all_known;         /* and no more will come */
	struct secret secret;   /* the tickets of its readers are made of it; none: no ticket is asked for */
	uint64_t window;        /* bytes kept for views; beyond, those behind miss the oldest; 0: they miss nothing */
	bool shared;            /* views may be added: what all have is kept for them while there is room */
	uint64_t listed;        /* split_list_names of the units, which the source must have; 0: whatever it has */
	bool programs;          /* the spec was given by one whose pipelines may run programs */
	bool careful;           /* each run of elements is announced with STEP, and made after STEP_OK */
};
struct msg_assigned { struct stream_key key; };
struct msg_revoke { struct stream_key key; };            /* this generation and all before */
struct msg_revoked { struct stream_key key; };
struct msg_split_req {
	struct stream_key key;
	uint64_t k;
	uint32_t n;
	uint64_t given;         /* elements that the stream has given so far (its offset), or has stored */
	uint64_t reading;       /* the split that is being read: those before it have gone through */
	bool reached;           /* an element has come to the repeat that `period` of UNITS is about */
	bool ended;             /* the source `leaf`, which has grown, is known to have `length` parts */
	uint32_t leaf;
	uint64_t length;
};
struct msg_split {
	struct stream_key key;
	uint64_t k;
	struct split_list splits;
	bool end;
	uint32_t streams;       /* with end: of the iteration in all; 0: more may come */
};
struct msg_restart {
	struct stream_key key;
	uint64_t offset, split, failed;
	struct bytes state;
	uint64_t window;        /* elements that the worker keeps for groups behind; 0: all */
	bool reached;           /* see msg_split_req */
};
struct msg_stream_end {
	struct stream_key key;
	uint64_t split;         /* number of the split that was being read when it failed */
	uint64_t length, made;  /* made: elements produced under this generation, skipped ones too */
	uint64_t failed;        /* elements of the stream that failed */
	bool reached;           /* see msg_split_req */
	uint32_t code;          /* 0, or why it failed */
	char *text, *help;
};
struct msg_yielded { struct stream_key key; bool stays; };
/* A careful stream is about to make the element at `offset`; held: it cannot before readers take what is there, or it
 * has no thread. ahead: threads of its chain make elements before they are asked for. */
struct msg_step { struct stream_key key; uint64_t offset; bool held, ahead; };
struct msg_step_ok { struct stream_key key; bool free; }; /* free: and whatever follows, without a word */
struct msg_handover { struct stream_key key; uint64_t offset, split, made, failed; struct bytes state; bool reached; };
/* Sums over the files of a stream; waits: why it stands still, "": it does not. */
struct msg_stored { uint64_t files, elements, bytes; };
struct msg_stores { struct stream_key key; struct msg_stored sum; char *waits; };
/* A look at elements in the middle of a pipeline: copies of the next n that an operator gives. */
struct msg_tap {
	char *job;              /* name or number; only asked of the dispatcher */
	uint64_t iteration;     /* 0: the pass of that job that is under way */
	uint32_t place, n;      /* the operator's number in the spec; elements of each stream */
	uint64_t tool;          /* peer id of who wants to see them; only asked of a worker */
};
struct msg_tapped {
	struct stream_key key;  /* in an answer to a tool only the iteration counts */
	uint64_t tool;
	uint32_t place, n;      /* n: elements that follow */
	uint64_t left_out;      /* others, which are too large to be shown */
	bool over;              /* the pass is, and nothing more comes */
	struct bytes elements;  /* end to end */
};
struct msg_faults { struct stream_key key; uint64_t failed; struct msg_faults_list list; };
struct msg_reached { struct stream_key key; uint64_t seat; };
struct msg_unreached { uint64_t iteration, seat, worker; uint32_t down_ms; char *why; };
struct msg_reader_gone { struct stream_key key; uint64_t seat; struct ranges acked; uint32_t view; bool ended; };
struct msg_missed { struct stream_key key; uint32_t view; struct ranges ranges; };
/* later: it may begin after `first`, with the oldest element that is there. */
struct msg_view_add { struct stream_key key; uint32_t view; uint64_t first; bool later; };
struct msg_view_ok { struct stream_key key; uint32_t view; bool can; uint64_t begin; };
struct msg_gone_ok { struct stream_key key; uint64_t seat; struct ranges acked; uint32_t view; bool ended; };

/* A reader that was sent a chunk of a stream. */
struct msg_take { struct stream_key key; uint64_t seat; uint32_t view; };
struct msg_takes { struct { struct msg_take *v; size_t n; } list; };

struct msg_credit {
	struct stream_key key;
	uint64_t seat;
	uint32_t session;
	uint64_t total;
	struct secret ticket;
	uint32_t view;
};
struct msg_chunk {
	struct stream_key key;
	uint64_t seat;
	uint32_t session;       /* session of the credit it was sent on */
	uint64_t offset;        /* offset of the payload's first element */
	uint32_t count;         /* elements in the payload */
	bool tail;              /* in rounds: behind the whole rounds of the stream */
	uint32_t skip;          /* how many elements at the front are not for you */
	uint64_t split;         /* number, in its stream, of the split they came from */
	uint32_t codec;         /* enum wire_codec */
	uint64_t raw_len;       /* payload bytes once decoded */
	uint64_t lease;         /* 0: a payload follows; else raw_len bytes lie in the worker's memory: */
	uint32_t arena;         /* in this arena */
	uint64_t at;            /* from this byte on */
};
struct msg_chunk_ack {
	struct stream_key key;
	uint64_t seat;
	struct ranges ranges;
	struct secret ticket;
	uint32_t view;
};
struct msg_void { struct stream_key key; uint64_t seat; };
struct msg_attach {
	char *host;             /* id of the machine, as in HELLO */
	uint32_t user, session; /* session: as in the CREDITs that follow */
	uint64_t cookie;        /* from ARENA; 0: not known yet */
	struct ranges held;     /* leases that the reader has; others of this cookie are over */
};
struct msg_arena { uint64_t cookie; char *path; uint32_t code; char *text, *help; };

struct msg_invite { char *roles; uint32_t lasts_s, uses; char *name, *from, *address; };
struct msg_invited { char *line; };
struct msg_join { char *id, *secret, *name; };
struct msg_joined { char *roles, *name; };

struct msg {
	enum msg_type type;
	uint64_t req;
	union {
		struct msg_hello hello;
		struct msg_beat beat;
		struct msg_bye bye;
		struct msg_welcome welcome;
		struct msg_refused refused;
		struct msg_error error;
		struct msg_register reg;
		struct msg_get get;
		struct msg_dataset dataset;
		struct msg_status status;
		struct msg_report report;
		struct msg_open open;
		struct msg_job job;
		struct msg_streams streams;
		struct msg_stream_ref hold;
		struct msg_held held;
		struct msg_ack ack;
		struct msg_acked acked;
		struct msg_close close;
		struct msg_closed closed;
		struct msg_done done;
		struct msg_gone gone;
		struct msg_list list;
		struct msg_units units;
		struct msg_assign assign;
		struct msg_assigned assigned;
		struct msg_revoke revoke;
		struct msg_revoked revoked;
		struct msg_split_req split_req;
		struct msg_split split;
		struct msg_restart restart;
		struct msg_stream_end stream_end;
		struct msg_handover handover;
		struct msg_stream_ref end_ok, yield;
		struct msg_stop stop;
		struct msg_halt halt;
		struct msg_fence fence;
		struct msg_yielded yielded;
		struct msg_step step;
		struct msg_step_ok step_ok;
		struct msg_reader_gone reader_gone;
		struct msg_gone_ok gone_ok;
		struct msg_missed missed;
		struct msg_view_add view_add;
		struct msg_view_ok view_ok;
		struct msg_credit credit;
		struct msg_chunk chunk;
		struct msg_chunk_ack chunk_ack;
		struct msg_void void_;
		struct msg_faults faults;
		struct msg_stores stores;
		struct msg_tap tap;
		struct msg_tapped tapped;
		struct msg_reached reached;
		struct msg_unreached unreached;
		struct msg_attach attach;
		struct msg_arena arena;
		struct msg_forget forget;
		struct msg_forgotten forgotten;
		struct msg_end end;
		struct msg_ending ending;
		struct msg_invite invite;
		struct msg_invited invited;
		struct msg_join join;
		struct msg_joined joined;
		struct msg_takes takes;
	};
};

/* Appends the header frame. Texts longer than their limit are a bug of ours. */
void msg_encode(const struct msg *m, struct buf *out);
/* ST_PROTO with a sentence naming message and field. */
enum status msg_decode(const uint8_t *p, size_t n, struct msg *out, struct err *e);
void msg_clear(struct msg *m);
/* Fills a message that has its type with copies of the fields of `body`, the struct of that type. */
void msg_fill(struct msg *m, const void *body);
/* Gives a copy that owns all it has. */
void msg_copy(struct msg *to, const struct msg *from);
const char *msg_name(enum msg_type t);       /* "HELLO"; "?" for others */
/* Whether the receiver would take a message that was encoded in `encoded` bytes: no field
 * and no frame above its limit. ST_BUG otherwise: the sender should have looked. */
enum status msg_fits(const struct msg *m, size_t encoded, struct err *e);
size_t msg_frame_max(enum msg_type t);       /* most bytes of its header frame */

/* For doc/protocol.md: one markdown table per message. */
void msg_print_tables(struct buf *out);

#endif
