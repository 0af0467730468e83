/* SPDX-License-Identifier: MIT
 * none: nothing.
 */
#include "value/format/format_desc.h"

const struct format_desc format_none = { .flags = FORMAT_IS_BLIND };
