/* SPDX-License-Identifier: MIT
 *
 * Parameters as rows of a table, for operators and for the options of programs
 * alike: a row says name, kind, place in a struct, default, limits and help.
 * Parsing, checking, help, manual pages and completion all read the rows;
 * nothing about a parameter is written twice.
 *
 *	static const struct param take_params[] = {
 *		{ "n", PARAM_INT, offsetof(struct take, n), .help = "elements to let through" },
 *		{ 0 }
 *	};
 *
 * Positional values fill the rows in their order, up to the first row with
 * PARAM_KEY_ONLY; a row with PARAM_REST takes all that are left. A row with
 * def == NULL and without PARAM_OPTIONAL is required.
 */
#ifndef BASE_PARAM_H
#define BASE_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum param_kind {
	PARAM_NONE,     /* ends a table */
	PARAM_INT,      /* int64_t; "inf" gives INT64_MAX, "auto" gives PARAM_AUTO, where flags allow */
	PARAM_SIZE,     /* int64_t bytes, with suffixes */
	PARAM_DURATION, /* int64_t ns, with suffixes */
	PARAM_FLOAT,    /* double */
	PARAM_BOOL,     /* bool */
	PARAM_WORD,     /* char *: file name, glob, name; plain up to blank, `|`, `)` or `;` */
	PARAM_WORDS,    /* struct words: with PARAM_REST */
	PARAM_CHOICE,   /* int: index of the word in `choices` ("any|stable|source") */
	/* the kinds from here on are for operators only */
	PARAM_VALUE,    /* struct buf: a constant expression's value, one MessagePack value */
	PARAM_EXPR,     /* struct op_expr (op/op.h) */
	PARAM_PIPE,     /* struct op_node *: one (pipeline) */
	PARAM_PIPES,    /* struct op_pipes: several (pipeline), positional or name=(pipeline) */
	PARAM_FRAGMENT, /* struct op_fragment: (| op | op) */
	PARAM_COMMAND,  /* struct words: after `--`, up to `|`, `)` or the end */
	PARAM_NAMED     /* struct op_named: name=EXPRESSION, with any names that are no options */
};

enum param_flag {
	PARAM_OPTIONAL = 1,  /* may be absent: the pointer is then NULL, a number as in def or 0 */
	PARAM_KEY_ONLY = 2,  /* never positional: name=value */
	PARAM_REST = 4,      /* takes all remaining positional values */
	PARAM_ALLOW_AUTO = 8,
	PARAM_ALLOW_INF = 16,
	PARAM_REPEAT = 32,   /* programs: the option may be given again, PARAM_WORDS */
	PARAM_HIDDEN = 64,   /* not listed in help and completion; operators: not in canonical texts either */
	PARAM_PATH = 128,    /* a file name or glob: registering makes it absolute */
	PARAM_ALLOW_ALL = 256, /* PARAM_INT: "all" gives INT64_MAX */
	PARAM_RARE = 512,    /* programs: listed by --help, but not by -h */
	PARAM_SCRIPT = 1024, /* PARAM_WORD: a script, to be checked as op_desc.words says */
	/* PARAM_PIPE: is read to its end first; PARAM_FRAGMENT: gets all elements */
	PARAM_WHOLE = 2048,
	PARAM_BYTE = 4096,   /* PARAM_WORD: one byte, or an escape for one (op/file/byte_word.h) */
	PARAM_BY_HAND = 8192,/* programs: loosens a guard, so the environment cannot set it */
	PARAM_NAME = 16384,  /* PARAM_WORD, PARAM_WORDS: not empty, at most PARAM_NAME_MAX bytes */
	PARAM_ONE_WORD = 32768, /* PARAM_WORD, PARAM_WORDS: without blanks */
	PARAM_BARE = 65536, /* programs, PARAM_CHOICE: --name alone is the first choice; others as --name=WORD */
	PARAM_ALLOW_NEVER = 262144, /* PARAM_DURATION: "never" gives INT64_MAX */
	/* PARAM_INT: 50% of the processors, +2 or -1 of them more or less, 0: as many (base/processors.h) */
	PARAM_PROCESSORS = 524288,
	PARAM_ALLOW_PERCENT = 1048576, /* PARAM_SIZE: "N%", from 1 to 100, gives -N, whatever min and max are */
	PARAM_URL = 2097152, /* with PARAM_PATH: an address (fetch/url.h) may stand there as well */
	PARAM_ZERO = 131072  /* `auto` and `inf` are stored as 0, and tell in `given` that they are no 0 */
};

#define PARAM_AUTO INT64_MIN
enum { PARAM_NAME_MAX = 256 };

struct words {
	char **v;
	size_t n;
};

struct param {
	const char *name;
	enum param_kind kind;
	size_t offset;       /* offset of the field in the struct of state or options */
	const char *def;     /* in the form in which a user would write it */
	unsigned flags;
	int64_t min, max;    /* both 0: any that fits; for numbers, sizes and durations (ns) */
	const char *choices; /* PARAM_CHOICE: words joined by | ; aliases as word=alias are not possible */
	const char *help;    /* one clause, no capital, no full stop */
	/* for programs only */
	char letter;         /* -x; 0: none */
	const char *arg;     /* word for the argument in help, "FILE"; NULL: a switch */
	/* completion of the argument: "file", "dir", "spec", "operand" (that of operands), "job", "dataset",
	 * "context", "param" (of the spec), or words joined by |; NULL: none */
	const char *complete;
	/* rarely */
	const int *values;   /* PARAM_CHOICE: what each word is stored as, for aliases behind the others; NULL: its index */
	size_t given;        /* PARAM_ZERO: offset of a bool, false for `auto` and `inf`; 0: none, 0 means nothing else */
	size_t said;         /* offset of a bool, true once a value was set that is not the default; 0: none */
};

size_t param_count(const struct param *rows);
const struct param *param_find(const struct param *rows, const char *name, size_t n);

/* Reads a text into the field of `row` in `base`, for the scalar kinds (PARAM_INT to
 * PARAM_CHOICE except WORDS). Accepts the default's text as well. Fails with ST_USAGE and a
 * sentence about the value without its name: "'12x' is not a number (try 12, 12k)". Strings
 * are copied, and freed by param_clear. A value like the default counts as said, too. */
enum status param_set(const struct param *row, void *base, const char *text,
		      size_t n, struct err *e);
/* Applies all defaults (rows with def). Cannot fail: a bad default is a bug. */
void param_defaults(const struct param *rows, void *base);
void param_clear(const struct param *rows, void *base);
/* For PARAM_INT, PARAM_SIZE, PARAM_DURATION: whether it is a number, not `auto`, `inf` or `all`. */
bool param_given(const struct param *row, const void *base);
/* Whether the fields of a scalar row, not of kind PARAM_FLOAT, mean the same in both structs. */
bool param_same(const struct param *row, const void *a, const void *b);
/* Copies the fields of scalar rows from one struct to another; texts are lent. */
void param_copy(const struct param *rows, void *to, const void *from);
/* "k-th of choices", lends a static-length copy into out. */
bool param_choice(const char *choices, int k, char *out, size_t out_size);
void words_add(struct words *w, const char *s, size_t n);
void words_clear(struct words *w);

#endif
