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
 */
#ifndef OP_EXEC_ARGS_H
#define OP_EXEC_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"
#include "value/elem.h"
#include "value/type.h"

enum args_place {
	ARGS_TEXT, ARGS_ELEMENT, ARGS_STEM, ARGS_BASE, ARGS_DIR, ARGS_BASE_STEM,
	ARGS_NUMBER, ARGS_SLOT, ARGS_FIELD
};

struct args_piece {
	enum args_place place;
	uint32_t word;          /* which word it is part of */
	const char *p;          /* text, or the field's path; of the words */
	size_t n;
};

struct exec_args {
	struct args_piece *v;
	size_t n, cap;
	uint32_t words;
	char *script;           /* with its places replaced */
	const struct elem *part; /* what {} and parts of it as a path mean; NULL: the element */
	/* the latest command */
	struct buf text;
	size_t *at;             /* where each word begins in text */
	char **argv;
};

/* The first place in s: its length, and where it stands; 0: there is none. In scripts
 * ${ is the shell's own. */
size_t exec_args_find(const char *s, bool script, const char **at);
/* Appends p so that no place is found in it (not for scripts: script_quote). */
void exec_args_quote(const char *p, size_t n, struct buf *out);
/* `words` must stay. places: look for them. */
void exec_args_open(struct exec_args *a, const struct words *words, bool places, bool shell);
void exec_args_clear(struct exec_args *a);
/* Whether a field that is named cannot be in elements of that type: lends the name. */
bool exec_args_lacks(const struct exec_args *a, const struct type *type, const char **name,
		     size_t *n);
/* The words for one element, lent as a.argv until the next. */
enum status exec_args_fill(struct exec_args *a, const struct elem *x, uint64_t number,
			   unsigned slot, struct err *e);
/* The words as they stand, without an element. */
void exec_args_plain(struct exec_args *a);

#endif
