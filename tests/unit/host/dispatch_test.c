/* SPDX-License-Identifier: MIT
 *
 * The dispatcher behind a real socket, asked by hand-made messages.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "host/dispatch_host.h"
#include "host/link.h"
#include "host/tool.h"

#define GROUP_SETUP begin
#define GROUP_TEARDOWN finish

static char address[128];
static sem_t up;
static pthread_t thread;

static enum status
ready(void *arg, const char *at, const char *key, const char *keys, struct err *e)
{
	(void)arg, (void)key, (void)keys, (void)e;
	snprintf(address, sizeof address, "%s", at);
	sem_post(&up);
	return ST_OK;
}

static void *
serve(void *arg)
{
	char any[] = "tcp://127.0.0.1:*", *binds[] = { any };
	struct dispatch_conf c = { .binds = binds, .n_binds = 1, .insecure = true, .ready = ready };
	struct err e;
	(void)arg;
	if (dispatch_run(&c, &e) != ST_OK)
		fprintf(stderr, "%s\n", e.text);
	return NULL;
}

struct peer {
	struct net *net;
	struct sock *sock;
	uint64_t self;
	struct link_out out;
	struct msg got;
	int n;
};

static void
peer_message(void *arg, struct sock_msg *m)
{
	struct peer *p = arg;
	struct err e;
	msg_clear(&p->got);
	assert_int_equal(msg_decode(m->head, m->head_len, &p->got, &e), ST_OK);
	p->n++;
}

static void
peer_open(struct peer *p)
{
	struct err e;
	*p = (struct peer){ .net = net_new(), .self = sock_peer_new() };
	struct sock_opts o = { .self = p->self, .message = peer_message, .arg = p };
	p->sock = sock_new(p->net, &o);
	assert_int_equal(sock_connect(p->sock, address, LINK_DISPATCHER, &e), ST_OK);
}

static void
peer_close(struct peer *p)
{
	sock_free(&p->sock, 0);
	net_free(&p->net);
	msg_clear(&p->got);
	link_out_clear(&p->out);
}

/* Sends and waits for the next message. */
static struct msg *
peer_ask(struct peer *p, struct msg *m)
{
	int before = p->n;
	int64_t end = clock_mono_ns() + 60000000000LL;
	if (m)
		link_send(p->sock, LINK_DISPATCHER, m, &p->out, NULL);
	while (p->n == before) {
		if (clock_mono_ns() > end)
			fail_msg("no answer");
		net_step(p->net, clock_mono_ns() + 10000000);
	}
	return &p->got;
}

static struct msg
hello(struct peer *p, uint32_t version)
{
	return (struct msg){ .type = MSG_HELLO, .hello = { .version = version, .role = ROLE_TOOL,
		.peer = p->self, .host = (char *)link_host() } };
}

static void
other_version_is_refused_with_both(void **state)
{
	struct peer p;
	(void)state;
	peer_open(&p);
	struct msg m = hello(&p, 999);
	struct msg *r = peer_ask(&p, &m);
	assert_int_equal(r->type, MSG_REFUSED);
	assert_int_equal(r->refused.code, 76);
	assert_int_equal(r->refused.version, WIRE_VERSION);
	assert_non_null(strstr(r->refused.text, "999"));
	peer_close(&p);
}

static void
unknown_peer_is_asked_who_it_is(void **state)
{
	struct peer p;
	(void)state;
	peer_open(&p);
	struct msg m = { .type = MSG_GET, .req = 5, .get.id = (char *)"x" };
	assert_int_equal(peer_ask(&p, &m)->type, MSG_WHO);
	peer_close(&p);
}

static void
garbage_does_not_stop_it(void **state)
{
	struct peer p;
	struct rng rng = { 1, 0 };
	(void)state;
	log_init("test", LOG_ERROR);
	peer_open(&p);
	uint8_t bytes[300];
	for (int i = 0; i < 2000; i++) {
		size_t n = rng_below(&rng, sizeof bytes);
		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)rng_next(&rng);
		if (n && i % 2)
			bytes[0] = 0x93; /* a list of three: gets further */
		sock_send(p.sock, LINK_DISPATCHER, bytes, n, NULL);
	}
	/* every good message, cut short anywhere */
	struct msg m = hello(&p, WIRE_VERSION);
	struct buf b = { 0 };
	msg_encode(&m, &b);
	for (size_t n = 0; n < b.len; n++)
		sock_send(p.sock, LINK_DISPATCHER, b.data, n, NULL);
	buf_clear(&b);
	struct msg *r = peer_ask(&p, &m);
	while (r->type != MSG_WELCOME)
		r = peer_ask(&p, NULL);
	peer_close(&p);
}

