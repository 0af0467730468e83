/* SPDX-License-Identifier: MIT */
#include "fetch/http.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/trace.h"

enum {
	HTTP_CONNECT_MS = 10000,
	HTTP_BUFFER = 256 * 1024,
	HTTP_WAIT_MAX_S = 60           /* a server that asks for more is not waited for */
};

/* A store puts a large upload together before it answers. */
long http_silence_s = 30, http_silence_write_s = 120;

const char *const http_trusted[] = { "AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", NULL };

enum status
http_init(struct http *h, struct err *e)
{
	memset(h, 0, sizeof *h);
	h->lib = fetch_curl_lib(e);
	if (!h->lib)
		return e ? e->kind : ST_DATA;
	h->easy = h->lib->curl_easy_init();
	return h->easy ? ST_OK : err_set(e, ST_IO, "libcurl cannot make a request");
}

/* In a trace: the end of a request, answered or given up. */
static void
http_over(struct http *h)
{
	if (!*h->traced)
		return;
	trace_task_over(TRACE_REQUEST, (uint64_t)(uintptr_t)h, h->traced, (uint64_t)h->code, h->from, 0);
	*h->traced = 0;
}

void
http_clear(struct http *h)
{
	http_over(h);
	if (h->lib && h->easy) {
		h->lib->curl_easy_cleanup(h->easy);
		h->lib->curl_slist_free_all(h->headers);
	}
	memset(h, 0, sizeof *h);
}

void
http_tag(const char *etag, const char *modified, uint64_t length, char *out)
{
	if (*etag)
		snprintf(out, HTTP_TAG, "%s", etag);
	else if (*modified)
		snprintf(out, HTTP_TAG, "%llu at %s", (unsigned long long)length, modified);
	else
		*out = 0;
}

/* ---- what the server says ---- */

static bool
http_is(const char *line, size_t n, const char *name, const char **value, size_t *len)
{
	size_t at = strlen(name);

	if (n <= at || line[at] != ':' || strncasecmp(line, name, at))
		return false;
	for (at++; at < n && isspace((unsigned char)line[at]); at++)
		;
	while (n > at && isspace((unsigned char)line[n - 1]))
		n--;
	*value = line + at;
	*len = n - at;
	return true;
}

static bool
http_number(const char *s, size_t n, uint64_t *out)
{
	char text[24], *end;

	if (!n || n >= sizeof text || !isdigit((unsigned char)*s))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	*out = strtoull(text, &end, 10);
	return !*end && *out <= INT64_MAX;
}

/* Reads "bytes 0-99/1000", or where there is no such part, the same with a star for it. */
static void
http_part(struct http *h, const char *s, size_t n)
{
	unsigned long long from, to, all;
	char text[80];

	snprintf(text, sizeof text, "%.*s", (int)n, s);
	if (sscanf(text, "bytes %llu-%llu/%llu", &from, &to, &all) == 3 && from <= to && to < all && all <= INT64_MAX) {
		h->begins = from;
		h->length = all;
		h->sized = h->parts = true;
	} else if (sscanf(text, "bytes */%llu", &all) == 1 && all <= INT64_MAX) { /* with 416 */
		h->length = all;
		h->sized = true;
	}
}

static size_t
http_header(char *line, size_t size, size_t count, void *arg)
{
	struct http *h = arg;
	size_t n = size * count, len;
	const char *v;
	uint64_t number;

	if (n > 5 && !strncmp(line, "HTTP/", 5)) { /* the first line of an answer, perhaps of one more */
		h->code = 0;
		h->parts = h->sized = false;
		h->begins = h->length = h->n_fault = 0;
		*h->tag = *h->etag = *h->modified = *h->elsewhere = *h->region = *h->fault = 0;
		h->wait_ns = 0;
	} else if (http_is(line, n, "etag", &v, &len) && len < sizeof h->etag) {
		snprintf(h->etag, sizeof h->etag, "%.*s", (int)len, v);
	} else if (http_is(line, n, "last-modified", &v, &len) && len < sizeof h->modified) {
		snprintf(h->modified, sizeof h->modified, "%.*s", (int)len, v);
	} else if (http_is(line, n, "x-amz-bucket-region", &v, &len) && len < sizeof h->region) {
		snprintf(h->region, sizeof h->region, "%.*s", (int)len, v);
	} else if (http_is(line, n, "content-range", &v, &len)) {
		http_part(h, v, len);
	} else if (http_is(line, n, "accept-ranges", &v, &len)) {
		h->parts |= len == 5 && !strncasecmp(v, "bytes", 5);
	} else if (http_is(line, n, "content-length", &v, &len) && !h->sized && http_number(v, len, &number)) {
		h->length = number;
		h->sized = true;
	} else if (http_is(line, n, "retry-after", &v, &len) && http_number(v, len, &number)) {
		h->wait_ns = (int64_t)(number < HTTP_WAIT_MAX_S ? number : HTTP_WAIT_MAX_S) * 1000000000;
	}
	return n;
}

