/* SPDX-License-Identifier: MIT */
#include "cli/format_rows.h"

const int format_rows_said[] = { 1, 2, 3 };
