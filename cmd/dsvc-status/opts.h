/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-status.
 */
#ifndef STATUS_OPTS_H
#define STATUS_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/opt.h"
#include "cli/program.h"

struct status_options {
	bool insecure;
	char *dispatcher, *context, *audit;
	bool json, watch, quiet, all, streams;
	int64_t connect_timeout, interval, verbose, timeout;
	int wanted, metrics, names; /* which number, how much, whose; whether asked for is opt_from's to say */
	double busy;
	enum { FORM_TABLE, FORM_JSON, FORM_WANTED, FORM_METRICS, FORM_NAMES } form; /* worked out of those */
};

enum { WANTED_SLOTS, WANTED_WORKERS };
enum { METRICS_SERVICE, METRICS_WORKERS };

extern const struct program status_program;

/* Fills `form`: of the options that say what is printed there may be one (ST_USAGE). */
enum status status_options_form(struct status_options *o, const struct opt *opt, struct err *e);

/* Characters of a line of the table: as the terminal has, or 80; 0: lines are not cut. */
unsigned status_options_width(const struct status_options *o);

#endif
