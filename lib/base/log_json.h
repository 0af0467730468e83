/* SPDX-License-Identifier: MIT
 *
 * A line of the log as a JSON object, for collectors:
 *
 *	{"time":"2026-11-23T16:20:01.123Z","level":"warn","pid":4711,"program":"dsvc-work","text":"..."}
 *
 * and, of an error that ends the program, "help" and "code" besides. It is valid UTF-8 whatever the text is: bytes that
 * are not become U+FFFD.
 */
#ifndef BASE_LOG_JSON_H
#define BASE_LOG_JSON_H

#include <stddef.h>

#include "base/log.h"

enum { LOG_JSON_MAX = 12 * 1024 }; /* bytes of a line; longer texts are cut between two characters */

struct log_json {
	enum log_level level;
	const char *program, *text, *help; /* help: "": none */
	int code;                          /* exit code; 0: none */
};

/* Writes the line with its newline, and gives its length. */
size_t log_json_line(const struct log_json *r, char out[LOG_JSON_MAX]);

#endif
