/* SPDX-License-Identifier: MIT
 *
 * Records of one size in plain files, read by index: those of the first file come
 * first. Each record is one read where it lies, and nothing is kept but the files
 * that were used last, which stay open; small files, 32 MiB in all at most, are held.
 */
#ifndef FILE_FILE_AT_H
#define FILE_FILE_AT_H

#include "op/op.h"

struct file_at_part;
/* All zero is closed. */
struct file_at {
	struct words files;
	struct file_at_part *v; /* by file */
	struct run_part *parts; /* NULL: more records than places have room for */
	uint64_t count;         /* of all files */
	size_t size, n_open, hand;
	uint64_t read;          /* records, one by one */
	bool less;              /* than the order has: a file was skipped */
};

/* Where the records of a file begin, how many there are, and what the maker of
 * elements wants to know of the file. Sets a->size, with the first file at the latest.
 * When it fails and that is to be skipped, the `count` that it set is what the file has. */
struct file_at_where {
	uint64_t base, count;
	unsigned tag;
	uint64_t bad; /* with an error: the record, from 1, that it is about; 0: the file */
};
typedef enum status file_at_look(struct op_inst *self, struct file_at *a, const char *path,
				 struct file_at_where *where, struct err *e);
/* Makes the element at p, whose record was read to `data` behind the head; gives its end. */
typedef uint8_t *file_at_made(struct op_inst *self, unsigned tag, uint8_t *p, uint8_t *data);

/* Looks at all files; a file that cannot be read is told by its name. */
enum status file_at_open(struct op_inst *self, struct file_at *a, const struct words *names,
			 file_at_look *look, struct err *e);
/* As op_desc.at: each element is the head and the record, or what `made` (may be NULL)
 * makes of them. */
enum status file_at_give(struct op_inst *self, struct file_at *a, const uint8_t *head, size_t head_len,
			 file_at_made *made, const uint64_t *index, uint32_t *k, struct run *out,
			 struct err *e);
void file_at_close(struct file_at *a);

#endif
