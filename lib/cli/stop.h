/* SPDX-License-Identifier: MIT
 *
 * INT, TERM, HUP and QUIT: the first asks the program to finish what it has in hand, the
 * second ends it at once. --timeout does the same when its time is over: it is
 * the signal ALRM, and quit_signal of that says so and ends with 124.
 *
 *	stop_install();   when the work begins: until then signals end the program
 *	while (!atomic_load(stop_flag())) ...
 *	if (stop_signal())
 *		quit_signal(stop_signal());
 *
 * Handlers are installed without SA_RESTART, so that a read that waits returns.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

void stop_install(void);
/* After ns (0: never) stops as a first signal would, and a second later as the
 * second; at_once: there is nothing to finish, as there never is before stop_install. */
void stop_after(int64_t ns, bool at_once);
const atomic_bool *stop_flag(void);
void stop_ask(void);   /* sets the flag as a signal would; any thread */
int stop_signal(void); /* the signal that came, 0: none */
int stop_fd(void);     /* readable once it came; -1: stop_install was not called */

#endif
