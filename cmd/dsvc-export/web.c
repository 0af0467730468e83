/* SPDX-License-Identifier: MIT */
#include "web.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/address.h"
#include "pages.h"
#include "site.h"

enum { WEB_PER_ADDRESS = 32, WEB_BACKLOG = 64, WEB_IDLE_POLL_MS = 1000 };
/* A browser loads from here alone, asks nobody else, and makes nothing but text of text. */
#define WEB_POLICY "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " \
	"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " \
	"require-trusted-types-for 'script'; trusted-types dsvc"
#define WEB_FRESH_NS 200000000ll /* a report that is younger is given as it is */

struct request {
	struct MHD_Connection *with;
	const struct page *page; /* NULL: there is none */
	int64_t at;              /* ns */
	struct request *next;    /* in web.waiting; with != NULL there */
	bool waits;
};

struct web {
	const struct web_conf *c;
	struct asker *asker;
	struct MHD_Daemon *daemon;
	struct request *waiting;
	bool local;              /* only this machine's programs reach it */
	char url[ADDRESS_MAX + 16];
};

/* Answers */

static enum MHD_Result
web_send(struct MHD_Connection *c, unsigned code, const char *type, const struct buf *body)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Content-Security-Policy", WEB_POLICY);
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result ok = MHD_queue_response(c, code, r);
	MHD_destroy_response(r);
	return ok;
}

static enum MHD_Result
web_say(struct MHD_Connection *c, unsigned code, const char *text)
{
	struct buf b = { 0 };

	buf_str(&b, text);
	enum MHD_Result ok = web_send(c, code, "text/plain; charset=utf-8", &b);
	buf_clear(&b);
	return ok;
}

static enum MHD_Result
web_absent(struct MHD_Connection *c)
{
	struct buf b = { 0 };

	buf_str(&b, "there is no such page; there are\n");
	page_list(&b);
	enum MHD_Result ok = web_send(c, MHD_HTTP_NOT_FOUND, "text/plain; charset=utf-8", &b);
	buf_clear(&b);
	return ok;
}

