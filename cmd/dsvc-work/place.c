/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "base/mem.h"
#include "value/where.h"
#include "wire/msg.h"

enum { PLACE_MEMORY = 32 << 20, PLACE_SHARE = 25, PLACE_LEAST = 1 << 20 };

static const char *
place_env(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

static bool
place_has(const struct words *tags, const char *tag)
{
	for (size_t i = 0; i < tags->n; i++)
		if (!strcmp(tags->v[i], tag))
			return true;
	return false;
}

/* One that does not fit, as others may have set it, is left out. */
static void
place_tag(struct words *tags, const char *key, const char *value)
{
	struct err e;
	char *tag = mem_printf("%s%s%s", key, value ? "=" : "", value ? value : "");

	if (tags->n < WIRE_TAGS_MAX && tag_check(tag, &e) == ST_OK && !place_has(tags, tag))
		words_add(tags, tag, strlen(tag));
	mem_free(tag);
}

void
place_named(struct work_options *o)
{
	const char *job = place_env("SLURM_JOB_ID"), *node = place_env("SLURMD_NODENAME");
	const char *part = place_env("SLURM_JOB_PARTITION");
	const char *task = place_env("SLURM_PROCID"), *pod = place_env("POD_NAME");
	bool pods = place_env("KUBERNETES_SERVICE_HOST");

	if (!o->name && job && node)
		o->name = mem_printf("%s-%s.%s", node, job, task ? task : "0");
	else if (!o->name && pods && pod)
		o->name = mem_strdup(pod);
	if (o->name && strlen(o->name) > PARAM_NAME_MAX)
		o->name[PARAM_NAME_MAX] = '\0';
	if (job && node) {
		place_tag(&o->tag, "slurm", NULL);
		place_tag(&o->tag, "node", node);
		if (part)
			place_tag(&o->tag, "part", part);
	}
	if (pods)
		place_tag(&o->tag, "k8s", NULL);
}

size_t
place_memory(int64_t asked)
{
	uint64_t share = machine_memory() / 100;

	if (asked == PARAM_AUTO) {
		uint64_t most = machine_limit() ? share * PLACE_SHARE : PLACE_MEMORY;
		asked = most < PLACE_MEMORY ? (int64_t)most : PLACE_MEMORY;
	} else if (asked < 0) {
		asked = (int64_t)(share * (uint64_t)-asked);
	}
	return asked < PLACE_LEAST ? PLACE_LEAST : (size_t)asked;
}
