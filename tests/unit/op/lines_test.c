/* SPDX-License-Identifier: MIT */
#include "file_help.h"
#include "op/pull.h"

#define GROUP_SETUP file_setup
#define GROUP_TEARDOWN file_teardown

extern const struct op_desc op_lines, op_stdin;

static void
lines_are_cut_at_newlines_only(void **state)
{
	(void)state;
	file_text("empty", "");
	src_expect(&op_lines, "empty", "");
	file_text("one", "one\n");
	src_expect(&op_lines, "one", "one\n");
	file_text("open", "one\ntwo");
	src_expect(&op_lines, "open", "one\ntwo\n");
	file_text("blank", "\n\na\n\n");
	src_expect(&op_lines, "blank", "\n\na\n\n");
	file_text("dos", "a\r\nb\r\n");
	src_expect(&op_lines, "dos", "a\r\nb\r\n");
	src_expect(&op_lines, "one empty open blank", "one\none\ntwo\n\n\na\n\n");
}

static void
other_ends_and_headers(void **state)
{
	(void)state;
	file_put("nul", "a\0b\nc\0", 6);
	src_expect(&op_lines, "nul delim=\\0", "a\nb\nc\n");
	file_text("semi", "a;b;;c\n");
	src_expect(&op_lines, "semi delim=;", "a\nb\n\nc\n\n");
	src_expect(&op_lines, "semi delim=\\x3b skip=2", "\nc\n\n");
	file_text("head", "h1\nh2\n1\n2\n");
	src_expect(&op_lines, "head head skip=2", "1\n2\n1\n2\n");
	src_expect(&op_lines, "head skip=9", "");
	src_expect_fault(&op_lines, "head delim=\\q", "", ST_DATA, "a backslash that begins no escape");
	src_expect_fault(&op_lines, "head delim=", "", ST_DATA, "is empty");
}

/* Every split [a, b) of a cover of the file; the lines of all, in order. */
static void
splits_give(const char *args, size_t size, size_t step, const char *want)
{
	struct buf got = { 0 };

	buf_str(&got, "");
	for (size_t at = 0; at < size; at += step) {
		struct src s;

		src_init(&s, &op_lines, args);
		s.has_split = true;
		s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("split"), .times = 1,
					  .start = at, .count = step };
		assert_int_equal(src_all(&s, &got), ST_END);
		src_clear(&s);
	}
	assert_string_equal((char *)got.data, want);
	buf_clear(&got);
}

static void
byte_ranges_give_each_line_once(void **state)
{
	static const char *const texts[] = {
		"one\ntwo\n\nthree and more\n\n\nlast\n", "no end", "\n\n\n", "a\nb", "", "x\n",
	};

	(void)state;
	for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
		size_t size = strlen(texts[t]);
		char want[100];

		file_text("split", texts[t]);
		snprintf(want, sizeof want, "%s%s", texts[t],
			 size && texts[t][size - 1] != '\n' ? "\n" : "");
		for (size_t step = 1; step <= size + 1; step++)
			splits_give("gone", size, step, want);
	}
}

static void
headers_are_left_out_of_byte_ranges_too(void **state)
{
	static const char text[] = "head 1\nheader two\n\n1\n22\n333\n";

	(void)state;
	file_text("split", text);
	for (size_t step = 1; step <= sizeof text; step++)
		splits_give("gone skip=3", sizeof text - 1, step, "1\n22\n333\n");
}

/* Larger than any window, so that splits begin in the middle of blocks. */
static void
byte_ranges_of_a_large_file_give_each_line_once(void **state)
{
	struct buf text = { 0 };

	(void)state;
	file_lines_text(&text, 40000);
	file_put("split", text.data, text.len);
	splits_give("gone", text.len, 333333, (char *)text.data);
	buf_clear(&text);
}

static void
a_range_that_was_cut_is_not_unpacked(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_put_packed("split", ARCHIVE_FILTER_GZIP, "a\nb\n", 4);
	src_init(&s, &op_lines, "gone");
	s.has_split = true;
	s.split = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("split"), .times = 1, .whole = true };
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "a\nb\n");
	src_clear(&s);
	buf_clear(&got);
}

