/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "host/quota.h"

static const int64_t second = 1000000000;

static enum status
asks(struct quota *q, uint64_t peer, int64_t now, struct msg m)
{
	struct err e = { 0 };
	enum status st = quota_take(q, peer, NULL, now, &m, &e);

	assert_int_equal(st == ST_TEMP, strstr(e.text, "too many") != NULL);
	return st;
}

static struct msg
report(void)
{
	return (struct msg){ .type = MSG_STATUS };
}

static struct msg
opens(uint64_t req)
{
	static char spec[] = "range 3";

	return (struct msg){ .type = MSG_OPEN, .req = req, .open = { .spec = spec } };
}

static void
reports_have_a_pace_and_it_recovers(void **state)
{
	struct quota *q = quota_new();

	(void)state;
	for (int i = 0; i <= QUOTA_REPORTS; i++)
		assert_int_equal(asks(q, 1, second, report()), ST_OK);
	assert_int_equal(asks(q, 1, second, report()), ST_TEMP);
	assert_int_equal(asks(q, 2, second, report()), ST_OK); /* others notice nothing */
	struct msg part = report();
	part.status.part = 1;
	assert_int_equal(asks(q, 1, second, part), ST_OK); /* a report that it has got goes on */
	assert_int_equal(asks(q, 1, 3 * second, report()), ST_OK);
	for (int i = 0; i < 100; i++)
		assert_int_equal(asks(q, 1, (4 + i) * second, report()), ST_OK);
	quota_free(&q);
}

static void
one_that_does_not_stop_is_to_be_cut(void **state)
{
	struct quota *q = quota_new();
	enum status st = ST_OK;
	int denied = 0;

	(void)state;
	for (int i = 0; i < 200 && st != ST_PERM; i++)
		denied += (st = asks(q, 1, second, report())) == ST_TEMP;
	assert_int_equal(st, ST_PERM);
	assert_int_equal(denied, QUOTA_REFUSED);
	quota_forget(q, 1, second);
	assert_int_equal(asks(q, 1, second, report()), ST_OK);
	quota_free(&q);
}

static void
datasets_and_jobs_are_counted_and_repeats_are_not(void **state)
{
	struct quota *q = quota_new();
	enum status st = ST_OK;
	char spec[40];
	int n = 0;

	(void)state;
	for (int i = 0; i < 3 * QUOTA_OPENS; i++)
		assert_int_equal(asks(q, 1, second, opens(7)), ST_OK);
	for (; n < 2 * QUOTA_OPENS && st == ST_OK; n++)
		st = asks(q, 2, second, opens((uint64_t)n + 1));
	assert_int_equal(n, QUOTA_OPENS + 1);
	assert_int_equal(st, ST_TEMP);
	for (n = 0, st = ST_OK; n < 2 * QUOTA_DATASETS && st == ST_OK; n++) {
		snprintf(spec, sizeof spec, "range %d", n);
		st = asks(q, 3, second, (struct msg){ .type = MSG_REGISTER, .reg = { .spec = spec } });
	}
	assert_int_equal(n, QUOTA_DATASETS + 1);
	quota_free(&q);
}

static void
large_specs_are_counted_in_bytes(void **state)
{
	struct quota *q = quota_new();
	size_t size = 1 << 20;
	char *spec = mem_alloc(size + 1);
	enum status st = ST_OK;
	int n = 0;

	(void)state;
	memset(spec, 'x', size);
	spec[size] = '\0';
	for (; n < 1000 && st == ST_OK; n++) {
		spec[n] = 'y';
		st = asks(q, 1, second, (struct msg){ .type = MSG_REGISTER, .reg = { .spec = spec } });
	}
	assert_int_equal(n, (QUOTA_SPECS >> 20) + 1);
	mem_free(spec);
	quota_free(&q);
}

static enum status
asks_with(struct quota *q, const char *key, uint64_t peer, int64_t now, struct msg m)
{
	struct err e = { 0 };
	enum status st = quota_take(q, peer, key, now, &m, &e);

	assert_int_equal(st == ST_TEMP, strstr(e.text, " from one key") != NULL);
	return st;
}

static void
connections_of_one_key_share_a_quota(void **state)
{
	struct quota *q = quota_new();
	uint64_t peer = 1;

	(void)state;
	for (; peer <= QUOTA_REPORTS + 1; peer++)
		assert_int_equal(asks_with(q, "ada", peer, second, report()), ST_OK);
	assert_int_equal(asks_with(q, "ada", peer, second, report()), ST_TEMP);
	assert_int_equal(asks_with(q, "bob", 100, second, report()), ST_OK);
	for (int i = 0; i < QUOTA_OPENS; i++)
		assert_int_equal(asks_with(q, "ada", 1 + (uint64_t)i % 2, second, opens((uint64_t)i + 1)), ST_OK);
	assert_int_equal(asks_with(q, "ada", 3, second, opens(9)), ST_TEMP);
	assert_int_equal(asks_with(q, "bob", 100, second, opens(9)), ST_OK);
	quota_forget(q, 1, second); /* half of them end with it */
	for (int i = 0; i < QUOTA_OPENS / 2 - 1; i++)
		assert_int_equal(asks_with(q, "ada", 4, second, opens((uint64_t)i + 1)), ST_OK);
	assert_int_equal(asks_with(q, "ada", 5, second, opens(9)), ST_TEMP);
	quota_free(&q);
}

static void
a_key_that_comes_back_has_what_it_registered_still_against_it_for_an_hour(void **state)
{
	struct quota *q = quota_new();
	char spec[40];
	struct msg m = { .type = MSG_REGISTER, .reg = { .spec = spec } };

	(void)state;
	for (int i = 0; i < QUOTA_DATASETS; i++) {
		uint64_t peer = (uint64_t)i / 100;
		snprintf(spec, sizeof spec, "range %d", i);
		assert_int_equal(asks_with(q, "ada", peer, second, m), ST_OK);
		if (i % 100 == 99)
			quota_forget(q, peer, second);
	}
	snprintf(spec, sizeof spec, "range 3 | take 1");
	assert_int_equal(asks_with(q, "ada", 1000, second, m), ST_TEMP);
	snprintf(spec, sizeof spec, "range 3 | take 2");
	assert_int_equal(asks_with(q, "ada", 1001, 1801 * second, m), ST_OK);
	quota_forget(q, 1000, 3700 * second);
	quota_forget(q, 1001, 3700 * second);
	assert_int_equal(asks_with(q, "ada", 1002, 7300 * second, m), ST_OK);
	quota_free(&q);
}
