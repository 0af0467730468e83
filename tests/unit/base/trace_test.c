/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/trace_inner.h"

/* Lends a process of its own to a trace, which begins once in a process, and gives its file. */
static char *
traced(void (*body)(void), int64_t most)
{
	char path[] = "/tmp/trace-testXXXXXX";
	struct err e;
	int code, fd = mkstemp(path);

	close(fd);
	pid_t pid = fork();

	if (pid == 0) {
		log_init("test", LOG_ERROR);
		if (trace_start(path, most, "\"w\"\xff", &e) != ST_OK)
			_exit(1);
		body();
		trace_end();
		_exit(0);
	}
	waitpid(pid, &code, 0);
	assert_int_equal(code, 0);
	FILE *f = fopen(path, "re");
	unlink(path);
	char *text = mem_zalloc(1 << 24);
	assert_true(fread(text, 1, (1 << 24) - 1, f) > 0);
	fclose(f);
	return text;
}

static unsigned
count(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void
calls(void)
{
	static int outer, inner, other;
	int64_t at = clock_mono_ns();

	/* ten calls with one call each inside, close to each other */
	for (int i = 0; i < 10; i++, at += 50000) {
		trace_enter(&outer, at);
		trace_enter(&inner, at + 1000);
		trace_leave(&inner, TRACE_OPERATOR, "inner \"q\"\n\xc3\xa9\xff", 2, 20, at + 21000);
		trace_leave(&outer, TRACE_OPERATOR, "outer", 1, 10, at + 40000);
	}
	at += 1000000; /* later */
	trace_enter(&outer, at);
	trace_leave(&outer, TRACE_OPERATOR, "outer", 1, 10, at + 40000);
	trace_output(at + 50000, at + 60000, 2, 20);
	trace_output(at + 61000, at + 62000, 3, 30);
	at += 1000000;
	for (int i = 0; i < 10; i++, at += 10000) { /* two that take turns */
		const void *who = i % 2 ? &other : &inner;
		trace_enter(who, at);
		trace_leave(who, TRACE_OPERATOR, i % 2 ? "odd" : "even", 1, 1, at + 9000);
	}
}

static void
calls_that_follow_closely_are_one_span(void **state)
{
	char *text = traced(calls, 1 << 20);

	(void)state;
	assert_int_equal(count(text, "\"name\":\"outer\""), 2);
	assert_int_equal(count(text, "\"args\":{\"elements\":10,\"bytes\":100,\"runs\":10,\"busy_ns\":400000}"), 1);
	assert_int_equal(count(text, "\"name\":\"inner \\\"q\\\"\\n\xc3\xa9\xef\xbf\xbd\""), 1);
	assert_int_equal(count(text, "\"args\":{\"elements\":20,\"bytes\":200,\"runs\":10,\"busy_ns\":200000}"), 1);
	assert_int_equal(count(text, "\"cat\":\"output\",\"name\":\"write\",\"args\":{\"elements\":5,"), 1);
	assert_int_equal(count(text, "\"name\":\"even + odd\",\"args\":{\"elements\":10,\"bytes\":10,\"runs\":10,"), 1);
	assert_int_equal(count(text, "\"thread_name\",\"args\":{\"name\":\"output\"}"), 1);
	assert_int_equal(count(text, "\"process_name\""), 1);
	assert_int_equal(count(text, "\"name\":\"main\""), 1);
	assert_true(!strncmp(text, "[ \n{", 4) && !strcmp(text + strlen(text) - 4, "}\n]\n"));
	mem_free(text);
}

static void *
many(void *arg)
{
	for (int i = 0; i < 20000; i++)
		trace_span(trace_begin(), TRACE_HELD, arg, 0, 0, 0);
	return NULL;
}

static void
threads(void)
{
	pthread_t t[3];
	static char names[3][8] = { "alpha", "beta", "gamma" };
	struct err e;

	for (int i = 0; i < 3; i++)
		if (thread_start(&t[i], many, names[i], names[i], &e) != ST_OK)
			_exit(2);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void
threads_write_at_once_and_what_is_dropped_is_told(void **state)
{
	char *text = traced(threads, 1 << 30);
	unsigned lost = 0;

	(void)state;
	for (const char *at = text; (at = strstr(at, "\"args\":{\"events\":")); at++)
		lost += (unsigned)atoi(at + strlen("\"args\":{\"events\":"));
	assert_int_equal(count(text, "\"name\":\"held back "), 60000 - lost);
	assert_int_equal(count(text, "\"thread_name\",\"args\":{\"name\":\"beta\"}"), 1);
	mem_free(text);
}

static void
a_trace_ends_where_it_is_full(void **state)
{
	char *text = traced(threads, 64 * 1024);
	size_t n = strlen(text);

	(void)state;
	assert_true(n <= 64 * 1024 && n > 60 * 1024);
	assert_string_equal(text + n - 4, "}\n]\n");
	mem_free(text);
}

static void
without_a_file_nothing_is_traced(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(trace_start(NULL, 1, NULL, &e), ST_OK);
	assert_false(trace_on());
	assert_int_equal(trace_begin(), 0);
	trace_span(0, TRACE_HELD, NULL, 0, 0, 0);
	trace_flush();
	trace_end();
	assert_int_equal(trace_start("/nonexistent/trace", 1, NULL, &e), ST_IO);
	assert_non_null(strstr(e.text, "cannot write to /nonexistent/trace: No such file"));
	assert_int_equal(trace_start("/dev/full", 1, NULL, &e), ST_IO);
}
