/* SPDX-License-Identifier: MIT
 *
 * Which programs heed which variable: every option of theirs is also DSVC_OPTION, and
 * DSVC_VERB_OPTION. The programs beside this one are asked for their options.
 */
#ifndef CONFIG_HEED_H
#define CONFIG_HEED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct heed {
	struct heed_program { char *verb; struct buf help; } *v;
	size_t n, cap;
};

void heed_read(struct heed *h);
/* Appends the verbs that heed the variable, with ", " between; false: none. */
bool heed_find(const struct heed *h, const char *variable, struct buf *out);
void heed_clear(struct heed *h);

#endif
