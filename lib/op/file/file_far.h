/* SPDX-License-Identifier: MIT
 *
 * Names of objects elsewhere from what users write, as file_glob.h has it for files:
 *
 *	s3://BUCKET/KEY   *, ?, [a-z], {a,b} and ** in the key, by listing the bucket
 *	https://...       {a,b} alone, since nobody can list a web server
 */
#ifndef FILE_FILE_FAR_H
#define FILE_FILE_FAR_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"
#include "fetch/fetch.h"

/* Facts about objects from listings, by name. */
struct file_far {
	struct file_far_one {
		char *name;
		struct fetch_about about;
	} *v;
	size_t n, cap;
};

/* Whether any of the words is an address. */
bool file_far_any(const struct words *words);
/* Whether a word without braces stands for several objects. */
bool file_far_pattern(const char *word);
/* Helps whoever has named a folder where a file or an object is expected. */
void file_far_help(const char *name, struct err *e);
/* Looks whether the word is an address that can be read here, without asking its server. */
enum status file_far_check(const char *word, struct err *e);
/* Appends the objects that match, in no order; ST_NOINPUT: none does. */
enum status file_far_list(const char *word, struct file_far *out, struct err *e);
/* Sorts by name, for file_far_find. */
void file_far_sort(struct file_far *f);
/* Finds the facts about a name; NULL: there are none. Lent. */
const struct fetch_about *file_far_find(const struct file_far *f, const char *name);
void file_far_clear(struct file_far *f);
/* The name of a file or an object as messages have it, interned. */
const char *file_far_origin(const char *path);
/* Appends the key with what would make it a pattern taken away. */
void file_far_plain(const char *word, struct buf *out);

#endif
