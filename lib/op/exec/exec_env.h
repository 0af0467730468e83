/* SPDX-License-Identifier: MIT
 *
 * The environment of children: ours, with what tells them where they stand. No
 * option that is read from the environment is called so, or can be, for an option --foo is the variable
 * DSVC_FOO, and a child may be a dsvc program.
 *
 *	DSVC_CHILD_OP      number of the operator     DSVC_CHILD_PROTO  proto=
 *	DSVC_CHILD_SLOT    which copy this is, from 1 DSVC_CHILD_SLOTS  how many there may be
 *	DSVC_CHILD_SHARD   number of the stream       DSVC_CHILD_SHARDS how many there are so far
 *	DSVC_CHILD_SEED    seed of the iteration      DSVC_CHILD_EPOCH  pass, from 0
 *	DSVC_CHILD_INDEX   number of the element, from 0
 *	DSVC_CHILD_SOURCE  its file:line
 *
 * and what the program adds (op_ctx.env: DSVC_CHILD_WORKER, DSVC_CHILD_JOB...).
 * Other variables that begin with DSVC_ are left out, but for DSVC_DISPATCHER.
 */
#ifndef EXEC_EXEC_ENV_H
#define EXEC_EXEC_ENV_H

#include "op/op.h"

struct exec_env {
	char **v;           /* the array for execve */
	size_t n;
	char *slot, *index, *source; /* the entries that change, NULL or in v */
};

enum { ENV_OWN = 10, ENV_SLOT_MAX = 48, ENV_SOURCE_MAX = 512 };

void exec_env_open(struct exec_env *env, const struct op_inst *self, const char *proto,
		   unsigned slots, bool each);
/* Sets the environment of a child that writes to a terminal: no colours. */
void exec_env_plain(struct exec_env *env);
/* The name of the worker that runs the chain; "": none does. Lent by the context. */
const char *exec_env_worker(const struct op_ctx *ctx);
void exec_env_clear(struct exec_env *env);
void exec_env_slot(struct exec_env *env, unsigned slot);
void exec_env_element(struct exec_env *env, uint64_t index, const struct run *r,
		      const struct elem *x);

#endif
