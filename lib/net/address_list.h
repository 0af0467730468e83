/* SPDX-License-Identifier: MIT
 *
 * Several addresses of one service, in one text: ADDRESS,ADDRESS... Each but the first begins
 * behind a comma with its scheme, so a path may have commas.
 */
#ifndef NET_ADDRESS_LIST_H
#define NET_ADDRESS_LIST_H

#include <stddef.h>

size_t address_list_count(const char *list);
/* Gives the k-th; *list has more than k. */
char *address_list_at(const char *list, size_t k);

#endif
