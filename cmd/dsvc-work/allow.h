/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-work that say what the pipelines of others may do.
 */
#ifndef DSVC_WORK_ALLOW_H
#define DSVC_WORK_ALLOW_H

#include "host/fence.h"

#define ALLOW_ROW(s, member, option, word, says) \
	{ .name = option, .arg = word, .kind = PARAM_WORDS, .offset = offsetof(s, fence.member), \
	  .flags = PARAM_REPEAT | PARAM_BY_HAND | PARAM_RARE, .complete = "file", .help = says }

/* s: the struct of the options, with a member `struct fence_conf fence`. */
#define ALLOW_ROWS(s) \
	ALLOW_ROW(s, read, "allow-read", "PATH", "let pipelines read this file, or what lies below this folder; " \
		  "default: all for a worker of this user's private socket, else nothing"), \
	ALLOW_ROW(s, write, "allow-write", "PATH", "let pipelines write, and read, below this folder; " \
		  "default: as --allow-read"), \
	ALLOW_ROW(s, exec, "allow-exec", "PROGRAM", "let exec and cmd run this program, the programs of this folder, or " \
		  "any; sh counts as /bin/sh; default: as --allow-read")

#endif
