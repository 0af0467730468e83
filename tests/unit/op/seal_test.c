/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/kit/seal.h"
#include "value/crc32c.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static char dir[32], a[] = "data-00000-a", b[] = "data-00001-b";
static struct err e;
static uint64_t unmarked; /* elements in files that no mark has counted */

/* Ends a stream with so many files, and all elements that are not in a mark yet. */
static enum status
seal(const char *folder, uint32_t stream, uint32_t streams, uint64_t files)
{
	struct seal_about about = { .format = mem_strdup("msgpack"), .type = mem_strdup("int") };
	enum status st = seal_end(folder, &(struct seal_stream){ stream, streams, files, unmarked }, 7, &about, &e);

	unmarked = 0;
	seal_about_clear(&about);
	return st;
}

static int
setup(void **state)
{
	(void)state;
	unmarked = 0;
	strcpy(dir, "/tmp/seal.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char *command = mem_printf("rm -rf %s", dir);
	int rc = system(command);

	(void)state;
	mem_free(command);
	return rc;
}

static char *
in_folder(const char *name)
{
	return mem_printf("%s/%s", dir, name);
}

/* Writes a file of these bytes and adds it to the list. */
static void
put_file(char *name, const char *bytes)
{
	char *path = in_folder(name);
	size_t n = strlen(bytes);
	struct seal_file s = { .name = name, .elements = 1, .bytes = n, .sum = crc32c(bytes, n), .summed = true };
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(bytes, f);
	fclose(f);
	assert_int_equal(seal_files_add(dir, &s, false, &e), ST_OK);
	unmarked++;
	mem_free(path);
}

static void
drop_file(const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);

	assert_int_equal(unlink(path), 0);
	mem_free(path);
}

static bool
whole(void)
{
	return seal_check(dir, &e) == ST_OK;
}

static void
end(uint32_t stream, uint32_t streams)
{
	assert_int_equal(seal(dir, stream, streams, 0), ST_OK);
}

static void
the_last_stream_to_end_seals(void **state)
{
	(void)state;
	put_file(a, "x");
	put_file(b, "y");
	assert_false(whole());
	assert_string_equal(strstr(e.text, "is not finished"), "is not finished: 2 files so far");
	end(2, 3);
	end(0, 3);
	assert_false(whole());
	end(1, 3);
	assert_true(whole());
	drop_file(a);
	assert_false(whole());
	assert_string_equal(strstr(e.text, "is not complete"), "is not complete: 1 of its 2 files are there");
}

/* How many there are is known late, and perhaps not to whoever ends last. */
static void
one_that_knows_how_many_there_are_is_enough(void **state)
{
	(void)state;
	end(0, 0);
	assert_false(whole());
	end(1, 3);
	assert_false(whole());
	end(2, 0);
	assert_true(whole());
}

/* Marks of another number of streams, as of a pass that was replaced, are not counted. */
static void
streams_that_are_none_of_these_do_not_count(void **state)
{
	(void)state;
	end(5, 0);
	end(0, 2);
	assert_false(whole());
	end(1, 2);
	assert_true(whole());
}

static void
who_writes_again_breaks_the_seal(void **state)
{
	(void)state;
	end(0, 2);
	end(1, 2);
	assert_true(whole());
	assert_int_equal(seal_break(dir, 1, &e), ST_OK);
	assert_false(whole());
	end(0, 2);
	assert_false(whole());
	end(1, 2);
	assert_true(whole());
}

static void
a_folder_that_is_not_there_is_said_so(void **state)
{
	(void)state;
	assert_int_equal(seal_check("/nowhere/at/all", &e), ST_NOINPUT);
	assert_int_equal(seal("/nowhere/at/all", 0, 1, 0), ST_NOINPUT);
}

