/* SPDX-License-Identifier: MIT
 *
 * Keys that may use a dispatcher: the file `allowed`, a line for each key,
 *
 *	ROLES[,OPTION...] KEY NAME
 *
 * with `#` before comments. Options: from=ADDRESS[/BITS], until=DATE (its beginning, UTC),
 * jobs=GLOB, exec (what it gives may run programs: MAY_EXEC). A key that stands there twice may
 * what the last line says.
 */
#ifndef TRUST_ALLOWED_H
#define TRUST_ALLOWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/key.h"
#include "wire/role.h"

enum { ALLOWED_NAME = 65, ALLOWED_JOBS = 257, ALLOWED_FROM = 64, ALLOWED_MAX = 100000 };

struct allowed_entry {
	struct key key;
	unsigned may;            /* MAY_ of wire/role.h */
	int64_t until;           /* seconds since 1970; INT64_MAX: without end */
	char name[ALLOWED_NAME];
	char jobs[ALLOWED_JOBS]; /* "": any */
	char from[ALLOWED_FROM]; /* text of the option; "": from anywhere */
};

struct allowed { struct allowed_entry *v; size_t n, cap; };

/* Whether `from` is an address with or without the number of its bits that count. */
bool allowed_from_ok(const char *from);
/* Whether an address (inet_ntop) lies in it; "": any does. */
bool allowed_from_has(const char *from, const char *address);
/* Reads a line: 1 an entry, 0 nothing, -1 with why: it is none. */
int allowed_line(const char *line, size_t n, struct allowed_entry *out, const char **why);
/* Appends an entry as a line, with its newline. */
void allowed_print(const struct allowed_entry *a, struct buf *out);

/* Gives all entries of a text; ST_CONFIG with the number of the line that is none. */
enum status allowed_parse(const char *text, size_t n, struct allowed *out, struct err *e);
/* Likewise for a file; one that is not there has no entry. */
enum status allowed_read(const char *path, struct allowed *out, struct err *e);
void allowed_clear(struct allowed *a);
/* The entry of a key, as of `now`; NULL: there is none, or its time is over. */
const struct allowed_entry *allowed_find(const struct allowed *a, const struct key *k, int64_t now);

/* Change the file, under its lock. Adding takes the place of lines with the same key. */
enum status allowed_add(const char *path, const struct allowed_entry *add, struct err *e);
/* Strikes out lines with this name, or with this key as 52 letters; *n of them. */
enum status allowed_strike(const char *path, const char *name_or_key, size_t *n, struct err *e);

#endif
