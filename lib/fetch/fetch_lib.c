/* SPDX-License-Identifier: MIT */
#include "fetch/fetch_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FETCH_NAME(fn) #fn,
static const char *const fetch_curl_names[] = { FETCH_CURL_FNS(FETCH_NAME) NULL };
static const char *const fetch_xml_names[] = { FETCH_XML_FNS(FETCH_NAME) "xmlFree", NULL };
#undef FETCH_NAME

static struct fetch_curl_lib fetch_curl_fns;
static struct fetch_xml_lib fetch_xml_fns;

static struct fetch_lib {
	const char *files[3], *package;
	const char *const *names;
	void *fns;     /* pointers to what the names mean, in their order */
	char why[200]; /* "": it is loaded */
} fetch_libs[] = {
	/* Debian's two builds differ in the library for TLS only. */
	{ { "libcurl.so.4", "libcurl-gnutls.so.4", NULL }, "libcurl4", fetch_curl_names, &fetch_curl_fns, "" },
	{ { "libxml2.so.2", "libxml2.so.16", NULL }, "libxml2", fetch_xml_names, &fetch_xml_fns, "" },
};

static void
fetch_lib_load(struct fetch_lib *lib)
{
	void *from = NULL, *fn;
	char *at = lib->fns;

	for (const char *const *file = lib->files; !from && *file; file++)
		from = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
	if (!from) {
		const char *why = dlerror();

		snprintf(lib->why, sizeof lib->why, "%s", why ? why : "it is not there");
		return;
	}
	for (const char *const *name = lib->names; *name; name++, at += sizeof fn) {
		fn = dlsym(from, *name);
		if (!fn) {
			snprintf(lib->why, sizeof lib->why, "it has no %s", *name);
			return;
		}
		memcpy(at, &fn, sizeof fn);
	}
}

static void *
fetch_lib_get(struct fetch_lib *lib, struct err *e)
{
	if (!lib->why[0])
		return lib->fns;
	err_set(e, ST_DATA, "addresses cannot be read: the library %s cannot be used: %s", lib->files[0], lib->why);
	err_help(e, "apt-get install %s", lib->package);
	return NULL;
}

static void
fetch_load_curl(void)
{
	fetch_lib_load(&fetch_libs[0]);
	if (!fetch_libs[0].why[0] && fetch_curl_fns.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		snprintf(fetch_libs[0].why, sizeof fetch_libs[0].why, "it cannot be started");
}

static void
fetch_load_xml(void)
{
	fetch_lib_load(&fetch_libs[1]);
}

const struct fetch_curl_lib *
fetch_curl_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_load_curl);
	return fetch_lib_get(&fetch_libs[0], e);
}

const struct fetch_xml_lib *
fetch_xml_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_load_xml);
	return fetch_lib_get(&fetch_libs[1], e);
}
