/* SPDX-License-Identifier: MIT
 *
 * Readers that ask for shared memory and may not have it, and peers whose packets make no sense.
 */
#include "lease_kit.h"

#include <sys/mman.h>

#include "host/link.h"
#include "net/seqpacket.h"

static void
who_may_not_is_told_why(void **state)
{
	struct msg_attach a = { .host = (char *)(uintptr_t)link_host(), .user = (uint32_t)geteuid(), .session = 1 };
	struct msg_attach far = a, other = a;
	struct model m;
	struct msg reply;

	(void)state;
	model_open(&m, 1);
	far.host = (char *)(uintptr_t)"0000000000000001";
	assert_true(lender_attach(m.lender, 99, &far, &reply));
	assert_int_equal(reply.arena.code, 69);
	assert_string_equal(reply.arena.text, "worker w1 is on another machine");
	msg_clear(&reply);
	other.user++;
	assert_true(lender_attach(m.lender, 99, &other, &reply));
	assert_string_equal(reply.arena.text, "worker w1 is another user's");
	msg_clear(&reply);
	struct lender *copy = lender_new(m.net, m.as, TRANSFER_COPY, "w2");
	assert_true(lender_attach(copy, 99, &a, &reply));
	assert_string_equal(reply.arena.text, "worker w2 was started with --transfer copy");
	borrower_answer(&m.r[0].b, &reply.arena);
	assert_true(m.r[0].refused);
	msg_clear(&reply);
	lender_free(&copy);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}

/* A connection to the lender's socket that says what it likes. */
static int
stranger(struct model *m, uint64_t *cookie)
{
	struct msg_attach a = { .host = (char *)(uintptr_t)link_host(), .user = (uint32_t)geteuid(), .session = 1 };
	struct msg reply;
	struct err e;
	int fd;

	assert_true(lender_attach(m->lender, 77, &a, &reply));
	assert_int_equal(seqpacket_connect(reply.arena.path, &fd, &e), ST_OK);
	*cookie = reply.arena.cookie;
	msg_clear(&reply);
	return fd;
}

static bool
hung_up(struct model *m, int fd)
{
	struct lend_packet p;
	ssize_t n = SEQPACKET_NONE;

	for (int i = 0; i < 50 && n < 0; i++) {
		step(m);
		n = seqpacket_receive(fd, &p, sizeof p, NULL);
	}
	return n == 0;
}

static void
strangers_get_no_memory(void **state)
{
	struct lend_packet p = { .kind = LEND_HELLO, .n = 1 };
	struct model m;
	uint64_t cookie;

	(void)state;
	model_open(&m, 1);
	int fd = stranger(&m, &cookie);
	p.v[0] = cookie + 1;
	assert_true(seqpacket_send(fd, &p, LEND_BYTES(1), -1));
	assert_true(hung_up(&m, fd));
	close(fd);
	fd = stranger(&m, &cookie);
	p = (struct lend_packet){ .kind = LEND_RELEASE, .n = 1 };
	assert_true(seqpacket_send(fd, &p, LEND_BYTES(1), -1));
	assert_true(hung_up(&m, fd));
	close(fd);
	fd = stranger(&m, &cookie);
	p = (struct lend_packet){ .kind = LEND_HELLO, .n = LEND_MOST + 1, .v = { cookie } };
	assert_true(seqpacket_send(fd, &p, LEND_BYTES(1), -1));
	assert_true(hung_up(&m, fd));
	close(fd);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}

/* Places and sizes as a worker of bad will gives them. */
static void
chunks_lie_within_what_is_mapped(void **state)
{
	struct model m;

	(void)state;
	model_open(&m, 1);
	struct reader_model *r = &m.r[0];
	attached(&m, r);
	lend_all(&m, r, ARENA / 32);
	struct msg_chunk good = r->way[0].m;
	const struct { uint32_t arena; uint64_t at, len; uint32_t codec; } bad[] = {
		{ good.arena, ARENA + 1, 1, 0 }, { good.arena, ARENA - 1, 2, 0 }, { good.arena, 0, ARENA + 1, 0 },
		{ good.arena, UINT64_MAX, 2, 0 }, { good.arena, 1, UINT64_MAX, 0 }, { good.arena + 1, 0, 1, 0 },
		{ good.arena, 0, 1, 1 },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct msg_chunk c = good;
		struct err e = { 0 };
		c.arena = bad[i].arena;
		c.at = bad[i].at;
		c.raw_len = bad[i].len;
		c.codec = bad[i].codec;
		assert_null(borrower_block(r->b, &c, &e));
		assert_int_equal(e.kind, ST_PROTO);
	}
	while (r->n)
		take(r);
	look(&m);
	while (r->n_held)
		release(r, 0);
	while (m.n_made)
		forget(&m);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}

/* A file that can shrink is not mapped: it could end the reader by SIGBUS. */
static void
memory_that_can_shrink_is_refused(void **state)
{
	char path[64];
	struct model m;
	struct err e;
	int listening, fd, given = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	(void)state;
	model_open(&m, 1);
	snprintf(path, sizeof path, "%s/worker", folder);
	assert_int_equal(seqpacket_listen(path, &listening, &e), ST_OK);
	assert_int_equal(ftruncate(given, ARENA), 0);
	struct borrower_conf c = { m.net, told, &m.r[0], 1 };
	struct borrower *b = borrower_new(&c);
	borrower_answer(&b, &(struct msg_arena){ .cookie = 5, .path = path });
	fd = seqpacket_accept(listening);
	assert_true(fd >= 0);
	struct lend_packet p = { .kind = LEND_ARENA, .n = 2, .v = { 1, ARENA } };
	assert_true(seqpacket_send(fd, &p, LEND_BYTES(2), given));
	for (int i = 0; i < 50 && !m.r[0].refused; i++)
		step(&m);
	assert_true(m.r[0].refused);
	assert_false(borrower_maps(b));
	borrower_drop(&b);
	close(given);
	close(fd);
	close(listening);
	unlink(path);
	for (size_t i = 0; i < READERS; i++)
		borrower_drop(&m.r[i].b);
	model_close(&m);
}
