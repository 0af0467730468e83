/* SPDX-License-Identifier: MIT
 *
 * Elements written to files of a folder, as save and snapshot do.
 *
 *	DIR/data-SSSSS-KKK-NNNNN.msgpack   stream, shard, number: from 0
 *	DIR/.data-SSSSS-KKK-NNNNN.part     while it is written
 *	DIR/.dsvc-save                     the seed of the pass that writes here
 *	DIR/SNAPSHOT                       all streams have ended (seal.h)
 *
 * A file gets its name when it is whole, so what bears one can be read while
 * others are written. A shard's next file begins when one has its size. The
 * i-th element of a stream goes to shard i mod K: writing a stream once more, or
 * from a place in it, gives the same files. Formats whose first element decides what
 * the others may be (csv, tsv, npy) have it in their state.
 */
#ifndef KIT_SHARDS_H
#define KIT_SHARDS_H

#include "op/op.h"
#include "op/state.h"

enum shards_form {
	SHARDS_MSGPACK, SHARDS_NDJSON, SHARDS_TEXT, SHARDS_CSV, SHARDS_TSV, SHARDS_TFRECORD,
	SHARDS_TAR, SHARDS_NPY
};
#define SHARDS_CHOICES "msgpack|ndjson|text|csv|tsv|tfrecord|tar|npy"
#define SHARDS_PATTERN "data-*.*"
enum { SHARDS_MAX = 1000, SHARDS_BUF = 256 * 1024 };

struct shard {
	int fd;              /* -1: no file is open */
	struct buf buf;
	struct format *format; /* of the file at hand, where it needs one */
	struct buf first;    /* its first element, where that decides */
	uint64_t written;    /* bytes of the file at hand that are in it */
	uint64_t elements;   /* of the file at hand */
	uint32_t number;     /* of the file at hand */
};

struct shards {
	const char *dir;     /* lent */
	enum shards_form form;
	uint64_t file_max;
	uint32_t stream, n;
	struct shard *v;
	uint64_t given;      /* elements so far */
	uint64_t seed;       /* of the pass that writes */
	bool begun;          /* the folder has been looked at */
};

void shards_init(struct shards *s, const char *dir, int form, uint32_t n, int64_t file_max,
		 uint32_t stream);
void shards_clear(struct shards *s); /* unfinished files stay, for a restore */
/* Looks at the folder: made where it is not there; files of another pass in it are
 * an error, or removed with `overwrite`. */
enum status shards_begin(struct shards *s, uint64_t seed, bool overwrite, struct err *e);
/* Writes one element; ST_DATA: the format has no place for it. For each file that it finishes a record {file, elements,
 * bytes} goes to out; NULL: none. */
enum status shards_put(struct shards *s, const struct elem *x, struct run *out, struct err *e);
/* Finishes all files; with no element at all, an empty one. Seals the folder when this is
 * the last of all streams that write there (seal.h). */
enum status shards_end(struct shards *s, const struct op_ctx *ctx, struct run *out, struct err *e);
/* What is in files is in them: false when it cannot be written. */
bool shards_save(struct shards *s, struct buf *out);
/* The files as they were then: what was written since is cut off. */
enum status shards_restore(struct shards *s, struct state_in *in, struct err *e);

#endif
