/* SPDX-License-Identifier: MIT
 *
 * What went wrong, and the code a program ends with because of it.
 *
 * A function in lib/ that can fail for a reason outside the program returns
 * enum status and fills the struct err it was handed; it never prints and never
 * exits. The caller handles the error or returns it, adding its words in front
 * with err_wrap. One place in each program prints it (cli/report.h).
 *
 * The values from 64 on are exit codes (the table in dsvc.7); those below are
 * answers, not errors, and leave the struct err untouched.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum status {
	ST_OK = 0,
	ST_END = 1,      /* no more elements: not an error */
	ST_AGAIN = 2,    /* nothing now, ask later: not an error */
	ST_SKIP = 3,     /* this element is to be dropped: not an error */
	ST_NO = 4,       /* the answer is no: exit code 1 */
	ST_USAGE = 64,   /* bad option, bad number, missing operand */
	ST_DATA = 65,    /* bad spec or bad data */
	ST_NOINPUT = 66, /* no such file, dataset or job */
	ST_UNAVAIL = 69, /* no dispatcher or worker answered */
	ST_BUG = 70,     /* internal error */
	ST_IO = 74,      /* read or write failed, no space */
	ST_TEMP = 75,    /* contact lost; running it again may help */
	ST_PROTO = 76,   /* version mismatch, malformed message */
	ST_PERM = 77,    /* not allowed */
	ST_CONFIG = 78,  /* bad configuration */
	ST_TIMEOUT = 124, /* --timeout passed */
	ST_NORUN = 126,  /* the command of an exec cannot be run */
	ST_NOCMD = 127   /* there is no such command */
};

enum { ERR_TEXT = 2048, ERR_HELP = 512, ERR_LINE = 256, ERR_FILE = 256 };

struct err {
	enum status kind;     /* ST_OK: empty */
	char text[ERR_TEXT];  /* one sentence, lower case, no full stop */
	char help[ERR_HELP];  /* how to mend it; "": nothing to say */
	/* a place in a text (spec or input file); line 0: no place */
	char file[ERR_FILE];  /* "<arg>" for a spec on the command line */
	unsigned line, col;   /* from 1; col counts characters; 0: whole line */
	unsigned width;       /* number of carets, at least 1 when col is set */
	char source[ERR_LINE];/* the line of the text, cut to fit */
	unsigned shift;       /* characters of the line cut off before source */
};

/* Both return kind, so that `return err_set(e, ST_DATA, "...")` reads well.
 * err_set forgets what e held. e may be NULL: then only kind is returned. */
enum status err_set(struct err *e, enum status kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* For failed calls: ": " and strerror(errno) follow the words. ENOENT gives
 * ST_NOINPUT, EACCES, EPERM and what the gate refuses (base/gate.h) ST_PERM, the rest ST_IO. */
enum status err_errno(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Puts words and ": " in front of the text. Returns e->kind. */
enum status err_wrap(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void err_help(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Sets the place: `text` is the whole text, [at, at+len) the fault in it.
 * Works out line, column and width, and copies the line. */
void err_place(struct err *e, const char *file, const char *text,
	       size_t text_len, size_t at, size_t len);
void err_clear(struct err *e);

/* Reads a code that others wrote (messages, files, operator states): 1 is ST_NO; 64 to 78,
 * 124, 126 and 127 are failures of their own; everything else, 0 included, is ST_BUG. So a
 * peer can never write one of the answers above. */
enum status status_from_code(uint64_t code);
/* Writes a code: the exit code of a failure. */
unsigned status_code(enum status failure);

/* The name in the table of exit codes: "DATAERR" for ST_DATA and so on. */
const char *status_name(enum status s);

#endif
