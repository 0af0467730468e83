/* SPDX-License-Identifier: MIT
 *
 * --fmt: specs in the usual layout (lang/layout.h), to standard output or, with
 * --write, back into their files; with --check only told which are not.
 */
#ifndef RUN_FMT_H
#define RUN_FMT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "lang/spec.h"

enum fmt_mode { FMT_PRINT, FMT_WRITE, FMT_CHECK };

/* src: a text or a file. FMT_CHECK appends the name of a file that would change;
 * *changed is then set. */
enum status fmt_spec(const struct spec_src *src, enum fmt_mode mode, bool *changed, struct buf *out,
		     struct err *e);

#endif