static void
datasets_are_registered_once(void **state)
{
	struct tool *t;
	struct err e;
	struct msg one, two;
	(void)state;
	assert_int_equal(tool_open(address, NULL, &t, &e), ST_OK);
	struct msg m = { .type = MSG_REGISTER, .reg = { .id = (char *)"", .spec = (char *)"range 10",
		.type = (char *)"int" } };
	assert_int_equal(tool_ask(t, &m, &one, &e), ST_OK);
	assert_int_equal(tool_ask(t, &m, &two, &e), ST_OK);
	assert_string_equal(one.dataset.id, two.dataset.id);
	assert_false(one.dataset.known);
	assert_true(two.dataset.known);
	struct msg get = { .type = MSG_GET, .get.id = (char *)"nothing" }, none;
	assert_int_equal(tool_ask(t, &get, &none, &e), ST_NOINPUT);
	msg_clear(&one);
	msg_clear(&two);
	tool_close(&t);
	struct buf type = { 0 };
	assert_int_equal(tool_dataset(address, NULL, "nothing", NULL, &type, &e), ST_NOINPUT);
	buf_clear(&type);
}

/* Whoever would send what nobody takes ends with 70 and says which message, rather than
 * sending it again and again over connections that break. */
static void
what_nobody_takes_is_not_sent(void **state)
{
	struct tool *t;
	struct err e;
	struct msg none;
	char id[WIRE_NAME_MAX + 2] = { 0 };
	(void)state;
	memset(id, 'a', sizeof id - 1);
	assert_int_equal(tool_open(address, NULL, &t, &e), ST_OK);
	struct msg get = { .type = MSG_GET, .get.id = id };
	assert_int_equal(tool_ask(t, &get, &none, &e), ST_BUG);
	assert_string_equal(e.text, "message GET is not sent: its field `id` is above the limit of 256");
	tool_close(&t);
}

/* A dispatcher of another version, from a client's side. */
struct fake {
	struct sock *sock;
	struct net *net;
	struct buf bound;
	struct link_out out;
	atomic_bool over;
};

static void
fake_message(void *arg, struct sock_msg *in)
{
	struct fake *f = arg;
	struct msg no = { .type = MSG_REFUSED, .refused = { .version = 999, .code = 76,
		.text = (char *)"this dispatcher speaks protocol 999, you speak 1", .help = (char *)"" } };
	link_send(f->sock, in->peer, &no, &f->out, NULL);
}

static void *
fake_serve(void *arg)
{
	struct fake *f = arg;
	while (!atomic_load(&f->over))
		net_step(f->net, clock_mono_ns() + 10000000);
	return NULL;
}

static void
refusal_ends_a_client_with_its_code(void **state)
{
	struct fake f = { .net = net_new() };
	struct sock_opts o = { .self = LINK_DISPATCHER, .message = fake_message, .arg = &f };
	struct err e;
	struct tool *t;
	pthread_t th;
	(void)state;
	f.sock = sock_new(f.net, &o);
	assert_int_equal(sock_bind(f.sock, "tcp://127.0.0.1:*", &f.bound, &e), ST_OK);
	pthread_create(&th, NULL, fake_serve, &f);
	assert_int_equal(tool_open((char *)f.bound.data, NULL, &t, &e), ST_PROTO);
	assert_non_null(strstr(e.text, "999"));
	atomic_store(&f.over, true);
	pthread_join(th, NULL);
	sock_free(&f.sock, 0);
	net_free(&f.net);
	buf_clear(&f.bound);
	link_out_clear(&f.out);
}

static int
begin(void **state)
{
	(void)state;
	sem_init(&up, 0, 0);
	pthread_create(&thread, NULL, serve, NULL);
	sem_wait(&up);
	return 0;
}

static int
finish(void **state)
{
	(void)state;
	kill(getpid(), SIGTERM);
	pthread_join(thread, NULL);
	return 0;
}
