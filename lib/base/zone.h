/* SPDX-License-Identifier: MIT
 *
 * Time zones: how far the clocks of a place are from UTC at a time. Names are those
 * of the system's time zone database (Europe/Berlin), UTC, Z, or an offset (+02:00).
 *
 * The database is read here, not by way of TZ and localtime_r: these have one zone for
 * the whole process, and threads ask for several at once.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { ZONE_NAME_MAX = 64 };

struct zone;

/* Finds a zone, lent for the life of the process; each is read once. ST_DATA: there is none of
 * that name, or its file is damaged. Thread-safe; the zone that a thread found last costs
 * nothing to find again. */
enum status zone_find(const char *name, size_t n, const struct zone **out, struct err *e);
/* Seconds to be added to a time to get what clocks show; *abbreviation, unless NULL, is lent. */
int32_t zone_offset(const struct zone *z, int64_t t, const char **abbreviation);
/* The time at which clocks show this (seconds since 1970 as if in UTC). Of two such times the
 * earlier; one that clocks skip is as far after the change as it would have been. */
int64_t zone_time(const struct zone *z, int64_t clock);

#endif
