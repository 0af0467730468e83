/* SPDX-License-Identifier: MIT
 *
 * How much of the machine this process may use: processors and memory. The least counts of
 *
 *	the processors that it may run on   affinity (taskset, cpusets)
 *	what its control group allows       cgroup v2 (cpu.max, memory.max) and v1 (cfs quota, limit_in_bytes),
 *	                                    its own and those around it
 *	what Slurm has given the task       SLURM_CPUS_PER_TASK, or else SLURM_CPUS_ON_NODE
 */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdint.h>

struct machine {
	uint32_t cpus;   /* at least 1; a part of a processor counts as one */
	uint64_t memory; /* bytes */
	uint64_t limit;  /* bytes that the control group allows; 0: it does not say */
};

/* root: "" for the system's own files, or a folder with others, for tests. */
struct machine machine_look(const char *root);
/* Looks once. */
uint32_t machine_cpus(void);
/* The machine's memory, or the limit if that is less. */
uint64_t machine_memory(void);
/* 0: there is none. */
uint64_t machine_limit(void);

#endif
