/* SPDX-License-Identifier: MIT */
#include "net/patience.h"

#include <poll.h>
#include <unistd.h>

#include "base/caught.h"
#include "base/clock.h"
#include "base/log.h"

enum { PATIENCE_FIRST_MS = 5, PATIENCE_MOST_MS = 80, PATIENCE_LONG_MS = 500 };
#define PATIENCE_SAY_NS 1000000000ll /* waiting for longer is told */

static int64_t patience_ns = PATIENCE_USUAL_NS;
static int patience_held = -1; /* the leash */
static bool patience_let_go;

void
patience_set(int64_t ns)
{
	patience_ns = ns;
}

struct patience
patience_begin(void)
{
	int64_t now = clock_mono_ns();

	return (struct patience){ .began = now, .pause_ms = PATIENCE_FIRST_MS,
		.until = patience_ns && patience_ns < INT64_MAX - now ? now + patience_ns : INT64_MAX };
}

int
patience_left(const struct patience *p, int most)
{
	int64_t left = (p->until - clock_mono_ns()) / 1000000;

	return left < 0 ? 0 : left < most ? (int)left : most;
}

/* Those who wait for hours look less often. */
static void
patience_longer(struct patience *p)
{
	int most = p->told ? PATIENCE_LONG_MS : PATIENCE_MOST_MS;

	p->pause_ms = p->pause_ms * 2 < most ? p->pause_ms * 2 : most;
}

void
patience_leash(int fd)
{
	patience_held = fd;
}

bool
patience_cut(void)
{
	return patience_let_go || caught_count();
}

bool
patience_pause(struct patience *p, const char *what)
{
	struct pollfd stop[2] = { { .fd = caught_fd(), .events = POLLIN }, { .fd = patience_held, .events = POLLIN } };
	char bytes[256];
	int64_t now = clock_mono_ns();

	if (p->until - now <= p->pause_ms * 1000000ll || patience_cut())
		return false;
	if (!p->told && patience_ns != PATIENCE_USUAL_NS && now - p->began >= PATIENCE_SAY_NS) {
		p->told = true;
		log_say(LOG_WARN, "waiting for %s", what);
	}
	poll(stop, 2, p->pause_ms);
	if (stop[1].revents && read(patience_held, bytes, sizeof bytes) <= 0)
		patience_let_go = true;
	patience_longer(p);
	return !patience_cut();
}
