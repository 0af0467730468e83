/* SPDX-License-Identifier: MIT */
#include "base/late.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void
late_load(struct late *l)
{
	void *from = NULL, *fn;
	char *at = l->fns;

	for (const char *const *file = l->files; !from && *file; file++)
		from = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
	if (!from) {
		const char *why = dlerror();

		snprintf(l->why, sizeof l->why, "%s", why ? why : "it is not there");
		return;
	}
	for (const char *const *name = l->names; *name; name++, at += sizeof fn) {
		fn = dlsym(from, *name);
		if (!fn) {
			snprintf(l->why, sizeof l->why, "it has no %s", *name);
			return;
		}
		memcpy(at, &fn, sizeof fn);
	}
	const char *why = l->start ? l->start() : NULL;
	snprintf(l->why, sizeof l->why, "%s", why ? why : "");
}

void *
late_get(struct late *l, struct err *e)
{
	if (!atomic_load_explicit(&l->loaded, memory_order_acquire)) {
		pthread_mutex_lock(&l->lock);
		if (!atomic_load_explicit(&l->loaded, memory_order_relaxed))
			late_load(l);
		atomic_store_explicit(&l->loaded, true, memory_order_release);
		pthread_mutex_unlock(&l->lock);
	}
	if (!l->why[0])
		return l->fns;
	err_set(e, ST_DATA, "the library %s cannot be used: %s", l->files[0], l->why);
	err_help(e, "apt-get install %s", l->package);
	return NULL;
}
