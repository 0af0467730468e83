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
/* Zero is closed. */
struct file_at {
	struct words files;
	struct file_at_part *v; /* one entry for each file */
	struct run_part *parts; /* NULL: more records than there are places */
	uint64_t count;         /* number of records in all files */
	size_t size, n_open, hand;
	uint64_t read;          /* records read one by one */
	/* a file was skipped, so there are fewer records than in the order */
	bool less;
};

/* Where the records of a file begin, how many there are, and the tag that `made` is given. A
 * look sets a->size, with the first file at the latest. When it fails and on_error skips that,
 * the file has the `count` that it set. */
struct file_at_where {
	uint64_t base, count;
	unsigned tag;
	uint64_t bad; /* with an error: number of the bad record, from 1; 0: the file */
};
typedef enum status file_at_look(struct op_inst *self, struct file_at *a, const char *path,
				 struct file_at_where *where, struct err *e);
/* Makes the element at p, whose record was read to `data` after the head; gives its end. */
typedef uint8_t *file_at_made(struct op_inst *self, unsigned tag, uint8_t *p, uint8_t *data);

/* Looks at all files; an error names the file that cannot be read. */
enum status file_at_open(struct op_inst *self, struct file_at *a, const struct words *names,
			 file_at_look *look, struct err *e);
/* Implements op_desc.at: each element is the head and the record, or what `made` (may be NULL)
 * makes of them. */
enum status file_at_give(struct op_inst *self, struct file_at *a, const uint8_t *head, size_t head_len,
			 file_at_made *made, const uint64_t *index, uint32_t *k, struct run *out,
			 struct err *e);
void file_at_close(struct file_at *a);

#endif
