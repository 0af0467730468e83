/* SPDX-License-Identifier: MIT
 *
 * Elements dealt to places: all streams here have the elements 0, 1, 2, ... from an offset on,
 * and `have` is what each view got, with the offset before each chunk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/work/deal.h"
#include "value/mp.h"

static char have[4][400];
static bool by_chunk; /* whether chunks are shown */

static void
show(char *out, const struct chunk *c)
{
	const uint8_t *p = c->p, *end = c->p + c->len;

	if (by_chunk)
		sprintf(out + strlen(out), "%s@%d:", *out ? "| " : "", (int)c->offset);
	for (uint32_t i = 0; i < c->count; i++) {
		const uint8_t *next = mp_check_next(p, end);

		assert_non_null(next);
		sprintf(out + strlen(out), *p < 0x80 ? "%d " : "+%d ", *p < 0x80 ? *p : p[3]);
		p = next;
	}
	assert_ptr_equal(p, end);
}

static void
take(void *arg, uint32_t view, struct chunk *c)
{
	(void)arg;
	show(have[view], c);
	chunk_free(&c);
}

/* Elements [from, to); those of `large` bytes begin with their number. */
static void
append(struct deal *d, int from, int to, uint32_t large)
{
	static struct run r; /* its memory is used again */

	run_init(&r);
	for (int i = from; i < to; i++) {
		uint8_t *p = run_room(&r, large + MP_HEAD_MAX), *q = p;

		if (large) {
			q = mp_put_text_head(p, large);
			memset(q, i, large);
			q += large;
		} else {
			*q++ = (uint8_t)i;
		}
		run_done(&r, q, (uint64_t)i);
	}
	deal_append(d, &r, 1);
	run_clear(&r);
}

static struct deal *
deal_to(uint32_t places, struct msg_view *views, size_t n, uint64_t offset)
{
	static struct msg_assign a;

	memset(have, 0, sizeof have);
	by_chunk = false;
	a = (struct msg_assign){ .places = places, .views = { views, n }, .offset = offset, .pad = true };
	return deal_new(&a, NULL, take, NULL);
}

/* The elements that are left at the end, as a text. */
static const char *
rest(struct deal *d)
{
	static char out[400];
	struct chunk *c;
	bool pad;

	*out = '\0';
	for (uint32_t i = 0; (c = deal_rest(d, i, &pad)); i++) {
		if (pad)
			strcat(out, "null");
		else
			show(out, c);
		chunk_free(&c);
	}
	return out;
}

static void
each_element_of_a_whole_round_goes_to_its_place(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 2, { 0 } } };

	(void)state;
	for (int step = 1; step < 12; step++) {
		struct deal *d = deal_to(3, views, 2, 0);

		for (int i = 0; i < 11; i += step)
			append(d, i, i + step < 11 ? i + step : 11, 0);
		assert_string_equal(have[0], ""); /* they wait for more */
		deal_cut(d);
		assert_string_equal(have[0], "0 3 6 ");
		assert_string_equal(have[1], "1 2 4 5 7 8 ");
		assert_string_equal(rest(d), "9 10 null");
		deal_free(&d);
	}
}

static void
a_stream_goes_on_in_the_middle_of_a_round(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 2, { 0 } } };
	struct deal *d = deal_to(3, views, 2, 4);

	(void)state;
	by_chunk = true;
	append(d, 4, 5, 0);
	assert_string_equal(rest(d), "null"); /* its begin was never given: it will be made anew */
	append(d, 5, 9, 0);
	deal_cut(d);
	assert_string_equal(have[0], "@2:6 ");
	assert_string_equal(have[1], "@2:4 5 7 8 ");
	deal_free(&d);
}

static void
elements_before_the_first_round_go_to_nobody(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 2, { 0 } } };
	struct msg_assign a = { .places = 3, .views = { views, 2 }, .base = 5, .pad = true };

	(void)state;
	memset(have, 0, sizeof have);
	by_chunk = true;
	for (uint64_t offset = 0; offset <= 8; offset += 4) {
		a.offset = offset;
		memset(have, 0, sizeof have);
		struct deal *d = deal_new(&a, NULL, take, NULL);

		append(d, (int)offset, 3 + (int)offset, 0);
		append(d, 3 + (int)offset, 15, 0);
		deal_cut(d);
		assert_string_equal(have[0], offset == 8 ? "@1:8 11 " : "@0:5 8 11 ");
		assert_string_equal(have[1], offset == 8 ? "@2:9 10 12 13 " : "@0:6 7 9 10 12 13 ");
		assert_string_equal(rest(d), "@0:14 null");
		deal_free(&d);
	}
}

static void
what_a_view_has_is_left_out_of_its_chunks_only(void **state)
{
	struct range had[] = { { 0, 1 }, { 2, 4 } };
	struct msg_view views[] = { { 0, 1, { had, 2 } }, { 1, 1, { 0 } } };
	struct deal *d = deal_to(2, views, 2, 0);

	(void)state;
	by_chunk = true;
	append(d, 0, 12, 0);
	deal_cut(d);
	assert_string_equal(have[0], "@1:2 | @4:8 10 ");
	assert_string_equal(have[1], "@0:1 3 5 7 9 11 ");
	assert_string_equal(rest(d), "null");
	deal_free(&d);
}

static void
a_large_element_is_a_chunk_of_its_own(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };
	struct deal *d = deal_to(2, views, 2, 0);

	(void)state;
	by_chunk = true;
	append(d, 0, 3, 0);
	append(d, 3, 7, CHUNK_OWN);
	deal_cut(d);
	assert_string_equal(have[0], "@0:0 2 | @2:+4 ");
	assert_string_equal(have[1], "@0:1 | @1:+3 | @2:+5 ");
	by_chunk = false;
	assert_string_equal(rest(d), "+6 null");
	deal_free(&d);
}

static void
a_part_is_given_to_who_waits_and_not_too_often(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 1, 1, { 0 } } };
	struct deal *d = deal_to(2, views, 2, 0);

	(void)state;
	assert_true(deal_want(d, 1, 1, 10) == 10); /* there is none, and the last was given at 0 */
	append(d, 0, 2, 0);
	assert_true(deal_want(d, 5, 2, 10) == 10);
	assert_string_equal(have[1], "");
	assert_true(deal_want(d, 5, 10, 10) == INT64_MAX);
	assert_string_equal(have[1], "1 ");
	assert_string_equal(have[0], ""); /* nobody waits for that */
	append(d, 2, 4, 0);
	assert_true(deal_want(d, 5, 100, 10) == INT64_MAX); /* that was once */
	assert_string_equal(have[1], "1 ");
	deal_free(&d);
}

static void
places_that_make_no_rounds_are_refused(void **state)
{
	struct msg_view views[] = { { 0, 1, { 0 } }, { 2, 1, { 0 } } };

	(void)state;
	assert_null(deal_to(2, views, 2, 0));
	assert_null(deal_to(1, views, 1, 0));
	assert_null(deal_to(2, NULL, 0, 0));
}
