/* SPDX-License-Identifier: MIT
 *
 * What dsvc-run does with spec files rather than with a pipeline: --test, --fmt.
 * Operands are files then, and -f names one more.
 */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "base/buf.h"
#include "base/err.h"
#include "cli/opt.h"
#include "lang/spec.h"
#include "opts.h"

enum status files_test(const struct run_opts *o, const struct opt *opt, struct buf *out,
		       struct err *e);
/* src: what options say of all specs. */
enum status files_fmt(const struct run_opts *o, const struct opt *opt, const struct spec_src *src,
		      struct buf *out, struct err *e);

#endif
