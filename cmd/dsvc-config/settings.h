/* SPDX-License-Identifier: MIT */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/endpoint.h"

struct config {
	char *dispatcher, *context;
	bool json, quiet;
	int64_t connect_timeout, verbose;
};

/* Appends all settings: as a table, or as one JSON record of {value, from} for each name. */
void settings_print(const struct endpoint *ep, bool json, struct buf *out);

#endif
