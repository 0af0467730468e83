/* SPDX-License-Identifier: MIT
 *
 * Addresses in a file, which a dispatcher writes when it is ready (--ready-file): -d @FILE. A
 * dispatcher that is started again elsewhere writes the file anew, so it is read again when there
 * is nobody at the address of before.
 */
#ifndef NET_ADDRESS_FILE_H
#define NET_ADDRESS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The addresses of this process's service, `list`, came from the file. Before there are threads. */
void address_file_keep(const char *path, const char *list);
/* The file that these addresses came from; NULL: from none. Lends. */
const char *address_file_of(const char *list);
/* Reads the first line, which is completed as in net/address_list.h. False: the file is not there,
 * or has no addresses. */
bool address_file_read(const char *path, char *out, size_t size);

#endif
