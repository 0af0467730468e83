/* SPDX-License-Identifier: MIT */
#include "host/work/produce_env.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void
produce_env_init(struct produce_env *env, const struct msg_assign *assign, const char *worker)
{
	char id[DATASET_ID_LEN + 1];

	dataset_id(assign->spec, strlen(assign->spec), id);
	snprintf(env->dataset, sizeof env->dataset, "DSVC_CHILD_DATASET=%s", id);
	snprintf(env->worker, sizeof env->worker, "DSVC_CHILD_WORKER=%s", worker);
	snprintf(env->job, sizeof env->job, "DSVC_CHILD_JOB=%s", str_or_empty(assign->job));
	snprintf(env->shards, sizeof env->shards, "DSVC_CHILD_SHARDS=%u", assign->streams);
	env->v[0] = env->dataset;
	env->v[1] = env->worker;
	env->v[2] = env->job;
	env->v[3] = env->shards;
	env->v[4] = NULL;
}
