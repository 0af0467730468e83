/* SPDX-License-Identifier: MIT
 *
 * Files of keys and rights: what is read out of them, and when they are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#include "base/path.h"
#include "trust/allowed.h"
#include "trust/invitation.h"
#include "trust/key_file.h"
#include "trust/services.h"
#include "trust/trust_file.h"

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static char home[] = "/tmp/trust-test-XXXXXX";
static struct err e;

static int
setup(void **state)
{
	(void)state;
	strcpy(home, "/tmp/trust-test-XXXXXX");
	assert_non_null(mkdtemp(home));
	setenv("XDG_CONFIG_HOME", home, 1);
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", home);
	return system(command);
}

static char *
at(const char *name)
{
	static char path[4][128];
	static int turn;
	char *p = path[turn = (turn + 1) % 4];

	snprintf(p, 128, "%s/dsvc/%s", home, name);
	return p;
}

static void
put(const char *name, const char *text, mode_t mode)
{
	assert_int_equal(path_make_folders(at(name), &e), ST_OK);
	FILE *f = fopen(at(name), "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(at(name), mode), 0);
}

static void
a_line_says_roles_options_key_and_name(void **state)
{
	struct allowed_entry a;
	const char *why, *line = "  read,register,from=10.0.0.0/8,until=2026-11-22T04:00Z,jobs=train-*,exec "
		KEY_B "  ada # comment";
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(allowed_line(line, strlen(line), &a, &why), 1);
	assert_int_equal(a.may, MAY_USER | MAY_EXEC);
	assert_int_equal(a.until, 1795320000);
	assert_string_equal(a.jobs, "train-*");
	assert_string_equal(a.from, "10.0.0.0/8");
	assert_string_equal(a.name, "ada");
	allowed_print(&a, &b);
	assert_string_equal((char *)b.data,
			    "read,register,exec,from=10.0.0.0/8,until=2026-11-22T04:00Z,jobs=train-* " KEY_B " ada\n");
	buf_clear(&b);
	assert_int_equal(allowed_line("# x", 3, &a, &why), 0);
	assert_int_equal(allowed_line(" \t\r", 3, &a, &why), 0);
}

static void
a_line_that_is_none_is_refused_with_its_number(void **state)
{
	static const char *const bad[] = {
		"work", "work " KEY_A "a b", "work short b", "frob " KEY_A " b", ",work " KEY_A, "work, " KEY_A,
		"from=1.2.3.4 " KEY_A, "work,from=1.2.3.4/33 " KEY_A, "work,from=host " KEY_A, "work,from=::/129 " KEY_A,
		"work,until=soon " KEY_A, "work,until= " KEY_A, "work,jobs= " KEY_A, "work " KEY_A " b c", "guest " KEY_A,
		"work " KEY_A " b\x01", "exec " KEY_A, "exec,from=::1 " KEY_A,
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct allowed a;
		struct buf b = { 0 };

		buf_printf(&b, "# first\n%s\n", bad[i]);
		if (allowed_parse((char *)b.data, b.len, &a, &e) != ST_CONFIG)
			fail_msg("%s", bad[i]);
		assert_non_null(strstr(e.text, "line 2 of the allowed keys"));
		buf_clear(&b);
	}
}

static void
an_address_lies_in_a_network_by_its_bits(void **state)
{
	(void)state;
	assert_true(allowed_from_has("", "::1"));
	assert_true(allowed_from_has("10.0.0.0/8", "10.255.1.2"));
	assert_true(allowed_from_has("10.0.0.0/8", "::ffff:10.255.1.2"));
	assert_false(allowed_from_has("10.0.0.0/8", "11.0.0.0"));
	assert_true(allowed_from_has("10.0.0.5", "10.0.0.5"));
	assert_false(allowed_from_has("10.0.0.5", "10.0.0.4"));
	assert_true(allowed_from_has("fd00::/8", "fd12::1"));
	assert_false(allowed_from_has("fd00::/8", "10.0.0.1"));
	assert_true(allowed_from_has("0.0.0.0/0", "1.2.3.4"));
	assert_false(allowed_from_has("0.0.0.0/0", "fd12::1"));
	assert_false(allowed_from_has("10.0.0.0/8", "nonsense"));
}

static void
the_last_line_of_a_key_counts_until_its_date(void **state)
{
	const char *text = "read " KEY_A " a\nwork,until=2026-01-01 " KEY_A " b\nadmin " KEY_B " c\n";
	struct allowed a;
	struct key k;

	(void)state;
	assert_int_equal(allowed_parse(text, strlen(text), &a, &e), ST_OK);
	assert_true(key_parse(KEY_A, KEY_TEXT, &k));
	assert_int_equal(allowed_find(&a, &k, 1767225599)->may, MAY_WORK);
	assert_null(allowed_find(&a, &k, 1767225600));
	assert_true(key_parse(KEY_B, KEY_TEXT, &k));
	assert_string_equal(allowed_find(&a, &k, 0)->name, "c");
	allowed_clear(&a);
}

static void
keys_are_added_and_struck_out_and_comments_stay(void **state)
{
	struct allowed_entry add = { .may = MAY_WORK, .until = INT64_MAX, .name = "b" };
	struct allowed a;
	struct stat s;
	struct buf text = { 0 };
	size_t n;

	(void)state;
	put("allowed", "# mine\nread " KEY_A " ada\n", 0600);
	assert_true(key_parse(KEY_B, KEY_TEXT, &add.key));
	assert_int_equal(allowed_add(at("allowed"), &add, &e), ST_OK);
	add.may = MAY_READ;
	assert_int_equal(allowed_add(at("allowed"), &add, &e), ST_OK);
	assert_int_equal(allowed_read(at("allowed"), &a, &e), ST_OK);
	assert_int_equal(a.n, 2);
	allowed_clear(&a);
	assert_int_equal(stat(at("allowed"), &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
	assert_int_equal(allowed_strike(at("allowed"), "nobody", &n, &e), ST_OK);
	assert_int_equal(n, 0);
	assert_int_equal(allowed_strike(at("allowed"), "ada", &n, &e), ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(trust_read(at("allowed"), &text, &e), ST_OK);
	assert_string_equal((char *)text.data, "# mine\nread " KEY_B " b\n");
	assert_int_equal(allowed_strike(at("allowed"), KEY_B, &n, &e), ST_OK);
	assert_int_equal(n, 1);
	buf_clear(&text);
}

static void
files_that_others_can_read_are_not_used(void **state)
{
	struct allowed a;
	struct key_pair p;
	bool found;
	struct service_pin pin;

	(void)state;
	put("allowed", "read " KEY_A " ada\n", 0644);
	assert_int_equal(allowed_read(at("allowed"), &a, &e), ST_CONFIG);
	assert_non_null(strstr(e.text, "can be read by others (0644)"));
	put("services", "tcp://a:1 " KEY_A "\n", 0604);
	assert_int_equal(services_find("tcp://a:1", &pin, &found, &e), ST_CONFIG);
	assert_int_equal(key_file_make(NULL, "me", &p, &e), ST_OK);
	assert_int_equal(chmod(at("key"), 0640), 0);
	assert_int_equal(key_file_read(NULL, true, &p, NULL, &e), ST_CONFIG);
	assert_int_equal(chmod(at("key"), 0600), 0);
	assert_int_equal(key_file_read(NULL, true, &p, NULL, &e), ST_OK);
	assert_int_equal(chmod(at("."), 0777), 0);
	assert_int_equal(key_file_read(NULL, true, &p, NULL, &e), ST_CONFIG);
	assert_non_null(strstr(e.text, "others can write"));
}

static void
files_of_root_may_be_read_by_a_group(void **state)
{
	struct key_pair p;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(key_file_make(NULL, "me", &p, &e), ST_OK);
	/* The temporary folder and those above it are open already. */
	assert_int_equal(chmod(home, 0755), 0);
	assert_int_equal(chmod(at("."), 0755), 0);
	const struct { mode_t mode; enum status root, other; } is[] = {
		{ 0440, ST_CONFIG, ST_OK }, { 0640, ST_CONFIG, ST_OK }, { 0660, ST_CONFIG, ST_CONFIG },
		{ 0444, ST_CONFIG, ST_CONFIG }, { 0400, ST_OK, ST_PERM },
	};
	for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
		assert_int_equal(chmod(at("key"), is[i].mode), 0);
		assert_int_equal(key_file_read(NULL, true, &p, NULL, &e), is[i].root);
		/* still in the group of root */
		assert_int_equal(seteuid(65534), 0);
		enum status st = key_file_read(NULL, true, &p, NULL, &e);
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(st, is[i].other);
	}
}

