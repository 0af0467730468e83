/* SPDX-License-Identifier: MIT
 *
 * The writer: takes events out of the rings ten times a second, or when one is half full, and appends them. What is
 * gathered in a round is written after the lock is given back, so that new threads do not wait for a slow disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/trace_inner.h"
#include "base/wake.h"

enum { TRACE_ROUND_MS = 100, TRACE_PID_BITS = 22, TRACE_HOST_BITS = 9, TRACE_LAST = 512 };

static const struct { const char *name; bool rate; } trace_gauges[TRACE_GAUGES] = {
	[TRACE_ELEMENTS] = { "elements/s", true }, [TRACE_BYTES] = { "bytes/s", true },
	[TRACE_QUEUED] = { "bytes queued", false }, [TRACE_AHEAD] = { "runs prefetched", false },
	[TRACE_PROGRAMS] = { "programs running", false },
};

static struct {
	bool begun;
	pthread_t thread;
	atomic_bool end;
	struct trace_about about;
	char *path;
	int fd;
	bool broken;                 /* it cannot be written */
	int64_t most, written;
	struct buf out;
	int64_t looked;              /* when gauges were */
	int64_t last[TRACE_GAUGES];  /* their values then, */
	bool shown[TRACE_GAUGES];    /* and whether the curve has a point other than 0 */
} trace_file = { .fd = -1 };

/* ---- what is written ---- */

static void
trace_ring_take(struct trace_ring *r, struct buf *out)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t lost = atomic_load_explicit(&r->lost, memory_order_relaxed);

	if (!r->named && head > tail)
		trace_json_thread(&trace_file.about, (uint32_t)r->tid, r->name, out), r->named = true;
	for (; tail < head; tail++) {
		const struct trace_event *ev = &r->event[tail % TRACE_RING];
		bool beside = ev->kind == TRACE_OUTPUT;

		if (beside && !r->beside)
			trace_json_thread(&trace_file.about, trace_beside(r->tid), "output", out), r->beside = true;
		trace_json_event(&trace_file.about, beside ? trace_beside(r->tid) : (uint32_t)r->tid, ev, out);
	}
	atomic_store_explicit(&r->tail, tail, memory_order_release);
	if (lost > r->lost_told) {
		struct trace_event ev = { .at = clock_mono_ns(), .kind = TRACE_LOST, .phase = 'i',
					  .number = { lost - r->lost_told } };
		trace_json_event(&trace_file.about, (uint32_t)r->tid, &ev, out);
		r->lost_told = lost;
	}
}

/* Empties all rings, and frees those whose threads have ended. */
static void
trace_take(struct buf *out)
{
	pthread_mutex_lock(&trace_rings.lock);
	for (struct trace_ring **at = &trace_rings.first, *r; (r = *at);) {
		bool over = atomic_load_explicit(&r->over, memory_order_acquire);

		trace_ring_take(r, out);
		if (over) {
			*at = r->next;
			mem_free(r);
		} else {
			at = &r->next;
		}
	}
	pthread_mutex_unlock(&trace_rings.lock);
}

static void
trace_look(struct buf *out)
{
	int64_t now = clock_mono_ns(), passed = now - trace_file.looked;

	if (passed < (int64_t)TRACE_ROUND_MS * 1000000 / 2)
		return;
	for (int g = 0; g < TRACE_GAUGES; g++) {
		int64_t is = atomic_load_explicit(&trace_rings.gauge[g], memory_order_relaxed);
		bool moved = is != trace_file.last[g];

		if (trace_gauges[g].rate && (moved || trace_file.shown[g])) {
			double rate = (double)(is - trace_file.last[g]) * 1e9 / (double)passed;
			trace_json_gauge(&trace_file.about, trace_gauges[g].name, trace_file.looked, (int64_t)rate, out);
			trace_file.shown[g] = moved;
		} else if (moved) {
			trace_json_gauge(&trace_file.about, trace_gauges[g].name, now, is, out);
		}
		trace_file.last[g] = is;
	}
	trace_file.looked = now;
}

/* ---- the file ---- */

/* Bytes of the whole events among the first n of `bytes`, of which there are more. Each event begins with a comma and a
 * newline, which no text in it has. */
static size_t
trace_whole(const uint8_t *bytes, size_t n)
{
	while (n && !(bytes[n - 1] == ',' && bytes[n] == '\n'))
		n--;
	return n ? n - 1 : 0;
}

/* Whole events alone stay in a file that cannot be written to its end. */
static void
trace_broken(const char *why)
{
	if (ftruncate(trace_file.fd, trace_file.written)) /* a pipe: nothing to cut */
		errno = 0;
	trace_file.broken = true;
	atomic_store(&trace_is_on, false);
	log_say(LOG_WARN, "cannot write the trace %s: %s; it ends here, and the work goes on", trace_file.path, why);
}

