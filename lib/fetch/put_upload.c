/* SPDX-License-Identifier: MIT
 * Uploads: their begin, their end, and those that were left.
 */
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "fetch/answer.h"
#include "fetch/put.h"

enum { UPLOAD_ANSWER_MAX = 16 * 1024 * 1024, UPLOAD_ID_MAX = 2048, UPLOAD_PAGE = 1000, UPLOAD_PAGES_MAX = 10000 };

enum status
fetch_upload_begin(const char *url, char **id, const struct fetch_wait *w, struct err *e)
{
	struct call_answer bytes = { .most = UPLOAD_ANSWER_MAX };
	struct http_ask ask = { .method = "POST", .query = "uploads=", .body = call_answer_body, .arg = &bytes };
	struct answer a = { 0 };
	struct call c;
	enum status st = fetch_xml_lib(e) ? call_open(&c, url, GATE_WRITE, e) : e->kind;

	*id = NULL;
	if (st != ST_OK)
		return st;
	st = call_do(&c, &ask, call_answer_begin, w, e);
	if (st == ST_OK)
		st = answer_read(&bytes, "InitiateMultipartUploadResult", "answer to a new upload", &a, e);
	if (st == ST_OK && (!(*id = answer_text(&a, a.root, "UploadId")) || !**id || strlen(*id) > UPLOAD_ID_MAX)) {
		mem_free(*id);
		*id = NULL;
		st = err_set(e, ST_DATA, "the server gives a new upload no name");
	}
	answer_clear(&a);
	buf_clear(&bytes.bytes);
	call_close(&c);
	return st;
}

static void
upload_list(const struct words *tags, struct buf *out)
{
	buf_str(out, "<CompleteMultipartUpload>");
	for (size_t i = 0; i < tags->n; i++) {
		buf_printf(out, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
		for (const char *s = tags->v[i]; *s; s++) {
			if (*s == '"')
				buf_str(out, "&quot;");
			else if (*s == '&')
				buf_str(out, "&amp;");
			else if (*s == '<')
				buf_str(out, "&lt;");
			else
				buf_byte(out, (uint8_t)*s);
		}
		buf_str(out, "</ETag></Part>");
	}
	buf_str(out, "</CompleteMultipartUpload>");
}

enum status
fetch_upload_end(const char *url, const char *id, const struct words *tags, const struct fetch_wait *w, struct err *e)
{
	struct call_answer bytes = { .most = UPLOAD_ANSWER_MAX };
	struct buf query = { 0 }, list = { 0 };
	struct call c;
	enum status st = call_open(&c, url, GATE_WRITE, e);

	if (st != ST_OK)
		return st;
	buf_str(&query, "uploadId=");
	url_encode(id, strlen(id), "", &query);
	upload_list(tags, &list);
	struct http_ask ask = { .method = "POST", .query = (char *)query.data, .data = list.data, .n_data = list.len,
		.body = call_answer_body, .arg = &bytes };
	for (int tries = 1;; tries++) {
		st = call_do(&c, &ask, call_answer_begin, w, e);
		/* The answer's first line is sent before the server knows how it ends. */
		if (st != ST_OK || !bytes.bytes.len || !strstr((char *)bytes.bytes.data, "<Error>"))
			break;
		st = err_set(e, ST_IO, "the server could not put the parts of the upload together");
		if (tries >= LINK_TRIES || link_pause(c.link, tries, 0, w) != ST_OK)
			break;
	}
	buf_clear(&query);
	buf_clear(&list);
	buf_clear(&bytes.bytes);
	call_close(&c);
	return st;
}

/* ---- what was left ---- */

struct uploads {
	struct words keys, ids;
	char *key, *id;    /* markers of the next page; NULL: this is the last one */
};

static void
uploads_clear(struct uploads *u)
{
	words_clear(&u->keys);
	words_clear(&u->ids);
	mem_free(u->key);
	mem_free(u->id);
}

static void
uploads_query(const struct uploads *u, const char *prefix, struct buf *out)
{
	buf_reset(out);
	if (u->key) {
		buf_str(out, "key-marker=");
		url_encode(u->key, strlen(u->key), "", out);
		buf_byte(out, '&');
	}
	buf_printf(out, "max-uploads=%d&prefix=", UPLOAD_PAGE);
	url_encode(prefix, strlen(prefix), "", out);
	if (u->id) {
		buf_str(out, "&upload-id-marker=");
		url_encode(u->id, strlen(u->id), "", out);
	}
	buf_str(out, "&uploads=");
}

static enum status
uploads_page(struct uploads *u, const char *prefix, const struct call_answer *bytes, struct err *e)
{
	struct answer a;
	enum status st = answer_read(bytes, "ListMultipartUploadsResult", "list of uploads", &a, e);

	if (st != ST_OK)
		return st;
	for (const xmlNode *n = a.root->children; n; n = n->next) {
		char *key = answer_is(n, "Upload") ? answer_text(&a, n, "Key") : NULL;
		char *id = key ? answer_text(&a, n, "UploadId") : NULL;

		/* There are servers that do not mind the prefix. */
		if (id && strlen(id) <= UPLOAD_ID_MAX && strlen(key) <= URL_MAX && !strncmp(key, prefix, strlen(prefix))) {
			words_add(&u->keys, key, strlen(key));
			words_add(&u->ids, id, strlen(id));
		}
		mem_free(key);
		mem_free(id);
	}
	mem_free(u->key);
	mem_free(u->id);
	u->key = u->id = NULL;
	char *more = answer_text(&a, a.root, "IsTruncated");
	if (more && !strcmp(more, "true")) {
		u->key = answer_text(&a, a.root, "NextKeyMarker");
		u->id = answer_text(&a, a.root, "NextUploadIdMarker");
	}
	mem_free(more);
	answer_clear(&a);
	return ST_OK;
}

enum status
fetch_uploads_cancel(const char *url, const struct fetch_wait *w, struct err *e)
{
	struct call_answer bytes = { .most = UPLOAD_ANSWER_MAX };
	struct uploads u = { 0 };
	struct buf query = { 0 }, address = { 0 };
	struct call c;
	enum status st = fetch_xml_lib(e) ? call_open(&c, url, GATE_WRITE, e) : e->kind;

	if (st != ST_OK)
		return st;
	for (int pages = 0; st == ST_OK && pages < UPLOAD_PAGES_MAX; pages++) {
		uploads_query(&u, c.target.u.path, &query);
		struct http_ask ask = { .bucket = true, .query = (char *)query.data, .body = call_answer_body, .arg = &bytes };
		st = call_do(&c, &ask, call_answer_begin, w, e);
		if (st == ST_OK)
			st = uploads_page(&u, c.target.u.path, &bytes, e);
		if (!u.key)
			break;
	}
	for (size_t i = 0; i < u.keys.n && st == ST_OK; i++) {
		buf_reset(&address);
		buf_printf(&address, "s3://%s/%s", c.target.u.host, u.keys.v[i]);
		st = fetch_upload_cancel((char *)address.data, u.ids.v[i], w, e);
	}
	uploads_clear(&u);
	buf_clear(&query);
	buf_clear(&address);
	buf_clear(&bytes.bytes);
	call_close(&c);
	return st;
}