static size_t
http_write(char *p, size_t size, size_t count, void *arg)
{
	struct http *h = arg;
	size_t n = size * count;

	if (!h->code)
		h->lib->curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->code);
	if (h->code != 200 && h->code != 206 && !(h->writes && h->code < 300)) {
		size_t room = sizeof h->fault - 1 - h->n_fault, take = n < room ? n : room;

		memcpy(h->fault + h->n_fault, p, take);
		h->n_fault += take;
		h->fault[h->n_fault] = 0;
		return n;
	}
	if (h->code == 200)
		h->begins = 0;
	if (!*h->tag)
		http_tag(h->etag, h->modified, h->length, h->tag);
	/* Not one byte of another object, or of another place, is given; http_judge says why. */
	if ((*h->want && strcmp(h->want, h->tag)) || (h->ranged && h->code == 206 && h->begins != h->from))
		return 0;
	return !h->body || h->body(h->arg, (const uint8_t *)p, n) ? n : CURL_WRITEFUNC_PAUSE;
}

void
http_go_on(struct http *h)
{
	h->lib->curl_easy_pause(h->easy, CURLPAUSE_CONT);
}

/* ---- what is asked ---- */

static void
http_add(struct http *h, const char *name, const char *value)
{
	char *line = mem_printf("%s: %s", name, value);

	h->headers = h->lib->curl_slist_append(h->headers, line);
	mem_free(line);
}

static void
http_sign(struct http *h, const struct target *t)
{
	const struct keys *k = keys_of_user();
	char *how;

	if (!k->id)
		return;
	/* The name of the signature's first form stands in front; S3 wants to be told that the body is not signed. */
	how = mem_printf("aws:amz:%s:s3", t->region);
	h->lib->curl_easy_setopt(h->easy, CURLOPT_AWS_SIGV4, how);
	h->lib->curl_easy_setopt(h->easy, CURLOPT_USERNAME, k->id);
	h->lib->curl_easy_setopt(h->easy, CURLOPT_PASSWORD, k->secret);
	mem_free(how);
	http_add(h, "x-amz-content-sha256", "UNSIGNED-PAYLOAD");
	if (k->token)
		http_add(h, "x-amz-security-token", k->token);
}

static void
http_protocols(struct http *h)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	h->lib->curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	h->lib->curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/* Certificates that are trusted, where a variable that other tools know names them. */
static void
http_trust(struct http *h)
{
	for (const char *const *name = http_trusted; *name; name++) {
		const char *file = getenv(*name);

		if (file && *file) {
			h->lib->curl_easy_setopt(h->easy, CURLOPT_CAINFO, file);
			return;
		}
	}
}

/* Adds the data of a request that writes. */
static void
http_method(struct http *h, const struct http_ask *ask)
{
	const struct fetch_curl_lib *lib = h->lib;

	if (!ask->method)
		return;
	/* The data are lent, so that they can be sent once more on another connection. */
	lib->curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, ask->n_data ? (const char *)ask->data : "");
	lib->curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->n_data);
	lib->curl_easy_setopt(h->easy, CURLOPT_CUSTOMREQUEST, ask->method);
	lib->curl_easy_setopt(h->easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
	http_add(h, "Content-Type", "application/octet-stream");
	if (ask->fresh)
		http_add(h, "If-None-Match", "*");
}

/* Programs that pipelines run do not get the connection. */
static int
http_socket(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg, (void)purpose;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return CURL_SOCKOPT_OK;
}

void
http_ask(struct http *h, const struct target *t, const struct http_ask *ask)
{
	const struct fetch_curl_lib *lib = h->lib;
	struct buf url = { 0 };
	char range[64];

	http_over(h);
	lib->curl_easy_reset(h->easy);
	lib->curl_slist_free_all(h->headers);
	h->headers = NULL;
	*h->why = *h->tag = *h->etag = *h->modified = 0;
	snprintf(h->want, sizeof h->want, "%s", ask->tag && !ask->known ? ask->tag : "");
	h->code = 0;
	h->body = ask->body;
	h->arg = ask->arg;
	h->ranged = ask->ranged;
	h->writes = ask->method != NULL;
	h->from = ask->ranged ? ask->from : 0;
	target_request(t, ask->bucket, ask->query, &url);
	lib->curl_easy_setopt(h->easy, CURLOPT_URL, (char *)url.data);
	buf_clear(&url);
	lib->curl_easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->why);
	lib->curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	lib->curl_easy_setopt(h->easy, CURLOPT_PATH_AS_IS, 1L);
	lib->curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)HTTP_CONNECT_MS);
	lib->curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	lib->curl_easy_setopt(h->easy, CURLOPT_LOW_SPEED_TIME, ask->method ? http_silence_write_s : http_silence_s);
	lib->curl_easy_setopt(h->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	lib->curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, (long)HTTP_BUFFER);
	lib->curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "dsvc");
	lib->curl_easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, http_header);
	lib->curl_easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
	lib->curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, http_write);
	lib->curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	lib->curl_easy_setopt(h->easy, CURLOPT_SOCKOPTFUNCTION, http_socket);
	http_protocols(h);
	http_trust(h);
	if (t->u.scheme == URL_S3)
		http_sign(h, t);
	else
		lib->curl_easy_setopt(h->easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	if (ask->head)
		lib->curl_easy_setopt(h->easy, CURLOPT_NOBODY, 1L);
	if (ask->ranged) {
		snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)ask->from, (unsigned long long)ask->to - 1);
		lib->curl_easy_setopt(h->easy, CURLOPT_RANGE, range);
	}
	http_method(h, ask);
	if (ask->tag && *ask->tag == '"')
		http_add(h, ask->known ? "If-None-Match" : "If-Match", ask->tag);
	lib->curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	if (!trace_on())
		return;
	const char *verb = ask->method ? ask->method : ask->head ? "HEAD" : "GET";
	snprintf(h->traced, sizeof h->traced, "%s %s", verb, t->name);
	trace_task(TRACE_REQUEST, (uint64_t)(uintptr_t)h, h->traced, 0, h->from, 0);
}

