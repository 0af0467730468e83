/* SPDX-License-Identifier: MIT
 *
 * The environment of children: ours, with what tells them where they stand.
 *
 *	DSVC_OP       number of the operator        DSVC_PROTO  proto=
 *	DSVC_SLOT     which copy this is, from 0    DSVC_SLOTS  how many there may be
 *	DSVC_SHARD    number of the stream          DSVC_SHARDS how many there are so far
 *	DSVC_SEED     seed of the iteration         DSVC_EPOCH  pass, from 0
 *	DSVC_INDEX    number of the element, from 0; DSVC_SOURCE  its file:line
 *
 * and what the program adds (op_ctx.env: DSVC_WORKER, DSVC_JOB...).
 */
#ifndef OP_EXEC_ENV_H
#define OP_EXEC_ENV_H

#include "op/op.h"

struct exec_env {
	char **v;           /* for execve */
	size_t n;
	char *slot, *index, *source; /* the ones that change; in v unless NULL */
};

enum { ENV_SLOT_MAX = 48, ENV_SOURCE_MAX = 512 };

void exec_env_open(struct exec_env *env, const struct op_inst *self, const char *proto,
		   unsigned slots, bool each);
/* For a child that writes to a terminal: no colours there. */
void exec_env_plain(struct exec_env *env);
void exec_env_clear(struct exec_env *env);
void exec_env_slot(struct exec_env *env, unsigned slot);
void exec_env_element(struct exec_env *env, uint64_t index, const struct run *r,
		      const struct elem *x);

#endif
