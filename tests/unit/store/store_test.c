/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "store/store.h"

#define EACH_SETUP set_up
#define EACH_TEARDOWN tear_down

static char dir[] = "/tmp/store-test-XXXXXX", path[64], wal[64];

static int
set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/store-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/state.db", dir);
	snprintf(wal, sizeof wal, "%s/state.db-wal", dir);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(path);
	unlink(wal);
	rmdir(dir);
	return 0;
}

static struct store *
open_store(void)
{
	struct store *s;
	struct err e = { 0 };
	if (store_open(dir, &s, &e) != ST_OK)
		fail_msg("%s", e.text);
	return s;
}

static void
put(struct store *s, enum disp_row_kind kind, uint64_t a, uint64_t b, uint64_t c, const char *text)
{
	struct disp_row r = { .kind = kind, .n_key = 3, .key = { a, b, c }, .blob = (const uint8_t *)text,
		.n = text ? strlen(text) : 0 };
	store_put(s, &r);
}

struct seen {
	int n;
	char text[300000];
};

static enum status
see(void *arg, const struct disp_row *r, struct err *e)
{
	struct seen *s = arg;
	(void)e;
	s->n++;
	size_t at = strlen(s->text);
	snprintf(s->text + at, sizeof s->text - at, "%d/%llu/%llu/%llu=%.*s ", (int)r->kind,
		 (unsigned long long)r->key[0], (unsigned long long)r->key[1],
		 (unsigned long long)r->key[2], (int)r->n, (const char *)r->blob);
	return ST_OK;
}

static const char *
all(struct store *s)
{
	static struct seen seen;
	struct err e = { 0 };
	memset(&seen, 0, sizeof seen);
	if (store_load(s, see, &seen, &e) != ST_OK)
		fail_msg("%s", e.text);
	return seen.text;
}

static void
rows_come_back(void **state)
{
	struct err e;
	(void)state;
	struct store *s = open_store();
	assert_true(store_empty(s));
	put(s, ROW_JOB, 2, 0, 0, "two");
	put(s, ROW_JOB, UINT64_MAX, 0, 0, "large");
	put(s, ROW_DATASET, 1, 1, 1, "");
	put(s, ROW_JOB, 2, 0, 0, "two again");
	assert_int_equal(store_waiting(s), 4);
	assert_int_equal(store_commit(s, &e), ST_OK);
	assert_int_equal(store_waiting(s), 0);
	store_close(&s);
	s = open_store();
	assert_false(store_empty(s));
	/* keys come back as they were, in whatever order */
	assert_string_equal(all(s), "2/1/1/1= 3/18446744073709551615/0/0=large 3/2/0/0=two again ");
	store_close(&s);
}

static void
deletes_take_one_or_many(void **state)
{
	struct err e;
	(void)state;
	struct store *s = open_store();
	for (uint64_t i = 0; i < 3; i++)
		for (uint64_t k = 0; k < 2; k++)
			put(s, ROW_SPLIT, i, k, 0, "x");
	put(s, ROW_SPLIT, 0, 1, 0, NULL);
	struct disp_row r = { .kind = ROW_SPLIT, .n_key = 1, .key = { 2 } };
	store_put(s, &r);
	assert_int_equal(store_commit(s, &e), ST_OK);
	char want[128];
	snprintf(want, sizeof want, "%d/0/0/0=x %d/1/0/0=x %d/1/1/0=x ", ROW_SPLIT, ROW_SPLIT, ROW_SPLIT);
	assert_string_equal(all(s), want);
	store_close(&s);
}

static enum status
get(struct store *s, uint64_t stream, uint64_t k, struct buf *out)
{
	struct disp_row key = { .kind = ROW_SPLIT, .n_key = 3, .key = { 1, stream, k } };
	struct err e;
	return store_get(s, &key, out, &e);
}

static void
old_rows_go_and_one_can_be_read(void **state)
{
	struct disp_row old = { .kind = ROW_SPLIT, .n_key = 3, .below = true, .key = { 1, 2, 7 } };
	struct buf b = { 0 };
	struct err e;
	(void)state;
	struct store *s = open_store();
	for (uint64_t k = 0; k < 10; k++)
		put(s, ROW_SPLIT, 1, 2, k, "x");
	put(s, ROW_SPLIT, 1, 3, 0, "y");
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_put(s, &old);
	assert_int_equal(get(s, 2, 6, &b), ST_NOINPUT);
	assert_int_equal(get(s, 2, 7, &b), ST_OK);
	put(s, ROW_SPLIT, 1, 2, 10, "new");
	assert_int_equal(get(s, 2, 10, &b), ST_OK);
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "xnew", 4);
	assert_int_equal(store_commit(s, &e), ST_OK);
	assert_int_equal(get(s, 2, 6, &b), ST_NOINPUT);
	assert_int_equal(get(s, 3, 0, &b), ST_OK);
	store_close(&s);
	buf_clear(&b);
}

