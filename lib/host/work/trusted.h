/* SPDX-License-Identifier: MIT
 *
 * The pipelines that a worker's owner trusts, by their 256-bit hashes: with such a
 * list no other pipeline is run, whoever registered it.
 *
 *	# one a line: HASH, then whatever the owner likes
 *	4f0c...9a  clicks of last week
 */
#ifndef HOST_TRUSTED_H
#define HOST_TRUSTED_H

#include "base/err.h"

/* Reads the list, for the rest of the process; before there are threads. */
enum status trusted_load(const char *file, struct err *e);
/* ST_PERM for a pipeline that is not on the list; without a list all are trusted. */
enum status trusted_check(const char *canonical, struct err *e);

#endif
