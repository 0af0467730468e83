/* SPDX-License-Identifier: MIT
 *
 * The shape of an operator, and of the chains they form.
 *
 * An operator is one file op_NAME.c that exports one `const struct op_desc
 * op_NAME`; the table of operators is the list of such files. The descriptor
 * says what it is called, what it takes, what the planner must know of it,
 * and its callbacks. Everything else (parser, help, manual, completion,
 * tests) reads the descriptor.
 *
 *	text --lang--> struct op_node (checked plan, immutable, shared by threads)
 *	          --op_open--> struct op_inst (running, one thread)
 *	          --op_pull--> struct run, struct run, ..., ST_END
 *
 * State is one struct per operator: parameters first (filled from the rows),
 * then running state. The plan holds a prototype with the parameters; opening
 * copies it, so running state begins zeroed. Pointers among the parameters
 * belong to the plan.
 *
 * Three kinds:
 *	source     next(self, out): fills out with up to RUN_USUAL elements, at least
 *	           one unless ST_END; gives fewer rather than wait.
 *	transform  feed(self, in, out): makes the elements of one input run into 0..n
 *	           elements of out; slices of `in` may be passed on (run_push).
 *	           finish(self, out), at the end of input: called until it gives
 *	           ST_END (with or without elements in that last run).
 *	           A transform that needs no more input sets self->done. One that
 *	           has more to give than a run should hold returns ST_AGAIN with
 *	           self->at = the element of `in` to go on with: it is called again
 *	           with the same `in` and begins at self->at (else 0).
 *	           A transform with `next` in place of feed pulls in[0] itself; one
 *	           that has both is asked by next when open sets self->pulls.
 *	combine    next(self, out), pulling self->in[k] itself with op_next; must
 *	           run_keep what it takes, and return what it has when the input it
 *	           needs is not op_ready, so that nothing is held back.
 *
 * A callback that has nothing to change sets self->give to the run it got: that
 * is then lent in place of out, and nothing is copied.
 *
 * out is empty when a callback is entered and lives until the operator is
 * called again. What is in out when a callback returns an error is given first,
 * and the error then, again and again. Errors of single elements go through op_fault, which applies
 * on_error; other errors are returned and end the stream.
 */
#ifndef OP_OP_H
#define OP_OP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "expr/expr.h"
#include "value/elem.h"
#include "value/json_rules.h"
#include "value/split.h"
#include "value/type.h"

struct op_node;
struct op_inst;
struct op_ctx;
struct op_typing;
struct op_programs;
struct conditions;
struct needles;
struct state_row;

enum op_kind { OP_SOURCE, OP_TRANSFORM, OP_COMBINE };

/* The meaning of the operator's memory between elements. */
enum op_scope {
	OP_ELEMENT, /* no memory: each element is handled alone */
	OP_STREAM,  /* memory that is meaningful within one stream */
	OP_GLOBAL   /* memory that is meaningful only over all elements */
};

/* The parameter `partial` of operators whose answers about parts make the answer about all. */
enum op_partial { PARTIAL_NONE, PARTIAL_MAKE, PARTIAL_JOIN };

enum op_flag {
	OP_REORDERS = 1,   /* does not keep the order of its input */
	OP_RANDOM = 2,     /* draws random numbers: has a `seed` parameter or uses op_rng */
	OP_LOCAL = 4,      /* cannot run on a worker: reads this process's stdin; see op_is_local */
	OP_REMOTE = 8,     /* elements come from the service, dataset and distribute; state begins with struct job_opts */
	OP_JOINS_SPLITS = 16, /* combine: its splits are its inputs' splits, input by input (concat) */
	OP_RESHUFFLES = 32,/* another pass may differ from the one before */
	OP_BORDER = 64,    /* distribute: what stands before it runs on workers */
	/* For the planner, which tells sources which fields are used: */
	OP_PASSES = 128,   /* elements come out as they came in (filter, take) */
	OP_BY_EXPR = 256,  /* looks at its input only through its expressions (map, filter, take) */
	OP_EXEC = 512,     /* runs programs of the user's choice: see op_needs_exec */
	/* For operators between a source read by index and the operator that permutes
	 * (by_index.h): */
	OP_EACH = 1024,    /* transform: at most one element for each, made from it alone */
	/* transform: like OP_EACH, but asks self->by_index for the elements' numbers */
	OP_NUMBERS = 2048,
	/* combine: its k-th element is made from the k-th of each input (zip) */
	OP_ALONGSIDE = 4096,
	/* For the number of elements (op_elements_of): */
	OP_WHOLE = 8192,   /* transform: gives nothing before its input has ended (sort, count) */
	OP_CUTS = 16384,   /* transform: may end before its input does (take, take_while) */
	OP_STORES = 65536, /* transform: puts its input away, and gives little or late (save) */
	OP_EVENLY = 262144,/* transform: what it picks at even distances has even distances in its input */
	OP_TESTS = 524288, /* transform: passes on the elements for which its one expression is true, no more */
	OP_COUNTS = 1048576, /* transform: without parameters, or partwise, looks only at how many elements there are */
	OP_SEEKS = 4194304,/* source: always passes over what holds none of its needles, without making elements of it */
	OP_EXCLUDES = 2097152, /* source: may leave out elements that the tests right behind it let nothing through of */
	OP_WRITES = 131072,/* transform: writes elements to the folder that its PARAM_PATH row names, if given */
	OP_ALIKE = 32768   /* transform: puts elements of one kind together, which differ from those of another (bucket) */
};