/* ---- what to do about it ---- */

/* Gives S3's name of the error, else "". */
static void
http_fault_name(const struct http *h, char *out, size_t size)
{
	const char *at = strstr(h->fault, "<Code>");
	size_t n = at ? strspn(at + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") : 0;

	snprintf(out, size, "%s%.*s", n ? ", " : "", (int)(n < 60 ? n : 60), at ? at + 6 : "");
}

static enum http_verdict
http_changed(const struct http *h, struct err *e)
{
	if (h->writes) {
		err_set(e, ST_DATA, "somebody else has written it");
		return HTTP_FAILED;
	}
	err_set(e, ST_DATA, "it has changed since the reading of it began");
	err_help(e, "begin anew: parts of the old and the new one would not fit together");
	return HTTP_FAILED;
}

static enum http_verdict
http_refused(struct http *h, const struct target *t, const char *name, struct err *e)
{
	err_set(e, ST_PERM, "the server does not allow it (%ld%s)", h->code, name);
	if (t->u.scheme == URL_S3)
		err_help(e, "the request was made with %s", keys_of_user()->from);
	else
		err_help(e, "a name and a password for the host can stand in ~/.netrc");
	return HTTP_FAILED;
}

static enum http_verdict
http_moved(struct http *h, struct target *t, struct err *e)
{
	const char *url = NULL;

	h->lib->curl_easy_getinfo(h->easy, CURLINFO_REDIRECT_URL, &url);
	return target_move(t, url, *h->region ? h->region : NULL, e) == ST_OK ? HTTP_MOVED : HTTP_FAILED;
}

static enum http_verdict
http_judge_code(struct http *h, struct target *t, struct err *e)
{
	bool s3 = t->u.scheme == URL_S3;
	char name[80];

	http_fault_name(h, name, sizeof name);
	switch (h->code) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return http_moved(h, t, e);
	case 400:
		if (s3 && *h->region && strcmp(h->region, t->region))
			return http_moved(h, t, e);
		break;
	case 401:
	case 403:
		return http_refused(h, t, name, e);
	case 404:
	case 410:
		err_set(e, ST_NOINPUT, "it is not there (%ld%s)", h->code, name);
		return HTTP_FAILED;
	case 412:
		return http_changed(h, e);
	case 409: /* one of two that write at once is sent back */
		if (!h->writes)
			break;
		/* fallthrough */
	case 408:
	case 425:
	case 429:
	case 500:
	case 502:
	case 503:
	case 504:
		err_set(e, ST_IO, "the server answers %ld%s", h->code, name);
		return HTTP_AGAIN;
	}
	err_set(e, ST_IO, "the server answers %ld%s", h->code, name);
	return HTTP_FAILED;
}

/* Whether trying it again may help after such a failure of the connection. */
static bool
http_may_pass(CURLcode rc)
{
	switch (rc) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_AGAIN:
		return true;
	default:
		return false;
	}
}

enum http_verdict
http_judge(struct http *h, CURLcode rc, struct target *t, struct err *e)
{
	h->lib->curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->code);
	http_over(h);
	if ((h->code == 416 && h->ranged) || h->code == 304)
		return HTTP_DONE;
	if (h->code >= 300)
		return http_judge_code(h, t, e);
	if (h->code == 200)
		h->begins = 0;
	if (h->code)
		http_tag(h->etag, h->modified, h->length, h->tag);
	if (h->code && *h->want && strcmp(h->want, h->tag))
		return http_changed(h, e);
	if (h->code == 206 && h->ranged && h->begins != h->from) {
		err_set(e, ST_DATA, "the server gives other bytes than those that were asked for");
		return HTTP_FAILED;
	}
	if (rc != CURLE_OK) {
		err_set(e, rc == CURLE_PEER_FAILED_VERIFICATION ? ST_PERM : ST_IO, "%s",
			*h->why ? h->why : h->lib->curl_easy_strerror(rc));
		return http_may_pass(rc) ? HTTP_AGAIN : HTTP_FAILED;
	}
	if (h->code == 200 || h->code == 206 || (h->writes && h->code >= 200))
		return HTTP_DONE;
	err_set(e, ST_IO, "the server answers %ld", h->code);
	return HTTP_FAILED;
}
