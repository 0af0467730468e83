/* SPDX-License-Identifier: MIT
 *
 * Two ends in one process and one loop, over ipc and tcp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/sock.h"

struct end {
	int messages, connected, broke, gone;
	uint64_t last, again; /* the peer that spoke last; the one that said "again" */
	uint64_t first_gone;
	char text[64];
	size_t payload_len;
	uint8_t *kept;
	void (*release)(void *, uint8_t *, size_t);
	void *release_arg;
	bool keep;
};

static void
end_message(void *arg, struct sock_msg *m)
{
	struct end *e = arg;
	e->messages++;
	e->last = m->peer;
	snprintf(e->text, sizeof e->text, "%.*s", (int)m->head_len, (const char *)m->head);
	if (strcmp(e->text, "again") == 0)
		e->again = m->peer;
	e->payload_len = m->len;
	if (m->data && e->keep) {
		sock_msg_take(m, &e->release, &e->release_arg);
		e->kept = m->data;
	}
}
static void end_connected(void *arg, uint64_t p) { (void)p; ((struct end *)arg)->connected++; }
static void end_broke(void *arg, uint64_t p) { (void)p; ((struct end *)arg)->broke++; }
static void
end_gone(void *arg, uint64_t p)
{
	struct end *e = arg;

	if (!e->gone++)
		e->first_gone = p;
}

static struct sock *
end_sock(struct net *n, struct end *e, uint64_t self)
{
	struct sock_opts o = { .self = self, .handover = true, .message = end_message,
		.connected = end_connected, .broke = end_broke, .gone = end_gone, .arg = e };
	return sock_new(n, &o);
}

/* Turns the loop until the condition holds; fails after a minute. */
#define until(n, cond)                                                       \
	do {                                                                 \
		int64_t until_end = clock_mono_ns() + 60000000000LL;         \
		while (!(cond)) {                                            \
			if (clock_mono_ns() > until_end)                     \
				fail_msg("never: %s", #cond);                \
			net_step(n, clock_mono_ns() + 10000000);             \
		}                                                            \
	} while (0)

static atomic_int released;

static void
payload_released(void *arg, uint8_t *data, size_t len)
{
	(void)len;
	assert_null(arg);
	free(data);
	released++;
}

static void
check_pair(const char *address)
{
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 };
	uint64_t ida = sock_peer_new(), idb = sock_peer_new();
	struct sock *server = end_sock(n, &a, ida), *client = end_sock(n, &b, idb);
	struct buf bound = { 0 };
	struct err e;
	assert_int_equal(sock_bind(server, address, &bound, &e), ST_OK);
	assert_int_equal(sock_connect(client, (char *)bound.data, ida, &e), ST_OK);
	assert_true(sock_send(client, ida, "hello", 5, NULL));
	until(n, a.messages == 1);
	assert_string_equal(a.text, "hello");
	assert_true(a.last == idb);
	until(n, b.connected == 1);

	released = 0;
	b.keep = true;
	uint8_t *data = malloc(1 << 20);
	memset(data, 'x', 1 << 20);
	struct sock_payload p = { data, 1 << 20, payload_released, NULL };
	assert_true(sock_send(server, idb, "chunk", 5, &p));
	until(n, b.messages == 1);
	assert_int_equal(b.payload_len, 1 << 20);
	assert_int_equal(b.kept[(1 << 20) - 1], 'x');
	b.release(b.release_arg, b.kept, b.payload_len);
	until(n, released == 1);

	/* nobody has that number */
	data = malloc(10);
	p = (struct sock_payload){ data, 10, payload_released, NULL };
	assert_false(sock_send(server, 12345, "x", 1, &p));
	assert_int_equal(released, 2);

	/* the client goes: told at once, and gone soon after */
	sock_free(&client, 0);
	until(n, a.broke == 1);
	assert_int_equal(a.gone, 0);
	until(n, a.gone == 1);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
}

static void
ipc_pair(void **state)
{
	(void)state;
	char address[100];
	snprintf(address, sizeof address, "ipc://%s/sock-test-%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", getpid());
	check_pair(address);
}

