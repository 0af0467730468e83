/* SPDX-License-Identifier: MIT
 * The objects of a bucket: ListObjectsV2.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fetch/answer.h"
#include "fetch/fetch.h"

enum { LIST_PAGE = 1000, LIST_ANSWER_MAX = 16 * 1024 * 1024, LIST_PAGES_MAX = 100000 };

struct list {
	fetch_found *found;
	void *arg;
	struct call_answer answer;
	char *next;     /* token of the next page; NULL: this is the last one */
};

static enum status
list_object(struct list *l, const struct answer *a, const xmlNode *object, struct err *e)
{
	struct fetch_about about = { .parts = true };
	char *key = answer_text(a, object, "Key"), *size = answer_text(a, object, "Size");
	char *tag = answer_text(a, object, "ETag");
	enum status st = ST_OK;

	if (!key || !size || strlen(key) > URL_MAX) {
		st = err_set(e, ST_DATA, "the server's list of objects has one without key or size");
	} else if (!*key || key[strlen(key) - 1] != '/') { /* else it stands for a folder */
		about.size = strtoull(size, NULL, 10);
		about.sized = true;
		about.tag = tag && *tag ? tag : NULL;
		st = l->found(l->arg, key, &about, e);
	}
	mem_free(key);
	mem_free(size);
	mem_free(tag);
	return st;
}

static enum status
list_page(struct list *l, struct err *e)
{
	struct answer a;
	enum status st = answer_read(&l->answer, "ListBucketResult", "list of objects", &a, e);

	mem_free(l->next);
	l->next = NULL;
	if (st != ST_OK)
		return st;
	for (const xmlNode *n = a.root->children; n && st == ST_OK; n = n->next)
		if (answer_is(n, "Contents"))
			st = list_object(l, &a, n, e);
	char *more = answer_text(&a, a.root, "IsTruncated");
	if (st == ST_OK && more && !strcmp(more, "true") &&
	    !(l->next = answer_text(&a, a.root, "NextContinuationToken")))
		st = err_set(e, ST_DATA, "the server's list of objects breaks off");
	mem_free(more);
	answer_clear(&a);
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
fetch_list(const char *url, bool flat, enum gate side, fetch_found *found, void *arg, const struct fetch_wait *w,
	   struct err *e)
{
	struct list l = { .found = found, .arg = arg, .answer.most = LIST_ANSWER_MAX };
	struct buf query = { 0 };
	struct call c;
	enum status st = call_open(&c, url, side, e);

	if (st != ST_OK)
		return st;
	if (c.target.u.scheme != URL_S3)
		st = err_set(e, ST_DATA, "only s3:// can be listed");
	if (st == ST_OK && !fetch_xml_lib(e))
		st = e->kind;
	for (int pages = 0; st == ST_OK; pages++) {
		if (pages == LIST_PAGES_MAX) {
			st = err_set(e, ST_DATA, "the server's list of objects has no end");
			break;
		}
		buf_reset(&query);
		list_query(&l, c.target.u.path, flat, &query);
		struct http_ask ask = { .bucket = true, .query = (char *)query.data, .body = call_answer_body,
			.arg = &l.answer };
		st = call_do(&c, &ask, call_answer_begin, w, e);
		if (st == ST_OK)
			st = list_page(&l, e);
		if (!l.next)
			break;
	}
	mem_free(l.next);
	buf_clear(&l.answer.bytes);
	buf_clear(&query);
	call_close(&c);
	return st;
}