/* The field of a PARAM_EXPR row: the parser makes the tree, typing the code. */
struct op_expr {
	struct expr_ast *ast; /* NULL: not given */
	struct expr *code;
};
/* The field of a PARAM_PIPES row. */
struct op_pipes {
	struct op_node **v;
	char **names;         /* NULL unless given as name=(...) */
	size_t n;
};
/* The field of a PARAM_NAMED row. An operator whose expressions are calls of its own, such as
 * mean(.ms), compiles the first argument of each. */
struct op_named_expr {
	char *name;
	struct expr_ast *ast;
	struct op_expr of;    /* its tree is lent from ast; NULL: a call without arguments */
};
struct op_named {
	struct op_named_expr *v;
	size_t n;
};
/* The field of a PARAM_FRAGMENT row: `head` is a stand-in source that the operator feeds. */
struct op_fragment {
	struct op_node *head, *tail;
};

enum op_policy { OP_FAIL, OP_SKIP, OP_KEEP };

/* A parameter of an inner source that takes its value from the outer element:
 * `interleave (lines x)`, `interleave (range .n)`. */
struct op_bind {
	const struct param *row;
	struct op_expr value;
};

/* is: workers give records of programs' runs (program_row.h) in place of their answers. strict: a failed element
 * makes the run fail, though the workers go on, since its on_error=fail was replaced. */
struct op_logged { bool is, strict; };

struct op_node {
	const struct op_desc *desc;
	void *params;             /* prototype of the state, desc->state_size bytes */
	/* one bit for each row of desc->params that the spec has a value for */
	uint64_t given;
	struct op_node **in;      /* upstream: 0 source, 1 transform, n combine */
	size_t n_in;
	const struct type *type;  /* element type of the output */
	uint32_t place;           /* the operator's number in the spec, from 1; for seeds, messages, statistics */
	size_t at, len;           /* where it stands in the spec's text */
	char *text;               /* canonical text of this stage, for messages */
	int retries;              /* how often an element is tried again before on_error applies */
	enum op_policy on_error;
	/* OP_BORDER, and the source of a fragment: assumed to have no end */
	bool endless;
	struct op_logged logged;  /* OP_BORDER: what runs on workers gives records, and this node their answers */
	bool by_part;             /* OP_BORDER: what runs on workers gives the same if each split has an instance of it */
	bool skips_nulls;         /* nulls=skip, for an operator with expressions */
	bool per_stream;          /* global operator that the spec allows ahead of distribute */
	/* gives its input's elements in an order of their indices (desc->permutes) */
	bool permutes;
	/* gives those of its input's elements that it picks, and has no others made (op_push_shard) */
	bool strides;
	struct op_bind *binds;
	size_t n_binds;
	char *remote_spec;        /* OP_BORDER: canonical spec of what runs on workers */
	struct json_fields *project; /* source: the fields that are used downstream; NULL: all */
	/* source of text: a text that holds none of them is dropped by the filter right behind it; lent from that
	 * filter; NULL: nothing is known */
	const struct needles *needles;
	/* source with OP_EXCLUDES: what the filters right behind it ask; NULL: nothing is known */
	struct conditions *tests;
	/* aggregate right behind a border, all of which is done by the reader: a clause that says why */
	const char *whole_why;
	bool counted;             /* source: the operator right behind it counts the elements and looks at none */
};

/* How the words of a command are read. */
struct op_words {
	bool script; /* the words joined are one script for the shell */
	bool places; /* {} and similar places stand for the element */
};