static void
units_say_what_may_be_cut(void **state)
{
	struct buf text = { 0 };
	struct split_list l = { 0 };
	struct src s;

	(void)state;
	file_lines_text(&text, 60000);
	file_put("big.txt", text.data, text.len);
	/* random enough to stay large */
	for (size_t i = 0; i < text.len; i++)
		text.data[i] = (uint8_t)(i * 2654435761u >> 13);
	file_put_packed("big.gz", ARCHIVE_FILTER_LZ4, text.data, text.len);
	file_text("small", "x\n");
	src_init(&s, &op_lines, "small big.*");
	assert_int_equal(op_lines.check(&s.node, &s.e), ST_OK);
	assert_int_equal(op_lines.list(&s.node, &l, &s.e), ST_OK);
	assert_int_equal(l.n, 3);
	assert_true(l.v[0].whole && !l.v[0].cuttable && l.v[0].weight == 2);
	assert_true(!strcmp(l.v[1].path, "big.gz") && l.v[1].whole && !l.v[1].cuttable);
	assert_true(!l.v[2].whole && l.v[2].cuttable && l.v[2].count == text.len
		    && l.v[2].weight == text.len && l.v[2].start == 0);
	split_list_clear(&l);
	src_clear(&s);
	src_init(&s, &op_lines, "small -");
	assert_int_equal(op_lines.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.n == 1 && l.v[0].kind == SPLIT_ALL);
	split_list_clear(&l);
	src_clear(&s);
	buf_clear(&text);
}

static void
missing_files_are_found_before_the_run(void **state)
{
	struct src s;

	(void)state;
	file_text("there", "x\n");
	src_init(&s, &op_lines, "there gone.txt");
	assert_int_equal(op_lines.check(&s.node, &s.e), ST_NOINPUT);
	assert_string_equal(s.e.text, "cannot read 'gone.txt': No such file or directory");
	src_clear(&s);
	src_init(&s, &op_lines, "there *.gone");
	assert_int_equal(op_lines.check(&s.node, &s.e), ST_NOINPUT);
	src_clear(&s);
}

/* A file that goes away between the start and its turn. */
static enum status
without(const char *gone, enum op_policy policy, struct buf *got, struct src *s)
{
	file_text("1", "a\n");
	file_text("2", "b\n");
	file_text("3", "c\n");
	src_init(s, &op_lines, "1 2 3");
	s->node.on_error = policy;
	assert_int_equal(src_open(s), ST_OK);
	unlink(gone);
	return src_read(s, got, UINT64_MAX);
}

static void
a_file_that_vanishes_is_an_error_or_skipped(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	assert_int_equal(without("2", OP_FAIL, &got, &s), ST_NOINPUT);
	assert_string_equal((char *)got.data, "a\n");
	assert_non_null(strstr(s.e.text, "2: cannot open it: No such file"));
	src_clear(&s);
	buf_reset(&got);
	assert_int_equal(without("2", OP_SKIP, &got, &s), ST_END);
	assert_string_equal((char *)got.data, "a\nc\n");
	assert_int_equal(s.failures, 1);
	assert_string_equal(s.failure_file, "2");
	src_clear(&s);
	buf_clear(&got);
}

static void
corrupt_files_fail_with_place_or_lose_their_rest(void **state)
{
	struct buf text = { 0 }, packed = { 0 }, got = { 0 };
	struct src s;

	(void)state;
	file_lines_text(&text, 30000);
	file_pack(ARCHIVE_FILTER_GZIP, text.data, text.len, &packed);
	file_put("cut.gz", packed.data, packed.len / 2);
	file_text("next", "next\n");
	src_init(&s, &op_lines, "cut.gz next");
	assert_int_equal(src_all(&s, &got), ST_DATA);
	assert_memory_equal(got.data, text.data, got.len);
	assert_true(got.len > text.len / 4);
	assert_string_equal(s.e.file, "cut.gz");
	assert_true(s.e.line > 1000);
	assert_non_null(strstr(s.e.text, "cannot decompress: the file is cut off, at byte"));
	size_t good = got.len;
	src_clear(&s);
	buf_reset(&got);

	src_init(&s, &op_lines, "cut.gz next");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_int_equal(got.len, good + 5);
	assert_string_equal((char *)got.data + good, "next\n");
	assert_int_equal(s.failures, 1);
	src_clear(&s);
	buf_clear(&text);
	buf_clear(&packed);
	buf_clear(&got);
}

