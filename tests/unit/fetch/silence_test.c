/* SPDX-License-Identifier: MIT
 *
 * Servers that take a request and never answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/thread.h"
#include "fetch/put.h"

/* Takes two connections. Of the first it reads, and nothing more; the second one gets an answer. */
static void *
server(void *arg)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab";
	int listener = *(int *)arg, silent = accept(listener, NULL, NULL), other = accept(listener, NULL, NULL);
	char bytes[4096];

	if (silent < 0 || other < 0 || recv(silent, bytes, sizeof bytes, 0) <= 0)
		return (char *)"no first request";
	for (size_t n = 0; !memmem(bytes, n, "\r\n\r\n", 4);) {
		ssize_t got = recv(other, bytes + n, sizeof bytes - n, 0);
		if (got <= 0)
			return (char *)"no second request";
		n += (size_t)got;
	}
	if (send(other, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0)
		return (char *)"the answer is not taken";
	close(other);
	close(silent);
	return NULL;
}

/* Has a server that is silent once, and gives the time that the request took, in ns. */
static int64_t
with_server(enum status (*ask)(struct err *e))
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof a;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char url[64];
	struct err e;
	pthread_t t;
	void *why;

	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(listener, 4), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &n), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(a.sin_port));
	setenv("AWS_ENDPOINT_URL_S3", url, 1);
	assert_int_equal(thread_start(&t, server, &listener, "the server", &e), ST_OK);
	int64_t began = clock_mono_ns();
	enum status st = ask(&e);
	if (st != ST_OK)
		fail_msg("%s", e.text);
	pthread_join(t, &why);
	if (why)
		fail_msg("%s", (char *)why);
	close(listener);
	return clock_mono_ns() - began;
}

static enum status
write_one(struct err *e)
{
	return fetch_put("s3://b/key", "ab", 2, false, NULL, e);
}

static void
a_write_without_an_answer_is_sent_again_when_its_own_time_is_over(void **state)
{
	(void)state;
	http_silence_s = 3600;
	http_silence_write_s = 1;
	assert_true(with_server(write_one) >= 1000000000);
}
