/* SPDX-License-Identifier: MIT
 *
 * One request, by libcurl: what is asked for, what the server says about the answer, and
 * what has to be done when it is not the answer that was wanted.
 */
#ifndef FETCH_HTTP_H
#define FETCH_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fetch/fetch_lib.h"
#include "fetch/target.h"

enum { HTTP_TAG = 512, HTTP_FAULT = 2048 };

/* Takes bytes of the body; returns false when it has no room, and is then called again with the same ones
 * after http_go_on. */
typedef bool http_body(void *arg, const uint8_t *p, size_t n);

struct http_ask {
	bool bucket;         /* asked of the bucket, not of the object */
	const char *query;   /* encoded, its names sorted; NULL: there is none */
	const char *method;  /* NULL: it is read */
	const void *data;    /* sent with the method; lent until the answer is there */
	size_t n_data;
	bool fresh;          /* only if the object is not there yet; http.code is 412 if it is */
	bool known;          /* only if the object is not `tag`; http.code is 304 if it is */
	bool head;           /* only what is said about it */
	bool ranged;         /* bytes [from, to) of it */
	uint64_t from, to;
	const char *tag;     /* the object must be this one; NULL or "": any */
	http_body *body;
	void *arg;
};

struct http {
	const struct fetch_curl_lib *lib; /* NULL: http_init was not called */
	char traced[64];     /* the name of the request that a trace has begun; "": none */
	CURL *easy;
	struct curl_slist *headers;
	http_body *body;
	void *arg;
	bool ranged, writes;
	uint64_t from;
	char want[HTTP_TAG]; /* the tag that it must have; "": any */
	/* the answer */
	long code;
	bool parts;          /* the server gives parts of the object */
	bool sized;          /* length is known */
	uint64_t length;     /* the whole object's, in bytes */
	uint64_t begins;     /* offset of the first byte of the body */
	char tag[HTTP_TAG];  /* tells this object from what is there later; "": nothing does */
	char elsewhere[URL_MAX], region[64];
	int64_t wait_ns;     /* how long the server asks to wait; 0: it does not say */
	char fault[HTTP_FAULT]; /* begin of the body of an answer that is an error */
	size_t n_fault;
	char modified[64], etag[HTTP_TAG - 80];
	char why[CURL_ERROR_SIZE];
};

/* Without a byte for so many seconds a request is given up, and one that writes. Tests shorten them, before anything
 * runs. */
extern long http_silence_s, http_silence_write_s;

/* Variables of the environment that name a file of certificates; the first that is set counts. */
extern const char *const http_trusted[];

/* The tag of an object whose ETag and Last-Modified (either may be "") are known. */
void http_tag(const char *etag, const char *modified, uint64_t length, char *out);

enum status http_init(struct http *h, struct err *e);
/* Prepares the request; h->easy is then to be performed. */
void http_ask(struct http *h, const struct target *t, const struct http_ask *ask);
/* Has a body go on that had no room. */
void http_go_on(struct http *h);

/* HTTP_DONE: it is there. HTTP_AGAIN: e says why it is not; trying it again later may help, not before
 * h->wait_ns. HTTP_MOVED: to be asked again, at once, since the target has changed. HTTP_FAILED: e says why. */
/* HTTP_DONE with code 416 tells that there is no byte in the range, with 304 that the object is the known one. */
enum http_verdict { HTTP_DONE, HTTP_AGAIN, HTTP_MOVED, HTTP_FAILED };
enum http_verdict http_judge(struct http *h, CURLcode rc, struct target *t, struct err *e);
void http_clear(struct http *h);

#endif