static void
tcp_pair(void **state)
{
	(void)state;
	check_pair("tcp://127.0.0.1:*");
}

/* A peer whose process is known is gone when that has ended, and not before, however
 * long one might return. */
static void
the_end_of_a_process_is_seen(void **state)
{
	(void)state;
	char address[100];
	pid_t child = fork(); /* before there is anything that it would hold open */
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* no orphan, whatever fails here */
		for (;;)
			pause();
	}
	assert_true(child > 0);
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 };
	uint64_t ida = sock_peer_new(), idb = sock_peer_new();
	struct sock_opts o = { .self = ida, .handover = true, .message = end_message, .broke = end_broke,
		.gone = end_gone, .return_ms = 3600000, .arg = &a };
	struct sock *server = sock_new(n, &o), *client = end_sock(n, &b, idb);
	struct buf bound = { 0 };
	struct err e;
	snprintf(address, sizeof address, "ipc:///tmp/sock-test-exit-%d", getpid());
	assert_int_equal(sock_bind(server, address, &bound, &e), ST_OK);
	assert_int_equal(sock_connect(client, address, ida, &e), ST_OK);
	assert_true(sock_send(client, ida, "hello", 5, NULL));
	until(n, a.messages == 1);
	sock_process(server, idb, child);
	sock_free(&client, 0);
	until(n, a.broke == 1);
	net_step(n, clock_mono_ns() + 1000000);
	assert_int_equal(a.gone, 0);
	kill(child, SIGKILL);
	until(n, a.gone == 1); /* nobody has waited for the child yet */
	waitpid(child, NULL, 0);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
}

/* While its process lives, it may have called another address, and is on its way back. */
static void
a_living_process_has_more_time_to_return(void **state)
{
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t ida = sock_peer_new(), idb = sock_peer_new(), idc = sock_peer_new();
	struct sock *server = end_sock(n, &a, ida), *known = end_sock(n, &b, idb), *other = end_sock(n, &c, idc);
	struct buf bound = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(sock_bind(server, "tcp://127.0.0.1:*", &bound, &e), ST_OK);
	assert_int_equal(sock_connect(known, (char *)bound.data, ida, &e), ST_OK);
	assert_true(sock_send(known, ida, "hello", 5, NULL));
	until(n, a.messages == 1);
	sock_process(server, idb, getpid());
	assert_int_equal(sock_connect(other, (char *)bound.data, ida, &e), ST_OK);
	assert_true(sock_send(other, ida, "hello", 5, NULL));
	until(n, a.messages == 2);
	sock_free(&known, 0);
	until(n, a.broke == 1);
	sock_free(&other, 0);
	until(n, a.gone == 1);
	assert_true(a.first_gone == idc);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
}

/* A stream that leaves a worker and comes back to it at once: the old connection may
 * still be on its way out. */
static void
who_was_left_is_reached_again_at_once(void **state)
{
	(void)state;
	char address[100];
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 };
	uint64_t ida = sock_peer_new();
	struct sock_opts o = { .fresh = true, .message = end_message, .arg = &b };
	struct sock *server = end_sock(n, &a, ida), *client = sock_new(n, &o);
	struct buf bound = { 0 };
	struct err e;
	snprintf(address, sizeof address, "ipc:///tmp/sock-test-again-%d", getpid());
	assert_int_equal(sock_bind(server, address, &bound, &e), ST_OK);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(sock_connect(client, address, ida, &e), ST_OK);
		assert_true(sock_send(client, ida, "hello", 5, NULL));
		if (i % 3 == 0)
			net_step(n, clock_mono_ns());
		sock_disconnect(client, address, ida);
	}
	assert_int_equal(sock_connect(client, address, ida, &e), ST_OK);
	assert_true(sock_send(client, ida, "again", 5, NULL));
	until(n, a.again);
	assert_true(sock_send(server, a.again, "back", 4, NULL));
	until(n, b.messages);
	assert_string_equal(b.text, "back");
	assert_true(b.last == ida);
	sock_free(&client, 0);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
}

