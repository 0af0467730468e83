/* SPDX-License-Identifier: MIT
 *
 * Plans of canonical specs, made once and shared by the threads that run them.
 */
#ifndef HOST_PLANS_H
#define HOST_PLANS_H

#include <stdbool.h>

#include "base/err.h"
#include "lang/spec.h"
#include "wire/msg.h"

struct plan_use;

/* Gives a use of the plan, which lives until the last use is released. programs: by what the dispatcher
 * says it may run programs. */
enum status plans_get(const char *spec, bool programs, struct plan_use **out, struct err *e);
/* Does it for a stream: of sharding data its spec is `SPEC | shard SHARDS SHARD`, which makes nothing in
 * vain as far as that can be. */
enum status plans_get_stream(const struct msg_assign *a, struct plan_use **out, struct err *e);
const struct plan *plans_plan(const struct plan_use *u);
/* Whether all may end with a repeat of nothing (op_repeat_watched). */
bool plans_watched(const struct plan_use *u);
/* From now on plans that run programs (exec, cmd) are refused: ST_PERM. */
void plans_refuse_exec(void);
/* Whether the source has the files that the job began with (split_list_names; 0: any will do); ST_DATA. */
enum status plans_listed(const struct plan *p, uint64_t listed, struct err *e);
void plans_release(struct plan_use **u); /* accepts NULL */

#endif
