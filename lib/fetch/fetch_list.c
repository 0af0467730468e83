/* SPDX-License-Identifier: MIT
 * The objects of a bucket: ListObjectsV2.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fetch/fetch.h"

enum { LIST_PAGE = 1000, LIST_ANSWER_MAX = 16 * 1024 * 1024, LIST_PAGES_MAX = 100000 };

struct list {
	const struct fetch_xml_lib *xml;
	fetch_found *found;
	void *arg;
	struct buf answer;
	bool long_one;  /* it does not fit */
	char *next;     /* token of the next page; NULL: this is the last one */
};

static bool
list_body(void *arg, const uint8_t *p, size_t n)
{
	struct list *l = arg;

	if (l->answer.len + n > LIST_ANSWER_MAX)
		l->long_one = true;
	else
		buf_put(&l->answer, p, n);
	return true;
}

static void
list_begin(void *arg)
{
	struct list *l = arg;

	buf_reset(&l->answer);
	l->long_one = false;
}

static bool
list_is(const xmlNode *n, const char *name)
{
	return n->type == XML_ELEMENT_NODE && !strcmp((const char *)n->name, name);
}

/* The text of a node; to be freed with list_text_free. */
static char *
list_text(const struct list *l, const xmlNode *n)
{
	return (char *)l->xml->xmlNodeGetContent(n);
}

static void
list_text_free(const struct list *l, char *text)
{
	if (text)
		(*l->xml->xmlFree)(text);
}

static enum status
list_object(struct list *l, const xmlNode *object, struct err *e)
{
	struct fetch_about about = { .parts = true };
	char *key = NULL, *size = NULL, *tag = NULL;
	enum status st = ST_OK;

	for (const xmlNode *n = object->children; n; n = n->next) {
		char **to = list_is(n, "Key") ? &key : list_is(n, "Size") ? &size : list_is(n, "ETag") ? &tag : NULL;

		if (to && !*to)
			*to = list_text(l, n);
	}
	if (!key || !size || strlen(key) > URL_MAX) {
		st = err_set(e, ST_DATA, "the server's list of objects has one without key or size");
	} else if (!*key || key[strlen(key) - 1] != '/') { /* else it stands for a folder */
		about.size = strtoull(size, NULL, 10);
		about.sized = true;
		about.tag = tag && *tag ? tag : NULL;
		st = l->found(l->arg, key, &about, e);
	}
	list_text_free(l, key);
	list_text_free(l, size);
	list_text_free(l, tag);
	return st;
}

static enum status
list_page(struct list *l, struct err *e)
{
	xmlDoc *doc = l->long_one ? NULL : l->xml->xmlReadMemory((const char *)l->answer.data, (int)l->answer.len,
		"list.xml", NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA);
	xmlNode *root = doc ? l->xml->xmlDocGetRootElement(doc) : NULL;
	enum status st = ST_OK;
	bool more = false;

	mem_free(l->next);
	l->next = NULL;
	if (!root || !list_is(root, "ListBucketResult"))
		st = err_set(e, ST_DATA, "the server's list of objects cannot be understood");
	for (const xmlNode *n = root && st == ST_OK ? root->children : NULL; n && st == ST_OK; n = n->next) {
		char *text;

		if (list_is(n, "Contents")) {
			st = list_object(l, n, e);
		} else if (list_is(n, "IsTruncated") || list_is(n, "NextContinuationToken")) {
			text = list_text(l, n);
			if (list_is(n, "IsTruncated"))
				more = text && !strcmp(text, "true");
			else if (!l->next)
				l->next = mem_strdup(text);
			list_text_free(l, text);
		}
	}
	if (doc)
		l->xml->xmlFreeDoc(doc);
	if (st == ST_OK && more && !l->next)
		st = err_set(e, ST_DATA, "the server's list of objects breaks off");
	if (!more) {
		mem_free(l->next);
		l->next = NULL;
	}
	return st;
}

/* The names of the query must be sorted: libcurl signs it as it is. */
static void
list_query(const struct list *l, const char *prefix, bool flat, struct buf *out)
{
	if (l->next) {
		buf_str(out, "continuation-token=");
		url_encode(l->next, strlen(l->next), "", out);
		buf_byte(out, '&');
	}
	if (flat)
		buf_str(out, "delimiter=%2F&");
	buf_printf(out, "list-type=2&max-keys=%d&prefix=", LIST_PAGE);
	url_encode(prefix, strlen(prefix), "", out);
}

enum status
fetch_list(const char *url, bool flat, fetch_found *found, void *arg, const struct fetch_wait *w, struct err *e)
{
	struct list l = { .found = found, .arg = arg };
	struct http h = { 0 };
	struct target t;
	struct link *link = NULL;
	struct buf query = { 0 };
	enum status st = target_init(&t, url, e);

	if (st == ST_OK && t.u.scheme != URL_S3)
		st = err_set(e, ST_DATA, "only s3:// can be listed");
	if (st == ST_OK && !(l.xml = fetch_xml_lib(e)))
		st = e->kind;
	if (st == ST_OK)
		st = http_init(&h, e);
	if (st == ST_OK && !(link = link_take(e)))
		st = e->kind;
	for (int pages = 0; st == ST_OK; pages++) {
		if (pages == LIST_PAGES_MAX) {
			st = err_set(e, ST_DATA, "the server's list of objects has no end");
			break;
		}
		buf_reset(&query);
		list_query(&l, t.u.path, flat, &query);
		struct http_ask ask = { .query = (char *)query.data, .body = list_body, .arg = &l };
		st = link_do(link, &h, &t, &ask, list_begin, w, e);
		if (st == ST_OK)
			st = list_page(&l, e);
		if (!l.next)
			break;
	}
	mem_free(l.next);
	buf_clear(&l.answer);
	buf_clear(&query);
	http_clear(&h);
	link_give_back(link);
	target_clear(&t);
	return st;
}
