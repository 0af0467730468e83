/* SPDX-License-Identifier: MIT
 *
 * What the environment says of the terminal's characters.
 */
#ifndef CLI_LOCALE_H
#define CLI_LOCALE_H

#include <stdbool.h>

/* Whether LC_ALL, LC_CTYPE or LANG (the first that is set) names UTF-8. */
bool locale_is_utf8(void);

#endif
