/* SPDX-License-Identifier: MIT
 *
 * The command line and the environment, read into a program's options.
 *
 * As POSIX and GNU have it: -n5, -n 5, --count=5, --count 5, clusters of
 * switches, `--` ends options, `-` is an operand. Long names are never
 * abbreviated: an abbreviation that scripts rely on freezes all later names. The
 * last of a repeated scalar wins. What the command line says is stronger than
 * the environment, and that is stronger than the defaults.
 *
 *	struct opt o = { 0 };
 *	if (!opt_start(&program, argc, argv, &options, LOG_WARN, &o, &e, &code))
 *		return code;       // help or version has been shown, or an error
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/log.h"
#include "cli/program.h"

struct opt {
	char **operand; /* n of them and a NULL; the texts lie in argv */
	size_t n;
	char **from;    /* for each row: "-d", "--dispatcher", "DSVC_DISPATCHER"; NULL: default */
	size_t n_rows;
};

/* Fills options (which the caller has zeroed) and o. On an error nothing has to
 * be cleared. Also answers -h, --help, --version and the hidden --print-*
 * options: ST_END, or ST_IO when stdout could not be written. The first thing that a
 * program does: it also fills closed standard descriptors (descriptors.h). */
enum status opt_parse(const struct program *p, int argc, char **argv, void *options,
		      struct opt *o, struct err *e);
/* opt_parse as the beginning of main: false: the program ends here, with *code, for help has
 * been shown or what is wrong has been said. Begins the log too: at the level `usual`, with
 * errors alone after -q, with one level more for each -v. */
bool opt_start(const struct program *p, int argc, char **argv, void *options, enum log_level usual,
	       struct opt *o, struct err *e, int *code);
/* Refuses more operands than that (ST_USAGE). */
enum status opt_at_most(const struct opt *o, size_t operands, struct err *e);
/* Where the value of a row comes from, as users write it. Lends; NULL: default. */
const char *opt_from(const struct opt *o, const struct program *p, const char *name);
void opt_clear(const struct program *p, void *options, struct opt *o);

/* DSVC_FOO_BAR, or DSVC_READ_FOO_BAR with `own`. */
void opt_env_name(const struct program *p, const struct param *row, bool own, char *out,
		  size_t size);

/* Rows that mean the same everywhere. T is the struct of the options. */
#define OPT_DISPATCHER(T) \
	{ .name = "dispatcher", .letter = 'd', .arg = "ENDPOINT", .kind = PARAM_WORD, \
	  .offset = offsetof(T, dispatcher), .flags = PARAM_OPTIONAL, \
	  .help = "address of the dispatcher; A,B: two addresses of one service; @FILE: read it from FILE" }
#define OPT_CONTEXT(T) \
	{ .name = "context", .letter = 'c', .arg = "NAME", .kind = PARAM_WORD, \
	  .offset = offsetof(T, context), .flags = PARAM_OPTIONAL | PARAM_RARE, .complete = "context", \
	  .help = "use the dispatcher that this context names; see dsvc-context(1)" }
#define OPT_QUIET(T) \
	{ .name = "quiet", .letter = 'q', .kind = PARAM_BOOL, .offset = offsetof(T, quiet), \
	  .flags = PARAM_RARE, \
	  .help = "print nothing but errors" }
#define OPT_VERBOSE(T) \
	{ .name = "verbose", .letter = 'v', .kind = PARAM_INT, .offset = offsetof(T, verbose), \
	  .flags = PARAM_RARE, \
	  .help = "print more about what happens; give it twice for even more" }
/* Row of a server. T has an int `log_format`. Heeded by opt_start. */
#define OPT_LOG_FORMAT(T) \
	{ .name = "log-format", .arg = "FORMAT", .kind = PARAM_CHOICE, .offset = offsetof(T, log_format), \
	  .flags = PARAM_RARE, .choices = "text|json", .def = "text", \
	  .help = "how to write messages to standard error; json: an object with time, level and text a line" }
#define OPT_TIMEOUT(T) \
	{ .name = "timeout", .arg = "DURATION", .kind = PARAM_DURATION, \
	  .offset = offsetof(T, timeout), .flags = PARAM_RARE, .max = INT64_MAX, \
	  .help = "stop after DURATION and exit 124" }