static enum MHD_Result
web_page(struct web *w, struct request *r, enum status st, struct slice report, const struct err *e)
{
	const char *accept = MHD_lookup_connection_value(r->with, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct page_want want = { .workers = w->c->workers,
		.open = r->page->open_type && accept && strstr(accept, "application/openmetrics-text") };
	struct buf b = { 0 };
	unsigned code = r->page->make(&want, st, report, e, &b);
	enum MHD_Result ok = web_send(r->with, code, want.open ? r->page->open_type : r->page->type, &b);

	buf_clear(&b);
	return ok;
}

/* A file of the page; its bytes lie in the program. */
static enum MHD_Result
web_file(struct MHD_Connection *c, const struct site_file *f)
{
	struct buf b = { 0 };

	buf_put(&b, f->bytes, f->n);
	enum MHD_Result ok = web_send(c, MHD_HTTP_OK, f->type, &b);
	buf_clear(&b);
	return ok;
}

/* Waiting */

static void
web_wait(struct web *w, struct request *r)
{
	r->waits = true;
	r->next = w->waiting;
	w->waiting = r;
	MHD_suspend_connection(r->with);
	asker_want(w->asker, (enum ask)r->page->ask);
}

/* Looks again at all that wait: those whose answer is not there wait on. */
static void
web_resume(struct web *w)
{
	struct request *r = w->waiting, *next;

	w->waiting = NULL;
	for (; r; r = next) {
		next = r->next;
		r->waits = false;
		MHD_resume_connection(r->with);
	}
}

static int64_t
web_deadline(const struct web *w)
{
	int64_t at = INT64_MAX;

	for (const struct request *r = w->waiting; r; r = r->next)
		at = r->at < at ? r->at : at;
	return at == INT64_MAX ? at : at + WEB_PATIENCE_MS * 1000000ll;
}

static enum MHD_Result
web_answer(struct web *w, struct request *r)
{
	struct slice report = { 0 };
	struct err e = { 0 };

	if (r->page->ask < 0)
		return web_page(w, r, ST_OK, report, &e);
	enum status st = asker_look(w->asker, (enum ask)r->page->ask, r->at - WEB_FRESH_NS, &report, &e);
	if (st == ST_AGAIN) {
		if (clock_mono_ns() >= r->at + WEB_PATIENCE_MS * 1000000ll)
			return web_page(w, r, ST_AGAIN, report, &e);
		web_wait(w, r);
		return MHD_YES;
	}
	enum MHD_Result ok = web_page(w, r, st, report, &e);
	asker_done(w->asker);
	return ok;
}

/* Requests */

/* A page of elsewhere may have the browser of whoever sits here call a name that leads to this machine: what only this
 * machine reaches is called by this machine's names. */
static bool
web_called_rightly(const struct web *w, struct MHD_Connection *c)
{
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	struct address a = { 0 };

	if (!w->local || !host)
		return true;
	const char *end = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
	size_t n = end ? (size_t)(end - host) : strlen(host);
	if (host[0] == '[') {
		host++;
		n -= n > 0;
	}
	if (n >= sizeof a.host)
		return false;
	memcpy(a.host, host, n);
	return address_local(&a);
}

static enum MHD_Result
web_request(void *arg, struct MHD_Connection *c, const char *url, const char *method, const char *version,
	    const char *body, size_t *body_n, void **state)
{
	struct web *w = arg;
	struct request *r = *state;
	struct site_file file;

	(void)version, (void)body;
	if (!r) { /* its head alone has come */
		r = *state = mem_zalloc(sizeof *r);
		r->with = c;
		r->at = clock_mono_ns();
		r->page = page_find(url);
		return MHD_YES;
	}
	if (*body_n) {
		*body_n = 0; /* dropped */
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return web_say(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
	if (!web_called_rightly(w, c))
		return web_say(c, MHD_HTTP_MISDIRECTED_REQUEST, "this address is not called by that name\n");
	if (site_find(url, &file))
		return web_file(c, &file);
	return r->page ? web_answer(w, r) : web_absent(c);
}

static void
web_over(void *arg, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode how)
{
	struct web *w = arg;
	struct request *r = *state, **at = &w->waiting;

	(void)c, (void)how;
	while (r && r->waits && *at && *at != r)
		at = &(*at)->next;
	if (r && r->waits && *at)
		*at = r->next;
	mem_free(r);
	*state = NULL;
}

/* Listening */

static enum status
web_socket(const struct address *a, int *out, struct err *e)
{
	bool any = !strcmp(a->host, "*");
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *v = NULL;
	int on = 1, off = 0, fd = -1, failed = 0;
	int code = getaddrinfo(any ? NULL : a->host, strcmp(a->port, "*") ? a->port : "0", &hints, &v);

	if (code) {
		err_set(e, ST_UNAVAIL, "--listen %s: %s", a->text + 6, gai_strerror(code));
		return ST_UNAVAIL;
	}
	for (int six = any; six >= 0 && fd < 0; six--) /* every interface: IPv6 takes IPv4 along */
		for (struct addrinfo *x = v; x && fd < 0; x = x->ai_next) {
			if (any && (x->ai_family == AF_INET6) != six)
				continue;
			fd = socket(x->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
			if (fd < 0)
				continue;
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
			if (x->ai_family == AF_INET6)
				setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
			if (!bind(fd, x->ai_addr, x->ai_addrlen) && !listen(fd, WEB_BACKLOG))
				break;
			failed = errno;
			close(fd);
			fd = -1;
		}
	freeaddrinfo(v);
	if (fd < 0) {
		err_set(e, ST_UNAVAIL, "--listen %s: %s", a->text + 6, strerror(failed ? failed : EAFNOSUPPORT));
		if (failed == EADDRINUSE)
			err_help(e, "another program listens there; port 0 takes any free one");
	}
	*out = fd;
	return fd < 0 ? ST_UNAVAIL : ST_OK;
}

static void
web_name(struct web *w, const struct address *a, int fd)
{
	struct sockaddr_storage s;
	socklen_t n = sizeof s;
	char port[NI_MAXSERV] = "0";
	const char *host = strcmp(a->host, "*") ? a->host : "localhost";

	if (!getsockname(fd, (struct sockaddr *)&s, &n))
		getnameinfo((struct sockaddr *)&s, n, NULL, 0, port, sizeof port, NI_NUMERICSERV);
	snprintf(w->url, sizeof w->url, strchr(host, ':') ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
}

enum status
web_open(const struct web_conf *c, struct asker *asker, struct web **out, struct err *e)
{
	struct address a;
	char *text = mem_printf("tcp://%s", c->listen);
	enum status st = address_parse(text, &a, e);
	int fd = -1;

	mem_free(text);
	if (st != ST_OK) {
		err_set(e, ST_USAGE, "--listen: `%.200s` is not an address", c->listen);
		err_help(e, "write HOST:PORT: 127.0.0.1:9464, 127.0.0.1:0 (any free port) or *:9464 (every interface)");
		return ST_USAGE;
	}
	st = web_socket(&a, &fd, e);
	if (st != ST_OK)
		return st;
	struct web *w = mem_zalloc(sizeof *w);
	w->c = c;
	w->asker = asker;
	w->local = address_local(&a);
	web_name(w, &a, fd);
	w->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, web_request, w,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WEB_IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WEB_REQUEST_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)WEB_PER_ADDRESS, MHD_OPTION_NOTIFY_COMPLETED, web_over, w,
		MHD_OPTION_END);
	if (!w->daemon) {
		close(fd);
		mem_free(w);
		return err_set(e, ST_TEMP, "the HTTP server does not start");
	}
	*out = w;
	return ST_OK;
}

void
web_close(struct web **wp)
{
	struct web *w = *wp;

	if (!w)
		return;
	web_resume(w);
	MHD_stop_daemon(w->daemon);
	mem_free(w);
	*wp = NULL;
}

const char *
web_url(const struct web *w)
{
	return w->url;
}

/* The loop */

static int
web_timeout(const struct web *w)
{
	MHD_UNSIGNED_LONG_LONG ms = WEB_IDLE_POLL_MS;
	int64_t due = web_deadline(w);

	if (MHD_get_timeout(w->daemon, &ms) != MHD_YES || ms > WEB_IDLE_POLL_MS)
		ms = WEB_IDLE_POLL_MS;
	if (due != INT64_MAX) {
		int64_t left = (due - clock_mono_ns() + 999999) / 1000000;
		left = left < 0 ? 0 : left;
		ms = left < (int64_t)ms ? (MHD_UNSIGNED_LONG_LONG)left : ms;
	}
	return (int)ms;
}

static bool
web_leash_ended(int fd)
{
	char drop[256];
	ssize_t n = read(fd, drop, sizeof drop);

	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

enum status
web_run(struct web *w, int stop_fd, int leash_fd, struct err *e)
{
	const union MHD_DaemonInfo *i = MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	if (!i)
		return err_set(e, ST_BUG, "the HTTP server tells no descriptor");
	for (;;) {
		struct pollfd p[] = { { i->epoll_fd, POLLIN, 0 }, { asker_fd(w->asker), POLLIN, 0 }, { stop_fd, POLLIN, 0 },
			{ leash_fd, POLLIN, 0 } };

		poll(p, sizeof p / sizeof *p, web_timeout(w));
		if (p[2].revents || (p[3].revents && web_leash_ended(leash_fd)))
			return ST_OK;
		if (p[1].revents) {
			asker_heard(w->asker);
			enum status st = asker_hopeless(w->asker, e);
			if (st != ST_OK)
				return st;
		}
		if (p[1].revents || web_deadline(w) <= clock_mono_ns())
			web_resume(w);
		if (MHD_run(w->daemon) != MHD_YES)
			return err_set(e, ST_IO, "the HTTP server has failed");
	}
}
