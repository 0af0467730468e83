/* SPDX-License-Identifier: MIT
 *
 * Whether the elements of a pipeline are large, as far as it can be told before any is made.
 */
#ifndef HOST_WORK_LARGE_H
#define HOST_WORK_LARGE_H

#include <stdbool.h>

#include "lang/spec.h"
#include "value/split.h"

/* Each becomes a chunk of its own by its type, or takes as many bytes of the source's files to
 * make. units: those of the source, of one pass. */
bool large_elements(const struct plan *p, const struct split_list *units);

#endif
