/* SPDX-License-Identifier: MIT */
#ifndef UP_UP_H
#define UP_UP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct up {
	int64_t workers, slots; /* slots: or PARAM_AUTO */
	bool state, quiet;
	int64_t verbose, timeout;
};

/* Starts what is missing at the private socket, whose folder exists, and says what runs then.
 * What could not become ready has ended; what was started with it is ended again. */
enum status up_run(const struct up *o, const char *address, struct err *e);

#endif
