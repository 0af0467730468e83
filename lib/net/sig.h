/* SPDX-License-Identifier: MIT
 *
 * INT and TERM as something to poll for. Handlers, not a blocked mask: children
 * that operators start would inherit a mask, and not be killable.
 */
#ifndef NET_SIG_H
#define NET_SIG_H

/* Takes INT and TERM (and ignores PIPE): from now on sig_count counts them and
 * the descriptor given becomes readable for ever. Other calls are interrupted
 * (EINTR), so that a write that blocks is noticed. */
int sig_open(void);
/* How many have come; *last (may be NULL) is which. */
int sig_count(int *last);
/* Makes the descriptor unreadable until the next one. */
void sig_drain(void);

#endif
