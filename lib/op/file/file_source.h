/* SPDX-License-Identifier: MIT
 *
 * What the sources that read files share: the walk from file to file, a window
 * over the bytes of the file at hand, positions, splits, and what is done about
 * files that cannot be read. A decoder makes elements out of the window:
 *
 *	window:  |taken|--- from ---- unread ---- to |   room   | pad |
 *
 * The state of such an operator begins with a struct file_source, so that the
 * callbacks below can stand in its descriptor as they are.
 */
#ifndef FILE_FILE_SOURCE_H
#define FILE_FILE_SOURCE_H

#include "op/file/file_bytes.h"
#include "op/file/file_named.h"
#include "op/op.h"

struct file_source;
struct json;
/* Called when a file was opened. `inside`: reading does not begin at its start, so the header
 * has to be looked up. May set unit and unit_base. */
typedef enum status file_begin(struct op_inst *self, struct file_source *s, const char *path,
			       bool inside, struct err *e);

/* Called when a whole file has been read: an error if something is missing. */
typedef enum status file_finish(struct op_inst *self, struct file_source *s, struct err *e);

struct file_source {
	struct words names;  /* the parameter; must come first in the state */
	struct buf with_name; /* the parameter (file_named.h), or empty */
	/* set before file_source_open, unless zero */
	uint8_t delim;       /* the byte that ends a line; 0 means NUL */
	uint64_t skip;       /* number of lines to skip at the start of each file */
	size_t pad;          /* bytes that must be readable after the window's end */
	bool text;           /* a byte order mark is left out, and UTF-16 becomes UTF-8 */
	const char *counts;  /* the usual name of the field with the number, for with_name; NULL: "line" */
	file_begin *begin;   /* NULL: nothing to do */
	file_finish *finish;
	/* unless 0: records of this many bytes instead of lines, from offset unit_base on */
	uint64_t unit, unit_base;
	bool bare;           /* the next elements have no bytes: the decoder is called without any */
	bool lends;          /* the decoder asks for what file_source_lend gives, and is called with an empty window, too */
	bool straight;       /* the decoder reads large elements itself, and is called with an empty window, too */
	/* state of the walk */
	struct words files;
	struct file_named *named; /* adds the fields of with_name; NULL: there are none */
	size_t at;           /* index of the current file, or of the next one */
	struct file_bytes *bytes;
	bool open, eof;      /* a file is open; the window holds its end */
	bool as_is;          /* reading a byte range: the file is not decompressed */
	uint64_t start, end; /* elements must begin in [start, end) of a file */
	const char *name;    /* the current file, interned */
	const char *tag;     /* for save: the tag of an object that the operator opened itself; else NULL */
	struct block *window;
	size_t from, to;
	uint64_t offset;     /* offset of `from` in the file's decompressed bytes */
	uint64_t line;       /* number of the line or record at `from`, from 1; 0: unknown */
	size_t searched;     /* bytes from `from` on that are known not to end an element */
	unsigned rest;       /* line_seek.h: runs to be made before it is tried again */
	uint64_t pending;    /* msgpack: number of values still open at `searched` */
	bool resume;         /* begin the next file at the saved offset and line */
	uint64_t resume_offset, resume_line;
	char *resume_tag;    /* the tag that it had then; NULL: none */
};

/* Makes elements from the window, and takes their bytes. ST_OK: it took something; ST_END: it
 * needs more bytes (never when eof is set); errors only while out is empty. */
typedef enum status file_decode(struct op_inst *self, struct file_source *s, struct run *out,
				struct err *e);
file_decode file_lines;   /* one text element per line */
file_decode file_ndjson;  /* one element of any type per line */
struct json *file_json_parser(void); /* the thread's; lent */
file_decode file_msgpack; /* elements of any type, end to end */

enum status file_source_open(struct op_inst *self, struct err *e);
enum status file_source_next(struct op_inst *self, file_decode *decode, struct run *out,
			     struct err *e);
/* Goes on up to n records further, of `unit` bytes each, and gives their number; 0 where so few are to come in this
 * file and split that they are as well read. A record must be next. */