static void
one_huge_line_is_one_element(void **state)
{
	enum { HUGE = 9000000 };
	char *text = mem_alloc(HUGE);
	struct src s;
	struct elem e;

	(void)state;
	memset(text, 'x', HUGE);
	for (int end = 0; end < 2; end++) {
		text[HUGE - 1] = end ? '\n' : 'x';
		file_put_packed("huge.gz", ARCHIVE_FILTER_GZIP, text, HUGE);
		file_put("huge", text, HUGE);
		for (int packed = 0; packed < 2; packed++) {
			src_init(&s, &op_lines, packed ? "huge.gz" : "huge");
			s.ctx.element_max = HUGE + 10;
			assert_int_equal(src_open(&s), ST_OK);
			assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
			assert_int_equal(e.len, HUGE - end + 5);
			assert_memory_equal(e.p + 5, text, HUGE - end);
			assert_int_equal(op_next(s.inst, &e, &s.e), ST_END);
			src_clear(&s);
		}
	}
	mem_free(text);
}

static void
a_line_beyond_the_limit_is_an_error_or_skipped(void **state)
{
	enum { HUGE = 3000000 };
	char *text = mem_alloc(HUGE);
	struct src s;
	struct buf got = { 0 };

	(void)state;
	memset(text, 'x', HUGE);
	memcpy(text, "a\n", 2);
	memcpy(text + HUGE - 3, "\nb\n", 3);
	file_put("long", text, HUGE);
	src_expect_fault(&op_lines, "long", "a\n", ST_DATA, "a line of more than 1048576 bytes");
	src_init(&s, &op_lines, "long");
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "a\nb\n");
	assert_int_equal(s.failure_line, 2);
	src_clear(&s);
	/* with its end within sight */
	src_init(&s, &op_lines, "long");
	s.node.on_error = OP_SKIP;
	s.ctx.element_max = 1000;
	file_put("long", text, 5000);
	buf_reset(&got);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "a\n");
	assert_int_equal(s.failures, 1);
	src_clear(&s);
	mem_free(text);
	buf_clear(&got);
}

static void
elements_know_file_and_line(void **state)
{
	struct src s;
	struct run *r;

	(void)state;
	file_text("p1", "h\na\nb\n");
	file_text("p2", "h\nc\n");
	src_init(&s, &op_lines, "p1 p2 skip=1");
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_pull(s.inst, &r, &s.e), ST_OK);
	assert_int_equal(r->n, 2);
	assert_string_equal(r->file, "p1");
	assert_int_equal(r->line + r->e[1].pos, 3);
	assert_int_equal(op_pull(s.inst, &r, &s.e), ST_OK);
	assert_string_equal(r->file, "p2");
	assert_int_equal(r->line + r->e[0].pos, 2);
	src_clear(&s);
}

static void
a_line_is_given_as_soon_as_it_is_there(void **state)
{
	struct src s;
	struct elem e;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	src_init(&s, &op_lines, "fifo");
	assert_int_equal(src_open(&s), ST_OK);
	/* for reading too, so that opening does not wait for the other side */
	int fd = open("fifo", O_RDWR);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(fd, "ab\nc", 4), 4);
		assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
		assert_memory_equal(e.p, i ? "\xa3" "cab" : "\xa2" "ab", e.len);
	}
	close(fd);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_memory_equal(e.p, "\xa1" "c", 2);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_END);
	src_clear(&s);
}

/* 0x50 begins a zstd frame, and is 80. */
static void
a_lone_byte_is_not_held_back(void **state)
{
	extern const struct op_desc op_msgpack;
	struct src s;
	struct elem e;

	(void)state;
	unlink("fifo");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	src_init(&s, &op_msgpack, "fifo");
	assert_int_equal(src_open(&s), ST_OK);
	int fd = open("fifo", O_RDWR);
	assert_int_equal(write(fd, "P", 1), 1);
	assert_int_equal(op_next(s.inst, &e, &s.e), ST_OK);
	assert_int_equal(e.p[0], 80);
	close(fd);
	src_clear(&s);
}

