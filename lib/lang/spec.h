/* SPDX-License-Identifier: MIT
 *
 * From the text of a spec to a checked plan.
 *
 *	text or argv --lex, parse--> struct tree --plan--> struct plan --op_open--> chain
 *
 * The lexer is directed by the kinds of the operators' parameters, so tokens
 * and tree are made in one walk (parse.h); the plan resolves names, fills the
 * parameters, works out types and checks everything that can be known before
 * anything runs. No operator is known here by name: all is read from the table.
 *
 * Bounds: a spec with all it includes is at most SPEC_BYTES, nesting at most
 * SPEC_DEPTH deep, a plan at most SPEC_OPS operators (lets written out).
 */
#ifndef LANG_SPEC_H
#define LANG_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "op/op.h"
#include "value/type.h"

enum {
	SPEC_BYTES = 1 << 20, SPEC_DEPTH = 64, SPEC_OPS = 10000, SPEC_VERSION = 1,
	SPEC_ELEMENT_MAX = 256 << 20 /* the default of options element_max */
};

enum spec_flag {
	SPEC_NO_CHECK = 1, /* skip checks that look at files: the plan will run elsewhere */
	SPEC_DISCARD = 2,  /* elements are only counted or dropped */
	SPEC_ORDERED = 8,  /* with SPEC_SHARDED: in several streams, in order source */
	SPEC_SEEDED = 16,  /* with SPEC_ORDERED: random numbers must be the same, too */
	/* the plan will run on workers, each of which reads the whole input */
	SPEC_ON_WORKERS = 32,
	/* with the others: unless something in the plan takes elements from the service */
	SPEC_IF_WHOLE = 64,
	SPEC_NO_SHARES = 128, /* with SPEC_ON_WORKERS: nothing may take its share from the job */
	/* programs that run on workers are logged (--joblog), may end the run (--halt), put their elements in front of
	 * their answers, also if they run here (--tag) */
	SPEC_LOGGED = 256, SPEC_HALTED = 512, SPEC_TAGGED = 1024,
	SPEC_SHARDED = 4   /* it will run on workers that each see a part of the source: check
	                      scopes as if `distribute` stood at the end */
};

struct spectext;

/* The text of a spec and its settings. One of text, file and argv is set. Lent for the call. */
struct spec_src {
	const char *text;         /* the spec itself */
	size_t len;
	const char *file;         /* read this file, "-": stdin; with text: its name in messages */
	char *const *argv;        /* the spec as words, `then` between operators */
	size_t argc;
	/* values for the parameters that the spec itself declares and no --set names, in their
	 * order: the operands after -f FILE */
	char *const *values;
	size_t n_values;
	const struct words *sets; /* NAME=VALUE, from --set; NULL: none */
	const struct words *dirs; /* where to look for includes, from -I; NULL: none */
	/* texts of files that were read before, from which includes are taken; NULL: none */
	const struct spectext *known;
	const struct words *with; /* NAME=(PIPELINE), in place of a let; NULL: none */
	/* file names are relative to it; NULL: to the file's folder, or the current one for a
	 * text or argv */
	const char *base_dir;
	unsigned flags;
	/* in place of the spec's `options nonfinite` and `options invalid_utf8`, as for json_rules_say */
	struct json_rules json;
	/* NAME=VALUE for parameters that the spec leaves out, of operators that take elements
	 * from the service; NULL: none */
	const struct words *carried;
	const struct op_service *service; /* for the types of datasets; NULL: none */
};

/* Settings of the whole spec: `options key=value ...`. */
struct spec_options {
	int64_t seed;        /* seed of the iteration; PARAM_AUTO: a new one each time */
	int64_t element_max; /* bytes */
	struct json_rules json; /* says what becomes of values that JSON cannot hold */
	char *nulls;         /* "skip" or "fail"; NULL: nobody says */
	char *on_error;      /* policy of operators without on_error=; NULL: fail */
	int64_t threads;     /* threads of dsvc-run, without -j; PARAM_AUTO: one per processor */
	bool deterministic;  /* false: ordered=false for operators without ordered= */
	bool autotune;       /* parallel=auto for operators of element scope without parallel= */
};

struct plan {
	struct op_node *top;         /* the last operator */
	const struct type *type;     /* type of the elements that come out; in the arena */
	struct types *arena;
	const struct op_node *border;/* the operator that moves work to the service; NULL: none */
	size_t n_ops;
	/* the first operator that takes elements from the service, a border or a dataset;
	 * NULL: none */
	struct op_node *service;
	size_t n_service;            /* how many operators take elements from the service, */
	size_t n_own;                /* and how many of these from the program's own: without at= */
	/* the first operator that has a meaning only over all elements, and so not
	 * where streams see parts (job_in_parts); NULL: none */
	const struct op_node *global;
	const struct op_node *by_share;/* the first that takes its share from the job; NULL: none */
	/* if all of it runs on workers: the last operator gives records, and `type` is that of their answers */
	struct op_logged logged;
	bool local;                  /* reads this process's stdin */
	struct spec_options options;
};

/* Whether an operand can only be a whole spec, and not its first word: it contains a blank or
 * a `|`. */
bool spec_is_whole(const char *operand);

/* Makes a plan, or the error with its place. Gives. */
enum status plan_make(const struct spec_src *src, struct plan **out, struct err *e);
void plan_free(struct plan **p);
/* The error of an operator that is `global` where streams see parts, or `by_share` with
 * another policy than hint; with remedies; ST_DATA. */
enum status plan_refuse_global(const struct op_node *n, struct err *e);
enum status plan_refuse_by_share(const struct op_node *n, struct err *e);

enum canon_flag {
	CANON_ABSOLUTE = 1, /* make file names absolute, for registering */
	CANON_SHOWN = 2     /* for messages: addresses without their queries, in which signatures stand */
};

/* Appends the canonical text: one line, with parameters substituted, lets expanded and
 * defaults left out. Specs that mean the same have the same text. */
void plan_canonical(const struct plan *p, unsigned flags, struct buf *out);
/* Appends the canonical text of the part of a plan that ends with n. */
void canon_print(const struct op_node *n, unsigned flags, struct buf *out);
/* Appends one operator with its parameters, without its input. */
void canon_print_stage(const struct op_node *n, unsigned flags, struct buf *out);

/* Appends the plan for people: one line per operator, with its type and scope. */
void plan_print(const struct plan *p, struct buf *out);

/* For --explain: the plan with the number of elements where it is known, where the source is
 * cut, and what each sharding policy would give. Looks at files. */
enum status plan_explain(const struct plan *p, const struct op_service *service, struct buf *out,
			 struct err *e);

/* For --print=tokens and --print=tree: the passes before the plan, as text. */
enum status spec_print_tokens(const struct spec_src *src, struct buf *out, struct err *e);
enum status spec_print_tree(const struct spec_src *src, struct buf *out, struct err *e);

enum { DATASET_ID_LEN = 16 };
/* The id of a canonical text: DATASET_ID_LEN hex digits and a NUL. */
void dataset_id(const char *canonical, size_t n, char out[DATASET_ID_LEN + 1]);
/* An id with all its bits, to be trusted: nobody finds another text that has it. */
enum { DATASET_HASH_LEN = 64 };
void dataset_hash(const char *canonical, size_t n, char out[DATASET_HASH_LEN + 1]);

#endif
