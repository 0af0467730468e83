/* SPDX-License-Identifier: MIT */
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

#include "cli/endpoint.h"

#define EACH_SETUP folder_make
#define EACH_TEARDOWN folder_remove

static char folder[128];
static struct endpoint ep;
static struct err err;

static int
folder_make(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/dsvc-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int
folder_remove(void **state)
{
	char path[160];

	(void)state;
	snprintf(path, sizeof path, "%s/dsvc", folder);
	rmdir(path);
	unlink(path);
	return rmdir(folder);
}

static void
what_is_given_is_made_an_address(void **state)
{
	(void)state;
	assert_int_equal(endpoint_find("tcp://h:5", "-d", &ep, &err), ST_OK);
	assert_string_equal(ep.address, "tcp://h:5");
	assert_string_equal(ep.from, "-d");
	assert_false(ep.own);
	assert_int_equal(endpoint_find("host:5050", "-d", &ep, &err), ST_OK);
	assert_string_equal(ep.address, "tcp://host:5050");
	assert_int_equal(endpoint_find("/run/x", "-d", &ep, &err), ST_OK);
	assert_string_equal(ep.address, "ipc:///run/x");
}

static void
what_is_no_address_is_refused_with_its_origin(void **state)
{
	char path[ENDPOINT_ADDRESS * 2];

	(void)state;
	assert_int_equal(endpoint_find("host", "DSVC_DISPATCHER", &ep, &err), ST_USAGE);
	assert_string_equal(err.text,
			    "'host' (from DSVC_DISPATCHER) is not an address: there is no port");
	assert_int_equal(endpoint_find("http://x:1", "-d", &ep, &err), ST_USAGE);
	assert_int_equal(endpoint_find("tcp://:1", "-d", &ep, &err), ST_USAGE);
	assert_int_equal(endpoint_find("tcp://h:", "-d", &ep, &err), ST_USAGE);
	assert_int_equal(endpoint_find("ipc://", "-d", &ep, &err), ST_USAGE);
	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[108] = '\0';
	assert_int_equal(endpoint_find(path, "-d", &ep, &err), ST_USAGE);
	path[107] = '\0';
	assert_int_equal(endpoint_find(path, "-d", &ep, &err), ST_OK);
	path[107] = 'x';
	path[sizeof path - 1] = '\0';
	assert_int_equal(endpoint_find(path, "-d", &ep, &err), ST_USAGE);
}

static void
several_addresses_of_one_service_are_a_list(void **state)
{
	char many[ENDPOINT_LIST * 2] = "h:1";

	(void)state;
	assert_int_equal(endpoint_find("h:5,tcp://[::1]:6,other:7", "-d", &ep, &err), ST_OK);
	assert_string_equal(ep.address, "tcp://h:5,tcp://[::1]:6,tcp://other:7");
	assert_int_equal(endpoint_find("/run/a,ipc:///run/b", "-d", &ep, &err), ST_OK);
	assert_string_equal(ep.address, "ipc:///run/a,ipc:///run/b");
	assert_int_equal(endpoint_find("h:5,", "-d", &ep, &err), ST_USAGE);
	assert_int_equal(endpoint_find(",h:5", "-d", &ep, &err), ST_USAGE);
	assert_int_equal(endpoint_find("h:5,/run/a", "-d", &ep, &err), ST_USAGE);
	assert_string_equal(err.text, "'/run/a' (from -d) is not an address: "
			    "addresses of one service are all tcp:// or all ipc://");
	assert_int_equal(endpoint_find("h:5,@file", "-d", &ep, &err), ST_USAGE);
	for (size_t i = 0; i < ENDPOINT_LIST; i += 4)
		memcpy(many + strlen(many), ",h:1", 5);
	assert_int_equal(endpoint_find(many, "-d", &ep, &err), ST_USAGE);
	assert_string_equal(err.text, "'h:1' (from -d) is not an address: too many addresses");
}

static void
the_default_is_a_private_socket(void **state)
{
	char want[200];
	struct stat st;

	(void)state;
	setenv("XDG_RUNTIME_DIR", folder, 1);
	assert_int_equal(endpoint_find(NULL, NULL, &ep, &err), ST_OK);
	snprintf(want, sizeof want, "ipc://%s/dsvc/dispatch", folder);
	assert_string_equal(ep.address, want);
	assert_string_equal(ep.from, "the default");
	assert_true(ep.own);
	assert_int_equal(endpoint_prepare(&ep, &err), ST_OK);
	assert_int_equal(endpoint_prepare(&ep, &err), ST_OK);
	snprintf(want, sizeof want, "%s/dsvc", folder);
	assert_int_equal(stat(want, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", folder, 1);
	assert_int_equal(endpoint_find("", NULL, &ep, &err), ST_OK);
	/* the folder that this user's sessions have, if there is one */
	snprintf(want, sizeof want, "/run/user/%u", (unsigned)getuid());
	if (stat(want, &st) == 0)
		snprintf(want, sizeof want, "ipc:///run/user/%u/dsvc/dispatch", (unsigned)getuid());
	else
		snprintf(want, sizeof want, "ipc://%s/dsvc-%u/dispatch", folder, (unsigned)getuid());
	assert_string_equal(ep.address, want);
	unsetenv("TMPDIR");
}

static void
a_folder_open_to_others_is_refused(void **state)
{
	char path[160];

	(void)state;
	snprintf(path, sizeof path, "%s/dsvc", folder);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	assert_int_equal(mkdir(path, 0700), 0);
	chmod(path, 0755);
	assert_int_equal(endpoint_find(NULL, NULL, &ep, &err), ST_PERM);
	rmdir(path);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_int_equal(endpoint_find(NULL, NULL, &ep, &err), ST_PERM);
	unlink(path);
	unsetenv("XDG_RUNTIME_DIR");
}

static void
a_path_too_long_for_a_socket_is_said_beforehand(void **state)
{
	char path[200];

	(void)state;
	memset(path, 'y', sizeof path);
	path[0] = '/';
	path[120] = '\0';
	setenv("XDG_RUNTIME_DIR", path, 1);
	assert_int_equal(endpoint_find(NULL, NULL, &ep, &err), ST_USAGE);
	unsetenv("XDG_RUNTIME_DIR");
}