static void
a_file_that_was_changed_is_found_out(void **state)
{
	char *path = in_folder(a), other[] = "data-00009-z";
	struct seal_file f;

	(void)state;
	put_file(b, "yy");
	put_file(a, "x");
	end(0, 1);
	assert_true(seal_files_find(dir, a, &f));
	assert_true(f.summed && f.bytes == 1 && f.elements == 1);
	assert_int_equal(seal_file_check(path, &f, &e), ST_OK);
	f.sum++;
	assert_int_equal(seal_file_check(path, &f, &e), ST_DATA);
	assert_non_null(strstr(e.text, "is damaged"));
	assert_true(seal_files_find(dir, b, &f));
	assert_int_equal(seal_file_check(path, &f, &e), ST_DATA);
	assert_non_null(strstr(e.text, "has 1 bytes, and SNAPSHOT says 2"));
	assert_false(seal_files_find(dir, other, &f));
	mem_free(path);
}

static void
each_of_many_files_is_found(void **state)
{
	char name[40];
	struct seal_file f;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "data-%05u-%.*s", i * 7 % 300, (int)(i % 17), "aaaaaaaaaaaaaaaaaaa");
		put_file(name, "x");
	}
	end(0, 1);
	assert_true(whole());
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "data-%05u-%.*s", i * 7 % 300, (int)(i % 17), "aaaaaaaaaaaaaaaaaaa");
		assert_true(seal_files_find(dir, name, &f));
		strcat(name, "b");
		assert_false(seal_files_find(dir, name, &f));
	}
}

/* A file that a stream wrote before it began anew is not part of the whole. */
static void
a_stream_that_begins_anew_takes_its_files_back(void **state)
{
	struct seal_files l = { 0 };

	(void)state;
	put_file(a, "x");
	put_file(b, "y");
	assert_int_equal(seal_break(dir, 0, &e), ST_OK);
	assert_int_equal(seal_files_now(dir, &l, &e), ST_OK);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].name, b);
	seal_files_clear(&l);
	put_file(b, "yyy");
	assert_int_equal(seal_files_now(dir, &l, &e), ST_OK);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.v[0].bytes, 3);
	seal_files_clear(&l);
}

static void
a_failure_is_told_in_its_own_words(void **state)
{
	struct err why;

	(void)state;
	err_set(&why, ST_IO, "the disk is on fire\nand more");
	put_file(a, "x");
	seal_fail(dir, &why);
	assert_int_equal(seal_check(dir, &e), ST_DATA);
	assert_non_null(strstr(e.text, "has failed: the disk is on fire"));
	assert_null(strstr(e.text, "more"));
	assert_int_equal(seal_break(dir, 0, &e), ST_OK);
	assert_int_equal(seal_check(dir, &e), ST_NOINPUT);
}

static void
put_list(const char *name, const char *text)
{
	char *path = in_folder(name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	mem_free(path);
}

/* A line that was cut off is left for later, and does not spoil what comes after it. */
static void
a_list_from_anywhere_is_read_with_care(void **state)
{
	struct seal_files l = { 0 };
	off_t at = 0;

	(void)state;
	put_list(SEAL_LOG, "{\"file\": \"../../etc/passwd\", \"elements\": 1, \"bytes\": 1}\n"
		 "{\"file\": \"/etc/passwd\", \"elements\": 1, \"bytes\": 1}\n"
		 "{\"file\": \"data-\\n\", \"elements\": 1, \"bytes\": 1}\n"
		 "nonsense\n\n{\"anew\": }\n{\"file\": \"data-1\", \"elements\": 1, \"by");
	assert_int_equal(seal_files_more(dir, true, &at, &l, &e), ST_OK);
	assert_int_equal(l.n, 0);
	put_file(a, "x");
	assert_int_equal(seal_files_more(dir, true, &at, &l, &e), ST_OK);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].name, a);
	put_list(SEAL_LOG, "");
	assert_int_equal(seal_files_more(dir, true, &at, &l, &e), ST_DATA);
	seal_files_clear(&l);
}

