/* SPDX-License-Identifier: MIT
 *
 * Encrypted connections, in one process and one loop: who is let in, and what the others
 * are told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#include "base/clock.h"
#include "net/cert.h"
#include "net/door.h"
#include "net/sock.h"

struct end {
	int messages, connected, broke;
	char text[32], user[32];
	uint64_t from;
	int denied[4];
};

static struct net *net;
static struct end server_end, client_end;
static struct key_pair server_keys, client_keys, other_keys;
static struct sock *server, *client;
static struct buf bound;
static const char *answer; /* to everybody but other_keys */
static char asked_address[64];

static void
end_message(void *arg, struct sock_msg *m)
{
	struct end *e = arg;

	e->messages++;
	e->from = m->peer;
	snprintf(e->text, sizeof e->text, "%.*s", (int)m->head_len, (const char *)m->head);
	snprintf(e->user, sizeof e->user, "%s", m->user ? m->user : "none");
}
static void end_connected(void *arg, uint64_t p) { (void)p; ((struct end *)arg)->connected++; }
static void end_broke(void *arg, uint64_t p) { (void)p; ((struct end *)arg)->broke++; }
static void end_denied(void *arg, uint64_t p, enum sock_denied why) { (void)p; ((struct end *)arg)->denied[why]++; }

static const char *
asked(void *arg, const struct key *k, const char *address)
{
	(void)arg;
	snprintf(asked_address, sizeof asked_address, "%s", address);
	return key_same(k, &other_keys.public) ? NULL : answer;
}

