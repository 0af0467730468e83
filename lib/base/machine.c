/* SPDX-License-Identifier: MIT */
#include "base/machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { MACHINE_PATH = 4096, MACHINE_LINE = 512 };

/* Reads the first line; false: there is none. */
static bool
machine_line(const char *dir, const char *name, char out[MACHINE_LINE])
{
	char path[MACHINE_PATH + MACHINE_LINE];
	FILE *f;
	bool read;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path || !(f = fopen(path, "re")))
		return false;
	read = fgets(out, MACHINE_LINE, f) != NULL;
	fclose(f);
	if (read)
		out[strcspn(out, "\n")] = '\0';
	return read;
}

/* A number above 0; false for `max`, -1 and all else. */
static bool
machine_number(const char *text, int64_t *out)
{
	return str_int(text, strlen(text), out) && *out > 0;
}

static void
machine_quota(struct machine *m, int64_t quota, int64_t period)
{
	int64_t cpus = quota / period + (quota % period != 0);

	if (cpus < m->cpus)
		m->cpus = cpus < 1 ? 1 : (uint32_t)cpus;
}

static void
machine_bytes(struct machine *m, const char *text)
{
	int64_t bytes;

	/* v1 says a number near 2^63 for no limit. */
	if (machine_number(text, &bytes) && bytes < INT64_MAX / 2 && (!m->limit || (uint64_t)bytes < m->limit))
		m->limit = (uint64_t)bytes;
}

/* One folder of a control group; v1 has a folder for each controller. */
static void
machine_group(struct machine *m, const char *dir)
{
	char line[MACHINE_LINE], other[MACHINE_LINE];
	int64_t quota, period;
	char *space;

	if (machine_line(dir, "cpu.max", line) && (space = strchr(line, ' '))) {
		*space = '\0';
		if (machine_number(line, &quota) && machine_number(space + 1, &period))
			machine_quota(m, quota, period);
	}
	if (machine_line(dir, "cpu.cfs_quota_us", line) && machine_line(dir, "cpu.cfs_period_us", other) &&
	    machine_number(line, &quota) && machine_number(other, &period))
		machine_quota(m, quota, period);
	if (machine_line(dir, "memory.max", line) || machine_line(dir, "memory.limit_in_bytes", line))
		machine_bytes(m, line);
}

/* The group at `path` below `top`, and those around it. In a container the path may be that of the
 * host, and not be there: then the groups that are there count. */
static void
machine_groups(struct machine *m, const char *top, const char *path)
{
	char dir[MACHINE_PATH];
	size_t least = strlen(top);

	if (snprintf(dir, sizeof dir, "%s%s", top, path) >= (int)sizeof dir)
		return;
	for (;;) {
		machine_group(m, dir);
		char *slash = strrchr(dir, '/');
		if (!slash || (size_t)(slash - dir) < least)
			return;
		*slash = '\0';
	}
}

/* A line `NUMBER:CONTROLLERS:PATH`; v2 has none between the colons. */
static void
machine_cgroup_line(struct machine *m, const char *root, char *line)
{
	static const char *const names[] = { "cpu", "memory" };
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	char top[MACHINE_PATH];

	if (!path)
		return;
	*controllers++ = *path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (!*controllers) {
		snprintf(top, sizeof top, "%s/sys/fs/cgroup", root);
		machine_groups(m, top, path);
		snprintf(top, sizeof top, "%s/sys/fs/cgroup/unified", root);
		machine_groups(m, top, path);
		return;
	}
	for (char *rest = controllers, *one; (one = strsep(&rest, ",")) != NULL;)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			if (strcmp(one, names[i]) != 0)
				continue;
			/* Also where several are one folder, there are links by each name. */
			snprintf(top, sizeof top, "%s/sys/fs/cgroup/%s", root, one);
			machine_groups(m, top, path);
		}
}

static void
machine_cgroups(struct machine *m, const char *root)
{
	char path[MACHINE_PATH], line[MACHINE_PATH];
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
	if (!(f = fopen(path, "re")))
		return;
	while (fgets(line, sizeof line, f))
		machine_cgroup_line(m, root, line);
	fclose(f);
}

static void
machine_slurm(struct machine *m)
{
	const char *task = getenv("SLURM_CPUS_PER_TASK"), *node = getenv("SLURM_CPUS_ON_NODE");
	const char *said = task ? task : node;
	int64_t n;

	if (getenv("SLURM_JOB_ID") && said && machine_number(said, &n) && n < m->cpus)
		m->cpus = (uint32_t)n;
}

struct machine
machine_look(const char *root)
{
	struct machine m = { .cpus = 1 };
	cpu_set_t set;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), all = sysconf(_SC_NPROCESSORS_ONLN);

	/* More processors than a set has room for: then all. */
	m.cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : all > 1 ? (uint32_t)all : 1;
	m.memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
	machine_cgroups(&m, root);
	machine_slurm(&m);
	if (m.limit && (!m.memory || m.limit < m.memory))
		m.memory = m.limit;
	return m;
}

static struct machine machine;

static void
machine_once(void)
{
	machine = machine_look("");
}

static const struct machine *
machine_here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, machine_once);
	return &machine;
}

uint32_t
machine_cpus(void)
{
	return machine_here()->cpus;
}

uint64_t
machine_memory(void)
{
	return machine_here()->memory;
}

uint64_t
machine_limit(void)
{
	return machine_here()->limit;
}
