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
	SPEC_NO_CHECK = 1, /* leave out what looks at files: what is planned runs elsewhere */
	SPEC_DISCARD = 2,  /* elements are counted or dropped, not looked at */
	SPEC_ORDERED = 8,  /* with SPEC_SHARDED: in several streams, in order source */
	SPEC_SEEDED = 16,  /* with SPEC_ORDERED: random numbers are to be the same, too */
	SPEC_ON_WORKERS = 32, /* it will run on workers, each of which reads all of it */
	SPEC_IF_WHOLE = 64,   /* with the others: unless something in it takes elements from the service */
	SPEC_SHARDED = 4   /* it will run under dynamic sharding: check scopes as if
	                      `distribute` stood at the end */
};

struct spectext;

/* One of text, file and argv is set. Everything is lent for the call. */
struct spec_src {
	const char *text;         /* the spec itself */
	size_t len;
	const char *file;         /* read this file, "-": stdin; with text: its name in messages */
	char *const *argv;        /* the spec as words, `then` between operators */
	size_t argc;
	char *const *values;      /* of the parameters that the spec itself declares and no --set
	                             names, in their order: behind -f FILE */
	size_t n_values;
	const struct words *sets; /* NAME=VALUE, from --set; NULL: none */
	const struct words *dirs; /* where to look for includes, from -I; NULL: none */
	const struct spectext *known; /* texts of files that were read before: includes are taken
	                             from them; NULL: none */
	const struct words *with; /* NAME=(PIPELINE), in place of a let; NULL: none */
	const char *base_dir;     /* file names are relative to it; NULL: to the file's
	                             folder, the current one for a text or argv */
	unsigned flags;
	const struct words *carried; /* NAME=VALUE: what operators that take elements from the
	                             service have for parameters that the spec leaves out; NULL: none */
	const struct op_service *service; /* for the types of datasets; NULL: none */
};

/* Settings of the whole spec: `options key=value ...`. */
struct spec_options {
	int64_t seed;        /* of the iteration; PARAM_AUTO: fresh each time */
	int64_t element_max; /* bytes */
	char *on_error;      /* policy of operators that say nothing; NULL: fail */
	int64_t threads;     /* of dsvc-run, where -j does not say; PARAM_AUTO: a processor each */
	bool deterministic;  /* false: ordered=false for operators that say nothing */
	bool autotune;       /* parallel=auto for those of element scope that say nothing */
};

struct plan {
	struct op_node *top;         /* the last operator */
	const struct type *type;     /* of the elements that come out; in the arena */
	struct types *arena;
	const struct op_node *border;/* the operator that moves work to the service; NULL: none */
	size_t n_ops;
	struct op_node *service;     /* the first that takes elements from the service: a
	                                border or a dataset; NULL: none */
	size_t n_service;            /* how many do */
	const struct op_node *global;/* the first that means something only over all elements, and so
	                                not under dynamic sharding; NULL: none */
	bool local;                  /* reads this process's stdin */
	struct spec_options options;
};

/* Whether an operand can only be a whole spec, and not the first of its words: it
 * has a blank or a `|` in it. */
bool spec_is_whole(const char *operand);

/* Gives a plan, or the error with its place. */
enum status plan_make(const struct spec_src *src, struct plan **out, struct err *e);
void plan_free(struct plan **p);
/* ST_DATA: what an operator that is `global` means under dynamic sharding, and the remedies. */
enum status plan_refuse_global(const struct op_node *n, struct err *e);

enum canon_flag { CANON_ABSOLUTE = 1 /* file names from the root: for registering */ };

/* Appends the canonical text: one line, parameters substituted, lets written
 * out, defaults left out. The same text for all specs that mean the same. */
void plan_canonical(const struct plan *p, unsigned flags, struct buf *out);
/* The same for the part of a plan that ends with n. */
void canon_print(const struct op_node *n, unsigned flags, struct buf *out);
/* One operator with its parameters, without what stands before it. */
void canon_print_stage(const struct op_node *n, unsigned flags, struct buf *out);

/* The plan as people read it: one line an operator, with its type and scope. */
void plan_print(const struct plan *p, struct buf *out);

/* For --explain: the plan with the number of elements where it is known, where
 * the source is cut, and what each sharding policy would give. Looks at files. */
enum status plan_explain(const struct plan *p, const struct op_service *service, struct buf *out,
			 struct err *e);

/* For --print=tokens and --print=tree: the passes before the plan, as text. */
enum status spec_print_tokens(const struct spec_src *src, struct buf *out, struct err *e);
enum status spec_print_tree(const struct spec_src *src, struct buf *out, struct err *e);

enum { DATASET_ID_LEN = 16 };
/* The id of a canonical text: DATASET_ID_LEN hex digits and a NUL. */
void dataset_id(const char *canonical, size_t n, char out[DATASET_ID_LEN + 1]);

#endif
