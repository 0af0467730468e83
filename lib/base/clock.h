/* SPDX-License-Identifier: MIT
 *
 * Time, for programs only: state machines are handed the time as an argument.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ns(void); /* never goes back; for intervals */
int64_t clock_wall_ns(void); /* since 1970, UTC; for people and files */

#endif