/* A call that only the NAME=CALL arguments of an operator know. */
struct op_call {
	const char *name, *args; /* "quantile", "EXPR, Q" */
	const char *brief;       /* one clause, no capital, no full stop */
};

struct op_desc {
	const char *name;         /* a single word, the same as in the file's name */
	const char *aliases;      /* other words for it, joined by |; NULL: none */
	const char *match;        /* a word for it with the test x ~ PATTERN; NULL: none */
	const char *brief;        /* one clause, no capital, no full stop */
	const char *doc;          /* paragraphs for the manual, plain text */
	enum op_kind kind;
	enum op_scope scope;
	unsigned flags;
	const struct param *params;
	const struct op_call *(*calls)(size_t i); /* for a PARAM_NAMED row; NULL at the end. Absent: none */
	size_t state_size;

	/* Planning. typing: checks and compiles the expressions (op_compile) and gives the
	 * output type in *type. Absent: expressions see x and i, and the type is the input's
	 * (source: any). check: compares parameters with each other before anything runs; a
	 * source checks here that its files exist (ST_NOINPUT). */
	enum status (*typing)(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e);
	enum status (*check)(const struct op_node *n, struct err *e);
	/* Adds the units of a source that can be cut. Absent: one SPLIT_ALL. */
	enum status (*list)(const struct op_node *n, struct split_list *out, struct err *e);
	/* How the words of PARAM_COMMAND and PARAM_SCRIPT rows are read, which decides how
	 * they are checked and how values are put into them (op_words). Absent: as plain
	 * words. */
	struct op_words (*words)(const struct op_node *n);
	/* Where the scope depends on the parameters. Absent: scope. Ask op_scope_of. */
	enum op_scope (*scope_of)(const struct op_node *n);
	/* How many times it repeats its input (repeat); INT64_MAX: for ever. Absent: 1. */
	int64_t (*times)(const struct op_node *n);
	/* How many elements come out for the numbers that come in; -1 unknown, INT64_MAX
	 * endless. Absent: with element scope unknown, for a source unknown. */
	int64_t (*cardinality)(const struct op_node *n, const int64_t *in);
	/* A source with random access: how many elements can be read by index, as
	 * `cardinality` says it. Absent: cardinality. */
	int64_t (*indexed)(const struct op_node *n);

	/* Whether parts of its input (of a source: of all that it reads), each run through an
	 * instance of its own and then concatenated, give what the whole gives. Absent: true
	 * with element scope unless it draws random numbers; else false. *remedy may be set to
	 * a clause that says how to get the same result ("cycle=1 does; or "). */
	bool (*partwise)(const struct op_node *n, const char **remedy);

	/* Whether answers about parts of its input, made by this node with partial=make on workers, give its
	 * answer once they are put together by partial=join; if not, *why may be set to a clause that says why. It
	 * has a parameter `partial` (enum op_partial). Absent: false. */
	bool (*combines)(const struct op_node *n, const char **why);

	/* Random access (by_index.h). permutes, for a transform: whether this node reads what
	 * stands before it by index; sets (unless NULL) the seed, and whether each pass has an
	 * order of its own. pick, for a transform: replaces the indices of elements that it
	 * gives by those of its input's elements; `in` is the number of these. An operator
	 * that picks is not opened when it is read by index. */
	bool (*permutes)(const struct op_node *n, int64_t *seed, bool *reshuffle);
	void (*pick)(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k);
	/* For a transform that makes each element from a group of its input, one group after
	 * the other: the size of a group. */
	uint64_t (*groups)(const struct op_node *n);

	/* Whether this node takes its share from the job: it goes with sharding hint only. */
	bool (*by_share)(const struct op_node *n);