static void
server_that_returns_is_found_again(void **state)
{
	(void)state;
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 };
	uint64_t ida = sock_peer_new(), idb = sock_peer_new();
	struct sock *server = end_sock(n, &a, ida), *client = end_sock(n, &b, idb);
	struct buf bound = { 0 }, again = { 0 };
	struct err e;
	assert_int_equal(sock_bind(server, "tcp://127.0.0.1:*", &bound, &e), ST_OK);
	assert_int_equal(sock_connect(client, (char *)bound.data, ida, &e), ST_OK);
	until(n, b.connected == 1);
	sock_free(&server, 0);
	until(n, b.broke == 1);
	until(n, b.gone == 1);
	memset(&a, 0, sizeof a);
	server = end_sock(n, &a, ida);
	until(n, sock_bind(server, (char *)bound.data, &again, &e) == ST_OK);
	until(n, b.connected == 2);
	assert_true(sock_send(client, ida, "again", 5, NULL));
	until(n, a.messages == 1);
	assert_true(sock_send(server, idb, "back", 4, NULL));
	until(n, b.messages == 1);
	sock_free(&client, 0);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
	buf_clear(&again);
}

static void
client_with_the_same_number_takes_over(void **state)
{
	(void)state;
	struct net *n = net_new();
	struct end a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t ida = sock_peer_new(), idb = sock_peer_new();
	struct sock *server = end_sock(n, &a, ida), *one = end_sock(n, &b, idb);
	struct buf bound = { 0 };
	struct err e;
	assert_int_equal(sock_bind(server, "tcp://127.0.0.1:*", &bound, &e), ST_OK);
	assert_int_equal(sock_connect(one, (char *)bound.data, ida, &e), ST_OK);
	sock_send(one, ida, "1", 1, NULL);
	until(n, a.messages == 1);
	struct sock *two = end_sock(n, &c, idb);
	assert_int_equal(sock_connect(two, (char *)bound.data, ida, &e), ST_OK);
	sock_send(two, ida, "2", 1, NULL);
	until(n, a.messages == 2);
	assert_int_equal(a.broke, 1);
	assert_true(sock_send(server, idb, "for two", 7, NULL));
	until(n, c.messages == 1);
	assert_int_equal(b.messages, 0);
	assert_int_equal(a.gone, 0);
	sock_free(&one, 0);
	sock_free(&two, 0);
	sock_free(&server, 0);
	net_free(&n);
	buf_clear(&bound);
}

static void
addresses_are_checked(void **state)
{
	(void)state;
	static const char *const bad[] = { "", "tcp://", "tcp://x", "tcp://:5", "tcp://h:", "tcp://h:65536",
		"tcp://h:1x", "udp://h:1", "ipc://", "ipc://@abstract", "tcp://::1:5", "tcp://[::1:5", NULL };
	struct address a;
	struct err e;
	for (int i = 0; bad[i]; i++)
		if (address_parse(bad[i], &a, &e) != ST_USAGE)
			fail_msg("taken: %s", bad[i]);
	assert_int_equal(address_parse("tcp://[::1]:*", &a, &e), ST_OK);
	assert_true(address_local(&a));
	assert_int_equal(address_parse("tcp://*:5050", &a, &e), ST_OK);
	assert_false(address_local(&a));
	assert_int_equal(address_parse("ipc:///tmp/x", &a, &e), ST_OK);
	assert_true(address_local(&a));
	const char *near[] = { "tcp://127.0.0.1:1", "tcp://127.255.3.4:1", "tcp://localhost:1",
		"tcp://[::ffff:127.0.0.1]:1", NULL };
	const char *far[] = { "tcp://127.evil.example:1", "tcp://127.0.0.1.nip.io:1", "tcp://128.0.0.1:1",
		"tcp://[::ffff:10.0.0.1]:1", "tcp://localhost.example:1", "tcp://0.0.0.0:1", "tcp://127.1:1", NULL };
	for (int i = 0; near[i]; i++)
		if (address_parse(near[i], &a, &e) != ST_OK || !address_local(&a))
			fail_msg("not local: %s", near[i]);
	for (int i = 0; far[i]; i++)
		if (address_parse(far[i], &a, &e) != ST_OK || address_local(&a))
			fail_msg("local: %s", far[i]);
}

