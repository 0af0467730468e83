/* SPDX-License-Identifier: MIT */
#include "op/exec_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static const char *const env_own[] = {
	"DSVC_OP=", "DSVC_PROTO=", "DSVC_SLOT=", "DSVC_SLOTS=", "DSVC_SHARD=", "DSVC_EPOCH=",
	"DSVC_SEED=", "DSVC_INDEX=", "DSVC_SOURCE=", "DSVC_SHARDS="
};

static bool
env_same(const char *a, const char *b)
{
	size_t n = strcspn(b, "=") + 1;

	return !strncmp(a, b, n);
}

/* Whether it is one of those that are set here, or by the program. */
static bool
env_is_set(const struct op_ctx *ctx, const char *s)
{
	for (size_t i = 0; i < sizeof env_own / sizeof *env_own; i++)
		if (env_same(s, env_own[i]))
			return true;
	for (char *const *p = ctx->env; p && *p; p++)
		if (env_same(s, *p))
			return true;
	return false;
}

static bool
env_has(const struct exec_env *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (env_same(env->v[i], name))
			return true;
	return false;
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
	size_t n = sizeof env_own / sizeof *env_own + 1;

	for (char **p = environ; *p; p++)
		n++;
	for (char *const *p = ctx->env; p && *p; p++)
		n++;
	env->v = mem_array(n, sizeof *env->v);
	for (char **p = environ; *p; p++)
		if (!env_is_set(ctx, *p))
			env_add(env, mem_strdup(*p));
	for (char *const *p = ctx->env; p && *p; p++)
		env_add(env, mem_strdup(*p));
	env_add(env, mem_printf("DSVC_OP=%" PRIu32, self->node->place));
	env_add(env, mem_printf("DSVC_PROTO=%s", proto));
	env_add(env, mem_printf("DSVC_SLOTS=%u", slots));
	env_add(env, mem_printf("DSVC_SHARD=%" PRIu32, ctx->stream));
	if (!env_has(env, "DSVC_SHARDS="))
		env_add(env, mem_strdup("DSVC_SHARDS=1"));
	env_add(env, mem_printf("DSVC_EPOCH=%" PRIu32, self->epoch));
	env_add(env, mem_printf("DSVC_SEED=%" PRIu64, ctx->seed));
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
	snprintf(env->slot, ENV_SLOT_MAX, "DSVC_SLOT=%u", slot);
}

void
exec_env_element(struct exec_env *env, uint64_t index, const struct run *r, const struct elem *x)
{
	const char *file;
	uint64_t line;

	snprintf(env->index, ENV_SLOT_MAX, "DSVC_INDEX=%" PRIu64, index);
	if (!run_place(r, x, &file, &line))
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_SOURCE=");
	else if (file && line)
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_SOURCE=%s:%" PRIu64, file, line);
	else if (file)
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_SOURCE=%s", file);
	else
		snprintf(env->source, ENV_SOURCE_MAX, "DSVC_SOURCE=:%" PRIu64, line);
}
