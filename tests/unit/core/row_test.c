/* SPDX-License-Identifier: MIT
 *
 * The bytes of durable rows. A state on disk is read by later versions of the
 * program, so these bytes change only together with ROW_VERSION.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/disp/disp_row.h"

static char *
text(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* The object is written as these bytes, and `again`, which is zeroed, is written alike
 * after reading them and after moving what was read to `moved`. */
static void
is_row(const struct field *rows, const void *object, void *again, void *moved, const char *hex)
{
	struct buf b = { 0 }, c = { 0 };
	char got[1024] = "";
	struct err e = { 0 };

	fields_encode(rows, object, &b);
	for (size_t i = 0; i < b.len; i++)
		snprintf(got + 2 * i, sizeof got - 2 * i, "%02x", b.data[i]);
	assert_string_equal(got, hex);
	assert_int_equal(fields_decode("test", rows, b.data, b.len, again, &e), ST_OK);
	fields_encode(rows, again, &c);
	assert_int_equal(c.len, b.len);
	assert_memory_equal(c.data, b.data, b.len);
	fields_move(rows, moved, again);
	buf_reset(&c);
	fields_encode(rows, moved, &c);
	assert_int_equal(c.len, b.len);
	assert_memory_equal(c.data, b.data, b.len);
	fields_clear(rows, again); /* has nothing any more: freed once */
	fields_clear(rows, moved);
	buf_clear(&b);
	buf_clear(&c);
}

static void
a_row_of_a_service_has_these_bytes(void **state)
{
	struct disp d = { .row_version = 3, .o.instance = 1, .o.secret = { 5, 300 }, .next_id = 200, .rng = { 70000, 4 } };
	struct disp again = { 0 }, moved = { 0 };

	(void)state;
	assert_int_equal(ROW_VERSION, 3);
	is_row(row_meta_fields, &d, &again, &moved, "970301ccc8ce000111700405cd012c");
}

static void
a_row_of_a_dataset_has_these_bytes(void **state)
{
	struct dataset s = { .id = text("id"), .spec = text("range 9"), .type = text("int"), .registered = true,
		.vouched = text("ada"),
		.facts = { true, FACTS_ENDLESS, text("take 3"), false, true, false, true, false, true } };
	struct dataset again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_dataset_fields, &s, &again, &moved,
	       "9ea26964a772616e67652039a3696e74c3a3616461c3cf7fffffffffffffffa674616b652033c3c2c3c2c3c2");
}

static void
a_row_of_a_job_has_these_bytes(void **state)
{
	struct job j = { .opts = { .name = text("train"), .options = text("o"), .seed = 8, .sharding = SHARD_DYNAMIC,
		.order = ORDER_SOURCE, .shards = 3, .seeded = true, .target = TARGET_LOCAL, .where = text("gpu"),
		.compression = PACK_SNAPPY, .tail = TAIL_PAD, .tail_of = TAIL_OF_STREAM, .seat_wait = 9,
		.checkpoint_rounds = 10, .share_window = 7 },
		.dataset_number = 5, .shards = 6, .keep = true, .places = 4, .owner = text("ada") };
	struct job again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_job_fields, &j, &again, &moved, "dc0015a5747261696ea16f0508010203c306c302a367707502040101090aa36164610007");
}

static void
a_row_of_an_iteration_has_these_bytes(void **state)
{
	struct round_part views[] = { { 4, 0, 4 } };
	struct shard_sum sums[] = { { 21, 22 } };
	struct msg_number of[] = { { 22 }, { 23 } };
	struct iteration it = { .job_number = 1, .seed = 2, .times = 3, .next_seat = 4, .cut.pos = { 5, 6, 7, 8 },
		.elements = 9, .acked = 10, .made = 11, .again = 12, .suppressed = 13, .repeated = 14, .failed = 15,
		.max_errors = UINT64_MAX, .epoch = 16, .state = ITER_FAILED, .code = 65, .n_streams = 17,
		.next_fixed = 18, .sharding = SHARD_FILE, .text = text("why"), .help = text("mend"), .by_split = true,
		.all_known = true, .gathered = true, .in_rounds = 19, .dropped = 20, .views = views, .n_views = 1,
		.base = { 21, of, 2, 0 }, .shards = { sums, 1, 1 },
		.stored = { 23, 24, 25 }, .had_streams = 26, .marked = true };
	struct iteration again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_iter_fields, &it, &again, &moved,
	       "dc00300102030405060708090a0b0c0d0e0fcfffffffffffffffff"
	       "100341111202a3776879a46d656e64c3c2c3c200c2c3c2c20090901592911691171314919304000490919215161718191ac3");
}

static void
a_row_of_units_has_these_bytes(void **state)
{
	struct split file = { .kind = SPLIT_FILE, .path = text("a"), .whole = true, .times = 1, .weight = 300 };
	struct units_listed l = { .last = true, .units = { &file, 1, 1 } }, again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_units_fields, &l, &again, &moved, "92c3919c0200c3c2a161000001cd012c00c2c0");
}

