/* SPDX-License-Identifier: MIT */
#include "fetch/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/param.h"

static void
an_address_is_taken_apart(void **state)
{
	static const struct {
		const char *text, *host, *path, *query;
	} is[] = {
		{ "https://h", "h", "/", NULL },
		{ "HTTP://h:80/a/b%20c?x=y&z#part", "h:80", "/a/b%20c", "x=y&z" },
		{ "http://[::1]:8/a", "[::1]:8", "/a", NULL },
		{ "https://h?q", "h", "/", "q" },
		{ "s3://bucket/a b/c?d#e", "bucket", "a b/c?d#e", NULL },
		{ "s3://b", "b", "", NULL },
		{ "s3://b//x", "b", "/x", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
		struct url u;
		struct err e = { 0 };

		assert_true(url_is(is[i].text));
		assert_int_equal(url_parse(is[i].text, &u, &e), ST_OK);
		assert_string_equal(u.host, is[i].host);
		assert_string_equal(u.path, is[i].path);
		assert_int_equal(!u.query, !is[i].query);
		if (u.query)
			assert_string_equal(u.query, is[i].query);
		url_clear(&u);
	}
}

static void
what_is_no_address_or_holds_a_password_is_refused(void **state)
{
	static const char *const bad[] = { "http://", "http:///x", "https://me:secret@h/x", "https://h\n/x", "s3://",
		"s3:///k",
		"s3://b%2f/k", "s3://../k",
		"gs://b/k", "az://c/b", "ftp://h/x", "file:///etc/passwd", "http://h\"x/", NULL };
	static const char *const names[] = { "http", "s3:/b/k", "/s3://b", "x://y", "", "https:", NULL };
	char *huge = mem_alloc(URL_MAX + 20);

	(void)state;
	for (const char *const *b = bad; *b; b++) {
		struct url u;
		struct err e = { 0 };

		assert_true(url_is(*b));
		assert_int_equal(url_parse(*b, &u, &e), ST_DATA);
		assert_null(strstr(e.text, "secret"));
		url_clear(&u);
	}
	for (const char *const *n = names; *n; n++)
		assert_false(url_is(*n));
	memset(huge, 'a', URL_MAX + 19);
	memcpy(huge, "s3://b/", 7);
	huge[URL_MAX + 19] = 0;
	struct url u;
	assert_int_equal(url_parse(huge, &u, NULL), ST_DATA);
	url_clear(&u);
	mem_free(huge);
}

static void
what_is_shown_holds_no_secret(void **state)
{
	static const char *const is[][2] = {
		{ "https://me:secret@h/x?sig=secret", "https://h/x" },
		{ "http://h/x#secret", "http://h/x" },
		{ "s3://b/a?b", "s3://b/a?b" },
		{ "https://h/a@b", "https://h/a@b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
		struct buf b = { 0 };

		url_show(is[i][0], &b);
		buf_end(&b);
		assert_string_equal((char *)b.data, is[i][1]);
		buf_clear(&b);
	}
}

static void
a_closed_gate_lets_through_what_begins_with_its_roots(void **state)
{
	static const char *const in[] = { "s3://b/in/x", "s3://b/in/", "s3://b/in", "https://h/f/x", "https://H/f/..x", NULL };
	static const char *const out[] = { "s3://b/inn", "s3://b/i", "s3://bb/in/x", "http://h/f/x",
		"https://h:81/f/x", "https://h/g",
		"https://h/f/../x", "https://h/f/%2E%2e/x", "https://h/f/.%2e\\x", "https://h.evil/f/", NULL };
	char root[] = "s3://b/in", other[] = "https://h/f/", none[] = "/etc";
	char *roots[] = { root, other, NULL };
	struct words w = { roots, 2 };
	struct err e = { 0 };
	struct url u;

	(void)state;
	assert_int_equal(url_gate_close(GATE_READ, &(struct words){ (char *[]){ none, NULL }, 1 }, &e), ST_USAGE);
	assert_int_equal(url_gate_close(GATE_READ, &w, NULL), ST_OK);
	for (const char *const *s = in; *s; s++) {
		assert_int_equal(url_parse(*s, &u, NULL), ST_OK);
		assert_int_equal(url_gate_ask(GATE_READ, *s, &u, NULL), ST_OK);
		url_clear(&u);
	}
	for (const char *const *s = out; *s; s++) {
		assert_int_equal(url_parse(*s, &u, NULL), ST_OK);
		assert_int_equal(url_gate_ask(GATE_READ, *s, &u, &e), ST_PERM);
		assert_non_null(strstr(e.help, "--allow-url"));
		url_clear(&u);
	}
}

static enum status
asked(enum gate side, const char *text, struct err *e)
{
	struct url u;

	assert_int_equal(url_parse(text, &u, NULL), ST_OK);
	enum status st = url_gate_ask(side, text, &u, e);
	url_clear(&u);
	return st;
}

/* The gates stay as the tests before left them: that for reading is closed. */
static void
what_may_be_written_may_be_read_and_not_the_other_way(void **state)
{
	static const char *const in[] = { "s3://w/out", "s3://w/out/", "s3://w/out/x", "s3://w/out/../x", NULL };
	static const char *const out[] = { "s3://w/outer", "s3://w/", "s3://w", "s3://ww/out/x", "s3://b/in/x",
		"https://h/f/x", "https://w/out/x", NULL };
	char root[] = "s3://w/out", web[] = "https://h/f/", query[] = "https://h/f?x", none[] = "/etc", bad[] = "gs://b/";
	char *const refused[] = { web, query, none, bad, NULL };
	struct err e = { 0 };

	(void)state;
	for (char *const *r = refused; *r; r++) {
		assert_int_equal(url_gate_close(GATE_WRITE, &(struct words){ (char *[]){ root, *r, NULL }, 2 }, &e), ST_USAGE);
		assert_non_null(strstr(e.text, "--allow-write"));
	}
	assert_int_equal(asked(GATE_WRITE, "s3://any/x", NULL), ST_OK); /* a wrong list closes nothing */
	assert_int_equal(url_gate_close(GATE_WRITE, &(struct words){ (char *[]){ root, NULL }, 1 }, NULL), ST_OK);
	for (const char *const *s = in; *s; s++) {
		assert_int_equal(asked(GATE_WRITE, *s, NULL), ST_OK);
		assert_int_equal(asked(GATE_READ, *s, NULL), ST_OK);
	}
	for (const char *const *s = out; *s; s++) {
		assert_int_equal(asked(GATE_WRITE, *s, &e), ST_PERM);
		assert_non_null(strstr(e.text, "cannot write to '"));
		assert_non_null(strstr(e.help, "--allow-write"));
	}
	assert_int_equal(asked(GATE_READ, "s3://b/in/x", NULL), ST_OK);
	url_gate_shut(GATE_WRITE); /* was closed before: its roots stay */
	assert_int_equal(asked(GATE_WRITE, "s3://w/out/x", NULL), ST_OK);
}