#define OPT_FAIL_EMPTY(T) \
	{ .name = "fail-empty", .kind = PARAM_BOOL, .offset = offsetof(T, fail_empty), \
	  .flags = PARAM_RARE, .help = "exit 1 if there was no element" }
#define OPT_INSECURE(T) \
	{ .name = "insecure", .kind = PARAM_BOOL, .offset = offsetof(T, insecure), \
	  .flags = PARAM_BY_HAND, \
	  .help = "speak without keys: anyone who can reach the address may use it" }
#define OPT_CLEAR(T) \
	{ .name = "insecure", .kind = PARAM_BOOL, .offset = offsetof(T, insecure), \
	  .flags = PARAM_BY_HAND | PARAM_RARE, \
	  .help = "speak without a key to services on other machines, where none is known" }
/* Heeded by opt_start (net/patience.h). */
#define OPT_CONNECT(T) \
	{ .name = "connect-timeout", .arg = "DURATION", .kind = PARAM_DURATION, \
	  .offset = offsetof(T, connect_timeout), .flags = PARAM_RARE, .def = "1500ms", .max = INT64_MAX, \
	  .help = "wait DURATION for a dispatcher that is not there yet; 0: for ever" }
/* T has an int64_t `tmp_max`, for tmp_room_limit. */
#define OPT_TMP_MAX(T) \
	{ .name = "tmp-max", .arg = "SIZE", .kind = PARAM_SIZE, .offset = offsetof(T, tmp_max), .def = "75%", .min = 1, \
	  .max = INT64_MAX, .flags = PARAM_RARE | PARAM_ALLOW_PERCENT, \
	  .help = "bytes that temporary files of sort and others may take, or N% of what is free in their folder" }
/* T has a char *trace and an int64_t trace_max, for trace_start. Not from the environment: programs that share it would
 * write one file. */
#define OPT_TRACE(T) \
	{ .name = "trace", .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(T, trace), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_BY_HAND, .complete = "file", \
	  .help = "write to FILE what each thread does and when, as Trace Event JSON for ui.perfetto.dev" }, \
	{ .name = "trace-max", .arg = "SIZE", .kind = PARAM_SIZE, .offset = offsetof(T, trace_max), .def = "256M", \
	  .min = 64 * 1024, .max = INT64_MAX, .flags = PARAM_RARE, \
	  .help = "bytes after which --trace ends" }
/* The first rows of a program that speaks to a service. */
#define OPT_SERVICE(T) OPT_DISPATCHER(T), OPT_CONTEXT(T), OPT_CONNECT(T)
/* And its last ones. */
#define OPT_LAST(T) OPT_CLEAR(T), OPT_TIMEOUT(T), OPT_QUIET(T), OPT_VERBOSE(T)
/* Exit codes of a program that speaks to a service. */
#define EXITS_OF_KEYS \
	{ 77, "not allowed; or the service does not know this key, or no key is known for its address" }, \
	{ 78, "others can read the keys" }
#define OPT_JOIN(T) \
	{ .name = "join", .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(T, join), \
	  .flags = PARAM_OPTIONAL | PARAM_RARE | PARAM_BY_HAND, .complete = "file", \
	  .help = "first use the invitation in FILE (-: standard input), as dsvc-join does" }
#define OPT_UNTIL_STDIN_EOF(T) \
	{ .name = "until-stdin-eof", .kind = PARAM_BOOL, .offset = offsetof(T, until_stdin_eof), \
	  .help = "end when standard input ends" }
/* T has a struct ready named `ready` (cli/ready.h). */
#define OPT_READY_FD(T) \
	{ .name = "ready-fd", .arg = "N", .kind = PARAM_INT, .offset = offsetof(T, ready.fd), \
	  .def = "-1", .min = -1, .max = 1 << 20, \
	  .help = "write the endpoint and a newline to descriptor N when ready" }
#define OPT_READY_FILE(T) \
	{ .name = "ready-file", .arg = "FILE", .kind = PARAM_WORD, \
	  .offset = offsetof(T, ready.file), .flags = PARAM_OPTIONAL, .complete = "file", \
	  .help = "write the endpoint and a newline to FILE when ready; it is removed at the start and at the end" }

#endif