static void
what_was_not_committed_is_not_there(void **state)
{
	struct err e;
	(void)state;
	struct store *s = open_store();
	put(s, ROW_JOB, 1, 0, 0, "safe");
	assert_int_equal(store_commit(s, &e), ST_OK);
	put(s, ROW_JOB, 2, 0, 0, "lost");
	store_close(&s);
	s = open_store();
	assert_string_equal(all(s), "3/1/0/0=safe ");
	store_close(&s);
}

static void
what_was_committed_survives_a_kill(void **state)
{
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		struct err e;
		struct store *s;
		if (store_open(dir, &s, &e) != ST_OK)
			_exit(1);
		put(s, ROW_JOB, 7, 0, 0, "kept");
		if (store_commit(s, &e) != ST_OK)
			_exit(2);
		kill(getpid(), SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	struct store *s = open_store();
	assert_string_equal(all(s), "3/7/0/0=kept ");
	store_close(&s);
}

static void
second_program_is_refused(void **state)
{
	struct err e;
	struct store *s = open_store(), *other;
	(void)state;
	pid_t child = fork();
	if (child == 0)
		_exit(store_open(dir, &other, &e) == ST_UNAVAIL && strstr(e.text, "another dispatcher") ? 0 : 1);
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
	store_close(&s);
}

static void
full_disk_loses_nothing(void **state)
{
	struct err e;
	(void)state;
	struct store *s = open_store();
	static char large[200000];
	memset(large, 'x', sizeof large - 1);
	put(s, ROW_JOB, 1, 0, 0, "before");
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_limit(s, 100000);
	put(s, ROW_JOB, 2, 0, 0, large);
	assert_int_equal(store_commit(s, &e), ST_IO);
	assert_non_null(strstr(e.text, "no space"));
	assert_string_equal(all(s), "3/1/0/0=before ");
	assert_int_equal(store_waiting(s), 1);
	/* a row that changes again and again takes no more room */
	for (int i = 0; i < 1000; i++) {
		put(s, ROW_JOB, 3, 0, 0, i % 2 ? "odd" : "even");
		put(s, ROW_JOB, 4, 0, 0, "gone");
		put(s, ROW_JOB, 4, 0, 0, NULL);
		assert_int_equal(store_commit(s, &e), ST_IO);
	}
	assert_int_equal(store_waiting(s), 3);
	store_limit(s, 10000000);
	assert_int_equal(store_commit(s, &e), ST_OK);
	struct seen seen = { 0 };
	store_load(s, see, &seen, &e);
	assert_int_equal(seen.n, 3);
	assert_non_null(strstr(seen.text, "3/3/0/0=odd"));
	store_close(&s);
}

static void
write_at(const char *file, off_t at, const char *bytes, size_t n)
{
	int fd = open(file, O_WRONLY);
	assert_int_equal(pwrite(fd, bytes, n, at), n);
	close(fd);
}

/* Another byte, whatever stood there: what SQLite draws at random may be anything. */
static void
change_at(const char *file, off_t at)
{
	unsigned char byte;
	int fd = open(file, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 0x40;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static void
make_some(int rows)
{
	struct err e;
	struct store *s = open_store();
	for (int i = 0; i < rows; i++)
		put(s, ROW_SPLIT, (uint64_t)i, 0, 0, "the quick brown fox jumps over the lazy dog");
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_close(&s);
}

static void
refused(const char *word)
{
	struct err e = { 0 };
	struct store *s;
	struct seen seen = { 0 };
	enum status st = store_open(dir, &s, &e);
	if (st == ST_OK)
		st = store_load(s, see, &seen, &e);
	store_close(&s);
	assert_int_equal(st, ST_DATA);
	if (!strstr(e.text, word) || !strstr(e.text, path) || !e.help[0])
		fail_msg("said: %s", e.text);
}

static void
damage_is_refused(void **state)
{
	(void)state;
	/* a changed byte in a value: only the checksum knows */
	make_some(10);
	FILE *f = fopen(path, "r+");
	char page[4096];
	long at = -1;
	for (long base = 0; fread(page, 1, sizeof page, f) == sizeof page; base += (long)sizeof page)
		for (size_t i = 0; i + 9 < sizeof page && at < 0; i++)
			if (memcmp(page + i, "lazy dog", 8) == 0)
				at = base + (long)i;
	fclose(f);
	assert_true(at > 0);
	write_at(path, at, "L", 1);
	refused("checksum");
	unlink(path);

	make_some(10); /* a page that tells of one row less: only quick_check knows */
	f = fopen(path, "r");
	long leaf = -1;
	for (long base = 4096; leaf < 0 && fseek(f, base, SEEK_SET) == 0 && fread(page, 1, 5, f) == 5; base += 4096)
		if (page[0] == 10 && page[4] == 10) /* a leaf with ten rows */
			leaf = base;
	fclose(f);
	assert_true(leaf > 0);
	write_at(path, leaf + 4, "\x09", 1);
	refused("damaged");
	unlink(path);

	make_some(5000); /* a torn page */
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	refused("damaged");
	unlink(path);

	f = fopen(path, "w"); /* something else altogether */
	for (int i = 0; i < 2000; i++)
		fputs("not a database\n", f);
	fclose(f);
	refused("damaged");
}

/* Transactions of one row each, by a program that was killed. */
static void
commit_and_die(int n)
{
	pid_t child = fork();
	if (child == 0) {
		struct err e;
		struct store *s;
		if (store_open(dir, &s, &e) != ST_OK)
			_exit(1);
		for (int i = 0; i < n; i++) {
			put(s, ROW_JOB, (uint64_t)i, 0, 0, "kept");
			if (store_commit(s, &e) != ST_OK)
				_exit(2);
		}
		kill(getpid(), SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

static off_t
size_of(const char *file)
{
	struct stat st;
	assert_int_equal(stat(file, &st), 0);
	return st.st_size;
}

/* Where the log's last byte is that is not 0. */
static off_t
log_end(void)
{
	static char bytes[8 << 20];
	int fd = open(wal, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof bytes);
	close(fd);
	while (n > 0 && !bytes[n - 1])
		n--;
	return n;
}

/* A frame is a page and 24 bytes, a transaction here one or more of them: among these
 * places are the borders of all transactions, where what is left is a good log. */
static void
cut_log_is_refused_wherever_it_was_cut(void **state)
{
	enum { HEADER = 32, FRAME = 24 + 4096 };
	(void)state;
	commit_and_die(3);
	off_t all_of_it = size_of(wal), used = log_end();
	assert_true(used > HEADER + 2 * FRAME);
	for (off_t at = all_of_it - 1; at > HEADER; at = at > used + FRAME ? at / 2 : at - FRAME / 4) {
		off_t border = HEADER + (at - HEADER) / FRAME * FRAME;
		assert_int_equal(truncate(wal, at), 0);
		refused("cut short");
		if (border > HEADER) {
			assert_int_equal(truncate(wal, border), 0);
			refused("cut short");
		}
	}
	assert_int_equal(truncate(wal, HEADER), 0);
	refused("missing");
}

static void
only_the_last_transaction_may_be_torn(void **state)
{
	(void)state;
	commit_and_die(3);
	change_at(wal, log_end() - 1);
	struct store *s = open_store();
	assert_string_equal(all(s), "3/0/0/0=kept 3/1/0/0=kept ");
	store_close(&s);
	unlink(path);
	commit_and_die(3);
	change_at(wal, 32 + 24 + 100);
	refused("wrong in the middle");
}

static void
wrong_head_of_the_log_is_refused(void **state)
{
	(void)state;
	commit_and_die(1);
	change_at(wal, 17);
	refused("wrong in the middle");
}

static void
removed_state_is_noticed_at_the_next_commit(void **state)
{
	struct err e;
	char away[80];
	(void)state;
	struct store *s = open_store();
	put(s, ROW_JOB, 1, 0, 0, "one");
	assert_int_equal(store_commit(s, &e), ST_OK);
	snprintf(away, sizeof away, "%s.away", dir);
	assert_int_equal(rename(dir, away), 0);
	put(s, ROW_JOB, 2, 0, 0, "two");
	assert_int_equal(store_commit(s, &e), ST_IO);
	assert_non_null(strstr(e.text, "removed or replaced"));
	assert_int_equal(rename(away, dir), 0);
	assert_int_equal(store_commit(s, &e), ST_OK); /* nothing was lost */
	assert_int_equal(unlink(wal), 0);
	put(s, ROW_JOB, 3, 0, 0, "three");
	assert_int_equal(store_commit(s, &e), ST_IO);
	store_close(&s);
}

static void
removed_rows_give_their_room_back(void **state)
{
	struct err e;
	(void)state;
	struct store *s = open_store();
	for (uint64_t i = 0; i < 20000; i++)
		put(s, ROW_SPLIT, i, 0, 0, "the quick brown fox jumps over the lazy dog");
	assert_int_equal(store_commit(s, &e), ST_OK);
	int64_t before = store_bytes(s);
	struct disp_row r = { .kind = ROW_SPLIT };
	store_put(s, &r);
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_tidy(s);
	assert_true(store_bytes(s) < before / 4);
	store_close(&s);
}

static void
commits_count_with_their_time_and_those_that_fail_or_have_nothing_do_not(void **state)
{
	struct disp_costs c;
	struct err e;
	(void)state;
	struct store *s = open_store();
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_costs(s, &c);
	assert_int_equal(c.commits, 0);
	assert_int_equal(c.bytes, store_bytes(s));
	put(s, ROW_SPLIT, 1, 0, 0, "a");
	assert_int_equal(store_commit(s, &e), ST_OK);
	store_costs(s, &c);
	assert_int_equal(c.commits, 1);
	assert_true(c.commit_ns > 0);
	for (size_t i = 0; i < DISP_COMMIT_STEPS; i++)
		assert_int_equal(c.within[i], (double)c.commit_ns * 1e-9 <= disp_commit_seconds[i]);
	store_limit(s, 100000);
	for (uint64_t i = 0; i < 20000; i++)
		put(s, ROW_SPLIT, i, 0, 0, "the quick brown fox jumps over the lazy dog");
	assert_int_equal(store_commit(s, &e), ST_IO);
	store_costs(s, &c);
	assert_int_equal(c.commits, 1);
	store_close(&s);
}
