/* SPDX-License-Identifier: MIT */
#include "host/link.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/address_list.h"
#include "net/patience.h"

bool
link_send(struct sock *s, uint64_t peer, const struct msg *m, struct link_out *out,
	  const struct sock_payload *payload)
{
	struct buf *scratch = &out->scratch;
	buf_reset(scratch);
	msg_encode(m, scratch);
	if (!out->failed)
		out->failed = msg_fits(m, scratch->len, &out->err);
	if (out->failed) {
		if (payload)
			payload->release(payload->arg, (uint8_t *)(uintptr_t)payload->data, payload->len);
		return false;
	}
	if (log_most() >= LOG_DEBUG)
		log_say(LOG_DEBUG, "to %llx: %s", (unsigned long long)peer, msg_name(m->type));
	if (m->type == MSG_HELLO)
		sock_asks(s);
	bool sent = sock_send(s, peer, scratch->data, scratch->len, payload);
	if (scratch->cap > WIRE_FRAME_MAX) /* one large message is no reason to keep so much */
		buf_clear(scratch);
	return sent;
}

void
link_out_clear(struct link_out *out)
{
	buf_clear(&out->scratch);
	out->failed = ST_OK;
}

bool
link_decode(const struct sock_msg *in, struct msg *out, struct err *e)
{
	static _Thread_local int64_t told_ns;
	if (msg_decode(in->head, in->head_len, out, e) == ST_OK) {
		if (log_most() >= LOG_DEBUG)
			log_say(LOG_DEBUG, "from %llx: %s", (unsigned long long)in->peer,
				msg_name(out->type));
		return true;
	}
	int64_t now = clock_mono_ns();
	if (!told_ns || now - told_ns > 1000000000) {
		told_ns = now;
		log_say(LOG_WARN, "refused a message of peer %llx: %s",
			(unsigned long long)in->peer, e->text);
	}
	return false;
}

void
link_where(const char *address, const char *from, char out[LINK_WHERE])
{
	if (from)
		snprintf(out, LINK_WHERE, "%.280s (%s%.80s)", address, strncmp(from, "the ", 4) ? "from " : "", from);
	else
		snprintf(out, LINK_WHERE, "%.280s", address);
}

void
link_name(char out[LINK_NAME])
{
	char host[128] = "";

	gethostname(host, sizeof host - 1);
	snprintf(out, LINK_NAME, "%s:%ld", host, (long)getpid());
}

bool
link_is_ipc(const char *address)
{
	return !address || strncmp(address, "ipc:", 4) == 0;
}

enum status
link_stranger(const char *where, struct err *e)
{
	err_set(e, ST_UNAVAIL, "no dispatcher at %s: another kind of program answers there", where);
	err_help(e, "check that address and port are those that dsvc-dispatch printed when it started");
	return ST_UNAVAIL;
}

enum status
link_answer(const struct sock_msg *in, bool *met, const char *where, struct msg *out,
	    struct err *e)
{
	if (!*met && msg_decode(in->head, in->head_len, out, e) != ST_OK)
		return link_stranger(where, e);
	if (*met && !link_decode(in, out, e))
		return ST_SKIP;
	*met = true;
	return ST_OK;
}

enum { LINK_LOOK_MS = 1500 };

/* Looks at the addresses, once each; ST_OK: one answers. */
static enum status
link_look(const char *addresses, const struct patience *p, struct link_reached *out, struct err *e)
{
	size_t n = address_list_count(addresses);
	enum status st = ST_UNAVAIL, one;
	struct address a;
	struct err why;

	for (size_t k = 0; k < n; k++) {
		char *address = address_list_at(addresses, k);
		int left = patience_left(p, LINK_LOOK_MS) / (int)(n - k);

		*out = (struct link_reached){ .which = k };
		one = address_parse(address, &a, &why);
		if (one == ST_OK)
			one = address_probe(&a, left > 50 ? left : 50, &out->answer, &why);
		mem_free(address);
		if (one == ST_OK)
			return one;
		if (k == 0 || one != ST_UNAVAIL) {
			st = one;
			*e = why;
		}
	}
	return st;
}

enum status
link_reach(const char *addresses, const char *from, struct link_reached *out, struct err *e)
{
	return link_reach_or(addresses, from, NULL, NULL, out, e);
}

enum status
link_reach_or(const char *addresses, const char *from, bool (*moved)(void *arg), void *arg,
	      struct link_reached *out, struct err *e)
{
	struct patience p = patience_begin();
	char where[LINK_WHERE], what[LINK_WHERE + 32];
	struct link_reached unused;
	enum status st;
	struct err why;

	link_where(addresses, from, where);
	snprintf(what, sizeof what, "a dispatcher at %s", where);
	do {
		st = link_look(addresses, &p, out ? out : &unused, &why);
		if (st == ST_UNAVAIL && moved && moved(arg))
			return ST_SKIP;
	} while (st == ST_UNAVAIL && patience_pause(&p, what));
	if (st == ST_UNAVAIL && patience_cut())
		return err_set(e, ST_AGAIN, "told to end while it waited for %s", what);
	if (st == ST_OK)
		return st;
	if (st == ST_USAGE)
		return (*e = why).kind;
	if (st == ST_PROTO)
		return link_stranger(where, e);
	err_set(e, st, "no dispatcher at %s: %s", where, why.text);
	bool own = !from || !strcmp(from, "the default");
	err_help(e, "start %s, or use dsvc-run, which needs no service", own ? "one with `dsvc up`" : "dsvc-dispatch");
	return st;
}

static char link_host_text[32], link_hostname_text[128];

static void
link_host_say(void)
{
	if (gethostname(link_hostname_text, sizeof link_hostname_text - 1))
		link_hostname_text[0] = '\0';
	snprintf(link_host_text, sizeof link_host_text, "%016llx", (unsigned long long)net_host_id());
}

static pthread_once_t link_host_once = PTHREAD_ONCE_INIT;

/* From any thread, as link_hostname. */
const char *
link_host(void)
{
	pthread_once(&link_host_once, link_host_say);
	return link_host_text;
}

const char *
link_hostname(void)
{
	pthread_once(&link_host_once, link_host_say);
	return link_hostname_text;
}

void
link_tune_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_ARENA_MAX, 2);
}

void
link_versions(struct buf *out)
{
	int major, minor, patch;
	net_zmq_version(&major, &minor, &patch);
	buf_printf(out, "libzmq %d.%d.%d\nprotocol %d\n", major, minor, patch, WIRE_VERSION);
}
