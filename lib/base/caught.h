/* SPDX-License-Identifier: MIT
 *
 * Signals as something to poll for and to count. They are caught by handlers, not
 * held back by a blocked mask: children that operators start would inherit the mask,
 * and could not be killed. Handlers are installed without SA_RESTART, so that a call
 * that blocks is interrupted (EINTR).
 */
#ifndef BASE_CAUGHT_H
#define BASE_CAUGHT_H

/* Makes the descriptor, which is readable from the first signal until caught_drain;
 * gives the same one when called again. */
int caught_open(void);
/* Does what a server needs: caught_open, taking INT and TERM, and ignoring PIPE. */
int caught_stops(void);
/* Catches the signal from now on. `each`, which may be NULL, is called in the handler,
 * before the descriptor becomes readable; `first` is the signal that came first of all,
 * 0 when this one is it. */
void caught_take(int signal, void (*each)(int signal, int first));
int caught_fd(void);     /* -1: caught_open was not called */
int caught_first(void);  /* the signal that came first, 0: none has */
int caught_count(void);
void caught_drain(void); /* makes the descriptor unreadable until the next signal */

#endif
