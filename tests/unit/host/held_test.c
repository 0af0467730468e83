/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "host/held.h"

static uint64_t peers[1000];
static uint64_t reqs[1000];
static size_t n_sent;

static void
note(void *arg, uint64_t peer, struct msg *m)
{
	(void)arg;
	peers[n_sent] = peer;
	reqs[n_sent++] = m->req;
	msg_clear(m);
}

static void
add(struct held *h, uint64_t peer, uint64_t req, size_t bytes)
{
	struct msg m = { .type = MSG_ERROR, .req = req, .error = { 74, mem_zalloc(bytes + 1), mem_strdup("") } };

	memset(m.error.text, 'x', bytes);
	held_add(h, peer, &m);
}

static void
a_peer_has_64_messages_held_and_others_have_theirs(void **state)
{
	struct held h = { 0 };

	(void)state;
	n_sent = 0;
	for (uint64_t i = 0; i < 500; i++)
		add(&h, 1, i, 10);
	add(&h, 2, 7, 10);
	held_send(&h, note, NULL);
	assert_int_equal(n_sent, HELD_MESSAGES + 1);
	for (uint64_t i = 0; i < HELD_MESSAGES; i++)
		assert_true(peers[i] == 1 && reqs[i] == i);
	assert_true(peers[HELD_MESSAGES] == 2 && reqs[HELD_MESSAGES] == 7);
	add(&h, 1, 3, 10); /* there is room again */
	held_send(&h, note, NULL);
	assert_int_equal(n_sent, HELD_MESSAGES + 2);
	held_clear(&h);
}

static void
a_peer_has_32_mib_held_or_one_message(void **state)
{
	struct held h = { 0 };

	(void)state;
	n_sent = 0;
	add(&h, 1, 1, HELD_BYTES + 100);
	add(&h, 1, 2, 1);
	for (uint64_t i = 0; i < 40; i++)
		add(&h, 2, i, 1 << 20);
	held_send(&h, note, NULL);
	assert_int_equal(n_sent, 1 + 31);
	add(&h, 1, 9, 5);
	held_clear(&h);
	assert_int_equal(h.n, 0);
}
