/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/child_rules.h"

static bool
env_same(const char *a, const char *b)
{
	size_t n = strcspn(b, "=") + 1;

	return !strncmp(a, b, n);
}

/* Whether a variable of this process is passed on to children. Those that begin with DSVC_ are
 * options of this program, or tell where it is in a pipeline around it; neither is meant for a
 * program inside. Only the address of the service holds for that, too. */
static bool
env_passes(const struct op_ctx *ctx, const char *s)
{
	if (!strncmp(s, "DSVC_", 5) && !env_same(s, "DSVC_DISPATCHER="))
		return false;
	for (char *const *p = ctx->env; p && *p; p++)
		if (env_same(s, *p))
			return false;
	return child_rules_passes(s);
}

static bool
env_has(const struct exec_env *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (env_same(env->v[i], name))
			return true;
	return false;
}

const char *
exec_env_worker(const struct op_ctx *ctx)
{
	static const char name[] = "DSVC_CHILD_WORKER=";

	for (char *const *p = ctx->env; p && *p; p++)
		if (env_same(*p, name))
			return *p + strlen(name);
	return "";
}

static char *
env_add(struct exec_env *env, char *s)
{
	return env->v[env->n++] = s;
}

void
exec_env_open(struct exec_env *env, const struct op_inst *self, const char *proto,
	      unsigned slots, bool each)
{
	const struct op_ctx *ctx = self->ctx;
	size_t n = ENV_OWN + 1;

	for (char **p = environ; *p; p++)
		n++;
	for (char *const *p = ctx->env; p && *p; p++)
		n++;
	env->v = mem_array(n, sizeof *env->v);
	for (char **p = environ; *p; p++)
		if (env_passes(ctx, *p))
			env_add(env, mem_strdup(*p));
	for (char *const *p = ctx->env; p && *p; p++)
		env_add(env, mem_strdup(*p));
	env_add(env, mem_printf("DSVC_CHILD_OP=%" PRIu32, self->node->place));
	env_add(env, mem_printf("DSVC_CHILD_PROTO=%s", proto));
	env_add(env, mem_printf("DSVC_CHILD_SLOTS=%u", slots));
	env_add(env, mem_printf("DSVC_CHILD_SHARD=%" PRIu32, ctx->stream));
	if (!env_has(env, "DSVC_CHILD_SHARDS="))
		env_add(env, mem_strdup("DSVC_CHILD_SHARDS=1"));
	env_add(env, mem_printf("DSVC_CHILD_EPOCH=%" PRIu32, self->epoch));
	env_add(env, mem_printf("DSVC_CHILD_SEED=%" PRIu64, ctx->seed));
	env->slot = env_add(env, mem_zalloc(ENV_SLOT_MAX));
	exec_env_slot(env, 0);
	if (!each)
		return;
	env->index = env_add(env, mem_zalloc(ENV_SLOT_MAX));
	env->source = env_add(env, mem_zalloc(ENV_SOURCE_MAX));
}

void
exec_env_plain(struct exec_env *env)
{
	static const char *const set[] = { "NO_COLOR=1", "TERM=dumb" };

	for (size_t k = 0; k < sizeof set / sizeof *set; k++) {
		size_t i = 0;

		while (i < env->n && !env_same(env->v[i], set[k]))
			i++;
		if (i < env->n)
			mem_free(env->v[i]);
		else
			env->v = mem_realloc(env->v, (++env->n + 1) * sizeof *env->v);
		env->v[i] = mem_strdup(set[k]);
		env->v[env->n] = NULL;
	}
}

void
exec_env_clear(struct exec_env *env)
{
	for (size_t i = 0; i < env->n; i++)
		mem_free(env->v[i]);
	mem_free(env->v);
	*env = (struct exec_env){ 0 };
}

void
exec_env_slot(struct exec_env *env, unsigned slot)
{
	snprintf(env->slot, ENV_SLOT_MAX, "DSVC_CHILD_SLOT=%u", slot + 1);
}

void
exec_env_element(struct exec_env *env, uint64_t index, const struct run *r, const struct elem *x)
{
	const char *file;
	uint64_t line;

	snprintf(env->index, ENV_SLOT_MAX, "DSVC_CHILD_INDEX=%" PRIu64, index);
	if (!run_place(r, x, &file, &line))
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_CHILD_SOURCE=");
	else if (file && line)
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_CHILD_SOURCE=%s:%" PRIu64, file, line);
	else if (file)
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_CHILD_SOURCE=%s", file);
	else
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_CHILD_SOURCE=:%" PRIu64, line);
}
