/* SPDX-License-Identifier: MIT
 *
 * The plugin libdsvc_arrow.so (arrow_plugin.h), loaded when the first file of Parquet or Arrow is opened. It
 * lies in ../lib/dsvc, ../lib64/dsvc or ../lib/ANY/dsvc as seen from the program, or else in the folder DSVC_PLUGINS.
 */
#ifndef ARROW_ARROW_LIB_H
#define ARROW_ARROW_LIB_H

#include "base/err.h"
#include "value/arrow/arrow_plugin.h"

/* NULL: it cannot be had (ST_UNAVAIL), and e says what is missing and how it is had. */
const struct arrow_plugin *arrow_lib(struct err *e);
/* Makes an error of what the plugin said. */
enum status arrow_lib_says(int code, const struct arrow_why *why, struct err *e);

#endif
