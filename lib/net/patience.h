/* SPDX-License-Identifier: MIT
 *
 * How long programs wait for a dispatcher that is not there yet: one setting for the whole
 * process, --connect-timeout.
 */
#ifndef NET_PATIENCE_H
#define NET_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_USUAL_NS 1500000000ll /* one that was started at the same time may need a moment */

/* ns: 0 is for ever. Before there are threads. */
void patience_set(int64_t ns);

/* One time of waiting. */
struct patience {
	int64_t until, began;
	int pause_ms;
	bool told;
};

struct patience patience_begin(void);
/* Milliseconds that are left, at most `most`; 0: none. */
int patience_left(const struct patience *p, int most);
/* Pauses for a moment, longer each time. False: the time is over, or patience_cut. Who waits for
 * longer than usual says once what for. */
bool patience_pause(struct patience *p, const char *what);
/* Waiting ends, too, when the other end of this descriptor is closed. */
void patience_leash(int fd);
/* Whether waiting ended since it was to end: by a signal that this program catches
 * (base/caught.h), or by the leash. */
bool patience_cut(void);

#endif