uint64_t file_source_pass(struct file_source *s, uint64_t n);
/* Gives the next file as one bytes element. */
enum status file_source_whole(struct op_inst *self, struct run *out, struct err *e);
/* Gives what `read` gives of the file at hand, with the fields of with_name if they are wanted. */
typedef enum status file_read(struct op_inst *self, struct run *out, struct err *e);
enum status file_source_with_name(struct op_inst *self, struct file_source *s, file_read *read, struct run *out,
				  struct err *e);
void file_source_close(struct op_inst *self);
void file_source_save(struct op_inst *self, struct buf *out);
enum status file_source_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

/* Callbacks for planning; they need only that `names` comes first. */
enum status file_source_check(const struct op_node *n, struct err *e);
/* Plain files of text may be cut at line ends, unless lines are to be counted (with_name); other
 * files are one unit each. */
enum status file_source_list_lines(const struct op_node *n, struct split_list *out, struct err *e);
/* Plain files may be cut anywhere. */
enum status file_source_list_cut(const struct op_node *n, struct split_list *out, struct err *e);
/* Files may be cut anywhere, whatever they begin with. */
enum status file_source_list_parts(const struct op_node *n, struct split_list *out, struct err *e);
enum status file_source_list(const struct op_node *n, struct split_list *out, struct err *e);
int64_t file_source_count(const struct op_node *n, const int64_t *in);
/* The names of the files: expanded unless they come from an outer element, or the split's. */
enum status file_source_names(const struct op_inst *self, const struct words *names,
			      struct words *out, struct err *e);

/* For decoders: the largest element, in bytes. */
size_t file_source_element_max(const struct op_inst *self);
/* Takes n bytes, with `lines` line ends in them, from the window. */
static inline void
file_source_take(struct file_source *s, size_t n, uint64_t lines)
{
	s->from += n;
	s->offset += n;
	s->searched = 0;
	if (s->line)
		s->line += lines;
}
/* Lends bytes of the file at hand from its offset on, up to `most`, where the kernel has them. NULL: it cannot be. */
const uint8_t *file_source_lend(struct file_source *s, size_t most, size_t *n);
/* Takes n of the bytes that were lent, with `lines` line ends in them. False: they were not those of the file, which
 * became shorter meanwhile, and nothing is taken. */
bool file_source_take_lent(struct file_source *s, size_t n, uint64_t lines);
/* Takes n bytes of a plain file to p: those of the window first, the others are read straight there. False: they are
 * not all there now, nothing is taken, and the window has what was read. */
bool file_source_straight(struct file_source *s, uint8_t *p, size_t n, uint64_t lines);
/* Reports a bad element at the start of the window. ST_OK: on_error skips it, go on after it. */
enum status file_source_bad(struct op_inst *self, struct file_source *s, struct err *e);
/* Drops everything up to the end of the line, however far away it is. */
enum status file_source_drop_line(struct op_inst *self, struct file_source *s, struct err *e);
/* Fails because an element is larger than allowed. `what` is "line" or the like. */
enum status file_source_too_large(struct op_inst *self, struct file_source *s, const char *what,
				  struct err *e);

#define FILE_SOURCE_NAMES(TYPE)                                                                \
	{ "files", PARAM_WORDS, offsetof(TYPE, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,    \
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" }

#define FILE_SOURCE_NAMED(TYPE)                                                                \
	{ "with_name", PARAM_VALUE, offsetof(TYPE, src.with_name),                              \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,                                             \
	  .help = "true adds the fields `file` and `line`, where the element begins, to a record, " \
		  "and makes {file, line, value} of other values; [\"a\", \"b\"] names them so, and " \
		  "[\"a\"] leaves out the line" }

/* For sources whose files hold records; `src` is the struct file_source in TYPE. */
#define FILE_SOURCE_NUMBERED(TYPE, src)                                                        \
	{ "with_name", PARAM_VALUE, offsetof(TYPE, src.with_name),                              \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,                                             \
	  .help = "true adds the fields `file` and `record`, its number in the file from 1, to a record, " \
		  "and makes {file, record, value} of other values; [\"a\", \"b\"] names them so, and " \
		  "[\"a\"] leaves out the number" }

#endif
