/* SPDX-License-Identifier: MIT */
#include "fetch/fetch_lib.h"

#include <pthread.h>
#include <stdio.h>

static const char *const fetch_curl_names[] = { FETCH_CURL_FNS(LATE_NAME) NULL };
static const char *const fetch_xml_names[] = { FETCH_XML_FNS(LATE_NAME) "xmlFree", NULL };

static struct fetch_curl_lib fetch_curl_fns;
static struct fetch_xml_lib fetch_xml_fns;

/* Debian's two builds of libcurl differ in the library for TLS only. */
static struct late fetch_curl = { { "libcurl.so.4", "libcurl-gnutls.so.4" }, "libcurl4", fetch_curl_names,
	&fetch_curl_fns, "" };
static struct late fetch_xml = { { "libxml2.so.2", "libxml2.so.16" }, "libxml2", fetch_xml_names, &fetch_xml_fns, "" };

static void
fetch_load_curl(void)
{
	late_load(&fetch_curl);
	if (!fetch_curl.why[0] && fetch_curl_fns.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		snprintf(fetch_curl.why, sizeof fetch_curl.why, "it cannot be started");
}

static void
fetch_load_xml(void)
{
	late_load(&fetch_xml);
}

const struct fetch_curl_lib *
fetch_curl_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_load_curl);
	return late_get(&fetch_curl, e);
}

const struct fetch_xml_lib *
fetch_xml_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch_load_xml);
	return late_get(&fetch_xml, e);
}
