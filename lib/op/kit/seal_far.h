/* SPDX-License-Identifier: MIT
 *
 * What seal.h and seal_list.h are for folders, in an object store (shards_far.h). The addresses are those of
 * a folder, without a slash at their end.
 */
#ifndef KIT_SEAL_FAR_H
#define KIT_SEAL_FAR_H

#include "fetch/put.h"
#include "op/kit/seal.h"

struct shards;

/* Says which pass writes there. ST_DATA: another one does, or has; overwrite: its objects are removed. */
enum status seal_far_begin(struct shards *s, bool overwrite, struct err *e);
/* ST_DATA: the place belongs to another pass now. */
enum status seal_far_mine(const struct shards *s, struct err *e);
/* Does what seal_break does. */
enum status seal_far_break(const struct shards *s, struct err *e);
bool seal_far_ended(const struct shards *s);
void seal_far_fail(const char *dir, const struct err *why);
enum status seal_far_end(struct shards *s, const struct seal_stream *ended, struct seal_about *about, struct err *e);

/* Removes all that a save has written there, and cancels its uploads. */
enum status seal_far_sweep(const char *dir, const struct fetch_wait *w, struct err *e);

/* The following are for reading. The last SNAPSHOT that was read is kept, and asked for only if it has changed. */

/* Does what seal_failed does. */
enum status seal_far_failed(const char *dir, struct err *e);
/* Adds the files of SNAPSHOT. ST_NOINPUT: there is none. */
enum status seal_far_whole(const char *dir, struct seal_files *out, struct err *e);
/* Does what seal_check does; adds the files with their tags. */
enum status seal_far_check(const char *dir, struct seal_files *out, struct err *e);
bool seal_far_find(const char *dir, char *name, struct seal_file *out);
/* Does what seal_file_check does. */
enum status seal_far_file_check(const char *url, const struct seal_file *f, struct err *e);
/* Appends an object of the place. ST_NOINPUT: it is not there. */
enum status seal_far_get(const char *dir, const char *name, enum gate side, size_t most, struct buf *out,
			 struct err *e);

#endif
