/* SPDX-License-Identifier: MIT
 *
 * The files of a folder that streams save to, one line of JSON for each:
 *
 *	{"file": "data-00000-000-00000.msgpack", "elements": 4, "bytes": 120, "crc32c": "0a1b2c3d"}
 *
 *	DIR/.dsvc-files   in the order in which they came to be whole, by whichever stream: the
 *	                  order is the same for everybody who reads it, now or later. A file that
 *	                  was written once more stands there once more; {"anew": 3} takes back
 *	                  those of stream 3 that stand before it. {"writer": "0a1b2c3d4e5f6071",
 *	                  "stream": 3, "gen": 2}: this one writes the stream from here on, as its
 *	                  generation 2, unless a later one stands before it; files "by" an earlier generation
 *	                  than the latest that stands before them do not count. {"least": 7, "of":
 *	                  "data-00003-000-00000.msgpack"}: it will have that many elements (shards_cut.h).
 *	DIR/SNAPSHOT      between the braces of one record, sorted by name, so that one file is
 *	                  found without reading all
 *
 * What is read here may come from anybody: a name never leads out of the folder.
 */
#ifndef KIT_SEAL_LIST_H
#define KIT_SEAL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

#define SEAL_NAME "SNAPSHOT"
#define SEAL_FAILED SEAL_NAME ".failed"
#define SEAL_DATA "data-" /* prefix of the names of data files; the stream's number follows */
#define SEAL_LOG ".dsvc-files"
#define SEAL_LOCK ".dsvc-save" /* locked while the list changes, */
#define SEAL_LOCK_NS 2000000000ll /* unless whoever has it keeps it that long, and so is stopped */

struct seal_file {
	char *name;               /* within the folder; owned */
	uint64_t elements, bytes;
	uint32_t sum;             /* CRC-32C of its bytes, if summed */
	bool summed;
	bool owned;               /* only a file of the generation that owns the stream counts: */
	uint32_t gen;             /* by that one */
	uint64_t line;            /* its line among those read into the list, from 0 */
	char *tag;                /* tag of an object elsewhere (fetch.h); NULL: not known; owned */
};
struct seal_files {
	struct seal_file *v;
	size_t n, cap;
	uint64_t lines;
	uint32_t *gens;           /* by stream: the latest generation that owns it; 0: nobody does */
	size_t n_gens, cap_gens;
};

void seal_files_clear(struct seal_files *l);
/* Adds a line to the folder's list, which is on disk when it returns. locked: the caller has
 * the lock already. */
enum status seal_files_add(const char *dir, const struct seal_file *f, bool locked, struct err *e);
/* Adds a line that takes all files of a stream back, which will write them anew. */
enum status seal_files_anew(const char *dir, uint32_t stream, struct err *e);
/* The writer of a stream. Zero: there is none. */
struct seal_owner { uint64_t writer; uint32_t gen; };
/* Adds a line that says who writes the stream from now on. The caller has the lock. */
enum status seal_files_own(const char *dir, uint32_t stream, const struct seal_owner *o, struct err *e);
/* Adds a line that says how many elements a file will have at least. The caller has the lock. */
enum status seal_files_promise(const char *dir, const char *name, uint64_t least, struct err *e);
/* Adds the files of all such lines, with these numbers as `elements`, sorted by name. */
enum status seal_files_promised(const char *dir, struct seal_files *out, struct err *e);
/* Sets *o to the last one of the latest generation that the list names for the stream from byte *at
 * on, which moves behind what was read; leaves it if there is none that is as late as *o. */
enum status seal_files_owner(const char *dir, uint32_t stream, off_t *at, struct seal_owner *o, struct err *e);
/* Adds the files that the folder's list has from byte *at on, which moves behind them; ever:
 * also those that were taken back. An incomplete last line is left for later. ST_DATA: the
 * list has become shorter. */
enum status seal_files_more(const char *dir, bool ever, off_t *at, struct seal_files *out, struct err *e);
/* Adds the files of a list or of SNAPSHOT, whose text this is. */
void seal_files_parse(const struct buf *text, struct seal_files *out);
/* Appends a line for a file. */
void seal_files_line(const struct seal_file *f, struct buf *out);
/* Appends the text of SNAPSHOT, as seal_files_write has it. */
void seal_files_text(const char *fields, const struct seal_files *l, const char *rest, struct buf *out);
/* Reads the files of SNAPSHOT, sorted by name. ST_NOINPUT: there is no SNAPSHOT. */
enum status seal_files_whole(const char *dir, struct seal_files *out, struct err *e);
/* Reads the folder's list as it is, sorted by name, each file once. */
enum status seal_files_now(const char *dir, struct seal_files *out, struct err *e);
/* Writes SNAPSHOT: the list, and the record's other fields as JSON: those before it without
 * braces, those behind it with the last one. */
enum status seal_files_write(const char *dir, const char *fields, const struct seal_files *l, const char *rest,
			     struct err *e);
/* Looks a file of the folder up in SNAPSHOT; false: it is not there. name is lent to *out. */
bool seal_files_find(const char *dir, char *name, struct seal_file *out);
/* Compares a file with what is known of it: ST_DATA if it is another. Reads all of it. */
enum status seal_file_check(const char *path, const struct seal_file *f, struct err *e);

#endif