static void
a_row_of_a_stream_has_these_bytes(void **state)
{
	struct range got[] = { { 1, 3 }, { 10, 300 } };
	struct stream_held held = { 30, { got, 2, 2 }, 1 };
	struct stream_gone gone[] = { { 31, 0 }, { 32, 1 } };
	struct stream s = { .gen = 1, .place = STREAM_ASSIGNED, .running = true, .closed = true, .finished = true,
		.length = 2, .row_worker = { 3, text("tcp://w"), text("ada"), text("wilma") },
		.from = 4, .skipped = 5, .high = 6, .made = 7,
		.failed = 8, .lost_at = 9, .lost_count = 17, .lost = 10, .blame = 11, .renewed = 12, .mark = 18,
		.owing = (uint64_t[]){ 19 }, .n_owing = 1, .losses = 20, .stored = { 13, 14, 15 },
		.held = &held, .n_held = 1, .gone = gone, .n_gone = 2 };
	struct stream again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_stream_fields, &s, &again, &moved,
	       "dc001e0102c3c2c3c2c302030405060708090a0ba77463703a2f2f7791931e94010207cd01220192921f00922001a36164610c0d0e0f"
	       "a577696c6d61111291911314");
}

static void
rows_of_what_a_stream_has_got_have_these_bytes(void **state)
{
	struct range got[] = { { 1, 3 }, { 10, 300 } };
	struct range presumed[] = { { 0, 7 } };
	struct view v = { .acked = { got, 2, 2 }, .presumed = { presumed, 1, 1 }, .joins = true };
	struct view v_again = { 0 }, v_moved = { 0 };
	struct split_place split = { 1, 2, 3, 4, 5 }, split_again = { 0 }, split_moved = { 0 };
	struct point point = { .split = 1, .failed = 2, .state = { (uint8_t *)text("ab"), 2 }, .has_state = true };
	struct point point_again = { 0 }, point_moved = { 0 };

	(void)state;
	is_row(row_ledger_fields, &v, &v_again, &v_moved, "9694010207cd012292000790c200c3");
	is_row(row_split_fields, &split, &split_again, &split_moved, "950102030405");
	is_row(row_point_fields, &point, &point_again, &point_moved, "940102c4026162c3");
}

static void
a_row_of_a_reader_has_these_bytes(void **state)
{
	struct seat r = { .peer_id = 1, .seq = 2, .acked = 3, .from = 4, .had = 5, .shard = text("0,2"), .checkpoint = true,
		.host = text("h"), .view = 7, .user = text("ada") };
	struct seat again = { 0 }, moved = { 0 };

	(void)state;
	is_row(row_reader_fields, &r, &again, &moved, "9b0102030405a3302c32c3c2a16807a3616461");
}

/* The dispatcher adds to the lists that it has read, so their room has to be known. */
static void
a_list_that_was_read_can_grow(void **state)
{
	struct range got[] = { { 1, 3 }, { 10, 300 } };
	struct stream_held held = { 30, { got, 2, 2 }, 1 };
	struct stream_gone gone[] = { { 31, 0 }, { 32, 1 } };
	struct stream s = { .held = &held, .n_held = 1, .gone = gone, .n_gone = 2 };
	struct stream again = { 0 }, moved = { .n_gone = 0 };
	struct buf b = { 0 };
	struct err e;

	(void)state;
	fields_encode(row_stream_fields, &s, &b);
	assert_int_equal(fields_decode("test", row_stream_fields, b.data, b.len, &again, &e), ST_OK);
	fields_move(row_stream_fields, &moved, &again);
	assert_int_equal(again.n_gone + again.cap_gone + again.n_held, 0);
	assert_int_equal(moved.cap_gone, 2);
	assert_int_equal(moved.cap_held, 1);
	assert_int_equal(moved.held[0].got.cap, 2);
	for (uint64_t i = 0; i < 100; i++)
		intervals_add(&moved.held[0].got, 1000 + 2 * i, 1001 + 2 * i);
	assert_int_equal(moved.held[0].got.n, 102);
	fields_clear(row_stream_fields, &moved);
	assert_int_equal(moved.cap_gone + moved.cap_held, 0);
	buf_clear(&b);
}

static void
load(struct disp *d, enum disp_row_kind kind, const struct field *rows, const void *object)
{
	struct buf b = { 0 };
	struct err e;

	fields_encode(rows, object, &b);
	struct disp_row row = { .kind = kind, .n_key = 3, .key = { 1 }, .blob = b.data, .n = b.len };
	assert_int_equal(disp_load(d, &row, &e), ST_OK);
	buf_clear(&b);
}

/* Else the next split would be written behind the end of the list of streams. */
static void
a_split_for_a_stream_that_is_not_there_is_damage(void **state)
{
	struct dataset s = { .id = text("id"), .spec = text("range 9"), .type = text("int") };
	struct job j = { .opts.name = text("train"), .dataset_number = 1, .places = 1 };
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true };

	(void)state;
	for (uint32_t next = 0; next < 2; next++) {
		struct iteration it = { .job_number = 1, .state = ITER_LISTING, .fixed = true, .next_fixed = next };
		struct disp *d = disp_new(&o, 1);
		struct err e = { 0 };

		load(d, ROW_DATASET, row_dataset_fields, &s);
		load(d, ROW_JOB, row_job_fields, &j);
		load(d, ROW_ITERATION, row_iter_fields, &it);
		assert_int_equal(disp_loaded(d, 1, &e), next ? ST_DATA : ST_OK);
		if (next)
			assert_string_equal(e.text, "the dispatcher's state is damaged: "
					    "the next split is for stream 1 of an iteration that has 0");
		disp_free(&d);
	}
}
