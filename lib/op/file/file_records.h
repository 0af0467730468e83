/* SPDX-License-Identifier: MIT
 *
 * Texts that end with a separator of several bytes, or at empty lines (paragraphs).
 */
#ifndef FILE_FILE_RECORDS_H
#define FILE_FILE_RECORDS_H

#include "op/file/file_source.h"

/* The state of an operator that uses the decoder begins so. */
struct file_records {
	struct file_source src;
	/* set before the first element; none: paragraphs */
	struct buf separator;
	/* state: the rest of a text that is too long is passed over, and a line of it has begun */
	bool drops, inside;
};

file_decode file_records;

#endif