#define until(cond)                                                          \
	do {                                                                 \
		int64_t until_end = clock_mono_ns() + 60000000000LL;          \
		while (!(cond)) {                                            \
			if (clock_mono_ns() > until_end)                     \
				fail_msg("never: %s", #cond);                \
			net_step(net, clock_mono_ns() + 10000000);           \
		}                                                            \
	} while (0)

static struct door *door;

/* A server with `keys`, and a client with `mine` who believes `theirs`. */
static void
meet(const struct key_pair *keys, const struct key_pair *mine, const struct key *theirs, const char *address)
{
	struct sock_opts so = { .self = 5, .handover = true, .keys = keys, .message = end_message,
		.broke = end_broke, .arg = &server_end };
	struct sock_opts co = { .self = sock_peer_new(), .keys = mine, .message = end_message,
		.connected = end_connected, .broke = end_broke, .denied = end_denied, .arg = &client_end };
	struct err e;

	server_end = client_end = (struct end){ 0 };
	net = net_new();
	door = door_new(net, asked, NULL);
	server = sock_new(net, &so);
	client = sock_new(net, &co);
	if (sock_bind(server, address, &bound, &e) != ST_OK || 
	    sock_connect_key(client, (char *)bound.data, theirs, 9, &e) != ST_OK)
		fail_msg("%s", e.text);
	assert_true(sock_send(client, 9, "hello", 5, NULL));
}

static void
part(void)
{
	sock_free(&client, 0);
	sock_free(&server, 0);
	door_free(&door);
	net_free(&net);
}

static int
setup(void **state)
{
	(void)state;
	answer = "ada";
	key_pair_new(&server_keys);
	key_pair_new(&client_keys);
	key_pair_new(&other_keys);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	buf_clear(&bound);
	return 0;
}

static void
who_has_the_keys_is_let_in_and_known_by_name(void **state)
{
	(void)state;
	meet(&server_keys, &client_keys, &server_keys.public, "tcp://127.0.0.1:*");
	until(server_end.messages == 1);
	assert_string_equal(server_end.text, "hello");
	assert_string_equal(server_end.user, "ada");
	assert_string_equal(asked_address, "127.0.0.1");
	until(client_end.connected == 1);
	assert_true(sock_send(server, server_end.from, "welcome", 7, NULL));
	until(client_end.messages == 1);
	part();
}

static void
a_key_that_is_not_allowed_is_refused_and_told_so(void **state)
{
	(void)state;
	meet(&server_keys, &other_keys, &server_keys.public, "tcp://127.0.0.1:*");
	until(client_end.denied[SOCK_DENIED_KEY]);
	assert_int_equal(server_end.messages, 0);
	assert_int_equal(client_end.connected, 0);
	part();
}

static void
a_server_with_another_key_is_not_believed(void **state)
{
	(void)state;
	meet(&server_keys, &client_keys, &other_keys.public, "tcp://127.0.0.1:*");
	until(client_end.denied[SOCK_DENIED_SERVER]);
	assert_int_equal(server_end.messages, 0);
	assert_int_equal(client_end.connected, 0);
	part();
}

static void
with_keys_and_without_do_not_go_together(void **state)
{
	(void)state;
	meet(&server_keys, NULL, NULL, "tcp://127.0.0.1:*");
	until(client_end.denied[SOCK_DENIED_WAY]);
	assert_int_equal(server_end.messages, 0);
	part();
	meet(NULL, &client_keys, &server_keys.public, "tcp://127.0.0.1:*");
	until(client_end.denied[SOCK_DENIED_WAY]);
	assert_int_equal(server_end.messages, 0);
	part();
}

static void
sockets_without_keys_let_in_everybody_though_there_is_a_door(void **state)
{
	char address[128];

	(void)state;
	answer = NULL;
	meet(NULL, NULL, NULL, "tcp://127.0.0.1:*");
	until(server_end.messages == 1);
	assert_string_equal(server_end.user, "none");
	part();
	snprintf(address, sizeof address, "ipc:///tmp/door-test-%ld", (long)getpid());
	meet(&server_keys, NULL, NULL, address);
	until(server_end.messages == 1);
	assert_string_equal(server_end.user, "none");
	part();
}

static void
a_peer_that_is_cut_is_not_heard_and_asks_anew(void **state)
{
	(void)state;
	meet(&server_keys, &client_keys, &server_keys.public, "tcp://127.0.0.1:*");
	until(server_end.messages == 1);
	answer = NULL;
	sock_cut(server, server_end.from);
	sock_send(client, 9, "more", 4, NULL);
	until(client_end.denied[SOCK_DENIED_KEY]);
	assert_int_equal(server_end.messages, 1);
	part();
}

static void
keys_are_written_as_52_letters_one_way_only(void **state)
{
	char text[KEY_TEXT + 1];
	struct key back;

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct key_pair p;
		key_pair_new(&p);
		assert_true(key_pair_fits(&p));
		key_print(&p.public, text);
		assert_int_equal(strlen(text), KEY_TEXT);
		assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyz234567"), KEY_TEXT);
		assert_true(key_parse(text, KEY_TEXT, &back));
		assert_true(key_same(&back, &p.public));
		assert_false(key_parse(text, KEY_TEXT - 1, &back));
		text[KEY_TEXT - 1] = 'b'; /* bits that no key has */
		assert_false(key_parse(text, KEY_TEXT, &back));
		text[0] = 'A';
		assert_false(key_parse(text, KEY_TEXT, &back));
		p.secret = other_keys.secret;
		assert_false(key_pair_fits(&p));
	}
}

static void
a_certificate_comes_back_as_it_was_written(void **state)
{
	char path[] = "/tmp/cert-test-XXXXXX", name[CERT_NAME_MAX], text[1024] = "";
	int fd = mkstemp(path);
	struct key_pair p;
	struct err e;

	(void)state;
	assert_int_equal(cert_write(fd, &client_keys, "b", "2026-11-22T10:00Z", &e), ST_OK);
	assert_int_equal(cert_read(fd, &p, name, &e), ST_OK);
	assert_string_equal(name, "b");
	assert_memory_equal(&p, &client_keys, sizeof p);
	assert_true(pread(fd, text, sizeof text - 1, 0) > 100);
	assert_non_null(strstr(text, "public-key = \""));
	assert_int_equal(ftruncate(fd, 60), 0);
	assert_int_equal(cert_read(fd, &p, name, &e), ST_CONFIG);
	close(fd);
	unlink(path);
}
