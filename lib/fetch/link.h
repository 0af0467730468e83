/* SPDX-License-Identifier: MIT
 *
 * Connections to servers, which are kept from one address to the next, and the waiting for them.
 */
#ifndef FETCH_LINK_H
#define FETCH_LINK_H

#include <stdbool.h>

#include "fetch/http.h"

/* Ends a wait (ST_AGAIN) when `stopped` says true; NULL: nothing ends it. */
struct fetch_wait {
	bool (*stopped)(const void *arg);
	const void *arg;
	bool *passes; /* unless NULL, set when a request was given up that may succeed later */
};

/* Has w end every wait of the calling thread, besides what each call says; NULL: nothing does. Gives what did before.
 * Lent: it is to be taken back before *w goes. For calls that come by ways that know nothing of waiting, such as the
 * planning of a pipeline. */
const struct fetch_wait *fetch_wait_thread(const struct fetch_wait *w);

struct link {
	const struct fetch_curl_lib *lib;
	CURLM *multi;
	struct link *next; /* among those that nobody uses */
};

/* Gives one that was used before, if there is any; NULL: libcurl cannot be had. */
struct link *link_take(struct err *e);
/* Nothing may be under way on it. NULL is accepted. */
void link_give_back(struct link *l);
/* Waits until something comes on any of its requests, or until `until` (clock_mono_ns); ST_AGAIN: stopped. */
enum status link_wait(struct link *l, int64_t until, const struct fetch_wait *w);
/* How long to wait before a request is tried again, in ns. tries: how often it has failed, from 1; wait_ns: what the
 * server asks for. */
int64_t link_pause_of(int tries, int64_t wait_ns);
/* Waits as long as that; ST_AGAIN: stopped. */
enum status link_pause(struct link *l, int tries, int64_t wait_ns, const struct fetch_wait *w);
/* One request from its beginning to its end, tried again as often as may help. *t may have moved. begin, unless
 * NULL, is called before each try: what the last one gave is void. */
enum status link_do(struct link *l, struct http *h, struct target *t, const struct http_ask *ask,
		    void (*begin)(void *arg), const struct fetch_wait *w, struct err *e);

enum { LINK_TRIES = 6 }; /* how often a request is made that gives nothing */

#endif