static void
a_key_is_made_once(void **state)
{
	struct key_pair p, q;
	char name[64];
	struct stat s;

	(void)state;
	assert_int_equal(key_file_read(NULL, false, &p, NULL, &e), ST_NOINPUT);
	assert_int_equal(key_file_read(NULL, true, &p, name, &e), ST_OK);
	assert_int_equal(key_file_read(NULL, true, &q, NULL, &e), ST_OK);
	assert_memory_equal(&p, &q, sizeof p);
	assert_int_equal(stat(at("key"), &s), 0);
	assert_int_equal(s.st_mode & 0777, 0600);
	assert_int_equal(stat(at("."), &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	assert_int_equal(key_file_make(NULL, NULL, &q, &e), ST_CONFIG);
	assert_int_equal(key_file_make(at("other"), "robot", &q, &e), ST_OK);
	assert_int_equal(key_file_read(at("other"), false, &p, name, &e), ST_OK);
	assert_string_equal(name, "robot");
}

static void
services_are_pinned_and_the_last_joined_is_first(void **state)
{
	struct service_pin a = { .address = "tcp://a:5050" }, b = { .address = "tcp://b:5050", .name = "lab" }, got;
	struct key old;
	bool found;

	(void)state;
	assert_true(key_parse(KEY_A, KEY_TEXT, &a.key));
	assert_true(key_parse(KEY_B, KEY_TEXT, &b.key));
	assert_int_equal(services_find(NULL, &got, &found, &e), ST_OK);
	assert_false(found);
	assert_int_equal(services_put(&a, false, NULL, &e), ST_OK);
	assert_int_equal(services_put(&b, false, NULL, &e), ST_OK);
	assert_int_equal(services_find(NULL, &got, &found, &e), ST_OK);
	assert_true(found);
	assert_string_equal(got.name, "lab");
	assert_int_equal(services_find("tcp://a:5050", &got, &found, &e), ST_OK);
	assert_true(found && key_same(&got.key, &a.key));
	b.key = a.key;
	assert_int_equal(services_put(&b, false, &old, &e), ST_PERM);
	assert_false(key_same(&old, &b.key));
	assert_int_equal(services_put(&b, true, NULL, &e), ST_OK);
	assert_int_equal(services_find("tcp://b:5050", &got, &found, &e), ST_OK);
	assert_true(key_same(&got.key, &b.key));
	put("services", "tcp://a:1 " KEY_A "\nnonsense\n", 0600);
	assert_int_equal(services_find("tcp://a:1", &got, &found, &e), ST_CONFIG);
	assert_non_null(strstr(e.text, "line 2"));
}

static void
an_invitation_opens_once_and_not_too_late(void **state)
{
	struct invited_list l = { 0 }, again;
	struct invited what = { .may = MAY_WORK, .uses = 1, .until = 1000, .name = "b", .from = "10.0.0.0/8" };
	struct invitation i = { .address = "tcp://a:1" }, back;
	struct buf b = { 0 };

	(void)state;
	assert_false(invited_open(&l, 0));
	assert_int_equal(invited_add(&l, &what, 0, &i, &e), ST_OK);
	invitation_print(&i, &b);
	assert_int_equal(invitation_parse((char *)b.data, b.len - 1, &back, &e), ST_OK);
	assert_string_equal(back.address, i.address);
	assert_string_equal(back.secret, i.secret);
	assert_int_equal(back.may, i.may);
	assert_true(invited_open(&l, 999));
	assert_false(invited_open(&l, 1000));
	assert_null(invited_use(&l, i.id, "nonsense", "10.1.1.1", 5, &e));
	assert_null(invited_use(&l, "nonsense", i.secret, "10.1.1.1", 5, &e));
	assert_null(invited_use(&l, i.id, i.secret, "11.1.1.1", 5, &e));
	assert_null(invited_use(&l, i.id, i.secret, "10.1.1.1", 1000, &e));
	assert_string_equal(e.text, "the invitation ended at 1970-01-01T00:16Z");
	/* the secret does not stand in the lines that are kept */
	buf_reset(&b);
	invited_print(&l, 5, &b);
	assert_null(strstr((char *)b.data, i.secret));
	assert_int_equal(invited_parse((char *)b.data, b.len, &again, &e), ST_OK);
	assert_string_equal(invited_use(&again, i.id, i.secret, "10.1.1.1", 5, &e)->name, "b");
	assert_null(invited_use(&again, i.id, i.secret, "10.1.1.1", 5, &e));
	assert_string_equal(e.text, "the invitation was used");
	assert_int_equal(e.kind, ST_PERM);
	invited_clear(&l);
	invited_clear(&again);
	buf_clear(&b);
}

static void
damaged_invitations_are_told_from_good_ones(void **state)
{
	struct invited_list l = { 0 };
	struct invited what = { .may = MAY_USER, .uses = 1, .until = 1000 };
	struct invitation i = { .address = "tcp://a:1" }, back;
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(invited_add(&l, &what, 0, &i, &e), ST_OK);
	invitation_print(&i, &b);
	for (size_t n = 0; n + 1 < b.len; n++)
		if (invitation_parse((char *)b.data, n, &back, &e) != ST_DATA)
			fail_msg("%zu letters of it are an invitation", n);
	invited_clear(&l);
	assert_int_equal(invited_parse("a b c\n", 6, &l, &e), ST_CONFIG);
	buf_clear(&b);
}
