/* SPDX-License-Identifier: MIT
 *
 * The words of a command with places for the element, as GNU parallel has them:
 *
 *	{}   the element       {/}  without folders     {#}  its number, from 1
 *	{.}  without ending    {//} its folder          {%}  the slot, from 1
 *	{/.} {/} without ending                         {.a.b}  a field of it
 *
 * What is put in is one word, or part of one, whatever is in it. The last word of
 * a shell's is its script: there the places become "${1}", "${2}"..., and the
 * values the shell's arguments. A command without any place gets {} at its end.
 * {\} is the text {}, and likewise for the others: a backslash behind the brace is
 * taken away (in scripts the shell does that), and no place seen.
 *
 * A word that is a place alone becomes, of an element that is a list, one word for each
 * of its items, so that a batch is the arguments of one process. In a script it is "$@",
 * if the script has no other place.
 */
#ifndef OP_EXEC_ARGS_H
#define OP_EXEC_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "value/elem.h"
#include "value/json_rules.h"
#include "value/type.h"

enum args_place {
	ARGS_TEXT, ARGS_ELEMENT, ARGS_STEM, ARGS_BASE, ARGS_DIR, ARGS_BASE_STEM,
	ARGS_NUMBER, ARGS_SLOT, ARGS_FIELD
};

struct args_piece {
	enum args_place place;
	uint32_t word;          /* number of the word that it is part of */
	bool alone;             /* a place that is the whole word: of a list, each item is a word */
	const char *p;          /* text, or the field's path; lies in the words */
	size_t n;
};

struct exec_args {
	struct args_piece *v;
	size_t n, cap;
	struct json_rules rules; /* for elements that are no texts; to be set after exec_args_open */
	char *script;           /* the script with its places replaced */
	const struct elem *part; /* value for {} and the parts of a path; NULL: the element */
	/* the most recent command */
	struct buf text;
	size_t *at;             /* where each word begins in text */
	char **argv;
	size_t words, at_cap, argv_cap;
};

/* Finds the first place in s: gives its length, and where it begins in *at; 0: there is none.
 * In scripts ${ belongs to the shell. */
size_t exec_args_find(const char *s, bool script, const char **at);
/* Appends p so that no place is found in it (not for scripts: script_quote). */
void exec_args_quote(const char *p, size_t n, struct buf *out);
/* Prepares `words`, which must outlive a. places: look for places in them. */
void exec_args_open(struct exec_args *a, const struct words *words, bool places, bool shell);
void exec_args_clear(struct exec_args *a);
/* Whether a place names a field that elements of the type cannot have; lends its name. */
bool exec_args_lacks(const struct exec_args *a, const struct type *type, const char **name,
		     size_t *n);
/* Makes the command for one element: a.argv, lent until the next call. */
enum status exec_args_fill(struct exec_args *a, const struct elem *x, uint64_t number,
			   unsigned slot, struct err *e);
/* Makes the command without an element: the words as they stand. */
void exec_args_plain(struct exec_args *a);

#endif
