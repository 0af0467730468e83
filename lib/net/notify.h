/* SPDX-License-Identifier: MIT
 *
 * Tells a service manager how a server is (sd_notify(3)): lines in a datagram to $NOTIFY_SOCKET. Where there is
 * none, all of this does nothing.
 */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

#include <stdint.h>

/* Opens the socket and forgets the variables, which children must not have. Before there are threads, and
 * before a fence. */
void notify_open(void);
/* Says lines such as "READY=1". */
void notify_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* For a loop that turns: says WATCHDOG=1 when it is due. Gives when to come again at the latest; INT64_MAX:
 * nobody watches. */
int64_t notify_watchdog(int64_t now_ns);

#endif
