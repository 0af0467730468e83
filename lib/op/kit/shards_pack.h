/* SPDX-License-Identifier: MIT
 *
 * Bytes of a file that is written, compressed piece by piece. Each piece is a frame
 * of its own, so that a file can be continued behind any of them:
 *
 *	.zst      Zstandard frames, as zstd(1) reads them
 *	.snappy   the framing format of Snappy, blocks of at most 64 KiB with checksums
 */
#ifndef KIT_SHARDS_PACK_H
#define KIT_SHARDS_PACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum shards_codec { SHARDS_PLAIN, SHARDS_SNAPPY, SHARDS_ZSTD, SHARDS_CODECS };
#define SHARDS_CODEC_CHOICES "none|snappy|zstd"

/* The end of a file's name, with its dot; "" for SHARDS_PLAIN. */
const char *shards_pack_end(enum shards_codec codec);
/* The codec that the end of a name tells; *n: the length of the name without it. */
enum shards_codec shards_pack_of(const char *name, size_t *n);
/* Appends the n bytes, compressed. begins: they are the first of their file. */
enum status shards_pack(enum shards_codec codec, const void *p, size_t n, bool begins, struct buf *out,
			struct err *e);

#endif
