/* SPDX-License-Identifier: MIT
 *
 * simdjson as C sees it: documents that follow each other in a text, each as a
 * tape. The text must have simd_padding() readable bytes behind it.
 *
 * The tape (simdjson's doc/tape.md): 64-bit words, the kind in the top byte.
 *
 *	'r' n      words, the last included; first and last word of a document
 *	'{' '['    low 32 bits: the word after the end; next 24: items, 0xffffff or more
 *	'}' ']'    low 32 bits: the word of the beginning
 *	'"' at     place in `strings`: u32 length, the bytes
 *	'l' 'u' 'd'  the next word is an int64, uint64, double
 *	't' 'f' 'n'
 */
#ifndef JSON_JSON_SIMD_H
#define JSON_JSON_SIMD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum simd_status { SIMD_OK, SIMD_END, SIMD_BAD, SIMD_DEEP, SIMD_MEMORY };

struct simd;

struct simd_doc {
	const uint64_t *tape;
	const uint8_t *strings; /* 64 bytes after the last one are readable */
	size_t next;            /* offset in the text where the next document begins;
				   the text's length when there is none */
	size_t last;            /* offset of the last bracket, or the beginning of
				   the last text, number or word, of this document */
};

/* Offsets of the brackets, colons, commas and beginnings of values in the text. */
struct simd_marks {
	const uint32_t *v;
	size_t n, at; /* at: index of the next document */
};

struct simd *simd_new(size_t depth_max); /* NULL: no memory */
void simd_free(struct simd *s);
size_t simd_padding(void);

/* Finds the structure of the text (and refuses invalid UTF-8). SIMD_END: only blanks. */
enum simd_status simd_begin(struct simd *s, const uint8_t *p, size_t n);
/* Offset at which the next document begins. */
size_t simd_where(const struct simd *s);
/* Skips everything that begins before the offset. */
void simd_pass(struct simd *s, size_t offset);
/* Lends the marks, until the next simd_begin. */
struct simd_marks simd_found(const struct simd *s);
/* Takes the marks before index `at`. */
void simd_taken(struct simd *s, size_t at);
/* Reads the next document; lent until the next call. */
enum simd_status simd_next(struct simd *s, struct simd_doc *d);

#ifdef __cplusplus
}
#endif

#endif
