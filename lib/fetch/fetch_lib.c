/* SPDX-License-Identifier: MIT */
#include "fetch/fetch_lib.h"

static const char *const fetch_curl_names[] = { FETCH_CURL_FNS(LATE_NAME) NULL };
static const char *const fetch_xml_names[] = { FETCH_XML_FNS(LATE_NAME) "xmlFree", NULL };

static struct fetch_curl_lib fetch_curl_fns;
static struct fetch_xml_lib fetch_xml_fns;

static const char *
fetch_start_curl(void)
{
	return fetch_curl_fns.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? NULL : "it cannot be started";
}

/* Debian's two builds of libcurl differ in the library for TLS only. */
static struct late fetch_curl = { { "libcurl.so.4", "libcurl-gnutls.so.4" }, "libcurl4", fetch_curl_names,
	&fetch_curl_fns, fetch_start_curl, LATE_LOCK };
static struct late fetch_xml = { { "libxml2.so.2", "libxml2.so.16" }, "libxml2", fetch_xml_names, &fetch_xml_fns,
	LATE_LOCK };

const struct fetch_curl_lib *
fetch_curl_lib(struct err *e)
{
	return late_get(&fetch_curl, e);
}

const struct fetch_xml_lib *
fetch_xml_lib(struct err *e)
{
	return late_get(&fetch_xml, e);
}
