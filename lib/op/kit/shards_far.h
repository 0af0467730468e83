/* SPDX-License-Identifier: MIT
 *
 * Elements saved to an object store: what shards.h has as files of a folder are objects there,
 *
 *	s3://BUCKET/PREFIX/data-SSSSS-KKK-NNNNN.msgpack   whole as soon as it is there
 *	s3://BUCKET/PREFIX/.dsvc-save                     the pass that writes there
 *	s3://BUCKET/PREFIX/.dsvc-ended-SSSSS              the stream has ended: the lines of its files (seal_list.h)
 *	s3://BUCKET/PREFIX/SNAPSHOT, SNAPSHOT.failed      as in a folder
 *
 * with nothing like a lock, an appended line or a new name. So all that is written is the same whoever writes
 * it: objects end at the same elements, two writers of a stream put the same bytes under the same name, and the
 * list of a stream's files is in its state, and in its mark in the end. A small object is one request; the
 * parts of a larger one are in an upload whose id is in the state, so that the next writer goes on with it.
 * Bytes that are no part yet are in the state, too: so it may be saved only if they are few for the time that
 * has passed since the last one.
 */
#ifndef KIT_SHARDS_FAR_H
#define KIT_SHARDS_FAR_H

#include "fetch/put.h"
#include "op/kit/seal.h"
#include "op/kit/shards.h"

enum { FAR_SHARDS_MAX = 64, FAR_PART = 8 * 1024 * 1024 };

/* Shared by the shards of a stream. */
struct far_save {
	struct fetch_wait wait; /* ends when the chain is to stop */
	bool passes;            /* the last request may succeed later */
	size_t part;            /* bytes of a part */
	int64_t saved_ns;       /* when the last state was saved, or the first object begun */
	struct seal_files done; /* files that are whole */
};

/* An object that is written. */
struct far_object {
	char *url;
	struct buf tail;        /* bytes that are no part yet */
	char *upload;           /* id; NULL: there is none yet */
	struct words tags;      /* one for each part */
	bool kept;              /* the id is in a state */
	bool others;            /* another writer has completed it: nothing is sent any more */
};

/* To be called after shards_init by operators that write to addresses: does nothing if it is a folder. */
void far_init(struct shards *s, const struct op_ctx *ctx);
/* Ends it; pending: the save has failed, and says so there. */
void far_close(struct shards *s, const struct err *pending);
/* After a request failed: notes whether waiting may help. Gives st. */
enum status far_io(struct shards *s, enum status st, struct err *e);
/* Does what shards_begin does. */
enum status far_begin(struct shards *s, bool overwrite, struct err *e);
/* Begins an object; takes url. */
void far_open(struct shards *s, struct shard *sh, char *url);
/* Adds bytes. It has none of them when it fails. */
enum status far_write(struct shards *s, struct shard *sh, const struct buf *b, struct err *e);
/* Has the object appear. */
enum status far_commit(struct shards *s, struct shard *sh, struct err *e);
/* Frees the shard's object; what was sent of it stays. */
void far_drop(struct shard *sh);
/* Marks the stream as ended, and seals the folder behind the last one. */
enum status far_end(struct shards *s, const struct seal_stream *ended, struct seal_about *about, struct err *e);
/* Whether the state may be saved now. */
bool far_may_save(const struct shards *s);
void far_save(struct shards *s, struct buf *out);
/* Behind the state of all shards, whose objects have been begun. */
void far_restore(struct shards *s, struct state_in *in);

#endif
