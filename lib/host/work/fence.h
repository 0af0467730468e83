/* SPDX-License-Identifier: MIT
 *
 * What the pipelines of others may do on a worker: which files they may open
 * (base/gate.h), which programs they may run and how those are kept
 * (op/child_rules.h); and around the whole process a wall of the kernel's
 * (host/work/landlock.h). On the private socket of a user everything is allowed,
 * elsewhere nothing, unless the worker's owner says what.
 */
#ifndef HOST_FENCE_H
#define HOST_FENCE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

/* The options of dsvc-work; all lent. */
struct fence_conf {
	struct words read, write; /* files and folders; none: the default */
	struct words url;         /* beginnings of addresses (fetch/url.h) */
	struct words exec;        /* programs, folders, or the word `any` */
	struct words child_env;   /* variables that children get besides the usual ones */
	int64_t child_memory, child_files; /* bytes, descriptors; 0: no limit of their own */
	char *exec_wrap;          /* words in front of each command; NULL: none */
	int sandbox;              /* enum fence_sandbox */
	char *datasets;           /* file of the pipelines that are run; NULL: all */
	const char *ready_file;   /* the worker writes and removes it; NULL: none */
};

/* FENCE_USUAL: auto where strangers reach the worker, else off. */
enum fence_sandbox { FENCE_USUAL, FENCE_AUTO, FENCE_REQUIRE, FENCE_OFF };


/* Puts up the fence for the rest of the process; before there are threads. strangers: others than
 * this user may reach the worker, or the dispatcher that it listens to. socket: path of the
 * worker's socket where its owner named one, or NULL. ST_CONFIG: what the sandbox requires is
 * not there. */
enum status fence_up(const struct fence_conf *c, bool strangers, const char *socket, struct err *e);

/* Whether it confines the process itself, too; strangers as above. */
bool fence_confines(const struct fence_conf *c, bool strangers);

/* Shuts what its owner has not allowed by name, as for a worker that strangers reach: the dispatcher
 * has turned out to be one that they do. The wall of the kernel's is not built then, since threads
 * that run already would stay outside. */
void fence_strangers(const struct fence_conf *c);

#endif
