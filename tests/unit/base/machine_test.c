/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/machine.h"

#define EACH_SETUP root_make
#define EACH_TEARDOWN root_remove

/* A folder with the files that the system would have. */
static char root[64];

static int
root_make(void **state)
{
	(void)state;
	strcpy(root, "/tmp/dsvc-test-XXXXXX");
	unsetenv("SLURM_JOB_ID");
	unsetenv("SLURM_CPUS_PER_TASK");
	unsetenv("SLURM_CPUS_ON_NODE");
	return mkdtemp(root) ? 0 : -1;
}

static int
root_remove(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", root);
	return system(command);
}

static void
file(const char *path, const char *text)
{
	char whole[512];

	snprintf(whole, sizeof whole, "%s%s", root, path);
	for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(whole, 0700);
	}
	FILE *f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static uint32_t
cpus(void)
{
	return machine_look(root).cpus;
}

static void
without_groups_there_is_what_the_process_may_use(void **state)
{
	struct machine m = machine_look(root);

	(void)state;
	assert_true(m.cpus >= 1);
	assert_true(m.memory > 1 << 20);
	assert_int_equal(m.limit, 0);
}

static void
a_quota_of_half_a_processor_counts_as_one(void **state)
{
	(void)state;
	file("/proc/self/cgroup", "0::/\n");
	file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
	file("/sys/fs/cgroup/memory.max", "268435456\n");
	struct machine m = machine_look(root);
	assert_int_equal(m.cpus, 1);
	assert_int_equal(m.limit, 268435456);
	assert_int_equal(m.memory, 268435456);
}

static void
the_least_of_a_group_and_those_around_it_counts(void **state)
{
	(void)state;
	file("/proc/self/cgroup", "0::/a.slice/b.scope\n");
	file("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
	file("/sys/fs/cgroup/a.slice/cpu.max", "100000 100000\n");
	file("/sys/fs/cgroup/a.slice/memory.max", "max\n");
	file("/sys/fs/cgroup/a.slice/b.scope/memory.max", "100000000\n");
	struct machine m = machine_look(root);
	assert_int_equal(m.cpus, 1);
	assert_int_equal(m.limit, 100000000);
}

static void
the_older_kind_of_groups_counts_too(void **state)
{
	(void)state;
	file("/proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n3:pids:/\n0::/\n");
	file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "25000\n");
	file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
	file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	assert_int_equal(cpus(), 1);
	assert_int_equal(machine_look(root).limit, 0);
	/* In a container the group of the host is not there, but what is mounted is its own. */
	file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "50000000\n");
	assert_int_equal(machine_look(root).limit, 50000000);
}

static void
slurm_says_how_many_processors_a_task_has(void **state)
{
	(void)state;
	setenv("SLURM_CPUS_PER_TASK", "1", 1);
	setenv("SLURM_CPUS_ON_NODE", "1000000", 1);
	setenv("SLURM_JOB_ID", "7", 1);
	assert_int_equal(cpus(), 1);
	unsetenv("SLURM_CPUS_PER_TASK");
	uint32_t all = cpus();
	assert_true(all >= 1 && all < 1000000);
	setenv("SLURM_CPUS_ON_NODE", "1", 1);
	assert_int_equal(cpus(), 1);
}

static void
nonsense_is_not_heeded(void **state)
{
	uint32_t all = cpus();

	(void)state;
	file("/proc/self/cgroup", "nonsense\n::\n7:cpu\n0::/../../../x\n1:cpu,:\n\n");
	file("/sys/fs/cgroup/cpu.max", "0 0\n");
	file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "99999999999999999999999\n");
	file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "0\n");
	file("/sys/fs/cgroup/memory.max", "-5\n");
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_CPUS_PER_TASK", "-3", 1);
	assert_int_equal(cpus(), all);
	assert_int_equal(machine_look(root).limit, 0);
}
