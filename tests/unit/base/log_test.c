/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

static char said[8192];

/* The text that one call writes to stderr. */
static const char *
log_caught(enum log_level level, const char *text)
{
	int ends[2], saved = dup(STDERR_FILENO);

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	log_say(level, "%s", text);
	dup2(saved, STDERR_FILENO);
	close(saved);
	ssize_t n = read(ends[0], said, sizeof said - 1);
	close(ends[0]);
	said[n > 0 ? n : 0] = '\0';
	return said;
}

static void
lines_carry_the_name_and_stay_lines(void **state)
{
	(void)state;
	log_init("dsvc-test", LOG_INFO);
	assert_string_equal(log_caught(LOG_INFO, "lost\ncontact\x1b[1m"),
			    "dsvc-test: lost contact [1m\n");
	assert_string_equal(log_caught(LOG_DEBUG, "quiet"), "");
	assert_int_equal(log_most(), LOG_INFO);
}

static void
long_lines_are_cut(void **state)
{
	char text[6000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	log_init("dsvc-test", LOG_INFO);
	const char *line = log_caught(LOG_ERROR, text);
	assert_true(strlen(line) <= 4096);
	assert_int_equal(line[strlen(line) - 1], '\n');
}