static bool
trace_append(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t at = 0; at < n;) {
		ssize_t w = write(trace_file.fd, p + at, n - at);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			const char *why = strerror(errno);

			trace_file.written += (int64_t)trace_whole(p, at);
			trace_broken(why);
			return false;
		}
		at += (size_t)w;
	}
	trace_file.written += (int64_t)n;
	return true;
}

/* Length of the events that the file has room for. */
static size_t
trace_fits(const struct buf *out)
{
	int64_t room = trace_file.most - trace_file.written - TRACE_LAST;
	size_t n = room < 0 ? 0 : (size_t)room;

	return out->len <= n ? out->len : trace_whole(out->data, n);
}

static void
trace_write(struct buf *out)
{
	size_t n = trace_fits(out);
	bool full = n < out->len;

	if (trace_on() && trace_append(out->data, n) && full) {
		atomic_store(&trace_is_on, false);
		log_say(LOG_WARN, "the trace %s has %" PRId64 " bytes, as many as --trace-max allows; it ends here, and the work "
			"goes on",
			trace_file.path, trace_file.written);
	}
	buf_reset(out);
}

static void *
trace_writer(void *arg)
{
	struct pollfd p = { .fd = trace_rings.wake, .events = POLLIN };
	bool end;

	(void)arg;
	do {
		poll(&p, 1, TRACE_ROUND_MS);
		wake_clear(trace_rings.wake);
		end = atomic_load(&trace_file.end);
		trace_take(&trace_file.out);
		trace_look(&trace_file.out);
		trace_write(&trace_file.out);
	} while (!end);
	return NULL;
}

/* ---- beginning and end ---- */

/* Processes of several machines, or containers, may have the same pid: some bits of the host's name are put before it,
 * and the process is named by what it has itself. */
static void
trace_identify(const char *what, struct buf *out)
{
	char host[256] = "", name[512];
	int64_t mono = clock_mono_ns(), wall = clock_wall_ns();

	gethostname(host, sizeof host - 1);
	uint32_t sum = 0, bits;
	for (const char *c = host; *c; c++)
		sum = (sum ^ (uint8_t)*c) * 16777619U;
	bits = sum >> (32 - TRACE_HOST_BITS);
	trace_file.about = (struct trace_about){ .shift = bits << TRACE_PID_BITS, .offset = wall - mono };
	trace_file.about.pid = trace_file.about.shift + (uint32_t)getpid();
	snprintf(name, sizeof name, "%s%s%s on %s (pid %d)", program_invocation_short_name, what ? " " : "", what ? what : "",
		 host, (int)getpid());
	buf_str(out, "[");
	trace_json_process(&trace_file.about, name, wall, mono, out);
	out->data[1] = ' '; /* no comma before the first */
}

enum status
trace_start(const char *path, int64_t most, const char *what, struct err *e)
{
	if (!path)
		return ST_OK;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		/* Not err_errno: as with -o, a file that cannot be made is a failed write. */
		return err_set(e, ST_IO, "cannot write to %s: %s", path, strerror(errno));
	}
	trace_rings.wake = wake_open();
	trace_file.fd = fd;
	trace_file.path = mem_strdup(path);
	trace_file.most = most;
	trace_file.looked = clock_mono_ns();
	trace_identify(what, &trace_file.out);
	enum status st = trace_rings.wake < 0 ? err_errno(e, "cannot trace") : ST_OK;
	if (st == ST_OK && write(fd, trace_file.out.data, trace_file.out.len) != (ssize_t)trace_file.out.len)
		st = err_set(e, ST_IO, "cannot write to %s: %s", path, strerror(errno));
	trace_file.written = (int64_t)trace_file.out.len;
	buf_reset(&trace_file.out);
	if (st == ST_OK)
		st = thread_start(&trace_file.thread, trace_writer, NULL, "the trace", e);
	if (st != ST_OK)
		return st;
	atomic_store(&trace_is_on, true);
	trace_file.begun = true;
	trace_thread("main");
	atexit(trace_end);
	return ST_OK;
}

void
trace_end(void)
{
	if (!trace_file.begun)
		return;
	trace_file.begun = false;
	trace_flush();
	atomic_store(&trace_file.end, true);
	wake_set(trace_rings.wake);
	pthread_join(trace_file.thread, NULL);
	atomic_store(&trace_is_on, false);
	if (!trace_file.broken)
		trace_append("\n]\n", 3);
	if (close(trace_file.fd) && !trace_file.broken)
		log_say(LOG_WARN, "cannot write all of the trace %s: %s", trace_file.path, strerror(errno));
	trace_file.fd = -1;
	buf_clear(&trace_file.out);
	mem_free(trace_file.path);
	trace_file.path = NULL;
}
