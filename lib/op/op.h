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
#include "value/split.h"
#include "value/type.h"

struct op_node;
struct op_inst;
struct op_ctx;
struct op_typing;
struct state_row;

enum op_kind { OP_SOURCE, OP_TRANSFORM, OP_COMBINE };

/* What its memory between elements means (design: scopes). */
enum op_scope {
	OP_ELEMENT, /* none: each element is handled alone */
	OP_STREAM,  /* memory with a meaning within one stream */
	OP_GLOBAL   /* a meaning only over the whole */
};

enum op_flag {
	OP_REORDERS = 1,   /* does not keep the order of its input */
	OP_RANDOM = 2,     /* draws random numbers: has a `seed` parameter or uses op_rng */
	OP_LOCAL = 4,      /* cannot run on a worker: reads this process's stdin; see op_is_local */
	OP_REMOTE = 8,     /* elements come from the service: dataset, distribute */
	OP_JOINS_SPLITS = 16, /* combine: its splits are its inputs' splits, input by input (concat) */
	OP_RESHUFFLES = 32,/* another pass may differ from the one before */
	OP_BORDER = 64,    /* distribute: what stands before it runs on workers */
	/* For the planner, which tells sources what fields are used: */
	OP_PASSES = 128,   /* what comes out are elements that came in (filter, take) */
	OP_BY_EXPR = 256,  /* looks at its input through its expressions only (map, filter, take) */
	OP_EXEC = 512,     /* runs programs of the user's choice: see op_needs_exec */
	/* What may stand between a source that is read by index and who asks (by_index.h): */
	OP_EACH = 1024,    /* transform: at most one element for each, made of that one alone */
	OP_NUMBERS = 2048, /* transform: as OP_EACH, and asks self->by_index for the elements' numbers */
	OP_ALONGSIDE = 4096, /* combine: its k-th element is made of the k-th of each input (zip) */
	/* For what has no end (op_elements_of): */
	OP_WHOLE = 8192,   /* transform: gives nothing before its input has ended (sort, count) */
	OP_CUTS = 16384    /* transform: may end before its input does (take, take_while) */
};

/* What a PARAM_EXPR row fills: the tree from the parser, the code from typing. */
struct op_expr {
	struct expr_ast *ast; /* NULL: not given */
	struct expr *code;
};
/* PARAM_PIPES */
struct op_pipes {
	struct op_node **v;
	char **names;         /* NULL unless given as name=(...) */
	size_t n;
};
/* PARAM_FRAGMENT: `head` is a stand-in source that the operator feeds. */
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

struct op_node {
	const struct op_desc *desc;
	void *params;             /* prototype of the state, desc->state_size bytes */
	uint64_t given;           /* a bit for each row of desc->params that the spec has a value for */
	struct op_node **in;      /* upstream: 0 source, 1 transform, n combine */
	size_t n_in;
	const struct type *type;  /* of its output */
	uint32_t place;           /* the operator's number in the spec, from 1; for seeds, messages, statistics */
	size_t at, len;           /* where it stands in the spec's text */
	char *text;               /* canonical text of this stage, for messages */
	int retries;              /* times that an element is tried again before on_error */
	enum op_policy on_error;
	bool endless;             /* OP_BORDER, and what feeds a fragment: its input has no end */
	bool per_stream;          /* a global operator allowed ahead of distribute */
	bool permutes;            /* gives its input's elements in an order of their indices (desc->permutes) */
	struct op_bind *binds;
	size_t n_binds;
	char *remote_spec;        /* OP_BORDER: canonical spec of what runs on workers */
	struct json_fields *project; /* source: fields that are used downstream; NULL: all */
};

/* What becomes of an operator's words. */
struct op_words {
	bool script; /* joined, they are a script for the shell */
	bool places; /* {} and the like in them mean the element */
};

struct op_desc {
	const char *name;         /* one word, the file's */
	const char *aliases;      /* other words for it, joined by |; NULL: none */
	const char *match;        /* a word for it with the test x ~ PATTERN; NULL: none */
	const char *brief;        /* one clause, no capital, no full stop */
	const char *doc;          /* paragraphs for the manual, plain text */
	enum op_kind kind;
	enum op_scope scope;
	unsigned flags;
	const struct param *params;
	size_t state_size;

	/* Planning. typing: checks and compiles expressions (op_compile), gives the
	 * output type in *type; absent: expressions see x and i, type is the input's
	 * (source: any). check: parameters against each other, before anything runs;
	 * a source looks here whether its files exist (ST_NOINPUT). */
	enum status (*typing)(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e);
	enum status (*check)(const struct op_node *n, struct err *e);
	/* Sources that can be cut: adds the units. Absent: one SPLIT_ALL. */
	enum status (*list)(const struct op_node *n, struct split_list *out, struct err *e);
	/* What its words of PARAM_COMMAND and of PARAM_SCRIPT rows are; they are checked, and values
	 * put into them, by that (exec_script.h). Absent: words. */
	struct op_words (*words)(const struct op_node *n);
	/* How many times it repeats its input (repeat), INT64_MAX: for ever. Absent: 1. */
	int64_t (*times)(const struct op_node *n);
	/* How many elements come out, given those that come in; -1 unknown,
	 * INT64_MAX without end. Absent: element scope unknown, source unknown. */
	int64_t (*cardinality)(const struct op_node *n, const int64_t *in);
	/* Sources with random access: the same, of what can be read by index. Absent: cardinality. */
	int64_t (*indexed)(const struct op_node *n);

