/* SPDX-License-Identifier: MIT
 *
 * The line that tells how far the work is: on stderr, on a terminal only, after a
 * second only, and gone at the end. Asked for elsewhere (-p always) it is a line every
 * few seconds, and the signal USR1 gets one at any time.
 *
 *	progress_begin(&p, "dsvc-read", when, quiet, to_terminal);
 *	while (...)
 *		if (progress_due(&p))
 *			progress_say(&p, line);
 *	progress_end(&p);
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };
#define PROGRESS_CHOICES "auto|always|never"

struct progress {
	const char *program; /* lent */
	bool show;           /* without being asked by a signal */
	bool tty;            /* stderr is a terminal */
	int64_t began_ns, shown_ns;
	int asked;           /* how many signals have been answered */
};

/* Begins to count the time, and to take USR1. to_terminal: the program's output goes to the
 * terminal, which would mix with the line. */
void progress_begin(struct progress *p, const char *program, int when, bool quiet, bool to_terminal);
/* Readable from a USR1 until progress_due; to be polled for POLLIN. */
int progress_fd(void);
/* For how long a poll may wait, in ms: at most `ms` (-1: for ever). */
int progress_wait(const struct progress *p, int ms);
bool progress_due(struct progress *p);
/* One line without a newline; cut to the terminal's width. */
void progress_say(struct progress *p, const char *line);
double progress_seconds(const struct progress *p);
/* Appends `  43%  ETA 0:54` to a line that has n bytes and room for `size`: share is done of all, and `begun` was when
 * the time began. A share below 0 is not known, and appends nothing. Gives the length. */
int progress_share(const struct progress *p, double share, double begun, char *line, int n, size_t size);
void progress_end(struct progress *p);

/* 1234567 as 1.23M with base 1000, for counts; as 1.18Mi with base 1024, for bytes. */
enum { PROGRESS_NUMBER = 16 };
void progress_number(char out[PROGRESS_NUMBER], double v, double base);

/* T has an int named progress. */
#define OPT_PROGRESS(T) \
	{ .name = "progress", .letter = 'p', .arg = "WHEN", .kind = PARAM_CHOICE, \
	  .offset = offsetof(T, progress), .def = "auto", .choices = PROGRESS_CHOICES, \
	  .complete = PROGRESS_CHOICES, \
	  .help = "show progress: always, never or auto; auto: on a terminal to which no elements are written" }

#endif
