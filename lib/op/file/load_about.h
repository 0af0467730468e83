/* SPDX-License-Identifier: MIT
 *
 * What load knows of its elements before it reads any: what SNAPSHOT of each folder tells,
 * and what the user asks for.
 */
#ifndef FILE_LOAD_ABOUT_H
#define FILE_LOAD_ABOUT_H

#include "op/op.h"

/* The types of all these folders together; `any` if one of them tells none. */
const struct type *load_about_type(const struct words *dirs, struct types *arena);
/* Number of elements in all folders; -1: not known. */
int64_t load_about_count(const struct words *dirs);
/* ST_DATA if the file is compressed otherwise. asked: 0: in any way, else 1 + enum shards_codec. */
enum status load_about_codec(int asked, const char *path, struct err *e);
#define LOAD_CODEC_CHOICES "any|none|snappy|zstd"

#endif
