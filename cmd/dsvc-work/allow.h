/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-work that say what the pipelines of others may do.
 */
#ifndef DSVC_WORK_ALLOW_H
#define DSVC_WORK_ALLOW_H

#include "host/work/fence.h"

#define ALLOW_ROW(s, member, option, word, says) \
	{ .name = option, .arg = word, .kind = PARAM_WORDS, .offset = offsetof(s, fence.member), \
	  .flags = PARAM_REPEAT | PARAM_BY_HAND | PARAM_RARE, .complete = "file", .help = says }

/* s: the struct of the options, with a member `struct fence_conf fence`. */
#define ALLOW_ROWS(s) \
	ALLOW_ROW(s, read, "allow-read", "PATH", "let pipelines read this file, or what lies below this folder; " \
		  "default: all for a worker of this user's private socket, else nothing"), \
	ALLOW_ROW(s, write, "allow-write", "PATH", "let pipelines write, and read, below this folder, or what has " \
		  "an address that begins so (s3://BUCKET/PREFIX/); default: as --allow-read"), \
	ALLOW_ROW(s, exec, "allow-exec", "PROGRAM", "let exec and cmd run this program, the programs of this folder, or " \
		  "any; sh counts as /bin/sh; default: as --allow-read"), \
	{ .name = "allow-url", .arg = "ADDRESS", .kind = PARAM_WORDS, .offset = offsetof(s, fence.url), \
	  .flags = PARAM_REPEAT | PARAM_BY_HAND | PARAM_RARE | PARAM_ONE_WORD, \
	  .help = "let pipelines read what has an address that begins so (s3://BUCKET/, https://HOST/FOLDER/); " \
	  "default: as --allow-read" }, \
	{ .name = "datasets", .arg = "FILE", .kind = PARAM_WORD, .offset = offsetof(s, fence.datasets), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL, .complete = "file", \
	  .help = "run only the pipelines that FILE lists, a line each, as dsvc-register --hash prints them" }, \
	{ .name = "child-env", .arg = "NAME", .kind = PARAM_WORDS, .offset = offsetof(s, fence.child_env), \
	  .flags = PARAM_REPEAT | PARAM_BY_HAND | PARAM_RARE | PARAM_NAME | PARAM_ONE_WORD, \
	  .help = "of the worker's variables give programs this one besides PATH, HOME, LANG, TZ and TMPDIR; " \
	  "default: all for a worker of this user's private socket, else no others" }, \
	{ .name = "child-memory", .arg = "SIZE", .kind = PARAM_SIZE, .offset = offsetof(s, fence.child_memory), \
	  .flags = PARAM_RARE | PARAM_BY_HAND, .def = "0", .max = INT64_MAX, \
	  .help = "memory that each process of a program may have; 0: no limit" }, \
	{ .name = "child-files", .arg = "N", .kind = PARAM_INT, .offset = offsetof(s, fence.child_files), \
	  .flags = PARAM_RARE | PARAM_BY_HAND, .def = "0", .max = 1 << 20, \
	  .help = "files that each process of a program may have open; 0: no limit" }, \
	{ .name = "exec-wrap", .arg = "COMMAND", .kind = PARAM_WORD, .offset = offsetof(s, fence.exec_wrap), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL, \
	  .help = "run programs by this command, whose words are apart by blanks: 'bwrap --ro-bind / / --'" }, \
	{ .name = "sandbox", .arg = "WHEN", .kind = PARAM_CHOICE, .offset = offsetof(s, fence.sandbox), \
	  .flags = PARAM_RARE | PARAM_OPTIONAL | PARAM_BY_HAND, \
	  .choices = "auto|require|off", .complete = "auto|require|off", \
	  .values = (const int[]){ FENCE_AUTO, FENCE_REQUIRE, FENCE_OFF }, \
	  .help = "have the kernel hold the worker and its programs to what is allowed (Landlock); " \
	  "default: off for a worker of this user's private socket, else auto" }

#endif
