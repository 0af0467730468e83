/* SPDX-License-Identifier: MIT */
#include "fetch/put.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "fetch/call.h"

enum status
put_check(const char *url, struct err *e)
{
	struct url u;
	enum status st = url_parse(url, &u, e);

	if (st == ST_OK && u.scheme != URL_S3) {
		struct buf shown = { 0 };

		url_show(url, &shown);
		st = err_set(e, ST_DATA, "nothing can be saved to '%s': a web server takes no uploads that appear whole",
			     (char *)shown.data);
		buf_clear(&shown);
		err_help(e, "s3://BUCKET/PREFIX, with AWS_ENDPOINT_URL_S3 if the store is not Amazon's");
	}
	if (st == ST_OK)
		st = url_gate_ask(GATE_WRITE, url, &u, e);
	url_clear(&u);
	return st;
}

enum status
fetch_get(const char *url, enum gate side, size_t most, char **tag, struct buf *out, const struct fetch_wait *w,
	  struct err *e)
{
	struct call_answer a = { .most = most };
	struct call c;
	enum status st = call_open(&c, url, side, e);

	if (st != ST_OK)
		return st;
	struct http_ask ask = { .tag = tag ? *tag : NULL, .known = true, .body = call_answer_body, .arg = &a };
	st = call_do(&c, &ask, call_answer_begin, w, e);
	if (st == ST_OK && a.too_long)
		st = err_set(e, ST_DATA, "it has more than %zu bytes", most);
	if (st == ST_OK && c.http.code == 304)
		st = ST_NO;
	if (st == ST_OK)
		buf_put(out, a.bytes.data, a.bytes.len);
	if (st == ST_OK && tag) {
		mem_free(*tag);
		*tag = *c.http.tag ? mem_strdup(c.http.tag) : NULL;
	}
	buf_clear(&a.bytes);
	call_close(&c);
	return st;
}

/* One request for the object that changes something. answer and tag may be NULL; *code: the last answer's. */
static enum status
put_do(const char *url, struct http_ask *ask, struct call_answer *answer, char **tag, long *code,
       const struct fetch_wait *w, struct err *e)
{
	struct call c;
	enum status st = call_open(&c, url, GATE_WRITE, e);

	*code = 0;
	if (st != ST_OK)
		return st;
	if (c.target.u.scheme != URL_S3)
		st = err_set(e, ST_DATA, "only s3:// can be written");
	if (answer) {
		ask->body = call_answer_body;
		ask->arg = answer;
	}
	if (st == ST_OK)
		st = call_do(&c, ask, answer ? call_answer_begin : NULL, w, e);
	*code = c.http.code;
	if (st == ST_OK && tag)
		*tag = mem_strdup(c.http.etag);
	call_close(&c);
	return st;
}

enum status
fetch_put(const char *url, const void *p, size_t n, bool fresh, const struct fetch_wait *w, struct err *e)
{
	struct http_ask ask = { .method = "PUT", .data = p, .n_data = n, .fresh = fresh };
	long code;
	enum status st = put_do(url, &ask, NULL, NULL, &code, w, e);

	if (st != ST_OK && fresh && code == 501) { /* not every store knows the condition */
		ask.fresh = false;
		return put_do(url, &ask, NULL, NULL, &code, w, e);
	}
	if (st == ST_OK || !fresh || code != 412)
		return st;
	err_clear(e);
	return ST_NO;
}

enum status
fetch_remove(const char *url, const struct fetch_wait *w, struct err *e)
{
	struct http_ask ask = { .method = "DELETE" };
	long code;
	enum status st = put_do(url, &ask, NULL, NULL, &code, w, e);

	if (st != ST_NOINPUT)
		return st;
	err_clear(e);
	return ST_OK;
}

enum status
fetch_upload_part(const char *url, const char *id, unsigned number, const void *p, size_t n, char **tag,
		  const struct fetch_wait *w, struct err *e)
{
	struct buf query = { 0 };
	long code;

	buf_printf(&query, "partNumber=%u&uploadId=", number);
	url_encode(id, strlen(id), "", &query);
	struct http_ask ask = { .method = "PUT", .query = (char *)query.data, .data = p, .n_data = n };
	enum status st = put_do(url, &ask, NULL, tag, &code, w, e);
	buf_clear(&query);
	if (st == ST_OK && !**tag) {
		mem_free(*tag);
		*tag = NULL;
		st = err_set(e, ST_DATA, "the server gives a part of an upload no tag");
	}
	return st;
}

enum status
fetch_upload_cancel(const char *url, const char *id, const struct fetch_wait *w, struct err *e)
{
	struct buf query = { 0 };
	long code;

	buf_str(&query, "uploadId=");
	url_encode(id, strlen(id), "", &query);
	struct http_ask ask = { .method = "DELETE", .query = (char *)query.data };
	enum status st = put_do(url, &ask, NULL, NULL, &code, w, e);
	buf_clear(&query);
	if (st != ST_NOINPUT)
		return st;
	err_clear(e);
	return ST_OK;
}
