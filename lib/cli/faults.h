/* SPDX-License-Identifier: MIT
 *
 * --errors FILE: one JSON record a line for each element that failed. What is
 * not known of a failure is left out of its record.
 *
 *	{"operator":2,"text":"map int(x)","error":"...","file":"a.txt","line":7,"element":"x"}
 *
 * Not for several threads at once.
 */
#ifndef CLI_FAULTS_H
#define CLI_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* One failure; all texts are lent and may be NULL. */
struct fault {
	uint32_t op;            /* the operator's number in the spec */
	const char *text, *error, *file;
	uint64_t line;          /* 0: unknown */
	const char *element;    /* JSON, cut: value/format/excerpt.h */
	const char *worker;     /* NULL: made in this process, by no stream */
	uint32_t stream;
	uint64_t offset;        /* elements that the stream had given then */
	bool fatal;             /* it ended the run */
};

struct faults;

/* Empties the file. path NULL: gives NULL, which all others take. */
enum status faults_open(const char *path, struct faults **out, struct err *e);
/* A record that cannot be written is told by faults_close. */
void faults_add(struct faults *f, const struct fault *x);
enum status faults_close(struct faults **f, struct err *e);

/* The record without its newline. */
void fault_print(const struct fault *x, struct buf *out);

#endif
