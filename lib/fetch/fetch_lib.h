/* SPDX-License-Identifier: MIT
 *
 * libcurl and libxml2 (base/late.h), loaded at the first address that a program reads. NULL: it cannot be
 * had, and e says which package has it.
 */
#ifndef FETCH_FETCH_LIB_H
#define FETCH_FETCH_LIB_H

#include <curl/curl.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include "base/late.h"

/* Macros of the headers stand in the way of the names. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define FETCH_CURL_FNS(F) \
	F(curl_global_init) F(curl_easy_init) F(curl_easy_setopt) F(curl_easy_getinfo) F(curl_easy_reset) \
	F(curl_easy_cleanup) F(curl_easy_pause) F(curl_easy_strerror) F(curl_slist_append) F(curl_slist_free_all) \
	F(curl_multi_init) F(curl_multi_add_handle) F(curl_multi_remove_handle) F(curl_multi_perform) \
	F(curl_multi_poll) F(curl_multi_info_read) F(curl_multi_cleanup)
#define FETCH_XML_FNS(F) \
	F(xmlReadMemory) F(xmlDocGetRootElement) F(xmlFreeDoc) F(xmlNodeGetContent)

struct fetch_curl_lib { FETCH_CURL_FNS(LATE_FN) };
struct fetch_xml_lib { FETCH_XML_FNS(LATE_FN) void (**xmlFree)(void *); };

const struct fetch_curl_lib *fetch_curl_lib(struct err *e);
const struct fetch_xml_lib *fetch_xml_lib(struct err *e);

#endif
