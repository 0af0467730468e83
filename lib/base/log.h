/* SPDX-License-Identifier: MIT
 *
 * Lines on stderr, prefixed by the program's name: `dsvc-work: lost contact`.
 * Written with one write() each, so that lines of several threads do not mix.
 * Only programs and net/ log; other rooms return errors.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_init(const char *program, enum log_level most);
enum log_level log_most(void);
void log_say(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* One line that says how far the work is, at the bottom of a terminal, of at most
 * LOG_STATUS bytes; NULL: no longer. What log_say says stands above it. Nothing
 * unless stderr is a terminal. */
enum { LOG_STATUS = 256 };
void log_status(const char *text);
/* Takes it away until the next log_status: for those who write to the same terminal. */
void log_status_hide(void);

#endif
