/* SPDX-License-Identifier: MIT
 *
 * Elements written to files of a folder, as save and snapshot do.
 *
 *	DIR/data-SSSSS-KKK-NNNNN.msgpack   stream, shard, number: from 0; compressed: .zst or .snappy behind it
 *	DIR/.data-SSSSS-KKK-NNNNN-W.part   while writer W writes it
 *	DIR/.dsvc-save                     the pass that writes here
 *	DIR/.dsvc-files                    those that are whole, with their checksums (seal_list.h)
 *	DIR/SNAPSHOT                       all streams have ended (seal.h)
 *
 * A file gets its name when it is whole, so what bears one can be read while
 * others are written. A worker that was given up and lives on has files of its own until
 * then, and the same bytes in them. A shard's next file begins when one has its size. The
 * i-th element of a stream goes to shard i mod K: writing a stream once more, or
 * from a place in it, gives the same files. A compressed file is therefore cut by its plain bytes, and
 * those not yet compressed are in the state. Formats whose first element decides what
 * the others may be (csv, tsv, npy) have it in their state. shards_far.h has what is different in an
 * object store.
 */
#ifndef KIT_SHARDS_H
#define KIT_SHARDS_H

#include "op/kit/shards_cut.h"
#include "op/kit/shards_pack.h"
#include "op/op.h"
#include "op/state.h"

enum shards_form {
	SHARDS_MSGPACK, SHARDS_NDJSON, SHARDS_TEXT, SHARDS_CSV, SHARDS_TSV, SHARDS_TFRECORD,
	SHARDS_TAR, SHARDS_NPY
};
#define SHARDS_CHOICES "msgpack|ndjson|text|csv|tsv|tfrecord|tar|npy"
#define SHARDS_PATTERN "data-*.*"
enum { SHARDS_MAX = 1000, SHARDS_BUF = 256 * 1024 };

struct far_object;
struct shard {
	int fd;              /* descriptor; -1: no file is open, or it is an object */
	struct far_object *object; /* NULL: none is open */
	struct buf buf;
	struct format *format; /* format of the current file, if it needs one */
	struct buf first;    /* first element of the file, if the format depends on it */
	uint64_t written;    /* bytes in the current file */
	uint64_t plain;      /* number of these before compression */
	uint64_t elements;   /* elements in the current file */
	uint32_t sum;        /* CRC-32C of the bytes written */
	uint32_t number;     /* number of the current file */
	int64_t since;       /* cut: the clock when the file was begun here */
	uint64_t until;      /* cut: number of elements at which it must end; 0: nobody knows yet */
	uint64_t least;      /* cut: it must not end with fewer */
	/* Left undone for want of room: bytes are to be written, or the file is to be completed; of
	 * that is done: the format's end is in buf, the file has its name. */
	bool due, ending, named;
};

struct far_save;
struct shards {
	const char *dir;     /* folder, or an address without a slash at its end; lent */
	struct far_save *far; /* NULL: it is a folder */
	enum shards_form form;
	enum shards_codec codec; /* to be set after shards_init, unless none */
	const struct op_node *node; /* the operator that writes; lent */
	uint64_t file_max;   /* bytes before compression */
	uint32_t stream, n;
	struct shard *v;
	uint64_t given;      /* number of elements so far */
	uint64_t files, elements, bytes; /* in files that are whole */
	uint64_t seed;       /* seed of the pass that writes */
	uint64_t pass;       /* op_ctx.pass: nonzero: others may write the same stream */
	uint32_t gen;        /* op_ctx.gen */
	uint64_t pipeline;   /* by shards_pipeline */
	uint64_t writer;     /* a number of our own: who goes on from a state writes other files */
	bool begun;          /* the folder has been checked */
	struct json_rules rules; /* op_ctx.json */
	bool owned;          /* cut: nobody else writes the stream */
	struct shards_cut cut; /* after_ns is to be set after shards_init, unless 0 */
	struct buf packed;   /* a piece, compressed */
	int64_t patience;    /* ns to wait for its lock; less once that was in vain */
	bool no_room;        /* the last call failed since the disk is full, and may be repeated */
};

void shards_init(struct shards *s, const char *dir, int form, uint32_t n, int64_t file_max,
		 const struct op_inst *self);
/* A number derived from the text of an operator and of everything before it, the same in every
 * process. */
uint64_t shards_pipeline(const struct op_node *n);
void shards_clear(struct shards *s); /* unfinished files stay, for a restore */
/* Does the same, for the operator that writes; if it has failed, the folder says why. */
void shards_close(struct shards *s, const struct op_inst *self);
/* Checks the folder, which is made if needed; files of another pass in it are an error or,
 * with `overwrite`, removed. */
enum status shards_begin(struct shards *s, uint64_t seed, bool overwrite, struct err *e);
/* Writes one element; ST_DATA: the format cannot hold it. For each file that it finishes, a
 * record {file, elements, bytes} goes to out, unless NULL. It has the element if `given` grew, also
 * when it fails. */
enum status shards_put(struct shards *s, const struct elem *x, struct run *out, struct err *e);
/* Finishes all files; without any element, writes an empty one. Seals the folder when this is
 * the last stream that writes there (seal.h). */
enum status shards_end(struct shards *s, const struct op_ctx *ctx, struct run *out, struct err *e);
/* Writes buffered bytes to the files, and saves the state; false when they cannot be written. */
bool shards_save(struct shards *s, struct buf *out);
/* Restores the files to the saved state: what was written since is cut off. ST_IO and no_room: it can
 * be repeated, from the state's first byte. */
enum status shards_restore(struct shards *s, struct state_in *in, struct err *e);

#endif