	/* Whether parts of its input (a source: of all it has), each through an instance of its
	 * own and then put behind one another, give what the whole gives. Absent: with element
	 * scope they do, unless it draws random numbers; else they do not. *remedy may be set
	 * to a clause that says how the same can be had ("cycle=1 does; or "). */
	bool (*partwise)(const struct op_node *n, const char **remedy);

	/* Random access (by_index.h). permutes, of a transform: whether this node reads what
	 * stands before it by index, and (unless NULL) the seed and whether each pass has an
	 * order of its own. pick, of a transform: puts, in place of the indices
	 * of elements it gives, those of its input's elements that they are; `in` is how
	 * many these are. Such an operator is not opened when it is read so. */
	bool (*permutes)(const struct op_node *n, int64_t *seed, bool *reshuffle);
	void (*pick)(const struct op_node *n, uint64_t in, uint64_t *index, uint32_t k);
	/* A transform that makes each element of so many of its input, group behind group. */
	uint64_t (*groups)(const struct op_node *n);

	/* Running. open and close may be absent; close is called once for every
	 * open, also a failed one. self->split is set when it is to read one split. */
	enum status (*open)(struct op_inst *self, struct err *e);
	enum status (*next)(struct op_inst *self, struct run *out, struct err *e);
	/* Sources with random access: the elements of these indices, in this order; takes
	 * as many as make a run, at least one, and sets *k to that. Its cardinality is then
	 * exact, or -1, and self->by_index is set where it is called in place of next. */
	enum status (*at)(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out,
			  struct err *e);
	enum status (*feed)(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
	enum status (*finish)(struct op_inst *self, struct run *out, struct err *e);
	void (*close)(struct op_inst *self);
	/* Another pass, where it keeps something from pass to pass: it rewinds its
	 * inputs itself. Absent: it is closed, its inputs rewound, and opened again. */
	enum status (*rewind)(struct op_inst *self, struct err *e);
	/* What it remembers between runs, as bytes; restore comes after open. An
	 * operator with memory that has no save is restarted from its beginning.
	 * A source saves its position in what it reads. state_rows, in their place: the
	 * fields of the state that are all it remembers (state.h). */
	const struct state_row *state_rows;
	void (*save)(struct op_inst *self, struct buf *out);
	enum status (*restore)(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

	const char *example, *output; /* a pipeline, and exactly what dsvc-run prints for it */
	const char *input;            /* what the example reads from stdin; NULL: nothing */
};

/* Where elements of OP_REMOTE sources come from; the program supplies it. */
struct op_service {
	/* Opens pass `pass` (from 0, counted from the one that the parameters name) of the
	 * job; *handle is then passed to the others. `spec` or `dataset` is set. */
	enum status (*open)(void *arg, const struct op_node *n, const char *spec,
			    const char *dataset, uint32_t pass, void **handle, struct err *e);
	/* Fills out with what has come, waits only when it would be empty. */
	enum status (*next)(void *handle, struct run *out, struct err *e);
	/* After the end: whether the pass had elements, whichever reader got them. */
	bool (*had_any)(void *handle);
	void (*close)(void *handle);
	/* The element type of a registered dataset, as text. */
	enum status (*type)(void *arg, const char *dataset, struct buf *out, struct err *e);
	void *arg;
};

/* One failed element, for counting and for --errors FILE. */
struct op_failure {
	const struct op_node *node;
	const struct err *e;
	const char *file;         /* source file, or NULL */
	uint64_t line;            /* 0: unknown */
	struct elem elem;         /* p NULL: there is none */
	bool fatal;
};

/* What a running chain is given by its program. Lives longer than the chain. */
struct op_ctx {
	uint64_t seed;            /* of the iteration */
	uint32_t stream;          /* the stream's index */
	const _Atomic uint32_t *streams; /* how many there are, as far as known; 0: more may come. NULL: 1 */
	uint32_t epoch;           /* of the chain's first pass, where it is not the first */
	uint32_t element_max;     /* bytes; a larger element is an error */
	const atomic_bool *stop;  /* set: give up soon (ST_AGAIN from op_pull); may be NULL */
	const struct op_ctx *above; /* its stop counts too; NULL: none. Ask op_stopped */
	const struct op_service *service; /* NULL: none */
	bool timed;               /* measure the time of each operator */
	/* By split: the chain's sources are opened on one split after another, each
	 * read `times` times; repeats that op_split_times covers are then left out of
	 * the chain. ST_END: no more. NULL: sources read everything.
	 * With a prefetch in the chain this and failure are called from its thread. */
	enum status (*next_split)(void *arg, struct split *out, struct err *e);
	/* What each split gives is told apart: who pulls ahead asks for the next one only
	 * when all of the one before has been given. */
	bool split_exact;
	/* The stream may be made again elsewhere, from its middle: nothing in it may depend on
	 * what is ready first, whatever ordered=false says. */
	bool repeatable;
	void (*failure)(void *arg, const struct op_failure *f); /* may be NULL */
	/* What a person should know and is no error: text and help of *e. Called from
	 * the chain's threads; may be NULL. */
	void (*note)(void *arg, const struct op_node *n, const struct err *e);
	char *const *env; /* NAME=value for the children of exec and cmd, NULL at the end; may be NULL */
	void *arg;
};

static inline bool
op_stopped(const struct op_ctx *ctx)
{
	for (; ctx; ctx = ctx->above)
		if (ctx->stop && atomic_load_explicit(ctx->stop, memory_order_relaxed))
			return true;
	return false;
}

/* Counted by the thread that runs the operator, which is one at a time; read by any. */
struct op_stats {
	uint64_t elements, runs, failed;
	uint64_t ns;              /* own time and that of everything before it, when timed */
};

static inline void
op_stat_add(uint64_t *figure, uint64_t n)
{
	__atomic_store_n(figure, __atomic_load_n(figure, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* A running operator, as its callbacks see it (the chain keeps more: chain.h). */
struct op_inst {
	const struct op_node *node;
	const struct op_desc *desc;
	void *state;
	struct op_ctx *ctx;
	struct op_inst **in;
	size_t n_in;
	struct run out;           /* what it lent last */
	uint32_t taken;           /* elements of out that op_next has handed over */
	bool done;                /* set by a transform: wants no more input */
	bool ended;
	const struct split *split;/* source: read only this; NULL: everything */
	const struct elem *outer; /* inner pipelines: the outer element; else NULL */
	uint32_t epoch;           /* pass of a repeat that it stands under, from 0 */
	bool elsewhere;           /* set by a source: this pass has elements, and others may have got them */
	struct op_stats stats;
	struct index_order *order;      /* node->permutes: what its inputs follow; else NULL */
	struct by_index *by_index;        /* which elements to give, when read by index; else NULL */
	struct run *give;         /* set by a callback: lend this run in place of out */
	uint32_t at;              /* transform: where feed begins in its input run */
	bool unsaved;             /* set by save: it cannot */
	bool pulls;               /* set by open: next is called, though there is feed */
	struct run *lent;         /* out or what was given; never NULL */
};

/* An element of `in` failed with *e: applies the policy. ST_OK: go on with the
 * next one (under keep, in->e[i] was passed on); ST_AGAIN: try it again; else the
 * error to return, completed with operator, source file and line.
 * Sources pass in == NULL, and file and line of what is bad. */
enum status op_fault(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e);
/* Before op_fault, by who can: true when the elements made so far should go out first
 * (self->at and ST_AGAIN), so that what is told of the failure knows how many they were.
 * For the first so many failures; e is cleared then. */
bool op_fault_later(const struct op_inst *self, const struct run *out, struct err *e);
/* The next failure is of another element, though it may lie where the last one lay. */
void op_fault_fresh(struct op_inst *self);
/* No element like this one is tried again: all its tries have been made. */
void op_fault_last(struct op_inst *self, const struct elem *x);
enum status op_source_fault(struct op_inst *self, const char *file, uint64_t line, struct err *e);

/* Drops the first n elements that it gives from now on. */
void op_discard(struct op_inst *self, uint64_t n);

/* A key for this operator's random numbers: from the iteration's seed (or the
 * `seed` parameter unless PARAM_AUTO), the operator's place, the stream and, where the
 * operator reshuffles, the epoch. */
uint64_t op_rng_key(const struct op_inst *self, int64_t seed_param, bool with_epoch);

/* The same for a stream and an epoch that the caller names. */
uint64_t op_rng_key_of(const struct op_inst *self, int64_t seed_param, uint32_t stream, bool with_epoch,
		       uint32_t epoch);

/* A machine for an expression of this operator: xx is set in inner pipelines. Gives. */
struct expr_vm *op_vm_new(struct op_inst *self, const struct op_expr *ex);
/* What typing callbacks use. Types of the inputs are n->in[k]->type. */
struct op_typing {
	struct types *arena;
	const char *file, *text;  /* the spec, for places in errors */
	size_t text_len;
	const struct type *outer; /* type of the outer element in an inner pipeline; NULL: none */
	const struct op_service *service; /* tells the types of datasets; NULL: none */
};
/* Compiles ex->ast with x: x, s: s (NULL: no s), i and, inside, xx. */
enum status op_compile(struct op_typing *t, struct op_expr *ex, const struct type *x,
		       const struct type *s, struct err *e);

#endif
