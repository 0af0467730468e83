/* SPDX-License-Identifier: MIT
 *
 * Signals that ask a program for something and do not end it: USR1 (where does it stand?) and HUP (keys and
 * addresses are to be read again). Calls that block are not interrupted.
 */
#ifndef BASE_ASKED_H
#define BASE_ASKED_H

#include <stdbool.h>

/* Takes USR1, and HUP unless it is ignored, or a terminal would send it at its end. Gives a descriptor,
 * readable when one has come. */
int asked_open(void);
/* Which came since the last call; the descriptor is unreadable again. */
struct asked { bool where, again; };
struct asked asked_take(void);

#endif
