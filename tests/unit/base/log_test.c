/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/log_json.h"

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

/* The part of an object behind its process number. */
static const char *
log_behind(const char *line)
{
	const char *at = strstr(line, ",\"program\":");

	assert_non_null(at);
	assert_int_equal(strncmp(line, "{\"time\":\"20", 11), 0);
	return at;
}

static void
as_json_a_line_is_an_object_whatever_the_text_is(void **state)
{
	(void)state;
	log_init("dsvc-test", LOG_INFO);
	log_set_format(LOG_JSON);
	assert_string_equal(log_behind(log_caught(LOG_WARN, "a \"b\"\n\x1b\\ \xc3\xa9 \xff \xe2\x82")),
			    ",\"program\":\"dsvc-test\",\"text\":\"a \\\"b\\\"\\n\\u001b\\\\ \xc3\xa9 \xef\xbf\xbd "
			    "\xef\xbf\xbd\xef\xbf\xbd\"}\n");
	assert_non_null(strstr(log_caught(LOG_INFO, "x"), "\"level\":\"info\""));
	assert_string_equal(log_caught(LOG_DEBUG, "quiet"), "");
	log_set_format(LOG_TEXT);
	assert_false(log_error_json("text", "", 1));
}

static void
long_objects_are_cut_between_characters_and_stay_whole(void **state)
{
	char out[LOG_JSON_MAX + 1], *text = malloc(40000), *help = malloc(40000);
	struct log_json r = { LOG_ERROR, "dsvc-test", text, help, 69 };

	(void)state;
	for (int shift = 0; shift < 4; shift++) {
		memset(text, 'x', 40000);
		for (int i = shift; i + 3 < 40000; i += 3)
			memcpy(text + i, "\xe2\x82\xac", 3);
		text[39990] = '\0';
		memset(help, '\001', 39999);
		help[39999] = '\0';
		size_t n = log_json_line(&r, out);
		assert_true(n < LOG_JSON_MAX);
		out[n] = '\0';
		assert_string_equal(out + n - strlen("\\u0001\",\"code\":69}\n"), "\\u0001\",\"code\":69}\n");
		assert_non_null(strstr(out, "\xe2\x82\xac\",\"help\":\"\\u0001"));
	}
	free(text);
	free(help);
}
