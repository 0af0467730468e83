/* SPDX-License-Identifier: MIT
 *
 * The parameter with_name of sources that read files: elements get fields that say in
 * which file and on which line they begin, or which record of the file they are. Its value is true
 * or false, or a list of one or two names for the fields, the file's first.
 */
#ifndef FILE_FILE_NAMED_H
#define FILE_FILE_NAMED_H

#include <stdbool.h>

#include "base/buf.h"
#include "op/op.h"

struct file_named;

/* Reads the parameter. counts: the usual name of the second field, such as "record"; NULL: "line".
 * Gives; NULL: no fields are wanted. */
enum status file_named_new(const struct buf *with_name, const char *counts, struct file_named **out, struct err *e);
void file_named_free(struct file_named **n);
/* Whether elements are to have their lines, which must then be counted from the file's start. */
bool file_named_lines(const struct buf *with_name);
/* Whether elements are to have such fields at all. */
bool file_named_is(const struct buf *with_name);
/* Has the run to be filled next, lent: its elements have no fields yet. */
struct run *file_named_plain(struct file_named *n);
/* Moves the elements of that run to out, with the fields. path: the file. Elements that cannot
 * have them are handled by on_error. */
enum status file_named_put(struct file_named *n, struct op_inst *self, const char *path, struct run *out,
			   struct err *e);
/* Replaces the type of the elements by what it is with the fields. A name that the type has
 * already is an error. */
enum status file_named_type(const struct buf *with_name, const char *counts, struct types *arena,
			    const struct type **type, struct err *e);

#endif
