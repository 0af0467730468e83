/* SPDX-License-Identifier: MIT
 *
 * What children of `exec`, `sh` and `cmd` may do in this process: set once by a
 * program that runs the pipelines of others (host/work/fence.h), before there are
 * threads, and only read from then on.
 */
#ifndef OP_CHILD_RULES_H
#define OP_CHILD_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"

struct child_rules {
	bool list;             /* only these programs may be run */
	struct words programs; /* programs and folders, as the owner named them; lent */
	bool clean;            /* only the usual variables of this process and these are passed on */
	struct words env;      /* their names; lent */
	const char *wrap;      /* words put in front of each command, apart by blanks; NULL: none; lent */
	int64_t memory, files; /* RLIMIT_DATA in bytes, RLIMIT_NOFILE; 0: as this process */
	bool confine;          /* no core files, no new privileges, and the list of op/child_filter.h */
};

/* Takes the rules, resolving names of programs in PATH. ST_NOINPUT: one of them is not there. */
enum status child_rules_set(const struct child_rules *r, struct err *e);
/* Whether the program at that path may be run: it is named, or lies in a folder that is, or below. */
enum status child_rules_check(const char *path, const char *name, struct err *e);
/* From now on passes on the usual variables and those named only, also while others start children. */
void child_rules_clean(void);
/* Whether a variable (NAME=VALUE) of this process is passed on. */
bool child_rules_passes(const char *variable);
/* The command to start: path and argv as they are, or those of the wrapper with the rest behind
 * them. Gives an array whose texts are lent; NULL: nothing is put in front. */
char **child_rules_wrap(const char **path, char *const *argv);
/* Applies the limits to the calling process, by system calls alone: 0, or an errno. */
int child_rules_apply(void);

#endif
