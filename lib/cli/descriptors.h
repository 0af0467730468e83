/* SPDX-License-Identifier: MIT
 *
 * Descriptors 0, 1 and 2, which a parent may have closed. The next file that is
 * opened would take such a number, and what is meant for standard output would
 * end up in it.
 */
#ifndef CLI_DESCRIPTORS_H
#define CLI_DESCRIPTORS_H

/* Fills the closed ones so that reading and writing fail as if they were closed;
 * what goes to standard error is lost. */
void descriptors_hold(void);

#endif