static void
positions_are_saved_and_restored(void **state)
{
	struct buf text = { 0 };
	struct split part = { .kind = SPLIT_FILE, .start = 900, .count = 4000, .times = 1 };

	(void)state;
	file_lines_text(&text, 700);
	file_put("r1", text.data, text.len / 2);
	file_put_packed("r2.gz", ARCHIVE_FILTER_GZIP, text.data, text.len);
	file_text("r3", "");
	file_put_packed("r4.xz", ARCHIVE_FILTER_XZ, text.data, text.len / 3);
	src_expect_resumes(&op_lines, "r1 r2.gz r3 r4.xz r1 skip=2", NULL);
	file_put("r5", text.data, text.len);
	part.path = mem_strdup("r5");
	src_expect_resumes(&op_lines, "gone", &part);
	split_clear(&part);
	buf_clear(&text);
}

static void
a_position_finds_its_file_again_or_says_so(void **state)
{
	struct src s;
	struct buf saved = { 0 }, got = { 0 };

	(void)state;
	file_text("f2", "a\nb\nc\n");
	file_text("f3", "d\n");
	src_init(&s, &op_lines, "f?");
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(src_read(&s, &got, 1), ST_OK);
	assert_true(op_state_save(s.inst, &saved));
	op_close(&s.inst);
	file_text("f1", "earlier\n"); /* files before it move it */
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_state_restore(s.inst, saved.data, saved.len, &s.e), ST_OK);
	assert_int_equal(src_read(&s, &got, UINT64_MAX), ST_END);
	assert_string_equal((char *)got.data, "a\nb\nc\nd\n");
	op_close(&s.inst);
	file_text("f2", "a\n"); /* shorter: there is nothing to go on in */
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_state_restore(s.inst, saved.data, saved.len, &s.e), ST_OK);
	buf_reset(&got);
	assert_int_equal(src_read(&s, &got, 1), ST_OK); /* the elements that had been read before */
	op_close(&s.inst);
	unlink("f2");
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(op_state_restore(s.inst, saved.data, saved.len, &s.e), ST_NOINPUT);
	assert_non_null(strstr(s.e.text, "'f2'"));
	src_clear(&s);
	buf_clear(&saved);
	buf_clear(&got);
}

static void
malformed_positions_are_refused(void **state)
{
	struct src s;
	struct buf saved = { 0 };

	(void)state;
	file_text("m", "a\nb\n");
	src_init(&s, &op_lines, "m");
	assert_int_equal(src_open(&s), ST_OK);
	op_lines.save(s.inst, &saved);
	for (size_t n = 0; n < saved.len; n++)
		assert_int_equal(op_lines.restore(s.inst, saved.data, n, &s.e), ST_DATA);
	assert_int_equal(op_lines.restore(s.inst, saved.data, saved.len, &s.e), ST_OK);
	src_clear(&s);
	buf_clear(&saved);
}

static void
names_from_an_outer_element_are_no_patterns(void **state)
{
	struct op_bind bind = { .row = op_lines.params };
	struct src s;
	struct buf got = { 0 };

	(void)state;
	file_text("b*", "star\n");
	file_text("b1", "one\n");
	src_init(&s, &op_lines, "b*");
	s.node.binds = &bind;
	s.node.n_binds = 1;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "star\n");
	src_clear(&s);
	buf_clear(&got);
}

/* Gives the source the bytes as standard input. */
static void
stdin_gives(const char *args, const void *p, size_t n, const char *want)
{
	int kept = dup(STDIN_FILENO), pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], p, n), n);
	close(pipes[1]);
	dup2(pipes[0], STDIN_FILENO);
	close(pipes[0]);
	src_expect(&op_stdin, args, want);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

static void
stdin_reads_what_it_is_told_to(void **state)
{
	struct buf packed = { 0 };

	(void)state;
	stdin_gives("", "a\nb", 3, "a\nb\n");
	stdin_gives("nul", "a\0b\n\0", 5, "a\nb\n\n");
	stdin_gives("ndjson", "{\"a\": 1}\n\n[2]\n", 14, "{\"a\":1}\n[2]\n");
	stdin_gives("as=msgpack", "\x01\xa1x\x92\x02\x03", 6, "1\nx\n[2,3]\n");
	stdin_gives("raw", "", 0, "\n");
	file_pack(ARCHIVE_FILTER_ZSTD, "p\nq\n", 4, &packed);
	stdin_gives("", packed.data, packed.len, "p\nq\n");
	buf_clear(&packed);
}
