/* SPDX-License-Identifier: MIT
 *
 * Options on the command line that belong to a `distribute` or `dataset` inside the
 * pipeline. Such an option is the one of the same name: --job is job=.
 */
#ifndef READ_PASS_ON_H
#define READ_PASS_ON_H

#include "cli/opt.h"
#include "lang/spec.h"

/* The options that were given, as spec_src.carried wants them: those that no operator has
 * a parameter for do no harm. Adds to out. */
void pass_on_words(const struct program *program, const void *options, const struct opt *opt,
		   struct words *out);
/* Checks a plan that was made with the options passed on. ST_USAGE: several operators would have to have such an
 * option, or the one says another value itself. */
enum status pass_on_check(const struct plan *p, const struct program *program, const void *options,
			  const struct opt *opt, struct err *e);

#endif
