/* SPDX-License-Identifier: MIT */
#include "value/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void
lists_are_read(void **state)
{
	static const struct { const char *text, *same, *says; } cases[] = {
		{ "gpu", "gpu", "have tag gpu" },
		{ "ssd,gpu,ssd", "gpu,ssd", "have tag gpu and tag ssd" },
		{ "!spot,gpu,!old", "gpu,!old,!spot", "have tag gpu and not tag old or tag spot" },
		{ "!spot", "!spot", "do not have tag spot" },
		{ "", NULL, "" },
		{ NULL, NULL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct where w;
		struct err e;
		char *text, *says;

		assert_int_equal(where_parse(cases[i].text, &w, &e), ST_OK);
		text = where_text(&w);
		says = where_clause(&w);
		if (cases[i].same)
			assert_string_equal(text, cases[i].same);
		else
			assert_null(text);
		assert_string_equal(says, cases[i].says);
		mem_free(text);
		mem_free(says);
		where_clear(&w);
	}
}

static void
what_is_no_list_is_refused(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ ",", "is empty" }, { "gpu,", "is empty" }, { "a,,b", "is empty" }, { "!", "is empty" },
		{ "a b", "has a blank" }, { "!!a", "begins with `!`" }, { "a,!b,!a", "asked for and refused" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct where w;
		struct err e;

		assert_int_equal(where_parse(cases[i].text, &w, &e), ST_USAGE);
		assert_non_null(strstr(e.text, cases[i].says));
		assert_int_equal(w.has.n + w.lacks.n, 0);
	}
}

static void
workers_fit_or_not(void **state)
{
	struct words tags = { 0 };
	struct where w;
	struct err e;
	char *key;

	(void)state;
	words_add(&tags, "ssd", 3);
	words_add(&tags, "gpu", 3);
	words_add(&tags, "ssd", 3);
	key = tags_text(&tags);
	assert_string_equal(key, "gpu,ssd");
	mem_free(key);
	static const struct { const char *text; bool fits; } cases[] = {
		{ "", true }, { "gpu", true }, { "gpu,ssd", true }, { "gpu,big", false }, { "!gpu", false },
		{ "!big", true }, { "ssd,!big", true }, { "gp", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(where_parse(cases[i].text, &w, &e), ST_OK);
		assert_int_equal(where_fits(&w, &tags), cases[i].fits);
		where_clear(&w);
	}
	words_clear(&tags);
}
