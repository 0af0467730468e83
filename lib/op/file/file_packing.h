/* SPDX-License-Identifier: MIT
 *
 * How a file is compressed, told by its first bytes.
 */
#ifndef FILE_FILE_PACKING_H
#define FILE_FILE_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_packing { FILE_PLAIN, FILE_GZIP, FILE_BZIP2, FILE_XZ, FILE_ZSTD, FILE_LZ4, FILE_SNAPPY, FILE_ZLIB };
enum { FILE_SNIFF = 16 }; /* how many bytes decide the packing */
enum file_packing file_packing_of(const uint8_t *p, size_t n);
/* Whether these few bytes could still be the beginning of a compressed file. */
bool file_packing_undecided(const uint8_t *p, size_t n);
/* The packing of a file; FILE_PLAIN also when it cannot be read. */
enum file_packing file_packing_at(const char *path);
/* Whether the file at path may be read from its middle: as bytes; as text, which must not be
 * UTF-16. True as well when it cannot be read. */
bool file_packing_plain_at(const char *path);
bool file_packing_text_at(const char *path);

#endif
