/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#define GROUP_SETUP tar_setup
#define GROUP_TEARDOWN file_teardown

extern const struct op_desc op_tar;

static char tar_top[4096];

/* An archive of files: name, contents, name, contents, ..., NULL. */
static void
tar_make(struct buf *out, const char *const *v)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();

	archive_write_set_format_pax_restricted(a);
	archive_write_set_bytes_per_block(a, 0);
	assert_int_equal(archive_write_open(a, out, NULL, file_packed, NULL), ARCHIVE_OK);
	for (; *v; v += 2) {
		archive_entry_clear(entry);
		archive_entry_set_filetype(entry, AE_IFREG);
		archive_entry_set_perm(entry, 0644);
		archive_entry_set_pathname(entry, v[0]);
		archive_entry_set_size(entry, (la_int64_t)strlen(v[1]));
		assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
		archive_write_data(a, v[1], strlen(v[1]));
	}
	archive_write_close(a);
	archive_entry_free(entry);
	archive_write_free(a);
}

static void
tar_file(const char *path, const char *const *v)
{
	struct buf b = { 0 };

	tar_make(&b, v);
	file_put(path, b.data, b.len);
	buf_clear(&b);
}

static const char *const tar_plain[] = {
	"d/x.seg.json", "[1]", "d/x.jpg", "JPG", "d/y.jpg", "Y", "nodot", "?", "d/.hidden", "?",
	"e.f/y.jpg", "Z", "e.f/y.TXT", "text", NULL
};

static void
names_up_to_the_first_dot_are_keys(void **state)
{
	static const char want[] = "{\"__key__\":\"d/x\",\"seg.json\":\"WzFd\",\"jpg\":\"SlBH\"}\n"
		"{\"__key__\":\"d/y\",\"jpg\":\"WQ==\"}\n{\"__key__\":\"e.f/y\",\"jpg\":\"Wg==\",\"txt\":\"dGV4dA==\"}\n";
	struct buf b = { 0 };

	(void)state;
	tar_file("a.tar", tar_plain);
	src_expect(&op_tar, "a.tar", want);
	src_expect(&op_tar, "a.tar decode=true",
		   "{\"__key__\":\"d/x\",\"seg.json\":[1],\"jpg\":\"SlBH\"}\n{\"__key__\":\"d/y\",\"jpg\":\"WQ==\"}\n"
		   "{\"__key__\":\"e.f/y\",\"jpg\":\"Wg==\",\"txt\":\"text\"}\n");
	tar_make(&b, tar_plain);
	file_put_packed("a.tar.xz", ARCHIVE_FILTER_XZ, b.data, b.len);
	src_expect(&op_tar, "a.tar.xz", want);
	src_expect_resumes(&op_tar, "a.tar a.tar.xz a.tar", NULL);
	src_expect_resumes(&op_tar, "a.tar group=false", NULL);
	buf_clear(&b);
}

static void
single_files(void **state)
{
	static const char *const v[] = { "d/x.txt", "one", "y", "", NULL };

	(void)state;
	tar_file("s.tar", v);
	src_expect(&op_tar, "s.tar group=false",
		   "{\"name\":\"d/x.txt\",\"data\":\"b25l\"}\n{\"name\":\"y\",\"data\":\"\"}\n");
	src_expect(&op_tar, "s.tar group=false decode=true",
		   "{\"name\":\"d/x.txt\",\"data\":\"one\"}\n{\"name\":\"y\",\"data\":\"\"}\n");
}

static void
skips(const char *args, const char *want, unsigned failures, const char *words)
{
	struct buf got = { 0 };
	struct src s;

	src_init(&s, &op_tar, args);
	s.node.on_error = OP_SKIP;
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, want);
	assert_int_equal(s.failures, failures);
	if (!strstr(s.failure, words))
		assert_string_equal(s.failure, words);
	src_clear(&s);
	buf_clear(&got);
}

static void
bad_files_cost_their_record(void **state)
{
	static const char *const v[] = {
		"a.txt", "1", "b.txt", "2", "b.TXT", "3", "c.txt", "4", "d.cls", "x", "d.txt", "5", "e.txt", "6", NULL
	};

	(void)state;
	tar_file("bad.tar", v);
	skips("bad.tar", "{\"__key__\":\"a\",\"txt\":\"MQ==\"}\n{\"__key__\":\"c\",\"txt\":\"NA==\"}\n"
	      "{\"__key__\":\"d\",\"cls\":\"eA==\",\"txt\":\"NQ==\"}\n{\"__key__\":\"e\",\"txt\":\"Ng==\"}\n",
	      1, "the archive has two files b.TXT in this group");
	skips("bad.tar decode=true", "{\"__key__\":\"a\",\"txt\":\"1\"}\n{\"__key__\":\"c\",\"txt\":\"4\"}\n"
	      "{\"__key__\":\"e\",\"txt\":\"6\"}\n", 2, "d.cls: it does not hold a whole number");
	src_expect_fault(&op_tar, "bad.tar", "{\"__key__\":\"a\",\"txt\":\"MQ==\"}\n", ST_DATA, "has two files b.TXT");
}

static void
what_is_no_archive(void **state)
{
	struct buf b = { 0 };
	char *large = mem_zalloc((2 << 20) + 1);
	const char *const v[] = { "a.txt", "1", "b.txt", large, "c.txt", "3", NULL };

	(void)state;
	file_text("text.tar", "hello, this is no archive\n");
	src_expect_fault(&op_tar, "text.tar", "", ST_DATA, "cannot read the archive");
	file_text("none.tar", "");
	src_expect(&op_tar, "none.tar", "");
	memset(large, 'x', 2 << 20);
	tar_make(&b, v);
	file_put("large.tar", b.data, b.len);
	skips("large.tar", "{\"__key__\":\"a\",\"txt\":\"MQ==\"}\n{\"__key__\":\"c\",\"txt\":\"Mw==\"}\n", 1,
	      "larger than the element limit");
	file_put("cut.tar", b.data, 1 << 20);
	skips("cut.tar large.tar", "{\"__key__\":\"a\",\"txt\":\"MQ==\"}\n{\"__key__\":\"a\",\"txt\":\"MQ==\"}\n"
	      "{\"__key__\":\"c\",\"txt\":\"Mw==\"}\n", 2, "larger");
	mem_free(large);
	buf_clear(&b);
}

static void
what_python_wrote(void **state)
{
	char *args = mem_printf("%s/tests/docs/samples.tar decode=true", tar_top);

	(void)state;
	src_expect(&op_tar, args, op_tar.output);
	mem_free(args);
}

static int
tar_setup(void **state)
{
	return getcwd(tar_top, sizeof tar_top) ? file_setup(state) : -1;
}
