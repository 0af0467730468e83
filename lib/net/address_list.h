/* SPDX-License-Identifier: MIT
 *
 * Several addresses of one service, in one text: ADDRESS,ADDRESS... Each but the first begins
 * behind a comma with its scheme, so a path may have commas.
 */
#ifndef NET_ADDRESS_LIST_H
#define NET_ADDRESS_LIST_H

#include <stddef.h>

enum { ADDRESS_ONE_MAX = 256, ADDRESS_LIST_MAX = 1024 };

/* An address as users write it, whole: HOST:PORT is of tcp://, a path with a slash of ipc://. NULL, or why it
 * is none. */
const char *address_complete(const char *given, char out[ADDRESS_ONE_MAX]);
/* Likewise several with commas between, which must be of one kind. On a fault *bad is the one that has it:
 * give it back with mem_free. */
const char *address_list_complete(const char *given, char *out, size_t size, char **bad);

size_t address_list_count(const char *list);
/* Gives the k-th; *list has more than k. */
char *address_list_at(const char *list, size_t k);

#endif