static void
probe_tells_why(void **state)
{
	(void)state;
	char text[100];
	struct address a;
	struct err e;
	snprintf(text, sizeof text, "ipc:///tmp/none-%d", getpid());
	address_parse(text, &a, &e);
	assert_int_equal(address_probe(&a, 1000, NULL, &e), ST_UNAVAIL);
	assert_string_equal(e.text, "nothing is listening there");

	for (int keyed = 0; keyed < 2; keyed++) {
		struct net *n = net_new();
		struct end b = { 0 };
		struct key_pair own;
		key_pair_new(&own);
		struct sock_opts o = { .handover = true, .message = end_message, .arg = &b, .keys = keyed ? &own : NULL };
		struct sock *s = sock_new(n, &o);
		struct buf bound = { 0 };
		struct address_answer is;
		assert_int_equal(sock_bind(s, "tcp://127.0.0.1:*", &bound, &e), ST_OK);
		address_parse((char *)bound.data, &a, &e);
		assert_int_equal(address_probe(&a, 1000, &is, &e), ST_OK);
		assert_string_equal(is.local, "127.0.0.1");
		assert_int_equal(is.speech, keyed ? ADDRESS_KEYED : ADDRESS_CLEAR);
		sock_free(&s, 0);
		net_free(&n);
		buf_clear(&bound);
	}
	assert_int_equal(address_probe(&a, 1000, NULL, &e), ST_UNAVAIL);
	assert_string_equal(e.text, "connection refused");
}

static void
claim_is_for_one(void **state)
{
	(void)state;
	char text[100];
	struct address a;
	struct err e;
	int one, two;
	snprintf(text, sizeof text, "ipc:///tmp/claim-%d", getpid());
	address_parse(text, &a, &e);
	assert_int_equal(address_claim(&a, &one, &e), ST_OK);
	assert_int_equal(address_claim(&a, &two, &e), ST_UNAVAIL);
	address_release(&a, &one);
	assert_int_equal(address_claim(&a, &two, &e), ST_OK);
	address_release(&a, &two);
	/* a file that is no socket is left alone */
	FILE *f = fopen(a.path, "w");
	fclose(f);
	assert_int_equal(address_claim(&a, &one, &e), ST_CONFIG);
	assert_int_equal(access(a.path, F_OK), 0);
	unlink(a.path);
}

/* A socket that is bound and does not listen yet: between the two steps of a bind. */
static int
bound_only(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void
sweep_takes_the_dead_only(void **state)
{
	(void)state;
	char dir[] = "/tmp/dsvc-sweep-XXXXXX", lock[ADDRESS_MAX + 8];
	struct buf text = { 0 };
	struct address starting, dead;
	struct err e;
	int claim = -1, other = -1;
	assert_non_null(mkdtemp(dir));
	setenv("XDG_RUNTIME_DIR", dir, 1);
	assert_int_equal(address_fresh("work", &text, &e), ST_OK);
	address_parse((char *)text.data, &starting, &e);
	assert_int_equal(address_claim(&starting, &claim, &e), ST_OK);
	int one = bound_only(starting.path);
	/* one whose program was killed: its lock file is there, and nobody has the lock */
	address_fresh("work", &text, &e);
	address_parse((char *)text.data, &dead, &e);
	assert_int_equal(address_claim(&dead, &other, &e), ST_OK);
	close(other);
	close(bound_only(dead.path));
	snprintf(lock, sizeof lock, "%s.lock", dead.path);
	address_sweep("work");
	assert_int_equal(access(starting.path, F_OK), 0);
	assert_int_not_equal(access(dead.path, F_OK), 0);
	assert_int_not_equal(access(lock, F_OK), 0);
	/* without a lock file, by its silence */
	close(bound_only(dead.path));
	address_sweep("work");
	assert_int_not_equal(access(dead.path, F_OK), 0);
	unlink(starting.path);
	address_release(&starting, &claim);
	close(one);
	buf_clear(&text);
	address_folder(&text, true, &e);
	rmdir((char *)text.data);
	rmdir(dir);
	buf_clear(&text);
	unsetenv("XDG_RUNTIME_DIR");
}
