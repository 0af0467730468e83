/* SPDX-License-Identifier: MIT
 *
 * What the programs that a stream runs (exec) find in their environment.
 */
#ifndef HOST_PRODUCE_ENV_H
#define HOST_PRODUCE_ENV_H

#include "lang/spec.h"
#include "wire/msg.h"

struct produce_env {
	char worker[WIRE_NAME_MAX + 32], dataset[DATASET_ID_LEN + 32], job[WIRE_NAME_MAX + 32], shards[32];
	char *v[5];            /* NAME=value, NULL at the end: for op_ctx.env */
};

void produce_env_init(struct produce_env *env, const struct msg_assign *assign, const char *worker);

#endif
