/* SPDX-License-Identifier: MIT
 *
 * Lines on stderr, prefixed by the program's name: `dsvc-work: lost contact`.
 * Written with one write() each, so that lines of several threads do not mix.
 * Only programs and net/ log; other rooms return errors.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_init(const char *program, enum log_level most);
enum log_level log_most(void);
void log_say(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* In which form lines are from now on: LOG_JSON: one object each (log_json.h), for collectors. Before there are
 * threads. */
enum log_format { LOG_TEXT, LOG_JSON };
void log_set_format(enum log_format how);
/* An error with which the program ends, as an object; code: its exit code. False, and nothing is written, unless
 * that is the form. */
bool log_error_json(const char *text, const char *help, int code);

/* Shows a line of at most LOG_STATUS bytes at the bottom of the terminal, which tells how far
 * the work is; NULL removes it. Output of log_say appears above it. Does nothing unless stderr
 * is a terminal. */
enum { LOG_STATUS = 256 };
void log_status(const char *text);
/* Removes the line until the next log_status, before other output to the same terminal. */
void log_status_hide(void);

#endif