	/* Running. open and close may be absent; close is called once for every open, even a
	 * failed one. self->split is set when only one split is to be read. */
	enum status (*open)(struct op_inst *self, struct err *e);
	enum status (*next)(struct op_inst *self, struct run *out, struct err *e);
	/* A source with random access: gives the elements of these indices, in this order;
	 * takes as many as make a run, at least one, and sets *k to their number. Its
	 * cardinality is then exact or -1, and self->by_index is set where `at` is called in
	 * place of `next`. */
	enum status (*at)(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out,
			  struct err *e);
	/* Gives the *k elements of the indices first, first + stride, ... as `at` does: it may be
	 * absent, and saves those who can the list. */
	enum status (*at_every)(struct op_inst *self, uint64_t first, uint64_t stride, uint32_t *k,
				struct run *out, struct err *e);
	enum status (*feed)(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
	enum status (*finish)(struct op_inst *self, struct run *out, struct err *e);
	void (*close)(struct op_inst *self);
	/* Starts another pass, for an operator that keeps something from pass to pass; it
	 * rewinds its inputs itself. Absent: it is closed, its inputs are rewound, and it is
	 * opened again. */
	enum status (*rewind)(struct op_inst *self, struct err *e);
	/* A source: passes over up to n of the elements that come next, without making them, and gives their number. 0: it
	 * cannot, or would not be quicker. The last element of a file is always made. Absent: 0. */
	uint64_t (*pass)(struct op_inst *self, uint64_t n);
	/* The state between runs, as bytes; restore is called after open. An operator with
	 * memory but without save starts over from the beginning. A source saves its position
	 * in what it reads. state_rows, instead of both callbacks: the fields that make up the
	 * state (state.h). */
	const struct state_row *state_rows;
	void (*save)(struct op_inst *self, struct buf *out);
	enum status (*restore)(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

	const char *example, *output; /* a pipeline, and exactly what dsvc-run prints for it */
	const char *input;            /* the example's standard input; NULL: none */
};

/* A pass of a job that an OP_REMOTE source reads. */
struct op_remote {
	const struct op_node *node;
	const char *dataset;      /* id; NULL: what node->remote_spec says */
	uint32_t pass;            /* number of the pass, from 0, counted from the one that the parameters name */
	/* The elements must be the same each time, in one order, since the source may be opened again
	 * elsewhere; random operators then draw from this seed, unless the parameters have one. */
	bool same;
	uint64_t seed;
	const struct buf *from;   /* given by `save` when the elements before were had; NULL: from the start */
};

/* Where the elements of OP_REMOTE sources come from; the program supplies it. */
struct op_service {
	/* Opens a pass of a job; *handle is then passed to the other callbacks. */
	enum status (*open)(void *arg, const struct op_remote *what, void **handle, struct err *e);
	/* Puts what `open` needs to go on from here. */
	void (*save)(void *handle, struct buf *out);
	/* Fills out with elements that have arrived; waits only when there are none. */
	enum status (*next)(void *handle, struct run *out, struct err *e);
	/* After the end: whether the pass had elements, whichever reader received them. */
	bool (*had_any)(void *handle);
	void (*close)(void *handle);
	/* The element type of a registered dataset, as text. at: address of its service; NULL: the usual one */
	enum status (*type)(void *arg, const char *dataset, const char *at, struct buf *out, struct err *e);
	void *arg;
};

/* A failed element, to be counted and written to --errors FILE. */
struct op_failure {
	const struct op_node *node;
	const struct err *e;
	const char *file;         /* source file, or NULL */
	uint64_t line;            /* 0: unknown */
	struct elem elem;         /* p NULL: the element is not known */
	bool fatal;
};

/* Counts what sources have taken in so far; intake.h tells all that there is. Added to by any
 * thread of a chain, once for each block or run; read by any. */
struct op_intake {
	_Atomic uint64_t bytes;    /* read from files, as they lie on disk; by inner pipelines, too */
	_Atomic uint64_t elements; /* given by the plan's own sources, of those that can tell their number */
};

/* The source `leaf` has `length` parts in all; known: it has said so. */
struct op_ended { bool known; uint32_t leaf; uint64_t length; };

/* Left by a source that is read split by split to the next one of its splits. */
struct op_kept { void *p; void (*free)(void *p); };

/* waits: lent; NULL: it goes on. */
struct op_stores { uint64_t files, elements, bytes; const struct err *waits; };

/* The context that the program gives to a running chain, and which must outlive it. */
struct op_ctx {
	uint64_t seed;            /* seed of the iteration */
	uint64_t pass;            /* number of the iteration; 0: in this process alone */
	uint32_t gen;             /* generation of the stream: earlier ones may still be alive somewhere */
	uint32_t stream;          /* index of the stream */
	uint32_t draws_as;        /* the stream whose random numbers it draws */
	uint32_t share, shares;   /* numbers for `shard auto auto`; shares 0: there are none */
	/* number of streams as far as known; 0: more may come. NULL: 1 */
	const _Atomic uint32_t *streams;
	uint32_t epoch;           /* epoch of the chain's first pass */
	uint32_t element_max;     /* bytes; a larger element is an error */
	struct json_rules json;   /* says what becomes of values that JSON cannot hold */
	const atomic_bool *stop;  /* set: give up soon (ST_AGAIN from op_pull); may be NULL */
	/* context whose stop counts as well; NULL: none. Ask op_stopped */
	const struct op_ctx *above;
	const struct op_service *service; /* NULL: none */
	struct op_programs *programs; /* says how exec runs programs (programs.h); NULL: as ever */
	uint32_t threads;         /* an operator that works on several threads may start that many; 0, 1: none */
	bool timed;               /* measure the time of each operator */
	struct op_intake *intake; /* counts what the chain's sources take in; NULL: nobody asks */
	/* Reading by split: the chain's sources are opened on one split after another, each
	 * read `times` times; repeats that op_split_times covers are then left out of the
	 * chain. ST_END: no more splits. NULL: sources read everything. With a prefetch in the
	 * chain, next_split and failure are called from its thread. */
	enum status (*next_split)(void *arg, struct split *out, struct err *e);
	/* Where a source says how long it is whose splits are cut although it grows (split.h), for next_split;
	 * NULL: nobody asks. */
	struct op_ended *ended;
	/* Elements must be attributable to their split: an operator that pulls ahead asks for
	 * the next split only after all elements of the one before have been given. */
	bool split_exact;
	/* By split: set by the chain as soon as an element comes to the repeat whose passes the splits count
	 * (op_repeat_watched). Until then elements are attributable to their split in front of that repeat, as with
	 * split_exact. NULL: nobody asks. */
	atomic_bool *reached;
	/* The stream may be made again elsewhere, from its middle: nothing in it may depend on
	 * timing, whatever ordered=false says. */
	bool repeatable;
	/* Set by operators with threads that make elements before they are asked for; NULL: nobody asks. */
	atomic_bool *ahead;
	void (*failure)(void *arg, const struct op_failure *f); /* may be NULL */
	/* Passes on something that a person should know and that is no error: text and help of
	 * *e. Called from the chain's threads; may be NULL. */
	void (*note)(void *arg, const struct op_node *n, const struct err *e);
	/* Tells how much an operator has put into files so far, of the whole stream, and why it stands still, which
	 * people have to mend. Called when that changes, from the chain's threads; may be NULL. */
	void (*stores)(void *arg, const struct op_node *n, const struct op_stores *what);
	/* Somebody wants to see what the operator gives that has this number (its place); 0: nobody does now;
	 * NULL: nobody ever. tapped is called with what it gives next, from any thread of the chain. */
	const atomic_uint *tap;
	void (*tapped)(void *arg, const struct run *r);
	/* NAME=value entries for children of exec and cmd, NULL at the end; may be NULL */
	char *const *env;
	void *arg;
};

/* Elements of the chain will be made before they are asked for. */
static inline void
op_makes_ahead(const struct op_ctx *ctx)
{
	if (ctx->ahead)
		atomic_store_explicit(ctx->ahead, true, memory_order_relaxed);
}

/* Whether nobody may pull ahead into the next split now. */
static inline bool
op_split_exact(const struct op_ctx *ctx)
{
	return ctx->next_split && (ctx->split_exact ||
		(ctx->reached && !atomic_load_explicit(ctx->reached, memory_order_relaxed)));
}

static inline bool
op_stopped(const struct op_ctx *ctx)
{
	for (; ctx; ctx = ctx->above)
		if (ctx->stop && atomic_load_explicit(ctx->stop, memory_order_relaxed))
			return true;
	return false;
}

/* Counters, written by the one thread that runs the operator, read by any. */
struct op_stats {
	uint64_t elements, runs, failed;
	uint64_t ns;              /* time spent in it and everything before it, when timed */
	uint64_t began;           /* when the call of it began that is under way (clock_mono_ns); 0: none */
};

static inline void
op_stat_add(uint64_t *figure, uint64_t n)
{
	__atomic_store_n(figure, __atomic_load_n(figure, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

static inline void
op_stat_set(uint64_t *figure, uint64_t n)
{
	__atomic_store_n(figure, n, __ATOMIC_RELAXED);
}

static inline uint64_t
op_stat_get(const uint64_t *figure)
{
	return __atomic_load_n(figure, __ATOMIC_RELAXED);
}

/* A running operator, as its callbacks see it (chain.h has the chain's own members). */
struct op_inst {
	const struct op_node *node;
	const struct op_desc *desc;
	void *state;
	struct op_ctx *ctx;
	struct op_inst **in;
	size_t n_in;
	struct run out;           /* the run it made last */
	uint32_t taken;           /* how many elements of it op_next has handed over */
	bool done;                /* set by a transform: it wants no more input */
	bool ended;
	const struct split *split;/* source: read only this split; NULL: everything */
	struct op_kept *kept;     /* by split: what the source may leave for its next split; else NULL */
	const struct elem *outer; /* inner pipelines: the outer element; else NULL */
	uint32_t epoch;           /* pass of the repeat above it, from 0 */
	/* set by a source: the pass has elements, though others may have received them */
	bool elsewhere;
	struct op_stats stats;
	/* node->permutes or node->strides: the order that its inputs follow; else NULL */
	struct index_order *order;
	struct by_index *by_index;        /* the elements to give, when read by index; else NULL */
	struct run *give;         /* set by a callback: lend this run instead of out */
	uint32_t at;              /* transform: index in its input run at which feed begins */
	/* set before op_fault: the number of the element in the stream, from 1, where only the operator knows it */
	uint64_t number;
	bool unsaved;             /* set by save: the state cannot be saved */
	bool pulls;               /* set by open: call next even though there is a feed */
	struct run *lent;         /* the run lent last: out or give; never NULL */
};

/* Applies on_error to an element of `in` that failed with *e. ST_OK: go on with the next one
 * (under keep, in->e[i] was passed on); ST_AGAIN: try it again; else the error to return,
 * completed with operator, source file and line, or, without a line, the element itself. */
enum status op_fault(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e);
/* Puts the element in front of the error: its number, from 1 (0: not known), and the beginning of its value. */
void op_fault_name(const struct elem *x, uint64_t number, struct err *e);
/* To be asked before op_fault, by operators that can: true when the elements made so far
 * should be given first (set self->at, return ST_AGAIN), so that the report of the failure has
 * the right number of elements. True for the first few failures only; clears e. */
bool op_fault_later(const struct op_inst *self, const struct run *out, struct err *e);
/* The next failure is about another element, even if that lies at the same address. */
void op_fault_fresh(struct op_inst *self);
/* An element like this one is not tried again: its retries are used up. */
void op_fault_last(struct op_inst *self, const struct elem *x);
/* Puts the operator in front of the text of an error that no policy goes on from, such as a
 * limit that has been reached: operator 3 `sort`: ... Gives e->kind. */
enum status op_blame(const struct op_node *n, struct err *e);
/* The archive's member that an element was made from, where the element still has its name in `__key__`: the
 * bytes of the name, lent, and how many they are, at most 200. 0: there is none. */
int op_member(const uint8_t *p, size_t len, const char **name);
static inline enum op_scope
op_scope_of(const struct op_node *n)
{
	return n->desc->scope_of ? n->desc->scope_of(n) : n->desc->scope;
}
/* The operator as the user wrote it, or its name; lends. */
const char *op_text(const struct op_node *n);
enum status op_source_fault(struct op_inst *self, const char *file, uint64_t line, struct err *e);

/* Drops the first n elements that it gives from now on. */
void op_discard(struct op_inst *self, uint64_t n);

/* A key for this operator's random numbers, from the iteration's seed (or seed_param unless
 * that is PARAM_AUTO), the operator's place, the stream and, if it reshuffles, the epoch. */
uint64_t op_rng_key(const struct op_inst *self, int64_t seed_param, bool with_epoch);

/* Like op_rng_key, for a stream and an epoch that the caller names. */
uint64_t op_rng_key_of(const struct op_inst *self, int64_t seed_param, uint32_t stream, bool with_epoch,
		       uint32_t epoch);

/* Makes a machine for an expression of this operator; in inner pipelines xx is set. Gives. */
struct expr_vm *op_vm_new(struct op_inst *self, const struct op_expr *ex);
/* The context of typing callbacks. The types of the inputs are n->in[k]->type. */
struct op_typing {
	struct types *arena;
	const char *file, *text;  /* the spec, for places in errors */
	size_t text_len;
	const struct type *outer; /* type of the outer element in an inner pipeline; NULL: none */
	const struct op_service *service; /* tells the types of datasets; NULL: no service */
	struct json_rules json;   /* for to_json and str */
	bool skips_nulls;         /* nulls=skip: expressions drop elements that fail because of null */
};
/* Compiles ex->ast with x, s (unless NULL), i and, in an inner pipeline, xx. */
enum status op_compile(struct op_typing *t, struct op_expr *ex, const struct type *x,
		       const struct type *s, struct err *e);

#endif
