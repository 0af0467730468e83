/* SPDX-License-Identifier: MIT
 *
 * A descriptor by which any thread, or a signal handler, wakes one that polls.
 *
 *	fd = wake_open()      poll(fd, POLLIN) ... wake_clear(fd)
 *	                      elsewhere: wake_set(fd)
 *
 * Sets that come before the clear are one. Closed with close(2).
 */
#ifndef BASE_WAKE_H
#define BASE_WAKE_H

/* Gives an eventfd, closed on exec; -1 and errno when the system has none left. */
int wake_open(void);
void wake_set(int fd);   /* readable from now on; safe in signal handlers, keeps errno */
void wake_clear(int fd); /* not readable until it is set again; never waits */

#endif