/* Whoever was stopped just before it lists a file may do so when others have gone on. */
static void
a_file_by_a_generation_that_was_replaced_does_not_count(void **state)
{
	struct seal_files l = { 0 };
	struct seal_owner o = { 0 };
	off_t at = 0;

	(void)state;
	put_list(SEAL_LOG, "{\"writer\": \"000000000000000a\", \"stream\": 0, \"gen\": 1}\n"
		 "{\"file\": \"data-00000-000-00000.x\", \"elements\": 1, \"bytes\": 1, \"crc32c\": \"00000001\", \"by\": 1}\n"
		 "{\"writer\": \"000000000000000b\", \"stream\": 0, \"gen\": 3}\n"
		 "{\"file\": \"data-00000-000-00001.x\", \"elements\": 2, \"bytes\": 2, \"by\": 1}\n"
		 "{\"writer\": \"000000000000000c\", \"stream\": 0, \"gen\": 2}\n"
		 "{\"file\": \"data-00000-000-00001.x\", \"elements\": 3, \"bytes\": 3, \"by\": 2}\n"
		 "{\"file\": \"data-00001-000-00000.x\", \"elements\": 4, \"bytes\": 4, \"by\": 1}\n"
		 "{\"file\": \"data-00000-000-00001.x\", \"elements\": 5, \"bytes\": 5, \"by\": 3}\n"
		 "{\"writer\": \"000000000000000d\", \"stream\": 4294967295, \"gen\": 9}\n");
	assert_int_equal(seal_files_now(dir, &l, &e), ST_OK);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[0].elements, 1);
	assert_true(l.v[0].summed);
	assert_int_equal(l.v[1].elements, 5);
	assert_false(l.v[1].summed);
	assert_int_equal(l.v[2].elements, 4);
	seal_files_clear(&l);
	assert_int_equal(seal_files_owner(dir, 0, &at, &o, &e), ST_OK);
	assert_int_equal(o.writer, 11);
	assert_int_equal(o.gen, 3);
}

static void
a_list_that_lacks_a_file_is_not_sealed(void **state)
{
	(void)state;
	put_file(a, "x");
	end(1, 2);
	assert_int_equal(seal(dir, 0, 2, 2), ST_IO);
	assert_false(whole());
	put_file(b, "y");
	assert_int_equal(seal(dir, 0, 2, 2), ST_OK);
	assert_true(whole());
}

static void
files_with_other_elements_than_their_streams_are_not_sealed(void **state)
{
	(void)state;
	put_file(a, "x");
	unmarked++;
	assert_int_equal(seal(dir, 0, 1, 1), ST_IO);
	assert_non_null(strstr(e.text, "has 1 elements of 2"));
	assert_false(whole());
}

static void
a_seal_tells_of_the_elements(void **state)
{
	struct seal_about about;

	(void)state;
	put_file(a, "xyz");
	assert_false(seal_about_read(dir, &about));
	end(0, 1);
	assert_true(seal_about_read(dir, &about));
	assert_int_equal(about.elements, 1);
	assert_int_equal(about.bytes, 3);
	assert_string_equal(about.format, "msgpack");
	assert_string_equal(about.type, "int");
	assert_null(about.spec);
	seal_about_clear(&about);
}

/* Nothing but the last line is looked at, and nothing in it is believed to be a text. */
static void
a_last_line_that_is_wrong_tells_nothing(void **state)
{
	static const char *const lines[] = { "", "]}", "], ", "], {\"type\": 1}", "], \"type\": \"int\"", "], \"type\": }",
		"x, \"type\": \"int\"}", "], \"type\": \"int\"} x", "],", "]" };
	struct seal_about about;

	(void)state;
	for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
		char *text = mem_printf("{\"chunks\": [\n%s\n", lines[k]);

		put_list(SEAL_NAME, text);
		if (seal_about_read(dir, &about))
			fail_msg("%s", lines[k]);
		mem_free(text);
	}
	put_list(SEAL_NAME, "{\n], \"type\": [\"int\"], \"elements\": \"many\", \"spec\": \"a\\u0000b\"}\n");
	assert_true(seal_about_read(dir, &about));
	assert_true(!about.type && !about.elements && !about.spec);
}
