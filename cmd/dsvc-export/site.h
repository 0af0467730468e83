/* SPDX-License-Identifier: MIT
 *
 * The files of the page at `/`, which lie in the folder `page` and in the program.
 */
#ifndef EXPORT_SITE_H
#define EXPORT_SITE_H

#include <stdbool.h>
#include <stddef.h>

struct site_file {
	const char *type; /* Content-Type */
	const unsigned char *bytes;
	size_t n;
};

/* Fills in the file under a path, of which `/` is index.html. false: there is none. */
bool site_find(const char *path, struct site_file *out);

#endif
